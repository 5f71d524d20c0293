"""Holds how rules become mounts and arguments, which means is chosen, and what is missing only because confined."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.system.confine import Means, Rules, Wrapped, confinement_failed, missing_because_confined, wrap
from tallystick.system.confine.bubblewrap import bubblewrap
from tallystick.system.confine.ground import ground_of, listening, other_names
from tallystick.system.confine.landlock import order
from tallystick.system.confine.launcher import granted, rights
from tallystick.system.confine.layout import Ground, Mount, layout
from tallystick.system.confine.probing import choose
from tallystick.system.confine.rules import moved, within
from tallystick.system.confine.seatbelt import profile
from tallystick.system.confine.tools import tool_folders
from tallystick.system.process import Finished

RULES = Rules(
    tree="/u/.cache/tree",
    home="/own/home",
    writable=("/own/tmp",),
    hidden=("/u",),
    secret=("/u/state", "/u/shop/.git/store"),
    read_only=("/u/.pyenv",),
    mount_at="/u/shop",
    binds=(("/u/shop/.venv", "/u/shop/.venv"),),
)
GROUND = Ground(
    RULES, covered=("/u", "/u/shop/.git/store", "/u/state"), own=("/tmp",), closed=("/run",), sockets=("/var/lib/sock",)
)
SOCKETS = """\
Num       RefCount Protocol Flags    Type St Inode Path
0000: 00000003 00000000 00000000 0001 03  1562
0000: 00000002 00000000 00010000 0001 01  1562 /run/with a blank.sock
0000: 00000002 00000000 00010000 0001 01  1562 @abstract
0000: 00000002 00000000 00010000 0001 01  1562 relative
"""
MOUNTS = """\
21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:2 / /users rw - ext4 /dev/sda2 rw
23 21 8:2 / /mnt/with\\040blank rw - ext4 /dev/sda2 rw
24 21 8:2 /ann/.ssh /backup rw - ext4 /dev/sda2 rw
25 21 8:2 /other /elsewhere rw - ext4 /dev/sda2 rw
26 21 0:5 / /proc rw - proc proc rw
"""


def seen(mounts: tuple[Mount, ...], path: str) -> str:
    """What a program finds at `path`: the last mount around it decides."""
    found = ""
    for mount in mounts:
        if within(path, mount.place):
            found = mount.kind if not mount.source else moved(path, mount.place, mount.source)
    return found


def test_the_more_exact_path_wins() -> None:
    mounts = layout(GROUND)
    assert {path: seen(mounts, path) for path in ("/u/.ssh", "/u/state/key", "/u/shop/src", "/u/shop/.venv/lib")} == {
        "/u/.ssh": "empty",
        "/u/state/key": "empty",
        "/u/shop/src": "/u/.cache/tree/src",
        "/u/shop/.venv/lib": "/u/shop/.venv/lib",
    }
    assert seen(mounts, "/u/.pyenv/bin") == "/u/.pyenv/bin"
    assert seen(mounts, "/u/.cache/tree") == "empty", "a tree that is mounted elsewhere is not seen twice"
    assert (seen(mounts, "/run/docker.sock"), seen(mounts, "/var/lib/sock"), seen(mounts, "/etc")) == (
        "empty",
        "nothing",
        "",
    )


def test_a_secret_inside_what_is_shown_elsewhere_is_covered_there() -> None:
    rules = Rules("/u/tree", "/own/home", secret=("/u/tree/deep/key",), mount_at="/u/shop")
    mounts = layout(Ground(rules, ("/u/tree/deep/key",), frozenset({"/u/tree/deep/key"})))
    assert seen(mounts, "/u/shop/deep/key") == "nothing"
    assert seen(mounts, "/u/tree/deep/key") == "nothing"
    assert seen(mounts, "/u/shop/deep/other") == "/u/tree/deep/other"


def test_a_socket_in_a_writable_folder_stays() -> None:
    ground = GROUND._replace(sockets=("/own/tmp/a.sock", "/u/.pyenv/b.sock"))
    assert seen(layout(ground), "/own/tmp/a.sock") == "/own/tmp/a.sock"
    assert seen(layout(ground), "/u/.pyenv/b.sock") == "nothing"


@given(st.sets(st.sampled_from(["/a", "/a/b", "/a/b/c", "/a/bc", "/b", "/tmp/x", "/a/b/c/d"])))
def test_nothing_hidden_is_seen_whatever_lies_around_it(hidden: set[str]) -> None:
    """Only the tree and the home are visible inside of what is hidden."""
    ground = Ground(Rules("/a/tree", "/tmp/home", hidden=tuple(hidden)), tuple(sorted(hidden)), own=("/tmp",))
    mounts = layout(ground)
    assert all(seen(mounts, f"{path}/file") in ("empty", "own") for path in hidden)
    assert seen(mounts, "/a/tree/file") == "/a/tree/file"
    places = [mount.place for mount in mounts]
    assert all(
        not within(later, place) or later != place for i, later in enumerate(places) for place in places[i + 1 :]
    )


@pytest.mark.parametrize("root", [True, False])
def test_bubblewrap_is_called_without_rights(root: bool) -> None:
    argv = bubblewrap("/usr/bin/bwrap", ("make", "test"), GROUND, "/u/shop", root=root, sized=True)
    text = " ".join(argv)
    assert "--cap-drop ALL" in text
    assert "--unshare-net" in argv
    assert "--unshare-pid" in argv
    assert "--die-with-parent" in argv
    assert ("--remount-ro /proc" in text) == root
    assert text.endswith("--chdir /u/shop -- make test")
    assert text.index("--tmpfs /u --") < text.index("--bind /u/.cache/tree /u/shop") < text.index("--remount-ro /u ")
    assert "--unshare-net" not in bubblewrap("b", (), _open_network(GROUND), "/", root=root, sized=False)


def _open_network(ground: Ground) -> Ground:
    return ground._replace(rules=ground.rules._replace(network="all"), resolver="/run/resolv.conf")


def test_with_the_network_names_can_be_looked_up() -> None:
    assert seen(layout(_open_network(GROUND)), "/run/resolv.conf") == "/run/resolv.conf"
    assert seen(layout(GROUND._replace(resolver="/run/resolv.conf")), "/run/resolv.conf") == "empty"


def test_landlock_grants_everything_only_where_mounts_hide() -> None:
    whole, files = order(GROUND, "/u/shop", namespaces=True), order(GROUND, "/u/.cache/tree", namespaces=False)
    assert (whole["read"], whole["shut"]) == (["/"], [])
    assert "/u/shop" in whole["write"]
    assert set(files["shut"]) >= {"/u", "/u/state", "/tmp", "/run", "/dev"}
    assert (files["mounts"], "/u/.cache/tree" in files["write"], "/u/shop" in files["write"]) == ([], True, False)


def test_what_is_granted_goes_around_what_is_shut(tmp_path: Path) -> None:
    for name in ("a/b", "a/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "way in").symlink_to(tmp_path / "a" / "b")
    parts = granted(str(tmp_path), [str(tmp_path / "a" / "b")])
    assert parts == [str(tmp_path / "a" / "c"), str(tmp_path / "d")]
    assert granted(str(tmp_path), [str(tmp_path)]) == [str(tmp_path)], "who asks for a shut place by name gets it"


def test_rights_grow_with_the_version_of_landlock() -> None:
    known = [rights(abi) for abi in range(3, 10)]
    assert all(earlier & later == earlier for earlier, later in itertools.pairwise(known))
    assert [right.bit_length() for right in known] == [15, 15, 16, 16, 16, 16, 17]


def test_sockets_are_read_from_the_kernels_table() -> None:
    assert listening(SOCKETS) == ("/run/with a blank.sock",)
    assert listening("") == ()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/users/ann", ("/mnt/with blank/ann", "/backup")),
        ("/users/ann/.ssh/id", ("/mnt/with blank/ann/.ssh/id", "/backup/id")),
        ("/users/bob", ("/mnt/with blank/bob",)),
        ("/etc", ()),
    ],
)
def test_a_hidden_place_is_found_under_its_other_names(path: str, names: tuple[str, ...]) -> None:
    assert other_names(MOUNTS, path) == names


def test_nothing_makes_a_secret_visible(tmp_path: Path) -> None:
    for name in ("state", "tree", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "state")
    rules = Rules(str(tmp_path / "tree"), str(tmp_path / "home"), secret=(str(tmp_path / "state"),))
    place = str(tmp_path / "tree" / ".venv")
    for asking in (
        rules._replace(read_only=(str(tmp_path / "link"),)),
        rules._replace(binds=((str(tmp_path / "link"), place),)),
        rules._replace(writable=(str(tmp_path / "state" / "key"),)),
    ):
        with pytest.raises(Refusal, match="no check may see"):
            ground_of(asking)
    assert ground_of(rules).covered == (str((tmp_path / "state").resolve()),)


def test_without_a_means_the_command_is_as_it_was(tmp_path: Path) -> None:
    rules = Rules(str(tmp_path), str(tmp_path), mount_at="/somewhere")
    real = os.path.realpath(tmp_path)
    assert wrap(("make",), rules, Means("unsandboxed"), folder="sub") == Wrapped(("make",), f"{real}/sub", real)


def test_the_first_means_that_works_is_chosen_and_says_why_no_better_one() -> None:
    offered = [Means("bubblewrap"), Means("landlock", namespaces=True), Means("landlock")]
    answers = {"bubblewrap": "not installed", "landlock": "not permitted", "landlock, files only": ""}
    chosen = choose(offered, lambda means: answers["landlock" if means.namespaces else means.word])
    assert (chosen.word, chosen.whole, chosen.mounts, chosen.confines) == ("landlock, files only", False, False, True)
    assert chosen.tried == ("bubblewrap: not installed", "landlock: not permitted")
    nothing = choose(offered, lambda means: "no")
    assert (nothing.word, nothing.whole, nothing.confines, len(nothing.tried)) == ("unsandboxed", False, False, 3)
    assert choose(offered, lambda means: "").word == "bubblewrap"


def failed(text: str, status: int = 1) -> Finished:
    return Finished(status, None, text.encode())


@pytest.fixture
def hiding(tmp_path: Path) -> Rules:
    """Rules that hide a home with a program and a cache in it."""
    home = tmp_path.resolve() / "user"
    for name in ("bin/measure", ".npm/index", "state/key", "tree/file"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("#!/bin/sh\n")
        (home / name).chmod(0o755)
    return Rules(f"{home}/tree", f"{home}/tree", hidden=(str(home),), secret=(f"{home}/state",))


SAYS = [
    ("bwrap: execvp measure: No such file or directory", "measure"),
    ("tallystick: cannot start {home}/bin/measure: Permission denied", "{home}/bin/measure"),
    ("sh: 1: measure: not found", "measure"),
    ("bash: line 3: measure: command not found", "measure"),
    ("sh: 1: measure: Permission denied", "measure"),
    ("zsh:1: command not found: measure", "measure"),
    ("/usr/bin/env: 'measure': No such file or directory", "measure"),
    ("make: measure: No such file or directory", "measure"),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'measure'", "measure"),
    ("PermissionError: [Errno 13] Permission denied: '{home}/.npm/index'", "{home}/.npm/index"),
    ("OSError: [Errno 30] Read-only file system: '{base}/cache'", "{base}/cache"),
    ("Error: ENOENT: no such file or directory, open '{home}/.npm/index'", "{home}/.npm/index"),
    ("Error: spawn measure ENOENT", "measure"),
    ('exec: "measure": executable file not found in $PATH', "measure"),
    ("touch: {base}/cache: Read-only file system", "{base}/cache"),
    ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "the network"),
    ("Error: getaddrinfo ENOTFOUND example.org", "the network"),
    ("sh: 1: nowhere: not found", None),
    ("FileNotFoundError: [Errno 2] No such file or directory: '{home}/absent'", None),
    ("FileNotFoundError: [Errno 2] No such file or directory: '{base}/absent'", None),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'tree/absent'", None),
    ("PermissionError: [Errno 13] Permission denied: '{home}/state/key'", None),
    ("PermissionError: [Errno 13] Permission denied: '{home}/tree/file'", None),
    ("AssertionError: 1 == 2", None),
]


@pytest.mark.parametrize(("says", "needs"), SAYS, ids=[says[:40] for says, _ in SAYS])
def test_what_is_missing_only_here_is_named(hiding: Rules, says: str, needs: str | None) -> None:
    home = hiding.hidden[0]
    # what lies in a temporary folder of the system is hidden with it: a place beside the project may be there too
    beside = (Path(__file__).parent, Path("/usr/local"))
    base = next(one for one in beside if one.parts[1] != "tmp" and os.access(one, os.W_OK))
    facts = {"home": home, "base": str(base)}
    needed = missing_because_confined(failed(says.format(**facts)), hiding, f"{home}/bin:/usr/bin:/bin")
    assert needed == (needs.format(**facts) if needs else None)


def test_who_succeeded_needs_nothing(hiding: Rules) -> None:
    assert missing_because_confined(failed("sh: 1: measure: not found", 0), hiding, f"{hiding.hidden[0]}/bin") is None
    allowed = hiding._replace(network="all")
    assert missing_because_confined(failed("Network is unreachable"), allowed, "/bin") is None


def test_a_confinement_that_failed_is_told_from_a_red_check() -> None:
    assert confinement_failed(failed("hm\nbwrap: Can't mkdir /x: Read-only file system\n")) is not None
    assert confinement_failed(failed("tallystick: cannot shut the program in: mount denied", 125)) is not None
    assert confinement_failed(failed("1 failed")) is None
    assert confinement_failed(failed("bwrap: Can't mkdir", 0)) is None


def test_a_profile_for_macos_names_the_more_exact_path_last() -> None:
    text = profile(GROUND._replace(rules=RULES._replace(tree='/u/a "tree"', mount_at="")))
    lines = text.splitlines()
    hidden = lines.index('(deny file-read* file-write* (subpath "/u"))')
    assert lines.index('(allow file-write* (subpath "/u/a \\"tree\\""))') > hidden
    assert lines.index('(deny file-read* file-write* (subpath "/u/state"))') > hidden
    assert "(deny network*)" in lines
    assert "(deny network*)" not in profile(_open_network(GROUND))


def test_tools_of_a_home_are_found_and_its_tokens_are_not(tmp_path: Path) -> None:
    for name in (".cargo/bin", ".cargo/registry", ".ssh", ".pyenv", ".local/share/keyrings"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".cargo" / "credentials.toml").write_text("token")
    found = {os.path.relpath(path, tmp_path) for path in tool_folders(str(tmp_path))}
    assert found == {".cargo/bin", ".cargo/registry", ".pyenv"}
