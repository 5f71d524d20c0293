"""Holds the behaviours of the feature ledger that this server follows, over MCP from outside: the eleven things its own
smoke test looks at, and what a careful server owes at the edges."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faces.mcp.shop import FEATURE, Shop, accepted, criterion, every_file, freeze, get, mark, refused, until
from tests.real.project import PROOF, Project

#: Text of many scripts, directions and oddities, each to come back as it came.
TEXTS = {
    "arabic": "تُفرَّغ السلة بعد الدفع",
    "hebrew": "העגלה מתרוקנת לאחר התשלום",
    "chinese": "结账后购物车清空",
    "japanese": "支払い後にカートを空にする",
    "korean": "결제 후 장바구니가 비워진다",
    "hindi": "भुगतान के बाद गाड़ी खाली हो जाती है",
    "thai": "ตะกร้าว่างหลังชำระเงิน",
    "georgian": "კალათა იცლება გადახდის შემდეგ",
    "emoji": "the 🛒 empties 👩‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 👍🏽",
    "combining": "Z̷̢͈͐a̶̙͝l̴̛̰g̵̱̐o, and e\u0301 beside é",
    "right to left marks": "abc \u200fאבג\u200e def \u202eghi\u202c",
    "far planes": "𝒜𝓁𝓁 𒀀 𓀀",
    "controls": "tab\there\nand a line, a bell \x07 and \x1b[31mred\x1b[0m",
    "quotes": "say \"no\" \\ to <b>bold</b> & 'all' $(that) `too` %s {0}",
    "blanks": "  kept   as they are  ",
    "no newline at the end is added": "x",
}


# What the smoke test looks at.


@pytest.mark.requirement("L1", "L2", "L3")
def test_init_makes_the_file_with_the_schema_all_failing(shop: Shop) -> None:
    with shop.connect() as client:
        answer = freeze(client, criterion("AC1", "test passes", text="the cart keeps its lines"), criterion("AC2"))
        assert answer.structured["task_id"] == FEATURE
        assert answer.structured["frozen"] == 2
    view = shop.view()
    assert list(view) == ["task_id", "created_at", "schema_version", "features"]
    assert (view["task_id"], view["schema_version"]) == (FEATURE, 1)
    assert view["created_at"].endswith("Z")
    assert view["features"] == [
        {
            "id": "AC1",
            "description": "the cart keeps its lines",
            "evidence_required": ["test passes"],
            "passes": False,
            "passed_at": None,
            "evidence_ref": None,
            "last_attempt_error": None,
        },
        {
            "id": "AC2",
            "description": "what AC2 asks for",
            "passes": False,
            "passed_at": None,
            "evidence_ref": None,
            "last_attempt_error": None,
        },
    ]


@pytest.mark.requirement("L11")
def test_list_failing_gives_compact_rows_in_order(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC2"), criterion("AC10"), criterion("AC1"))
        client.call("mark_failure", {"task_id": FEATURE, "feature_id": "AC10", "error": "2 != 3"})
        facts = accepted(client.call("list_failing", {"task_id": FEATURE})).structured
    assert facts["features"] == [
        {"id": "AC2", "description": "what AC2 asks for", "last_attempt_error": None},
        {"id": "AC10", "description": "what AC10 asks for", "last_attempt_error": "2 != 3"},
        {"id": "AC1", "description": "what AC1 asks for", "last_attempt_error": None},
    ]
    assert (facts["cursor"], facts["stale"], facts["elsewhere"]) == (None, 0, 0)


@pytest.mark.requirement("L12")
def test_get_feature_gives_all_fields_of_one(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", "screenshot diff < 1%", text="the empty cart says so"), criterion("AC2"))
        assert get(client, "AC1") == {
            "id": "AC1",
            "description": "the empty cart says so",
            "evidence_required": ["screenshot diff < 1%"],
            "passes": False,
            "passed_at": None,
            "evidence_ref": None,
            "last_attempt_error": None,
            "level": None,
            "state": "failing",
            "run": None,
        }


@pytest.mark.requirement("L4", "L6")
def test_mark_pass_flips_it_with_time_and_evidence(shop: Shop) -> None:
    with shop.connect("verifier") as client, shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1"), criterion("AC2"))
        receipt = accepted(client.call(*mark("AC1", f"{PROOF}:1"))).structured
        assert (receipt["feature_id"], receipt["passes"], receipt["level"]) == ("AC1", True, "cited")
        now = get(client, "AC1")
        assert (now["passes"], now["evidence_ref"], now["state"]) == (True, f"{PROOF}:1", "holds")
        assert now["passed_at"].endswith("Z")
        left = client.call("list_failing", {"task_id": FEATURE}).structured["features"]
        assert [row["id"] for row in left] == ["AC2"]


@pytest.mark.requirement("L7")
def test_a_second_mark_is_refused_with_who_and_when(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1"))
    with shop.connect("verifier") as client:
        accepted(client.call(*mark("AC1")))
        first = get(client, "AC1")
        facts = refused(client.call(*mark("AC1", "cart.py")), "pass.already", "already", "verifier", first["passed_at"])
        assert facts["receipt"]["evidence_ref"] == PROOF
        assert get(client, "AC1") == first


def test_an_unknown_task_or_feature_is_refused(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        more: dict[str, dict[str, str]] = {
            "mark_pass": {"evidence_ref": PROOF},
            "get_feature": {},
            "mark_failure": {"error": "x"},
        }
        for tool, rest in more.items():
            refused(client.call(tool, {"task_id": "other", "feature_id": "AC1", **rest}), "feature.unknown", "other")
            refused(client.call(tool, {"task_id": FEATURE, "feature_id": "AC9", **rest}), "criterion.unknown", "AC9")
        assert [row["id"] for row in client.call("list_failing", {"task_id": FEATURE}).structured["features"]] == [
            "AC1"
        ]


@pytest.mark.requirement("L6")
@pytest.mark.parametrize(
    "reference", ["", "  ", " ; ", "looks good", "all tests are green", "https://example.invalid/1"]
)
def test_evidence_that_points_at_nothing_is_refused(shop: Shop, reference: str) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        refused(client.call(*mark("AC1", reference)), "evidence.free_text")
        assert get(client, "AC1")["passes"] is False


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["AC1", "AC1"], "input.invalid"),
        (["AC1", "ac1"], "input.invalid"),
        (["AC1", ""], "input.invalid"),
        (["AC1", " AC2"], "input.invalid"),
        (["x" * 65], "input.invalid"),
        ([], "usage"),
    ],
)
def test_duplicate_and_empty_ids_are_refused_and_leave_nothing(
    shop: Shop, home: Path, names: list[str], code: str
) -> None:
    before = every_file(shop.folder, home)
    with shop.connect() as client:
        refused(client.call("init_feature_list", {"task_id": FEATURE, "features": [*map(criterion, names)]}), code)
    assert every_file(shop.folder, home) == before


@pytest.mark.parametrize("task", ["", "Checkout", "../checkout", "a/b", "con", "check out", "ü", "x" * 65, "."])
def test_a_task_id_that_is_none_is_refused_and_leaves_nothing(shop: Shop, home: Path, task: str) -> None:
    before = every_file(shop.folder, home)
    with shop.connect() as client:
        answer = client.call("init_feature_list", {"task_id": task, "features": [criterion("AC1")]})
        refused(answer, "input.invalid")
        assert client.call("get_feature", {"task_id": task, "feature_id": "AC1"}).is_error
    assert every_file(shop.folder, home) == before


def test_init_of_an_existing_ledger_is_refused_and_changes_nothing(shop: Shop, home: Path) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        accepted(client.call(*mark("AC1")))
    before = every_file(shop.folder, home)
    with shop.connect() as client:
        answer = client.call("init_feature_list", {"task_id": FEATURE, "features": [criterion("AC7")]})
        refused(answer, "feature.exists", FEATURE)
    assert every_file(shop.folder, home) == before
    assert shop.viewed() == {"AC1"}


@pytest.mark.requirement("L8")
def test_mark_failure_leaves_its_error_and_a_pass_clears_it(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        for attempt in (1, 2):
            call = {"task_id": FEATURE, "feature_id": "AC1", "error": f"{attempt} != 3"}
            assert accepted(client.call("mark_failure", call)).structured["attempts"] == attempt
        assert get(client, "AC1")["last_attempt_error"] == "2 != 3"
        accepted(client.call(*mark("AC1")))
        assert get(client, "AC1")["last_attempt_error"] is None


# What a careful server owes.


def test_every_failure_is_a_result_that_says_so(shop: Shop) -> None:
    bad: list[tuple[str, dict[str, object]]] = [
        ("mark_pass", {}),
        ("mark_pass", {"task_id": 1, "feature_id": None, "evidence_ref": []}),
        ("init_feature_list", {"task_id": FEATURE, "features": "AC1"}),
        ("list_failing", {"task_id": FEATURE, "cursor": "AC9"}),
        ("nothing", {}),
        mark("AC9"),
        mark("AC1", "nowhere.txt"),
        mark("AC1", "/etc/passwd"),
        mark("AC1", "../outside"),
        mark("AC1", ".git/HEAD"),
    ]
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        for tool, arguments in bad:
            answer = client.call(tool, arguments)
            assert answer.is_error, (tool, arguments)
            assert answer.raw["isError"] is True
            assert answer.structured["error"]["message"]
            assert answer.text
    assert shop.viewed() == set()


def test_the_ledger_is_read_and_written_by_every_connection_alike(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec, shop.connect("verifier") as verifier, shop.connect("fixer") as fixer:
        freeze(spec, criterion("AC1"), criterion("AC2"))
        accepted(verifier.call(*mark("AC1")))
        rows = fixer.call("list_failing", {"task_id": FEATURE}).structured["features"]
        assert [row["id"] for row in rows] == ["AC2"]


def test_the_order_of_the_criteria_is_kept(shop: Shop) -> None:
    names = [f"AC{(number * 37) % 101}" for number in range(1, 61)]
    with shop.connect() as client:
        freeze(client, *map(criterion, names))
        accepted(client.call(*mark(names[30])))
        seen: list[str] = []
        page: dict[str, str] = {}
        while True:
            facts = accepted(client.call("list_failing", {"task_id": FEATURE, **page})).structured
            seen += [row["id"] for row in facts["features"]]
            assert len(facts["features"]) <= 20
            if facts["cursor"] is None:
                break
            page = {"cursor": facts["cursor"]}
    assert seen == [name for name in names if name != names[30]]
    assert [row["id"] for row in shop.view()["features"]] == names


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25", "2025-06-18"])
def test_text_of_every_script_comes_back_as_it_came(shop: Shop, era: str) -> None:
    rows = [criterion(name, text, text=text) for name, text in TEXTS.items()]
    with shop.connect(era=era) as client:
        freeze(client, *rows)
        listed = client.call("list_failing", {"task_id": FEATURE}).structured["features"]
        assert [(row["id"], row["description"]) for row in listed] == list(TEXTS.items())
        for name, text in TEXTS.items():
            call = {"task_id": FEATURE, "feature_id": name, "error": text}
            accepted(client.call("mark_failure", call))
            found = get(client, name)
            assert (found["description"], found["evidence_required"]) == (text, [text])
            assert found["last_attempt_error"] == text
    assert [row["description"] for row in shop.view()["features"]] == list(TEXTS.values())


@pytest.mark.requirement("P18")
def test_ids_of_every_script_are_data(shop: Shop) -> None:
    names = ["AC1.2", "a/b", "../x", "-rf", "السلة", "カート", "🛒", "é", "AC 1", "con", "x" * 64, "{}", "$(x)"]
    with shop.connect() as client:
        freeze(client, *map(criterion, names))
        for name in names:
            accepted(client.call(*mark(name)))
            assert get(client, name)["id"] == name
    assert shop.viewed() == set(names)


def test_a_long_text_comes_back_whole_for_one_and_marked_as_cut_in_a_list(shop: Shop) -> None:
    text = "the cart keeps every line " * 300
    with shop.connect() as client:
        freeze(client, criterion("AC1", text=text[:8000]), criterion("AC2", *[text[:3000]] * 40))
        assert get(client, "AC1")["description"] == text[:8000]
        row = client.call("list_failing", {"task_id": FEATURE}).structured["features"][0]
        assert text.startswith(row["description"].rstrip("…"))
        assert row["description"].endswith("…")
        asked = get(client, "AC2")["evidence_required"]
        assert asked == [text[:3000], "… and 39 more"]


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("count", [1, 7])
def test_a_mark_that_was_acknowledged_is_there_after_a_kill(shop: Shop, count: int) -> None:
    names = [f"AC{number}" for number in range(10)]
    client = shop.connect()
    freeze(client, *map(criterion, names))
    for name in names[:count]:
        accepted(client.call(*mark(name)))
    assert client.kill() == -signal.SIGKILL
    with shop.connect() as other:
        rows = other.call("list_failing", {"task_id": FEATURE}).structured["features"]
        assert [row["id"] for row in rows] == names[count:]
        accepted(other.call(*mark(names[count])))
    assert shop.viewed() == set(names[: count + 1])
    shop.whole()


def test_the_file_is_current_soon_after_the_answer_while_the_server_runs(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2"))
        for passed in ({"AC1"}, {"AC1", "AC2"}):
            accepted(client.call(*mark(max(passed))))
            until(lambda passed=passed: shop.viewed() == passed)  # type: ignore[misc]
        assert client.call("list_failing", {"task_id": FEATURE}).structured["features"] == []


def test_the_file_is_current_when_the_server_has_ended(shop: Shop) -> None:
    names = [f"AC{number}" for number in range(5)]
    with shop.connect() as client:
        freeze(client, *map(criterion, names))
        accepted(client.call(*mark("AC0")))
    assert shop.viewed() == {"AC0"}
    client = shop.connect()
    accepted(client.call(*mark("AC3")))
    client.signal(signal.SIGTERM)
    assert client.wait() == 143
    assert shop.viewed() == {"AC0", "AC3"}


@pytest.mark.requirement("L4")
def test_an_edit_by_hand_is_named_and_does_not_count(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
    path = shop.folder / f".agent/tasks/{FEATURE}/feature_list.json"
    path.write_text(path.read_text().replace('"passes": false', '"passes": true'), encoding="utf-8")
    with shop.connect() as client:
        facts = accepted(client.call("list_failing", {"task_id": FEATURE})).structured
        assert [row["id"] for row in facts["features"]] == ["AC1"]
        assert "edited by hand" in facts["warning"]
        assert "edited by hand" in get(client, "AC1")["warning"]
        assert "edited by hand" in accepted(client.call("brief", {})).text


def test_a_link_or_a_folder_is_no_evidence(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n", encoding="utf-8")
    (shop.folder / "link.txt").symlink_to(tmp_path / "secret")
    (shop.folder / "empty.txt").touch()
    (shop.folder / "folder").mkdir()
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        for reference in ("link.txt", "empty.txt", "folder"):
            assert client.call(*mark("AC1", reference)).is_error, reference
        assert get(client, "AC1")["passes"] is False


def test_a_criterion_is_amended_visibly_and_starts_open(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2"))
        accepted(client.call(*mark("AC1")))
        change = {"feature": FEATURE, "criterion": "AC1", "change": {"text": "it empties too"}, "reason": "agreed"}
        assert accepted(client.call("amend", change)).structured["amendments"] == 1
        found = get(client, "AC1")
        assert (found["passes"], found["description"]) == (False, "it empties too")
        again = {**change, "change": {"text": "it never empties"}, "reason": " "}
        refused(client.call("amend", again), "input.invalid", "reason")
        close = {"feature": FEATURE, "criterion": "AC2", "change": {"close": True}, "reason": "not wanted"}
        assert accepted(client.call("amend", close)).structured["closed"] is True
        refused(client.call(*mark("AC2")), "criterion.closed", "not wanted")


def test_the_next_session_is_briefed(shop: Shop) -> None:
    with shop.connect() as client:
        assert accepted(client.call("brief", {})).structured == {"feature": None, "brief": "No criteria yet."}
        freeze(client, criterion("AC1"), criterion("AC2"), criterion("AC3"))
        accepted(client.call(*mark("AC1")))
        client.call("mark_failure", {"task_id": FEATURE, "feature_id": "AC3", "error": "the coupon worked twice"})
        accepted(client.call("note", {"feature": FEATURE, "text": "the table is seeded in conftest"}))
    with shop.connect("implementer") as client:
        text = accepted(client.call("brief", {})).text
    assert text.startswith(f"{FEATURE}: 1 of 3 hold.")
    order = [text.index(word) for word in ("AC3", "the coupon worked twice", "AC2", "seeded in conftest")]
    assert order == sorted(order)


def test_the_command_line_and_the_server_say_the_same(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2"))
        accepted(client.call(*mark("AC1")))
        found = get(client, "AC1")
    assert isinstance(shop, Project)
    row = shop.rows(FEATURE)["AC1"]
    assert {key: row[key] for key in ("passes", "evidence_ref", "passed_at", "level", "state")} == {
        key: found[key] for key in ("passes", "evidence_ref", "passed_at", "level", "state")
    }
