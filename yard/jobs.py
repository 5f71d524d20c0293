"""The jobs of `dev.py`: one table, and the few lines each job needs. Exit status 0 means that it was done whole."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

from yard import node
from yard.console import ROOT, Stop, failed, run, say, skipped
from yard.environment import environment, launcher, tools
from yard.groups import GROUPS, PROOF, Group, reasons
from yard.probes import SUPPORTED, missing, pythons
from yard.requirements import current

CODE = ("src", "tests", "yard", "benchmarks", "dev.py")
USAGE = 2

#: What the coverage gate measures: the groups that run fast, and the least share of the core's branches they reach.
COVERED = ("unit", "property", "faces")
LEAST_COVERAGE = 90


def try_it(words: list[str]) -> int:
    """Plays the demo. It needs no package, so it runs as soon as there is Python and git."""
    _no_words("try", words)
    command = launcher()
    status = run([command, "demo"])
    if status == 0:
        say(f"\nYours to go on with: {command.relative_to(ROOT)} --help")
    return status


def test(words: list[str]) -> int:
    """Runs every group of tests that this machine can, or those named; what follows `--` goes to pytest."""
    mine, theirs = _split(words)
    strict = "--no-skip" in mine
    chosen = _groups([word for word in mine if word != "--no-skip"])
    paths = []
    for group in chosen:
        reason = reasons(group)
        if not reason:
            paths.append(group.path)
        elif strict:
            raise Stop(f"{group.name} ({group.says}) cannot run here: {reason}")
        else:
            skipped(f"{group.name} ({group.says}): {reason}")
    if not paths:
        raise Stop("none of these tests can run on this machine")
    for version in SUPPORTED:
        if version not in pythons():
            say(f"Python {version} is not on this machine; what should run under it was not tried")
    _node_for([group for group in chosen if group.node and group.path in paths], strict)
    for name in (name for group in chosen if group.path in paths for name in group.environments):
        environment(name, name)
    requirements = current()
    say(f"{len(requirements.planned)} of {len(requirements.rows)} requirements are planned, in whole or in part")
    python = tools("test")
    return run([python, "-m", "pytest", "-q", "-rs", *(["--no-skip"] if strict else []), *paths, *theirs])


def _node_for(groups: list[Group], strict: bool) -> None:
    """Fetches what the tests of these groups run on Node.js; without Node.js those are skipped, if that is allowed."""
    for group in groups:
        reason = missing("node")
        if not reason:
            node.fetch()
        elif strict:
            raise Stop(f"{group.name} ({group.says}) cannot run whole here: {reason}")
        else:
            skipped(f"{group.name}, the tests that need Node.js: {reason}")


def cover(words: list[str]) -> int:
    """Measures which branches of the core the fast groups reach; fails below the least share."""
    _no_words("cover", words)
    python = tools("test")
    (ROOT / ".dev" / "cache" / "coverage").mkdir(parents=True, exist_ok=True)
    run([python, "-m", "coverage", "erase"])
    groups = _groups(list(COVERED))
    for version in SUPPORTED:
        if version not in pythons():
            say(f"Python {version} is not on this machine; what should run under it was not tried")
    _node_for([group for group in groups if group.node], strict=False)
    paths = [group.path for group in groups]
    status = run([python, "-m", "coverage", "run", "-m", "pytest", "-q", *paths])
    if status != 0:
        return status
    run([python, "-m", "coverage", "combine", "--quiet"])
    return run([python, "-m", "coverage", "report", f"--fail-under={LEAST_COVERAGE}"])


def lint(words: list[str]) -> int:
    """Style and formatting; `--fix` mends what can be mended."""
    if words not in ([], ["--fix"]):
        raise Stop("lint takes one word at most: --fix")
    python = tools("check")
    paths = [path for path in CODE if (ROOT / path).exists()]
    checked = run([python, "-m", "ruff", "check", *words, *paths])
    formatted = run([python, "-m", "ruff", "format", *([] if words else ["--check"]), *paths])
    return checked or formatted


def types(words: list[str]) -> int:
    """Strict types, over tests and yard too."""
    _no_words("types", words)
    python = tools("check")
    return run([python, "-m", "mypy", *(path for path in CODE if (ROOT / path).exists())])


def proof(words: list[str]) -> int:
    """Plays the honest tasks and the cheats, all or those named, and prints how many were proven and caught."""
    for name in PROOF:
        environment(name, name)
    return run([tools("test"), "-m", "tests.proof", *words], {"PYTHONPATH": str(ROOT / "src")})


def bench(words: list[str]) -> int:
    """The benchmarks: each figure a ratio within one run. What follows goes to `benchmarks`."""
    if not (ROOT / "benchmarks" / "__main__.py").exists():
        raise Stop("there is no benchmarks/__main__.py")
    if not missing("node"):
        node.fetch()
    return run([sys.executable, "-m", "benchmarks", *words], {"PYTHONPATH": str(ROOT / "src")})


def docs(words: list[str]) -> int:
    """Compares the generated parts of the documents with the code; `--write` brings them up to date."""
    from yard.pages import stale, write

    if words not in ([], ["--write"]):
        raise Stop("docs takes one word at most: --write")
    behind = write() if words else stale()
    for page in behind:
        say(f"{page}: {'written anew' if words else 'behind the code; python3 dev.py docs --write'}")
    return 0 if words or not behind else 1


def everything(words: list[str]) -> int:
    """All of it, in the order in which a mistake costs least. Stops at the first job that fails."""
    for name in ("lint", "types", "docs", "try"):
        say(f"\n{name}")
        status = JOBS[name].work([])
        if status != 0:
            return status
    say("\ntest")
    return test(words)


class Job(NamedTuple):
    """One word of `dev.py`."""

    says: str
    work: Callable[[list[str]], int]


JOBS = {
    "try": Job("play the demo, the whole story on a small sample project; installs nothing", try_it),
    "test": Job("every test this machine can run: [GROUP ...] [--no-skip] [-- PYTEST WORDS]", test),
    "cover": Job("branch coverage of the core, with its gate", cover),
    "lint": Job("style and formatting: [--fix]", lint),
    "types": Job("strict types", types),
    "proof": Job("honest tasks, each to be proven, and cheats, each to be caught: [NAME ...]", proof),
    "bench": Job("the benchmarks", bench),
    "docs": Job("the generated parts of the documents: [--write]", docs),
    "all": Job("lint, types, docs, try, test", everything),
}


def main(words: list[str]) -> int:
    """Does the job that `words` name and returns the exit status: 0 done, 1 not, 2 no such job, 130 interrupted."""
    if not words or words[0] not in JOBS:
        for name, job in JOBS.items():
            print(f"python3 dev.py {name:6} {job.says}")
        return USAGE if words and words[0] not in ("-h", "--help") else 0
    try:
        return JOBS[words[0]].work(words[1:])
    except Stop as stop:
        failed(str(stop))
        return 1
    except KeyboardInterrupt:
        return 130


def _no_words(job: str, words: list[str]) -> None:
    if words:
        raise Stop(f"{job} takes no further words, not {' '.join(words)}")


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    border = words.index("--") if "--" in words else len(words)
    return words[:border], words[border + 1 :]


def _groups(names: list[str]) -> list[Group]:
    unknown = [name for name in names if name not in {group.name for group in GROUPS}]
    if unknown:
        raise Stop(f"no such group: {', '.join(unknown)}; there are {', '.join(group.name for group in GROUPS)}")
    return [group for group in GROUPS if not names or group.name in names]
