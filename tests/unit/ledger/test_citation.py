"""Holds what a pass may rest on: references of every form, files of every kind and name, kept by digest and looked at
again (evidence: references)."""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal.blobs import Blobs
from tallystick.ledger.citation import Reference, inside, looks_like_path, references
from tallystick.ledger.keeping import Keeper
from tallystick.ledger.model import Citation, Criterion
from tallystick.ledger.rules import Evidence
from tallystick.limits import CITED_FILE, INLINE_EVIDENCE, REFERENCE_CHARACTERS
from tallystick.system.files import OsFiles
from tests.desk import COMMIT, KnownCommits, SetClock

DIGEST = "0123456789abcdef" * 4


# -- the words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("proof.txt", "path", "proof.txt"),
        ("src/cart.py:12", "path", "src/cart.py:12"),
        ("trust me", "path", "trust me"),
        ("https://example.org/x", "url", "https://example.org/x"),
        ("file:///etc/passwd", "url", "file:///etc/passwd"),
        (f"commit:{COMMIT}", "commit", COMMIT),
        ("commit:c0ffee0", "commit", "c0ffee0"),
        (f"sha256:{DIGEST}", "blob", DIGEST),
        ("run:r-4k2p9xqa", "run", "r-4k2p9xqa"),
        ("output:checkout/08-developer-output.json", "output", "checkout/08-developer-output.json"),
        ("C:\\x", "path", "C:\\x"),
        ("commit", "path", "commit"),
    ],
)
def test_a_reference_of_every_form(text: str, kind: str, target: str) -> None:
    assert references(f"  {text} ") == [Reference(text, kind, target)]


@pytest.mark.requirement("F1.16")
def test_several_references_are_separated() -> None:
    assert [one.target for one in references("a.txt ; b c.txt ;  ; d;e.txt")] == ["a.txt", "b c.txt", "d;e.txt"]


@pytest.mark.requirement("L6", "P15")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "evidence.free_text"),
        ("  \n ", "evidence.free_text"),
        ("x" * (REFERENCE_CHARACTERS + 1), "input.too_large"),
        ("a\ud800", "input.invalid"),
        ("commit:xyz", "evidence.missing"),
        ("commit:", "evidence.missing"),
        ("commit:abc", "evidence.missing"),
        ("commit:--all", "evidence.missing"),
        ("sha256:abc", "evidence.missing"),
        (f"sha256:{DIGEST.upper()}", "evidence.missing"),
        ("output:../../x/y", "input.invalid"),
        ("output:Check Out/y", "input.invalid"),
        ("output:", "input.invalid"),
    ],
)
def test_a_malformed_reference_is_refused(text: str, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        references(text)
    assert (caught.value.code, bool(caught.value.hint)) == (code, True)


@pytest.mark.requirement("P18")
@pytest.mark.parametrize(
    "path",
    [
        "..",
        ".",
        "../x",
        "../../etc/passwd",
        "a/../../x",
        "./../x",
        "/etc/passwd",
        "//x",
        "a/..",
        "x\0y",
        ".git",
        ".git/config",
        "./.git/config",
        "a/../.git/config",
        ".GIT/config",
        ".agent/tasks/checkout/feature_list.json",
        ".agent/tasks",
        ".tallystick/store/store-id",
        ".Tallystick/config.toml",
    ],
)
def test_a_path_out_of_the_project_or_into_the_ledgers_own_folders_is_refused(path: str) -> None:
    with pytest.raises(Refusal) as caught:
        inside(Reference(path, "path", path))
    assert caught.value.code == "evidence.outside"


@given(st.text(min_size=1, max_size=20))
def test_any_path_is_inside_or_refused(path: str) -> None:
    try:
        found = inside(Reference(path, "path", path))
    except Refusal:
        found = "refused"
    assert not found.startswith(("/", "../"))
    assert found not in ("", ".", "..")


def test_what_looks_like_a_path() -> None:
    assert all(map(looks_like_path, ["src/x", "a.txt", "a.txt:3", ".env"]))
    assert not any(map(looks_like_path, ["trust me", "done", "see a.txt", ""]))


# -- the things -------------------------------------------------------------------------------------------------------


class Bench:
    """A project with a keeper."""

    def __init__(self, base: Path) -> None:
        self.tree = Path(os.path.realpath(base)) / "shop"
        self.outside = self.tree.parent / "outside.txt"
        self.tree.mkdir()
        self.outside.write_bytes(b"secret")
        self.clock = SetClock()
        self.commits = KnownCommits(COMMIT)
        self.blobs = Blobs(OsFiles(), f"{self.tree.parent}/store/blobs", f"{self.tree.parent}/store/tmp")
        (self.tree.parent / "store" / "tmp").mkdir(parents=True)
        self.keeper = Keeper(OsFiles(), str(self.tree), self.blobs, self.commits, self.clock)

    def put(self, name: str, data: bytes = b"proof") -> Path:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def keep(self, text: str) -> list[Evidence]:
        return self.keeper.keep(references(text))

    def refused(self, text: str) -> Refusal:
        with pytest.raises(Refusal) as caught:
            self.keep(text)
        assert caught.value.code.startswith("evidence."), caught.value
        assert caught.value.hint
        assert self.kept() == []
        assert self.commits.kept == []
        return caught.value

    def kept(self) -> list[str]:
        return [path.name for path in (self.tree.parent / "store").rglob("*") if path.is_file()]

    def changed(self, *evidence: Evidence) -> bool:
        cited = tuple(Citation(*(one.data[key] for key in ("kind", "target", "digest", "size"))) for one in evidence)
        return self.keeper.changed(Criterion("AC1", "x", None, "0" * 64, citations=cited))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.requirement("L6")
def test_a_small_file_travels_in_the_record(bench: Bench) -> None:
    bench.put("proof.txt", "grün\n".encode())
    [one] = bench.keep("proof.txt")
    assert one.data == {
        "kind": "file",
        "ref": "proof.txt",
        "target": "proof.txt",
        "size": 6,
        "digest": canonical.sha256("grün\n".encode()),
        "text": "grün\n",
    }
    assert bench.kept() == []


def test_bytes_that_are_no_text_travel_too(bench: Bench) -> None:
    bench.put("shot.png", b"\x89PNG\xff\0")
    [one] = bench.keep("shot.png")
    assert base64.b64decode(one.data["base64"]) == b"\x89PNG\xff\0"
    assert "text" not in one.data


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(("size", "blobs"), [(INLINE_EVIDENCE, 0), (INLINE_EVIDENCE + 1, 1)])
def test_a_larger_file_is_kept_beside(bench: Bench, size: int, blobs: int) -> None:
    bench.put("log.txt", b"x" * size)
    [one] = bench.keep("log.txt")
    assert (len(bench.kept()), one.data.get("blob", False)) == (blobs, bool(blobs))
    if blobs:
        assert bench.blobs.get(one.data["digest"]) == b"x" * size


@pytest.mark.parametrize("text", ["src/cart.py:12", "src/cart.py:12-40", "src/cart.py:12:5", "./src//cart.py"])
def test_a_line_is_a_note_on_a_file(bench: Bench, text: str) -> None:
    bench.put("src/cart.py")
    [one] = bench.keep(text)
    assert (one.data["target"], one.reference) == ("src/cart.py", text)


def test_a_file_whose_name_ends_like_a_line_is_that_file(bench: Bench) -> None:
    bench.put("a:12", b"the file itself")
    bench.put("a", b"another")
    assert bench.keep("a:12")[0].data["text"] == "the file itself"


NAMES = [
    "é.py",
    "e\u0301.py",
    "a b.py",
    "tab\tx",
    "new\nline",
    '"q".py',
    "-rf",
    "'; x",
    "日本",
    "x" * 200,
    "a;b",
    "*",
    "$HOME",
]


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("name", NAMES)
def test_any_legal_name_can_be_cited_byte_for_byte(bench: Bench, name: str) -> None:
    path = bench.put(name)
    [one] = bench.keep(name)
    assert os.fsencode(one.data["target"]) == os.fsencode(path.name)
    assert not bench.changed(one)
    path.write_bytes(b"other")
    assert bench.changed(one)


@pytest.mark.requirement("P18")
def test_names_that_differ_by_normalization_are_two_names(bench: Bench) -> None:
    bench.put("é.txt", b"composed")
    assert bench.refused("e\u0301.txt").code == "evidence.missing"


@pytest.mark.parametrize("name", ["run:x", "commit:x", "sha256:x"])
def test_a_file_named_like_a_prefix_is_cited_by_its_path(bench: Bench, name: str) -> None:
    bench.put(name)
    assert bench.keep(f"./{name}")[0].data["target"] == name


@pytest.mark.requirement("L6")
def test_words_and_addresses_point_at_nothing_that_can_be_kept(bench: Bench) -> None:
    assert bench.refused("trust me").code == "evidence.free_text"
    assert bench.refused("looks good").code == "evidence.free_text"
    assert bench.refused("https://example.org/run/5").code == "evidence.free_text"
    assert bench.refused("src/nosuch.py").code == "evidence.missing"
    assert bench.refused("src/nosuch.py:12").code == "evidence.missing"
    assert "too long" in bench.refused("x" * 300 + ".py").message
    assert bench.refused("run:r-4k2p9xqa").code == "evidence.missing"
    assert bench.refused("output:checkout/08-x.json").code == "evidence.missing"
    assert bench.refused(f"sha256:{DIGEST}").code == "evidence.missing"
    assert bench.refused("commit:abcdef0").code == "evidence.missing"


@pytest.fixture
def ugly(bench: Bench) -> Iterator[Bench]:
    """What may lie where a file should."""
    bench.put("empty.txt", b"")
    os.truncate(bench.put("huge.bin"), CITED_FILE + 1)
    os.mkfifo(bench.tree / "pipe")
    (bench.tree / "folder").mkdir()
    (bench.tree / "link-out").symlink_to(bench.outside)
    (bench.tree / "link-up").symlink_to("../outside.txt")
    (bench.tree / "linked-folder").symlink_to(bench.tree.parent)
    (bench.tree / "loop").symlink_to("loop")
    (bench.tree / "dangling").symlink_to("nowhere")
    (bench.tree / "null").symlink_to("/dev/null")
    bench.put(".git/config")
    bench.put(".agent/tasks/checkout/feature_list.json")
    (bench.tree / "link-git").symlink_to(".git/config")
    (bench.tree / "link-view").symlink_to(".agent/tasks/checkout")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(bench.tree / "s"))
        yield bench


@pytest.mark.requirement("L6", "P15")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("empty.txt", "evidence.empty"),
        ("huge.bin", "input.too_large"),
        ("pipe", "evidence.empty"),
        ("s", "evidence.empty"),
        ("folder", "evidence.empty"),
        ("folder/", "evidence.empty"),
        ("link-out", "evidence.outside"),
        ("link-up", "evidence.outside"),
        ("linked-folder/outside.txt", "evidence.outside"),
        ("null", "evidence.outside"),
        ("loop", "evidence.empty"),
        ("dangling", "evidence.free_text"),
        ("empty.txt/x", "evidence.missing"),
        ("link-git", "evidence.outside"),
        ("link-view/feature_list.json", "evidence.outside"),
    ],
)
def test_what_is_no_file_of_the_project_is_refused(ugly: Bench, text: str, code: str) -> None:
    with pytest.raises(Refusal) as caught:
        ugly.keep(text)
    assert (caught.value.code, text.split("/")[0] in caught.value.message) == (code, True)
    assert str(ugly.tree) not in caught.value.message
    assert ugly.kept() == []


def test_a_link_inside_the_project_is_followed(bench: Bench) -> None:
    bench.put("docs/proof.txt", b"the proof")
    (bench.tree / "latest").symlink_to("docs/proof.txt")
    [one] = bench.keep("latest")
    assert (one.data["target"], one.data["text"]) == ("latest", "the proof")
    (bench.tree / "latest").unlink()
    (bench.tree / "latest").symlink_to(bench.outside)
    assert bench.changed(one)


def test_a_commit_is_resolved_and_held(bench: Bench) -> None:
    [one] = bench.keep("commit:c0ffee0")
    assert (one.data["kind"], one.data["target"], one.reference) == ("commit", COMMIT, "commit:c0ffee0")
    assert bench.commits.kept == [COMMIT]
    bench.commits.known = []
    assert not bench.changed(one)
    bench.commits.kept = []
    assert bench.changed(one)


def test_kept_bytes_can_be_cited_again_by_their_digest(bench: Bench) -> None:
    digest = bench.blobs.keep(b"x" * 20_000)
    [one] = bench.keep(f"sha256:{digest}")
    assert (one.data["kind"], one.data["digest"]) == ("blob", digest)
    assert not bench.changed(one)


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    "last", ["nosuch.txt", "empty.txt", "trust me", "../x", "https://example.org", "commit:abcdef0"]
)
def test_nothing_is_kept_while_one_of_several_is_refused(bench: Bench, last: str) -> None:
    bench.put("log.txt", b"x" * 20_000)
    bench.put("empty.txt", b"")
    assert bench.refused(f"log.txt ; commit:{COMMIT} ; {last}").hint


@pytest.mark.requirement("P10")
def test_what_is_cited_is_looked_at_again_by_content(bench: Bench) -> None:
    path = bench.put("proof.txt", b"12 passed")
    evidence = bench.keep("proof.txt")
    assert not bench.changed(*evidence)
    os.utime(path, ns=(1, 1))
    assert not bench.changed(*evidence)
    path.write_bytes(b"11 passed")
    assert bench.changed(*evidence)
    path.write_bytes(b"12 passed")
    assert not bench.changed(*evidence)
    path.unlink()
    assert bench.changed(*evidence)
    path.mkdir()
    assert bench.changed(*evidence)


@pytest.mark.requirement("P10")
def test_a_change_within_one_tick_of_the_clock_is_noticed(bench: Bench) -> None:
    path = bench.put("proof.txt", b"12 passed")
    evidence = bench.keep("proof.txt")
    stamp = path.stat().st_mtime_ns
    bench.clock.ns = stamp
    assert not bench.changed(*evidence)
    path.write_bytes(b"11 passed")
    os.utime(path, ns=(stamp, stamp))
    assert bench.changed(*evidence)


def test_a_bare_repository_has_commits_to_cite_and_no_files(bench: Bench) -> None:
    keeper = Keeper(OsFiles(), "", bench.blobs, bench.commits, bench.clock)
    with pytest.raises(Refusal) as caught:
        keeper.keep(references("proof.txt"))
    assert caught.value.code == "evidence.missing"
    assert keeper.keep(references("commit:c0ffee0"))
