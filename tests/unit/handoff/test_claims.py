"""Holds that an agent's own word is compared with git's path by path: what agrees is silent, what differs says how."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.handoff.manifest.claims import NOT_CHANGED, NOT_CLAIMED, Claimed, Difference, differences, normal
from tallystick.system.changes import Change

PATHS = st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=4), max_size=5, unique=True)


def change(path: str, kind: str = "modified", old: str | None = None) -> Change:
    return Change(path, kind, old, None, None, None, ("unstaged",))


def compared(changes: list[Change], modified: tuple[str, ...] = (), created: tuple[str, ...] = ()) -> dict[str, str]:
    return {one.path: one.kind for one in differences(Claimed(modified, created), changes, "/shop")}


@pytest.mark.requirement("O8")
def test_what_agrees_is_silent() -> None:
    changes = [change("a.py"), change("b.py", "created"), change("tool", "mode"), change("sub", "submodule")]
    assert compared(changes, ("a.py", "tool", "sub"), ("b.py",)) == {}
    assert compared([]) == {}


@pytest.mark.requirement("O8")
def test_what_was_claimed_and_not_done_and_done_and_not_claimed() -> None:
    assert compared([change("a.py"), change("c.py", "deleted")], ("b.py",)) == {
        "a.py": NOT_CLAIMED,
        "b.py": NOT_CHANGED,
        "c.py": NOT_CLAIMED,
    }


@pytest.mark.parametrize(
    ("claim", "kind", "says"),
    [
        ("modified", "created", "claimed as modified, was created"),
        ("modified", "deleted", "claimed as modified, was deleted"),
        ("created", "modified", "claimed as created, was modified"),
        ("created", "mode", "claimed as created, was modified"),
        ("created", "type", "claimed as created, was modified"),
        ("created", "submodule", "claimed as created, was modified"),
        ("created", "deleted", "claimed as created, was deleted"),
        ("modified", "type", ""),
        ("created", "renamed", ""),
        ("modified", "renamed", ""),
    ],
)
def test_what_became_of_a_path_in_another_way_than_claimed(claim: str, kind: str, says: str) -> None:
    old = "old.py" if kind == "renamed" else None
    found = compared([change("a.py", kind, old)], **{claim: ("a.py",)})
    assert found == ({"a.py": says} if says else {})


def test_a_renamed_file_may_be_claimed_under_either_name() -> None:
    moved = [change("new.py", "renamed", "old.py")]
    assert compared(moved, ("old.py",)) == compared(moved, (), ("new.py",)) == {}
    assert compared(moved, ("old.py",), ("new.py",)) == {}
    assert compared(moved) == {"new.py": NOT_CLAIMED}
    assert compared(moved, (), ("old.py",)) == {"old.py": "claimed as created, was renamed"}


def test_a_file_made_in_the_place_of_one_that_was_renamed_is_itself() -> None:
    both = [change("a.py", "created"), change("b.py", "renamed", "a.py")]
    assert compared(both, ("b.py",), ("a.py",)) == {}


def test_a_path_that_was_claimed_twice_agrees_when_one_claim_does() -> None:
    assert compared([change("a.py", "created")], ("a.py", "./a.py"), ("a.py",)) == {}


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("./a.py", "a.py"),
        ("src//x/./a.py", "src/x/a.py"),
        ("src/../a.py", "a.py"),
        ("/shop/src/a.py", "src/a.py"),
        ("/shop//a.py", "a.py"),
        ("a.py/", "a.py"),
        ("src\\a.py", "src\\a.py"),
        (".\\a.py", ".\\a.py"),
        (" a.py ", " a.py "),
        ("/shop", ""),
        ("/shopping/a.py", "/shopping/a.py"),
        ("/etc/passwd", "/etc/passwd"),
        ("../a.py", "../a.py"),
        ("src/../../a.py", "src/../../a.py"),
        ("/shop/../a.py", "/shop/../a.py"),
    ],
)
def test_paths_are_read_as_git_writes_them(written: str, path: str) -> None:
    assert normal(written, "/shop") == path


def test_what_lies_outside_the_tree_was_not_changed_by_gits_account() -> None:
    assert compared([change("a.py")], ("/other/a.py", "../a.py", "a.py")) == {
        "/other/a.py": NOT_CHANGED,
        "../a.py": NOT_CHANGED,
    }


def test_our_own_folders_are_no_matter_of_claims() -> None:
    own = (".jonggrang/.output/features/f/MANIFEST.yaml", "./.agent/tasks/f/notes.md", "/shop/.tallystick/config.toml")
    assert compared([], own, own) == {}
    assert compared([], ("src/.jonggrang/x",)) == {"src/.jonggrang/x": NOT_CHANGED}


@pytest.mark.parametrize(
    ("claimed", "changed", "by"),
    [("e\u0301.py", "é.py", "Unicode normalization"), ("Readme.md", "README.md", "case"), ("É", "e\u0301", "case")],
)
def test_two_paths_that_look_the_same_are_two_and_say_so(claimed: str, changed: str, by: str) -> None:
    found = differences(Claimed((claimed,), ()), [change(changed), change("else.py")])
    assert set(found) == {
        Difference(claimed, NOT_CHANGED, f"differs only by {by} from {changed}"),
        Difference(changed, NOT_CLAIMED, f"differs only by {by} from {claimed}"),
        Difference("else.py", NOT_CLAIMED),
    }


@given(PATHS, st.data())
def test_a_full_and_honest_report_never_differs(paths: list[str], data: st.DataObject) -> None:
    plain = [path for path in paths if path not in (".", "..")]
    kinds = [data.draw(st.sampled_from(["created", "modified"])) for _ in plain]
    changes = [change(path, kind) for path, kind in zip(plain, kinds, strict=True)]
    by_kind = {kind: tuple(one.path for one in changes if one.kind == kind) for kind in ("modified", "created")}
    assert differences(Claimed(by_kind["modified"], by_kind["created"]), changes) == ()
    silent = differences(Claimed((), ()), changes)
    assert [one.path for one in silent] == sorted(plain, key=lambda path: path.encode("utf-8", "surrogatepass"))
    invented = differences(Claimed(tuple(plain), ()), [])
    assert {(one.path, one.kind) for one in invented} == {(path, NOT_CHANGED) for path in plain}


def test_names_that_are_no_utf_8_are_sorted_and_compared() -> None:
    assert compared([change("bad\udcff"), change("a", "created")], ("bad\udcff",), ("a",)) == {}
