"""Holds trust by origin: which commands came with a repository and need it, that only a person gives it, for exactly
those words at that place; that the table survives any power cut, and trusts nothing where it cannot be read."""

from __future__ import annotations

import errno

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.origin import NAMED, Command, needed, waits
from tallystick.evidence.trust import TrustTable
from tallystick.ledger.model import Criterion, Draft
from tallystick.ledger.permissions import ROLES
from tallystick.settings import ProjectTests, Settings, Verify
from tests.desk import SetClock
from tests.simdisk import Fail, Fault, Faulty, SimDisk

HOME, TABLE = "/user/tallystick", "/user/tallystick/trust.json"
PLACE, OTHER = "/p/shop/.git", "/p/copy/.git"
AT = "2026-05-21T00:00:00.000Z"
MAKE = Command("criterion", ("make", "test"))
SETUP = Command("verify.setup", ("npm", "ci"), names=("AC1",))


def criterion(name: str, *required: str, foreign: bool = True, closed: str | None = None) -> Criterion:
    draft = Draft(name, "it works", required)
    return Criterion(*draft, draft.digest, foreign=foreign, closed=closed)


def asked(*criteria: Criterion, settings: Settings | None = None, confined: bool = True) -> list[tuple[str, str]]:
    found = needed(settings or Settings(), {"": criteria}, confined=confined)
    return [(one.origin, one.spelled) for one in found]


# -- what needs trust -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("P13")
def test_the_checks_of_another_key_need_trust_and_our_own_do_not_where_they_are_confined() -> None:
    theirs, ours = criterion("AC1", "run: make test"), criterion("AC2", "run: make ours", foreign=False)
    assert asked(theirs, ours) == [("criterion", "make test")]
    assert asked(theirs, ours, confined=False) == [("criterion", "make test"), ("own", "make ours")]
    assert asked(criterion("AC3", "run: make test", closed="gone")) == []


@pytest.mark.requirement("P13")
def test_test_ids_need_trust_for_their_runner_alone() -> None:
    found = asked(
        criterion("AC1", "tests: tests/test_a.py::test_one"), criterion("AC2", 'tests: ["test_b.py::test_x"]')
    )
    assert found == [("runner", "pytest")]
    assert asked(criterion("AC1", "tests: no id of any runner"), criterion("AC2", "a screenshot")) == []


@pytest.mark.requirement("P13")
def test_what_the_settings_name_needs_trust_whoever_froze_the_check() -> None:
    verify = Verify(
        setup=(("npm", "ci"),), network=("example.org", "a.example"), allow=("/run/x",), env=("PATH", "LANG", "TOKEN")
    )
    settings = Settings(tests=ProjectTests(("make", "test")), verify=verify)
    assert asked(criterion("AC1", "tests: test_a.py::test_one"), settings=settings) == [
        ("tests.command", "make test"),
        ("verify.setup", "npm ci"),
        ("verify", "network a.example network example.org path /run/x variable TOKEN"),
    ]


def test_a_command_stands_once_and_says_for_whom() -> None:
    some = {"a": [criterion("AC1", "run: make test")], "b": [criterion("AC1", "run: make test", "run: make lint")]}
    found = needed(Settings(), some)
    assert [(one.spelled, one.names) for one in found] == [
        ("make test", ("a/AC1", "b/AC1")),
        ("make lint", ("b/AC1",)),
    ]


@pytest.mark.requirement("P13")
def test_a_digest_is_of_every_word_and_of_no_reader() -> None:
    unlike = [
        MAKE,
        MAKE._replace(argv=("make", "test", "")),
        MAKE._replace(argv=("make test",)),
        MAKE._replace(folder="web"),
        MAKE._replace(origin="verify.setup"),
        MAKE._replace(rights=("network example.org",)),
    ]
    assert len({one.digest for one in unlike}) == len(unlike)
    assert MAKE._replace(names=("AC9",)).digest == MAKE.digest


def test_the_refusal_names_the_first_commands_in_one_line_and_counts_the_rest() -> None:
    long = [Command("criterion", ("sh", f"{'x' * 300}-{one}\x1b[2J\n"), names=("A" * 64,) * 9) for one in range(12)]
    refusal = waits(long)
    assert (refusal.code, refusal.exit) == ("trust.needed", 7)
    assert "12 commands wait" in refusal.message
    assert "and 7 more" in refusal.message
    assert refusal.message.isprintable()
    assert len(refusal.message) < 1000
    assert "tallystick trust" in refusal.hint
    commands = refusal.facts["commands"]
    assert isinstance(commands, list)
    assert (len(commands), refusal.facts["commands_more"]) == (NAMED, 12 - NAMED)
    assert "more" not in waits([MAKE]).message


# -- the table ------------------------------------------------------------------------------------------------------


def disk() -> SimDisk:
    made = SimDisk()
    made.folders("/user")
    return made


def table(made: SimDisk, place: str = PLACE) -> TrustTable:
    return TrustTable(made.process(), HOME, place, SetClock(), 1.0)


@pytest.mark.requirement("P13", "F5.3")
def test_what_a_person_trusted_is_trusted_here_and_nothing_else() -> None:
    made = disk()
    assert table(made).missing([MAKE, SETUP]) == [MAKE, SETUP]
    table(made).trust([MAKE], "user", AT)
    table(made).require([MAKE])
    assert table(made).missing([MAKE, SETUP]) == [SETUP]
    assert table(made).missing([SETUP], also=frozenset((SETUP.digest,))) == []
    assert table(made, OTHER).missing([MAKE]) == [MAKE]
    assert made.process().stat(TABLE).st_mode & 0o077 == 0
    with pytest.raises(Refusal, match="npm ci"):
        table(made).require([MAKE, SETUP])


def test_two_places_stand_beside_each_other_and_one_is_revoked() -> None:
    made = disk()
    table(made).trust([MAKE], "user", AT)
    table(made, OTHER).trust([SETUP], "user", AT)
    table(made).trust([SETUP, MAKE], "user", "later")
    assert [(one.command, one.at) for one in table(made).entries()] == [(MAKE, AT), (SETUP, "later")]
    assert table(made).revoke("user") == [MAKE, SETUP]
    assert table(made).entries() == []
    assert [one.command for one in table(made, OTHER).entries()] == [SETUP]


@pytest.mark.requirement("P13", "P12")
@pytest.mark.parametrize("role", sorted({*ROLES, "shell", "unknown"}))
def test_only_a_person_trusts_and_revokes(role: str) -> None:
    made = disk()
    table(made).trust([MAKE], "user", AT)
    before = made.content(TABLE)
    for act in (lambda: table(made).trust([SETUP], role, AT), lambda: table(made).revoke(role)):
        with pytest.raises(Refusal) as caught:
            act()
        assert (caught.value.code, "your user" in caught.value.hint) == ("role.denied", True)
    assert made.content(TABLE) == before


@pytest.mark.requirement("P1")
def test_trust_survives_any_power_cut_once_it_was_given() -> None:
    made = disk()
    table(made).trust([MAKE], "user", AT)
    assert all([one.command for one in table(made.crash(seed)).entries()] == [MAKE] for seed in range(30))


@pytest.mark.requirement("P3", "P13")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"version":1}',
        b'{"version":2,"places":{}}',
        b'{"version":1,"places":{},"places":{}}',
        b'{"version":1,"places":[]}',
    ],
)
def test_a_table_that_cannot_be_read_is_named_trusts_nothing_and_stays(data: bytes) -> None:
    made = disk()
    table(made).trust([MAKE], "user", AT)
    made.put(TABLE, data)
    for act in (
        lambda: table(made).require([MAKE]),
        lambda: table(made).trust([MAKE], "user", AT),
        lambda: table(made).revoke("user"),
        lambda: table(made).entries(),
    ):
        with pytest.raises(Refusal) as caught:
            act()
        assert (caught.value.code, caught.value.exit) == ("trust.damaged", 8)
        assert TABLE in caught.value.message
    assert made.content(TABLE) == data
    table(made).require([])  # what needs no trust is not held up


@pytest.mark.requirement("P13")
@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"make"', b'"fake"'), (b'"criterion"', b'"somebody"'), (b'["make","test"]', b'"make test"'), (b'"at"', b'"as"')],
)
def test_a_row_that_was_changed_is_damage(old: bytes, new: bytes) -> None:
    made = disk()
    table(made).trust([MAKE], "user", AT)
    data = made.content(TABLE)
    assert old in data
    made.put(TABLE, data.replace(old, new))
    with pytest.raises(Refusal) as caught:
        table(made).require([MAKE])
    assert caught.value.code == "trust.damaged"


def test_a_home_that_cannot_be_written_is_named() -> None:
    made = disk()
    faulty = Faulty(made.process(), [Fault(Fail(errno.EROFS), call="mkdir", path="/user")])
    with pytest.raises(Refusal) as caught:
        TrustTable(faulty, HOME, PLACE, SetClock(), 1.0).trust([MAKE], "user", AT)
    assert caught.value.code == "home.unwritable"
