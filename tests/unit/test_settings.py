"""Holds the settings of a project: every key is optional and has the default that the page shows, an unknown key and a
wrong value are refused with what would be right, all at once; what a check depends on has a digest, and what asks for
less than was frozen is told apart from what only makes passes run again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.canonical import encode
from tallystick.effective import bounded, digest, effective, moved, weakened
from tallystick.errors import Refusal
from tallystick.settings import FILE, KEYS, Settings, parse
from tallystick.system.settings_file import USUAL

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
EVERY_KEY = [f"{table}.{name}" if table else name for table, kinds in KEYS.items() for name in kinds]

#: For each key a value that is not its default.
OTHER: dict[str, str] = {
    "feature": '"checkout"',
    "policy.checked": '"proven"',
    "policy.free_text": '"claimed"',
    "policy.other_hand": "true",
    "tests.command": '["make", "test"]',
    "tests.report": '"junit"',
    "verify.mode": '"in-place"',
    "verify.link": '[".venv", "web/node_modules"]',
    "verify.setup": '[["npm", "ci"], ["make", "schema"]]',
    "verify.time_limit_s": "1_200",
    "verify.output_limit_mb": "1",
    "verify.memory_limit_mb": "512",
    "verify.file_limit_mb": "8",
    "verify.coverage": "0",
    "verify.env": '["PATH", "LANG", "DATABASE_URL"]',
    "verify.set": '{ CI = "1" }',
    "verify.network": '["example.org", "localhost:5432"]',
    "verify.allow": '["/var/run/docker.sock"]',
    "verify.irrelevant": "[]",
    "share.auto": "false",
    "views.tracked": "true",
    "run.agent": '"codex"',
    "run.pipeline": '"quick"',
    "run.autonomy": '"autonomous"',
    "run.budget": '"500k"',
    "hooks.stop": '"off"',
}

WRONG = {
    "feature": ('"Not One"', "3", "[]"),
    "policy.checked": ('"cited"', "true", '"PROVEN"'),
    "policy.other_hand": ("1", '"true"'),
    "tests.command": ('"pytest -q"', '[""]', '["a", 1]', '["a\\u0000"]', "[[]]"),
    "verify.link": ('["../elsewhere"]', '["/etc"]', '[""]', '".venv"'),
    "verify.setup": ('["npm", "ci"]', "[[]]", '"npm ci"', "[1]"),
    "verify.time_limit_s": ("0", "-1", "86401", "1.5", "true", '"600"', "1979-05-27"),
    "verify.coverage": ("101", "-1", "nan"),
    "verify.env": ('["HOME"]', '["TALLYSTICK_REPORT"]', '["a b"]', '["="]'),
    "verify.set": ('{ HOME = "/" }', "{ CI = 1 }", "[]"),
    "verify.network": ('"everything"', '["-x"]', '["https://example.org"]', "[1]"),
    "verify.allow": ('["relative"]', '["/a/../b"]'),
    "run.budget": ('"much"', '"5$"', "5"),
}


def line(key: str, value: str) -> bytes:
    table, _, name = key.rpartition(".")
    return (f"[{table}]\n" if table else "").encode() + f"{name} = {value}\n".encode()


def mistakes(data: bytes) -> dict[str, str]:
    """What is wrong, by key; the message is one line that holds each of the first five."""
    with pytest.raises(Refusal) as caught:
        parse(data, FILE)
    refusal = caught.value
    assert (refusal.code, "\n" in refusal.message, refusal.hint != "") == ("settings.invalid", False, True)
    assert FILE in refusal.message
    rows: Any = refusal.facts["mistakes"]
    assert all(row["says"] in refusal.message for row in rows[:5])
    return {row["key"]: row["says"] for row in rows}


@pytest.mark.requirement("F5.16")
def test_the_page_shows_every_key_with_its_default() -> None:
    block = re.search(r"```toml\n(feature = .*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert block is not None
    assert parse(block[1].encode(), FILE) == Settings()
    shown = set(re.findall(r"^(?:\[(\w+)\]|(\w+) =)", block[1], re.M))
    assert {name for pair in shown for name in pair if name} == {
        part for key in EVERY_KEY for part in key.split(".") if part
    }


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf# nothing\r\n", b"[policy]\n[verify]\n"])
def test_every_key_is_optional(data: bytes) -> None:
    assert parse(data, FILE) == Settings()


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize("key", EVERY_KEY)
def test_each_key_is_taken_and_no_other_changes(key: str) -> None:
    found, usual = parse(line(key, OTHER[key]), FILE), Settings()
    table, _, name = key.rpartition(".")
    before, after = (getattr(one, table) if table else one for one in (usual, found))
    assert getattr(after, name) != getattr(before, name)
    assert after._replace(**{name: getattr(before, name)}) == before


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_with_what_would_be_right(key: str, value: str) -> None:
    table, _, name = key.rpartition(".")
    found = mistakes(line(key, value))
    assert list(found) == [key]
    assert KEYS[table][name].right in found[key]


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize("key", EVERY_KEY)
def test_no_key_takes_a_moment(key: str) -> None:
    assert list(mistakes(line(key, "1979-05-27T07:32:00Z"))) == [key]


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize(
    ("data", "key", "says"),
    [
        (b"[verify]\ntime_limit = 5\n", "verify.time_limit", "did you mean time_limit_s?"),
        (b"[polcy]\nchecked = 'ran'\n", "polcy", "did you mean policy?"),
        (b"auto = false\n", "auto", "it stands in [share]"),
        (b"[verify]\nfeature = 'x'\n", "verify.feature", "it stands before every table"),
        (b"[share]\nzzz = 1\n", "share.zzz", "there are auto"),
        (b"policy = 3\n", "policy", "is a table: [policy]"),
        (b"[[verify]]\nmode = 'tree'\n", "verify", "is a table: [verify]"),
        (b'"\\u001b[31m" = 1\n', "\\x1b[31m", "is no key"),
    ],
)
def test_an_unknown_key_is_refused_with_what_was_meant(data: bytes, key: str, says: str) -> None:
    found = mistakes(data)
    assert list(found) == [key]
    assert says in found[key]


@pytest.mark.requirement("F5.16")
def test_all_mistakes_are_told_at_once() -> None:
    wrong = b"nothing = 1\n" + b"".join(b"[%s]\nodd = 1\n" % name.encode() for name in KEYS if name)
    assert len(mistakes(wrong)) == len(KEYS)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[verify]\nmode = \n", f"{FILE}:2 is no TOML"),
        (b"[share]\nauto = true\nauto = true\n", f"{FILE}:3 is no TOML"),
        (b"feature = ''\n# \xff\n", f"{FILE}:2 is not UTF-8"),
        (b"a" + b".a" * 200_000 + b" = 1\n", f"{FILE}:1 has more than 128 dots"),
        (b"x = " + b"[" * 500_000, "nests deeper"),
        (b"x = " + b"{a=" * 100_000, "nests deeper"),
        (b"[verify]\ntime_limit_s = " + b"9" * 5000 + b"\n", "is no TOML"),
    ],
    ids=["syntax", "a key twice", "bytes", "dots", "arrays", "tables", "digits"],
)
def test_what_is_no_toml_is_refused_with_its_line(data: bytes, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse(data, FILE)
    assert caught.value.code == "settings.invalid"
    assert says in caught.value.message
    assert len(caught.value.message) < 400


@given(st.one_of(st.binary(max_size=200), st.text(alphabet="[]{}=\"'.\n ,#abverify1_", max_size=60).map(str.encode)))
@example(b"\0")
def test_any_bytes_are_settings_or_are_refused(data: bytes) -> None:
    found: Settings | str
    try:
        found = parse(data, FILE)
    except Refusal as refusal:
        found = refusal.code
    assert type(found) is Settings or found == "settings.invalid"


RUNNER = {"name": "pytest", "version": "8.1"}
#: Keys that no check depends on.
ELSEWHERE = {"feature", "share.auto", "views.tracked", "hooks.stop"} | {key for key in EVERY_KEY if key[:4] == "run."}


def effect(data: bytes) -> dict[str, Any]:
    return effective(parse(data, FILE), RUNNER)


@pytest.mark.requirement("F5.17")
@pytest.mark.parametrize("key", EVERY_KEY)
def test_the_digest_is_of_what_a_check_depends_on(key: str) -> None:
    usual, other = effect(b""), effect(line(key, OTHER[key]))
    assert (digest(usual) == digest(other)) == (key in ELSEWHERE)
    assert (moved(usual, other) == []) == (key in ELSEWHERE)


@pytest.mark.requirement("F5.17")
def test_the_digest_is_of_the_runner_too_and_of_no_order() -> None:
    usual = effective(Settings(), RUNNER)
    assert digest(usual) != digest(effective(Settings(), {**RUNNER, "version": "9.0"}))
    ordered, turned = (effect(line("verify.env", names)) for names in ('["LANG", "CI"]', '["CI", "LANG"]'))
    assert digest(ordered) == digest(turned)


#: The keys whose other value asks for less.
WEAKER = {"policy.free_text", "verify.mode", "verify.coverage"}


@pytest.mark.requirement("F5.17")
@pytest.mark.parametrize("key", EVERY_KEY)
def test_only_what_asks_for_less_is_an_amendment(key: str) -> None:
    said = weakened(effect(b""), effect(line(key, OTHER[key])))
    assert [key in one for one in said] == ([True] if key in WEAKER else [])


@pytest.mark.requirement("F5.17")
@pytest.mark.parametrize(
    ("before", "after", "lower"),
    [
        ('[policy]\nchecked = "proven"', "", "policy.checked was proven and is auto"),
        ("", '[policy]\nchecked = "ran"', "policy.checked was auto and is ran"),
        (
            '[policy]\nchecked = "challenged"',
            '[policy]\nchecked = "proven"',
            "policy.checked was challenged and is proven",
        ),
        ("[policy]\nother_hand = true", "", "policy.other_hand was true and is false"),
        ("", "[verify]\ncoverage = 79", "verify.coverage was 80 and is 79"),
        ("", '[verify]\nirrelevant = ["src/**", "*.md"]', "verify.irrelevant has src/** more"),
        ('[verify]\nmode = "in-place"', "", ""),
        ("", '[policy]\nchecked = "challenged"\nother_hand = true\n[verify]\ncoverage = 100', ""),
    ],
)
def test_a_lower_policy_is_named_and_a_higher_one_is_none(before: str, after: str, lower: str) -> None:
    assert weakened(effect(before.encode()), effect(after.encode())) == ([lower] if lower else [])


def test_what_was_frozen_by_an_older_version_is_compared_as_far_as_it_goes() -> None:
    now = effect(b'[verify]\nmode = "in-place"\n')
    assert weakened({}, now) == []
    assert weakened({"mode": "tree"}, now) == ["verify.mode was tree and is in-place"]


@pytest.mark.requirement("F5.17")
def test_what_is_frozen_of_long_settings_is_bounded_and_still_compared() -> None:
    long = "[verify]\nirrelevant = [{}]\n"
    frozen = bounded(effect(long.format(", ".join(f'"a{number}"' for number in range(2000))).encode()))
    assert len(encode(frozen)) < 8192
    same = effect(long.format(", ".join(f'"a{number}"' for number in range(2000))).encode())
    more = effect(long.format(", ".join(f'"a{number}"' for number in range(2001))).encode())
    assert (weakened(frozen, same), moved(frozen, same)) == ([], [])
    assert weakened(frozen, more) == ["verify.irrelevant or verify.coverage is another"]
    assert moved(frozen, more) == ["thresholds"]
    lower = effect(b'[policy]\nfree_text = "claimed"\n')
    assert "policy.free_text was cited and is claimed" in weakened(frozen, lower)


@pytest.mark.requirement("F5.17")
def test_the_digest_of_no_settings_is_the_one_that_is_written_down() -> None:
    assert digest(effective(Settings())) == USUAL
