"""Holds that a state can be had again, byte for byte, whatever git, attributes and settings say of it; that nothing of
the user's is touched and no program started; and that a second laying out sets right what a check left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from select import select

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.evidence.fresh import SLOTS, sweep, trees_folder
from tallystick.moment import SystemClock
from tests.real.fresh_scene import FILES, Entry, Scene, everything
from tests.real.project import Project

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"


@pytest.fixture
def scene(project: Project, tmp_path: Path) -> Scene:
    return Scene(project, tmp_path / "store")


def dirty(scene: Scene) -> Scene:
    """A work tree with something of every kind."""
    scene.write("src/kept.py", b"kept = 1\n")
    scene.write("src/edited.py", b"edited = 1\n")
    scene.write("gone.txt")
    scene.write(".gitignore", b"ignored\n")
    scene.commit()
    scene.write("src/edited.py", b"edited = 2\r\nmixed\n")
    scene.write("run.sh", b"#!/bin/sh\n", mode=0o755)
    scene.write("ignored", b"not part of it")
    (scene.top / "gone.txt").unlink()
    (scene.top / "link").symlink_to("src/kept.py")
    (scene.top / "astray").symlink_to("/nowhere/at all")
    scene.write("odd\nname \udcff\t\"'*", b"\0binary\xff")
    scene.write("-x")
    scene.write("git~1")
    return scene


def without(found: dict[bytes, Entry], *names: bytes) -> dict[bytes, Entry]:
    return {path: entry for path, entry in found.items() if path not in names}


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_a_dirty_tree_is_had_again_and_nothing_of_the_users_is_touched(tmp_path: Path, format_: str) -> None:
    scene = dirty(Scene(Project.made(tmp_path / "shop", None, f"--object-format={format_}"), tmp_path / "store"))
    before = scene.untouchable()
    recorded = scene.record()
    assert scene.laid(recorded.tree) == without(everything(scene.top), b"ignored")
    assert (recorded.submodules, recorded.nested, recorded.left_out, recorded.sparse) == ((), (), (), ())
    assert scene.untouchable() == before
    assert scene.project.git("worktree", "list").count("\n") == 1


def test_a_clean_tree_has_the_id_that_git_gave_it(scene: Scene) -> None:
    scene.write("src/a.py")
    tree = scene.commit()
    recorded = scene.record()
    assert (recorded.tree, recorded.stored) == (tree, 0)


def test_only_what_the_repository_lacks_is_stored(scene: Scene) -> None:
    scene.write("known", b"git knows these bytes\n")
    scene.project.git("hash-object", "-w", "known")
    scene.write("new", b"and not these\n")
    scene.write("twin", b"and not these\n")
    assert scene.record().stored == 1
    assert scene.record(believe=False).stored == 0


def test_a_file_at_rest_is_read_once_and_any_change_is_seen(scene: Scene) -> None:
    names = [f"f{number}" for number in range(30)]
    for name in names:
        scene.write(name, b"aaaa")
    first = scene.record(after_s=60)
    assert first.read >= 30
    again = scene.record(after_s=60)
    assert (again.tree, again.read) == (first.tree, 0)
    times = os.stat(scene.top / "f7")
    scene.write("f7", b"bbbb")
    os.utime(scene.top / "f7", ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = scene.record(after_s=60)
    assert (changed.tree != first.tree, changed.read) == (True, 1)
    assert scene.record(believe=False).read >= 30
    shutil.rmtree(scene.store)
    assert scene.record(after_s=60).tree == changed.tree
    assert scene.laid(changed.tree)[b"f7"].data == b"bbbb"


def test_a_file_that_was_just_written_is_read_again(scene: Scene) -> None:
    scene.write("young")
    scene.record()
    assert scene.record().read >= 1


def test_damage_to_our_own_notes_is_healed(scene: Scene) -> None:
    recorded = dirty(scene).record(after_s=60)
    laid = scene.laid(recorded.tree)
    for place in (scene.store / "cache", Path(trees_folder(FILES, os.environ))):
        for path in list(place.rglob("*")):
            if path.is_file() and "tree" not in path.relative_to(place).parts[1:]:
                path.write_bytes(b"damaged")
    assert scene.record(after_s=60).tree == recorded.tree
    assert scene.laid(recorded.tree) == laid


ODD = st.binary(min_size=1, max_size=12).map(lambda raw: raw.replace(b"/", b"-").replace(b"\0", b"0"))
NAMES = st.one_of(
    ODD, st.sampled_from([b"a", b"b c", b"-x", b"git~1", b"new\nline", b'"', b"\\", b"\xff\xfe", b"e\xcc\x81", b".x "])
).filter(lambda name: name.lower()[:4] != b".git" and name not in (b".", b".."))
DATA = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"", b"a\r\nb\r\n", b"a\r\nb\n", b"$Id$\n", b"$Id: x $\r\n", b"\xff\xfea\0"]),
)
FILE = st.tuples(st.sampled_from(["file", "program", "link"]), DATA)
ATTRIBUTES = st.sampled_from(
    [
        b"",
        b"* text eol=crlf\n",
        b"* text=auto\n",
        b"* text eol=lf ident\n",
        b"* working-tree-encoding=UTF-16\n",
        b"* filter=canary -text\n",
        b"* binary\n",
    ]
)


def put(top: Path, paths: dict[tuple[bytes, ...], tuple[str, bytes]]) -> None:
    """Write what can be written: a path that goes through a file is left out."""
    for parts, (kind, data) in paths.items():
        path = os.path.join(os.fsencode(top), *parts)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if kind == "link":
                os.symlink(data.replace(b"\0", b"0") or b"x", path)
                continue
            with open(path, "xb") as file:
                file.write(data)
            os.chmod(path, 0o755 if kind == "program" else 0o644)
        except (FileExistsError, NotADirectoryError, FileNotFoundError):
            continue


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.dictionaries(st.lists(NAMES, min_size=1, max_size=3).map(tuple), FILE, max_size=8), ATTRIBUTES),
        min_size=2,
        max_size=3,
    )
)
def test_any_files_come_again_and_one_state_follows_another(
    tmp_path_factory: pytest.TempPathFactory,
    states: list[tuple[dict[tuple[bytes, ...], tuple[str, bytes]], bytes]],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    scene = Scene(Project.made(folder / "shop"), folder / "store")
    canary = folder / "canary"
    for key in ("clean", "smudge", "process"):
        scene.project.git("config", f"filter.canary.{key}", f"touch {canary}")
    seen = []
    for paths, attributes in states:
        for name in set(os.listdir(scene.top)) - {".git"}:
            path = scene.top / name
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        scene.write(".gitattributes", attributes)
        put(scene.top, paths)
        seen.append((scene.record().tree, everything(scene.top)))
    for tree, found in (*seen, *reversed(seen)):
        assert scene.laid(tree) == found
    assert not canary.exists()


def test_a_commits_tree_looks_as_in_a_new_clone(scene: Scene, tmp_path: Path) -> None:
    scene.write(".gitattributes", b"*.bat text eol=crlf\n*.txt text\n*.id ident\n")
    scene.write("a.bat", b"one\r\ntwo\r\n")
    scene.write("b.txt", b"one\r\n")
    scene.write("sub/.gitattributes", b"*.raw -text\n")
    scene.write("sub/c.raw", b"one\r\n")
    scene.write("d.id", b"$Id$\n")
    first = scene.commit()
    scene.write(".gitattributes", b"*.bat text eol=lf\n*.txt text eol=crlf\n")
    second = scene.commit()
    for number, (tree, commit) in enumerate([(first, "HEAD~1"), (second, "HEAD"), (first, "HEAD~1")]):
        clone = tmp_path / f"clone{number}"
        scene.project.git("clone", "--quiet", "--no-checkout", ".", str(clone))
        scene.project.at(clone).git("checkout", "--quiet", scene.project.git("rev-parse", commit).strip())
        assert scene.laid(tree, exact=False) == everything(clone)


def spoil_everything(root: Path) -> None:
    """What a check can do to the tree it ran in."""
    (root / "src/kept.py").write_bytes(b"kept = 2\n")
    (root / "src/edited.py").unlink()
    (root / "src/edited.py").mkdir()
    (root / "src/edited.py/inside").write_bytes(b"")
    (root / "run.sh").chmod(0o666)
    (root / "link").unlink()
    os.mkfifo(root / "link")
    (root / "left").write_bytes(b"left")
    (root / "conftest.py").symlink_to("/etc/passwd")
    (root / "closed/deep").mkdir(parents=True)
    (root / "closed/deep/file").write_bytes(b"")
    (root / "closed/deep").chmod(0)
    (root / "closed").chmod(0o500)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    root.chmod(0o500)


def swap_folder(root: Path) -> None:
    """A link to somewhere else in the place of a folder."""
    other = root.parent / "elsewhere"
    other.mkdir()
    (other / "precious").write_bytes(b"precious")
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(other)


def swap_root(root: Path) -> None:
    """A link to somewhere else in the place of the whole tree."""
    other = root.parent.parent / "another"
    shutil.move(root, other)
    root.symlink_to(other)


def dig(root: Path) -> None:
    """Folders deeper than a path can be long."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


@pytest.mark.parametrize("spoil", [spoil_everything, swap_folder, swap_root, dig])
def test_what_a_check_changed_or_left_is_set_right(scene: Scene, spoil: Callable[[Path], None]) -> None:
    recorded = dirty(scene).record()
    with scene.fresh(recorded.tree) as fresh:
        before = everything(Path(fresh.root), folders=True)
        spoil(Path(fresh.root))
    with scene.fresh(recorded.tree) as fresh:
        assert everything(Path(fresh.root), folders=True) == before
    if spoil is swap_folder:
        assert (Path(fresh.root).parent / "elsewhere/precious").read_bytes() == b"precious"


def test_an_edit_that_keeps_size_and_time_is_set_right(scene: Scene) -> None:
    scene.write("a.py", b"x = 1\n")
    tree = scene.record().tree
    with scene.fresh(tree) as fresh:
        path = Path(fresh.root, "a.py")
        times = path.stat()
        path.write_bytes(b"x = 2\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert scene.laid(tree)[b"a.py"].data == b"x = 1\n"


def test_forged_notes_are_not_believed_where_they_may_have_been(scene: Scene) -> None:
    """An unsandboxed check can write an index of its own that calls its edit untouched."""
    scene.write("a.py", b"x = 1\n")
    tree = scene.record().tree
    with scene.fresh(tree) as fresh:
        Path(fresh.root, "a.py").write_bytes(b"x = 2\n")
        slot = Path(fresh.root).parent.parent
    env = {
        **os.environ,
        "GIT_DIR": str(slot / "git"),
        "GIT_WORK_TREE": fresh.root,
        "GIT_INDEX_FILE": str(slot / "index"),
    }
    subprocess.run(["git", "update-index", "--assume-unchanged", "a.py"], cwd=fresh.root, env=env, check=True)
    with open(slot / "git/config", "a", encoding="utf-8") as file:
        file.write("[core]\n\tfsmonitor = touch canary\n")
    assert scene.laid(tree, anew=True)[b"a.py"].data == b"x = 1\n"
    assert "canary" not in (slot / "git/config").read_text(encoding="utf-8")


def test_index_flags_hide_nothing(scene: Scene) -> None:
    for name in ("assumed", "skipped", "sparse"):
        scene.write(name, b"before\n")
    scene.commit()
    scene.project.git("update-index", "--assume-unchanged", "assumed")
    scene.project.git("update-index", "--skip-worktree", "skipped", "sparse")
    scene.write("assumed", b"after\n")
    scene.write("skipped", b"after\n")
    (scene.top / "sparse").unlink()
    recorded = scene.record()
    laid = scene.laid(recorded.tree)
    assert [laid[name].data for name in (b"assumed", b"skipped", b"sparse")] == [b"after\n", b"after\n", b"before\n"]
    assert recorded.sparse == ("sparse",)


def test_a_sparse_checkout_is_laid_out_whole(scene: Scene) -> None:
    scene.write("in/a")
    scene.write("out/b")
    tree = scene.commit()
    scene.project.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert not (scene.top / "out").exists()
    recorded = scene.record()
    assert (recorded.tree, recorded.sparse) == (tree, ("out/b",))
    assert scene.laid(tree)[b"out/b"].data == b"text\n"


def test_submodules_nested_repositories_and_pointers_are_named(scene: Scene, tmp_path: Path) -> None:
    Project.made(tmp_path / "other")
    scene.project.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "libs/sub"
    )
    Project.made(scene.top / "nested")
    scene.write(".gitattributes", b"*.bin filter=lfs diff=lfs merge=lfs -text\n")
    scene.write("big.bin", POINTER)
    scene.write("real.bin", b"\0not a pointer")
    recorded = scene.record()
    assert (recorded.submodules, recorded.nested) == (("libs/sub",), ("nested",))
    with scene.fresh(recorded.tree) as fresh:
        assert (fresh.submodules, fresh.pointers) == (("libs/sub",), ("big.bin",))
        assert Path(fresh.root, "big.bin").read_bytes() == POINTER
        assert os.listdir(Path(fresh.root, "libs/sub")) == []
        Path(fresh.root, "libs/sub/left").write_bytes(b"")
        assert not Path(fresh.root, "nested").exists()
    with scene.fresh(recorded.tree) as fresh:
        assert os.listdir(Path(fresh.root, "libs/sub")) == []


def test_what_lies_behind_a_link_or_cannot_be_held_is_not_taken_for_the_trees(scene: Scene, tmp_path: Path) -> None:
    scene.write("folder/a", b"tracked\n")
    scene.commit()
    shutil.move(scene.top / "folder", tmp_path / "outside")
    (scene.top / "folder").symlink_to(tmp_path / "outside")
    os.mkfifo(scene.top / "pipe")
    (scene.top / ".gitmodules").symlink_to("x")
    recorded = scene.record()
    assert recorded.left_out == (".gitmodules",)  # git itself does not list a pipe
    assert set(scene.laid(recorded.tree)) == {b"folder", b"proof.txt"}


@pytest.mark.requirement("P13", "P16")
def test_no_program_of_the_repository_is_started(scene: Scene, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = f"sh -c 'touch {canary}; cat'"
    scene.write(".gitattributes", b"* filter=canary diff=canary\n")
    scene.write("a.txt")
    scene.commit()
    hook = Path(scene.common, "hooks/post-checkout")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n", encoding="utf-8")
    hook.chmod(0o755)
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        shutil.copy(hook, hook.with_name(name))
    for key in ("filter.canary.clean", "filter.canary.smudge", "filter.canary.process", "core.fsmonitor"):
        scene.project.git("config", key, program)
    scene.project.git("config", "filter.canary.required", "true")
    scene.project.git("config", "core.splitIndex", "true")
    scene.write("a.txt", b"edited\n")
    before = scene.untouchable()
    canary.unlink(missing_ok=True)
    recorded = scene.record()
    assert scene.laid(recorded.tree)[b"a.txt"].data == b"edited\n"
    assert scene.laid(scene.project.git("rev-parse", "HEAD^{tree}").strip(), exact=False)[b"a.txt"].data == b"text\n"
    assert not canary.exists()
    assert scene.untouchable() == before


def test_replaced_objects_are_not_believed(scene: Scene) -> None:
    scene.write("a.txt", b"real\n")
    tree = scene.commit()
    scene.write("other", b"forged\n")
    real, forged = (scene.project.git("hash-object", "-w", name).strip() for name in ("a.txt", "other"))
    scene.project.git("replace", real, forged)
    assert scene.laid(tree, exact=False)[b"a.txt"].data == b"real\n"


@pytest.mark.requirement("P13")
def test_a_partial_clone_fetches_nothing_and_says_what_is_missing(scene: Scene, tmp_path: Path) -> None:
    scene.write("a.txt", b"somewhere else\n")
    scene.commit()
    scene.project.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    scene.project.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{scene.top}", str(clone))
    canary = tmp_path / "canary"
    partial = Scene(scene.project.at(clone), tmp_path / "partial-store")
    partial.project.git("config", "remote.origin.url", f"ext::sh -c 'touch {canary}'")
    partial.project.git("config", "protocol.ext.allow", "always")
    tree = partial.project.git("rev-parse", "HEAD^{tree}").strip()
    with pytest.raises(Refusal) as caught, partial.fresh(tree, exact=False):
        raise AssertionError("it was laid out")
    assert caught.value.code == "git.missing"
    assert "is not in this repository" in caught.value.message
    assert not canary.exists()


def _shallow(project: Project, tmp_path: Path) -> Path:
    project.git("commit", "--quiet", "--allow-empty", "-m", "second")
    project.git("clone", "--quiet", "--depth=1", f"file://{project.folder}", str(tmp_path / "there"))
    return tmp_path / "there"


def _detached(project: Project, tmp_path: Path) -> Path:
    del tmp_path
    project.git("checkout", "--quiet", "--detach")
    return project.folder


def _linked(project: Project, tmp_path: Path) -> Path:
    project.git("worktree", "add", "--quiet", str(tmp_path / "there"))
    return tmp_path / "there"


def _borrowing(project: Project, tmp_path: Path) -> Path:
    project.git("clone", "--quiet", "--shared", ".", str(tmp_path / 'a:b "odd" name'))
    return tmp_path / 'a:b "odd" name'


def _unborn(project: Project, tmp_path: Path) -> Path:
    project.git("init", "--quiet", "--object-format=sha256", str(tmp_path / "there"))
    return tmp_path / "there"


@pytest.mark.parametrize("kind", [_shallow, _detached, _linked, _borrowing, _unborn])
def test_every_kind_of_place(project: Project, tmp_path: Path, kind: Callable[[Project, Path], Path]) -> None:
    scene = Scene(project.at(kind(project, tmp_path)), tmp_path / "store")
    scene.write("new.py", b"new\n")
    before = scene.untouchable()
    assert scene.laid(scene.record().tree) == everything(scene.top)
    assert scene.untouchable() == before


@pytest.mark.requirement("P11")
def test_a_recorded_tree_outlives_a_collection(scene: Scene) -> None:
    scene.write("staged", b"staged\n")
    scene.project.git("add", "staged")
    scene.project.git("commit", "--quiet", "-m", "second")
    scene.write("src/new", b"new\n")
    recorded = scene.record()
    laid = scene.laid(recorded.tree)
    scene.project.git("gc", "--quiet", "--prune=now")
    assert scene.record().tree == recorded.tree
    assert scene.laid(recorded.tree, anew=True) == laid


def test_two_users_at_once_get_a_tree_each_and_one_too_many_is_told(scene: Scene) -> None:
    tree = scene.record().tree
    with ExitStack() as stack:
        roots = {stack.enter_context(scene.fresh(tree)).root for _ in range(SLOTS)}
        with pytest.raises(Refusal) as caught, scene.fresh(tree):
            raise AssertionError("a tree too many")
        assert caught.value.code == "lock.busy"
    assert len(roots) == SLOTS
    assert {Path(root).name for root in roots} == {scene.top.name}
    with scene.fresh(tree) as fresh:
        assert fresh.root in roots


@pytest.mark.parametrize("tree", ["", "HEAD", "--help", "0" * 39, "G" * 40])
def test_what_is_no_id_is_refused(scene: Scene, tree: str) -> None:
    with pytest.raises(Refusal) as caught, scene.fresh(tree):
        raise AssertionError("it was laid out")
    assert caught.value.code == "input.invalid"


def test_a_sweep_takes_the_old_and_the_large_and_leaves_what_is_in_use(scene: Scene, tmp_path: Path) -> None:
    trees, clock = Path(trees_folder(FILES, os.environ)), SystemClock()
    tree = scene.record().tree
    other = Scene(Project.made(tmp_path / "other"), tmp_path / "other-store")
    other.write("large", b"x" * 100_000)
    with other.fresh(other.record().tree) as used:
        spoil_everything_closed(Path(used.root))
    scene.laid(tree)
    assert len(list(trees.iterdir())) == 3  # with the folder of locks
    kept = sweep(FILES, os.environ, clock)
    assert (kept.gone, kept.stay) == (0, 2)
    swept = sweep(FILES, os.environ, clock, together=50_000)
    assert (swept.gone, swept.stay) == (1, 1)
    with scene.fresh(tree) as fresh:
        assert sweep(FILES, os.environ, clock, unused_ns=0)[:2] == (0, 1)
        assert Path(fresh.root, "proof.txt").exists()
    assert sweep(FILES, os.environ, clock, unused_ns=0)[:2] == (1, 0)
    assert [path.name for path in trees.iterdir()] == ["locks"]


def spoil_everything_closed(root: Path) -> None:
    """Folders that nobody can enter."""
    (root / "closed/deep").mkdir(parents=True)
    (root / "closed").chmod(0)


WORK = """\
import sys
from pathlib import Path
from tests.real.fresh_scene import Scene
from tests.real.project import Project
scene = Scene(Project(Path(sys.argv[1])), Path(sys.argv[2]))
while True:
    tree = scene.record(believe=False).tree
    for exact in (True, False):
        with scene.fresh(tree, exact=exact, anew=True):
            print("laid out", flush=True)
"""


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill"])
def test_ended_at_any_moment_it_leaves_the_users_half_alone(scene: Scene, blow: signal.Signals) -> None:
    for number in range(200):
        scene.write(f"d{number % 9}/f{number}", b"%d\n" % number)
    scene.commit()
    for number in range(0, 200, 3):
        scene.write(f"d{number % 9}/f{number}", b"edited %d\n" % number)
    before, here = scene.untouchable(), everything(scene.top)
    root = Path(__file__).resolve().parents[2]
    env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}
    for pause in (0.0, 0.02, 0.05, 0.09, 0.14, 0.2):
        argv = [sys.executable, "-c", WORK, str(scene.top), str(scene.store)]
        with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            process.stdout.readline()
            ready = select([], [], [], pause)
            process.send_signal(blow)
            if blow is signal.SIGINT:
                process.send_signal(blow)
            process.stdout.read()
        assert ready == ([], [], [])
        assert scene.untouchable() == before
        assert scene.laid(scene.record().tree) == here
    assert scene.project.git("worktree", "list").count("\n") == 1


def test_how_long_it_takes_is_printed(scene: Scene, tmp_path: Path) -> None:
    """No limit: a slow machine is no defect. The ratios are for the reader."""
    for number in range(2000):
        scene.write(f"d{number % 50}/f{number}.py", b"x = 1\n" * 60)
    scene.commit()
    says: dict[str, float] = {}

    def timed(name: str, act: Callable[[], object]) -> None:
        begun = time.perf_counter()
        act()
        says[name] = time.perf_counter() - begun

    def lay() -> None:
        with scene.fresh(scene.record(after_s=60).tree):
            pass

    timed("git worktree add", lambda: scene.project.git("worktree", "add", "--quiet", str(tmp_path / "there")))
    timed("recorded", lambda: scene.record(after_s=60))
    timed("recorded again", lambda: scene.record(after_s=60))
    timed("recorded and laid out", lay)
    timed("again", lay)
    scene.write("d1/f1.py", b"x = 2\n")
    timed("one file changed", lay)
    print("", *(f"{name}: {took * 1000:.0f} ms" for name, took in says.items()), sep="\n")
    assert len(says) == 6
