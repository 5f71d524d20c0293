"""Holds the user's half: the key is made once, never replaced and never guessed; writer ids prove whose they are."""

from __future__ import annotations

import errno
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.journal.home import Home
from tests.simdisk import Fail, Fault, Faulty, SimDisk

FOLDER, KEY_FILE, HIDDEN = "/user/tallystick", "/user/tallystick/key", "/user/tallystick/.gitignore"
STORE, PLACE = "5" * 32, "/p/.git/tallystick"


def disk() -> SimDisk:
    made = SimDisk()
    made.folders("/user")
    return made


def home(made: SimDisk) -> Home:
    return Home(made.process(), FOLDER)


@pytest.mark.requirement("F5.2", "F5.3")
def test_a_key_is_made_once_and_is_its_owners_alone() -> None:
    made = disk()
    assert home(made).key() is None
    key = home(made).make_key()
    assert (len(key), home(made).key(), home(made).make_key()) == (32, key, key)
    assert re.fullmatch(rb"[0-9a-f]{64}\n", made.content(KEY_FILE))
    assert made.process().stat(KEY_FILE).st_mode & 0o077 == 0
    assert made.process().stat(FOLDER).st_mode & 0o077 == 0
    assert [path for path, data in made.tree(FOLDER).items() if data is not None] == [HIDDEN, KEY_FILE]


@pytest.mark.requirement("P1")
def test_a_made_key_survives_any_power_cut() -> None:
    made = disk()
    key = home(made).make_key()
    assert all(home(made.crash(seed)).key() == key for seed in range(30))


@pytest.mark.requirement("P3", "F1.4")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\0" * 65,
        b"ab" * 31,
        b"ab" * 33,
        b"ab" * 31 + b"a\n",
        b"zz" * 32 + b"\n",
        "é".encode() * 32,
        b"\xff" * 64,
        bytes(range(32)),
        b"ab" * 3000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_a_file_that_is_no_key_is_damage_and_is_never_replaced(data: bytes) -> None:
    made = disk()
    made.put(KEY_FILE, data)
    for ask in (Home.key, Home.make_key):
        with pytest.raises(Refusal) as caught:
            ask(home(made))
        assert caught.value.code == "key.damaged"
        assert KEY_FILE in caught.value.message
    assert made.content(KEY_FILE) == data


@pytest.mark.requirement("F5.2")
@pytest.mark.parametrize("data", [b"ab" * 32, b"AB" * 32 + b"\n", b"ab" * 32 + b"\r\n"])
def test_line_ends_and_case_of_a_key_do_not_matter(data: bytes) -> None:
    made = disk()
    made.put(KEY_FILE, data)
    assert home(made).key() == b"\xab" * 32


@pytest.mark.requirement("P6", "F5.2")
def test_a_key_that_may_not_be_read_is_not_seen_and_not_made_anew() -> None:
    made = disk()
    home(made).make_key()
    before = made.tree("/")
    hidden = Faulty(made.process(), [Fault(Fail(errno.EACCES), call="open", path=KEY_FILE)])
    assert Home(hidden, FOLDER).key() is None
    hidden = Faulty(made.process(), [Fault(Fail(errno.EACCES), call="open", path=KEY_FILE, times=9)])
    with pytest.raises(Refusal) as caught:
        Home(hidden, FOLDER).make_key()
    assert caught.value.code == "home.unwritable"
    assert made.tree("/") == before


@pytest.mark.requirement("F5.2")
def test_a_home_that_cannot_be_written_says_so() -> None:
    files = Faulty(disk().process(), [Fault(Fail(errno.EROFS), call="mkdir", path="/user")])
    with pytest.raises(Refusal) as caught:
        Home(files, FOLDER).make_key()
    assert caught.value.code == "home.unwritable"
    assert "read-only" in caught.value.message


PATHS = st.text(st.characters(exclude_characters="\0\n") | st.just("\udcff"), min_size=1, max_size=10)


@pytest.mark.requirement("F5.4", "P18")
@given(PATHS, PATHS)
def test_a_writer_is_the_same_at_the_same_place_and_another_elsewhere(one: str, two: str) -> None:
    here = home(disk())
    here.make_key()
    assert here.writer(STORE, one) == here.writer(STORE, one)
    assert (here.writer(STORE, one) == here.writer(STORE, two)) is (one == two)
    assert here.writer(STORE, one) != here.writer("6" * 32, one)
    assert re.fullmatch("[0-9a-f]{32}", here.writer(STORE, one))


@pytest.mark.requirement("P11")
def test_a_writer_of_this_key_is_known_at_every_path_and_no_other_is() -> None:
    mine, other = home(disk()), home(disk())
    mine.make_key()
    other.make_key()
    moved = mine.writer(STORE, "/elsewhere")
    assert mine.owns(STORE, moved)
    assert not mine.owns("6" * 32, moved)
    assert not other.owns(STORE, moved)
    assert not home(disk()).owns(STORE, moved)
    strangers = ["", "a", moved[:-1], moved + "0", moved.upper() + "x", "é" * 32, "\udcff" * 32, moved[:16] + "0" * 16]
    assert [name for name in strangers if mine.owns(STORE, name)] == []


def test_without_a_key_there_is_no_writer() -> None:
    with pytest.raises(Refusal) as caught:
        home(disk()).writer(STORE, PLACE)
    assert caught.value.code == "key.missing"
    assert "tallystick init" in caught.value.hint


@pytest.mark.requirement("P11")
def test_stores_are_remembered_by_place_in_order_and_once() -> None:
    made = disk()
    here = home(made)
    here.make_key()
    for one in ("1" * 32, "2" * 32, "1" * 32):
        here.remember_store(PLACE, one)
    here.remember_store("/other\udcff", "3" * 32)
    for seed in range(10):
        after = home(made.crash(seed))
        assert after.earlier_stores(PLACE) == ["1" * 32, "2" * 32]
        assert after.earlier_stores("/other\udcff") == ["3" * 32]
    assert here.earlier_stores("/new") == []


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\0" * 100])
def test_a_memory_of_places_that_is_damaged_stops_nobody(data: bytes) -> None:
    made = disk()
    here = home(made)
    here.make_key()
    here.remember_store(PLACE, "1" * 32)
    [path] = [path for path, kept in made.tree(f"{FOLDER}/places").items() if kept is not None]
    made.put(path, data)
    here.remember_store(PLACE, "2" * 32)
    assert here.earlier_stores(PLACE)[-1] == "2" * 32
