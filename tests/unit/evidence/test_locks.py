"""Holds that a lock set that is kept is had again as it was, whatever its names are; that bytes of somebody else's that
are none are none; and what of a tree has a part in the one word for its state."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.evidence import locks
from tallystick.evidence.lockset import KINDS, Lock, LockSet
from tallystick.journal.blobs import Blobs
from tallystick.system.files import OsFiles
from tallystick.system.listing import LINK, SUBMODULE, Entry

NAMES = st.binary(min_size=1).map(lambda data: data.decode("utf-8", "surrogateescape"))
LOCKS = st.builds(Lock, st.sampled_from(KINDS), NAMES, st.sampled_from(["", "0" * 64]), st.text(max_size=9))


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> Blobs:
    folder = tmp_path_factory.mktemp("store")
    return Blobs(OsFiles(), f"{folder}/blobs", f"{folder}/spares")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LOCKS, max_size=4).map(tuple), st.lists(NAMES, max_size=4).map(tuple))
def test_what_is_kept_is_had_again(blobs: Blobs, found: tuple[Lock, ...], known: tuple[str, ...]) -> None:
    lock = LockSet(found, known)
    name = locks.keep(blobs, lock)
    assert locks.load(blobs, name) == lock
    assert locks.keep(blobs, LockSet(found, known)) == name


@given(NAMES)
def test_any_name_can_be_written_and_read(name: str) -> None:
    assert locks.name_of(canonical.parse(canonical.encode(locks.written(name)), "a name")) == name


GOOD = ["test", "tests/test_cart.py", "0" * 64, ""]
NONE: dict[str, Json] = {
    "nothing": None,
    "list": [],
    "no known": {"locks": [GOOD]},
    "no locks": {"known": []},
    "short row": {"locks": [GOOD[:3]], "known": []},
    "long row": {"locks": [[*GOOD, ""]], "known": []},
    "kind of no lock": {"locks": [["what", *GOOD[1:]]], "known": []},
    "kind is a number": {"locks": [[7, *GOOD[1:]]], "known": []},
    "path is a number": {"locks": [["test", 7, *GOOD[2:]]], "known": []},
    "path is an object": {"locks": [["test", {"a": 1}, *GOOD[2:]]], "known": []},
    "path is empty in a list": {"locks": [["test", [], *GOOD[2:]]], "known": []},
    "digest is a list": {"locks": [[*GOOD[:2], [], ""]], "known": []},
    "part is null": {"locks": [[*GOOD[:3], None]], "known": []},
    "known holds a number": {"locks": [], "known": [7]},
    "known is text": {"locks": [], "known": "ab"},
    "known is an object": {"locks": [], "known": {"a": 1}},
    "locks are an object": {"locks": {"abcd": 1}, "known": []},
    "kind is a list": {"locks": [[[], *GOOD[1:]]], "known": []},
}


@pytest.mark.parametrize("value", NONE.values(), ids=NONE)
def test_what_is_no_lock_set_is_none(blobs: Blobs, value: Json) -> None:
    assert locks.load(blobs, blobs.keep(canonical.encode(value))) is None


@pytest.mark.parametrize("data", [b"", b"{", b"\0", b"[" * 100_000, b'{"known":[],"known":[],"locks":[]}'])
def test_bytes_that_are_none_are_none(blobs: Blobs, data: bytes) -> None:
    assert locks.load(blobs, blobs.keep(data)) is None


@pytest.mark.parametrize("name", ["", "0" * 64, "../../x", "\0"])
def test_a_name_of_nothing_is_none(blobs: Blobs, name: str) -> None:
    assert locks.load(blobs, name) is None


def test_the_state_of_a_copy_reads_files_and_follows_no_link(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    (copy / "sub").mkdir(parents=True)
    (copy / "a.py").write_bytes(b"a\n")
    (copy / "astray").symlink_to(tmp_path / "secret")
    (copy / "out").symlink_to(tmp_path)
    (tmp_path / "secret").write_bytes(b"secret\n")
    rows = {
        "a.py": Entry("100644", "a" * 40),
        "gone.py": Entry("100644", "b" * 40),
        "astray": Entry(LINK, "c" * 40),
        "sub": Entry(SUBMODULE, "d" * 40),
    }
    state = locks.state_of_copy(OsFiles(), rows, str(copy))
    assert (state.names, state.links) == (frozenset(("a.py", "gone.py")), frozenset(("astray",)))
    assert [state.read(name) for name in ("a.py", "gone.py", "astray", "out/secret", "../secret")] == [
        b"a\n",
        *[None] * 4,
    ]
    (copy / "a.py").write_bytes(b"changed\n")
    assert state.read("a.py") == b"a\n", "each file is read once"


def test_the_word_for_a_state_says_all_that_lies_there_but_what_is_ours() -> None:
    rows = {"a.py": Entry("100644", "a" * 40), "bad\udcff": Entry("100644", "b" * 40)}
    word = locks.state_digest(rows)
    ours = {f"{folder}/x": Entry("100644", "c" * 40) for folder in (".tallystick", ".jonggrang", ".claude")}
    assert locks.state_digest({**ours, **rows}) == word
    others = [
        {**rows, "a.py": Entry("100755", "a" * 40)},
        {**rows, "a.py": Entry("100644", "c" * 40)},
        {**rows, "README.md": Entry("100644", "c" * 40)},
        {"a.py": rows["a.py"]},
        {},
    ]
    assert len({word, *map(locks.state_digest, others)}) == 6
