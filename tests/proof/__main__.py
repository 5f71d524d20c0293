"""`python3 dev.py proof [NAME …]`: tries every honest task and every cheat, and prints how many went as they have to.

A name is a row's or a room's. Exit status 0 when there is no false alarm and no missed cheat, 1 when there is one, 2
when a name is nobody's.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from traceback import format_exception

from tests.proof import cheats_red
from tests.proof.cheats_base import BASES, Step
from tests.proof.scene import PROVEN, Caught
from tests.proof.test_gauntlet import CATCHABLE, TWINS, Tables
from tests.proof.trial import HONEST, Row, cleared, row_of, trying
from yard.console import ROOT
from yard.probes import missing

GAUNTLET, TWIN, RED = "gauntlet", "twins", "red"
_WORDS = {(False, True): "proven", (False, False): "FALSE ALARM", (True, True): "caught", (True, False): "MISSED"}


def main(names: list[str]) -> int:
    """Try the rows that are named (none: all); the exit status."""
    place = ROOT / ".dev" / "cache"
    place.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=place, prefix="gauntlet-") as folder:
        return _of((*HONEST, *_gauntlet(Path(folder))), names)


def _gauntlet(folder: Path) -> tuple[Row, ...]:
    """The rows of the gauntlet: its cheats, the honest work that looks like one, the reds that prove nothing. Those of
    one base take turns, for they have one project."""
    tables = Tables(folder)
    turns = {base: Lock() for base in BASES}

    def row(name: str, room: str, says: str, base: str, step: Step, expect: str | Caught) -> Row:
        def tried() -> str:
            with turns[base]:
                return tables.play(base, step, expect)

        return Row(name, room, says, room == GAUNTLET, (), tried)

    cheats = [row(one.name, GAUNTLET, one.says, one.base, one.work, one.expect) for one in CATCHABLE if one.expect]
    twins = [
        row(f"{one.name}, for a good reason", TWIN, f"what looks like: {one.says}", one.base, one.twin, PROVEN)
        for one in TWINS
        if one.twin is not None
    ]
    return (*cheats, *twins, *(row_of(scene, RED) for scene in cheats_red.SCENES))


def _of(rows: tuple[Row, ...], names: list[str]) -> int:
    known = {row.name for row in rows} | {row.room for row in rows}
    unknown = [name for name in names if name not in known]
    if unknown:
        rooms = ", ".join(dict.fromkeys(row.room for row in rows))
        print(f"no such row or room: {', '.join(unknown)}; rooms are {rooms}", file=sys.stderr)
        return 2
    chosen = [row for row in rows if not names or row.name in names or row.room in names]
    lacking = {row.name: reason for row in chosen for need in row.needs if (reason := missing(need))}
    right: list[tuple[Row, bool]] = []
    with cleared(), trying(row for row in chosen if row.name not in lacking) as answers:
        for row in chosen:
            if row.name in lacking:
                print(f"  skipped      {row.name}: {lacking[row.name]}", flush=True)
                continue
            why = _why(answers[row.name])
            right.append((row, not why))
            print(f"  {_WORDS[row.cheat, not why]:12} {row.name}: {row.says}", flush=True)
            if why:
                print("".join(f"      {line}\n" for line in why.splitlines()), end="", flush=True)
    return _sum(right)


def _why(answer: Future[str]) -> str:
    """What went wrong; also where the scene itself could not go on."""
    error = answer.exception()
    return answer.result() if error is None else "".join(format_exception(error))


def _sum(right: list[tuple[Row, bool]]) -> int:
    """Print both rates; 1 where one of them is not what it should be."""
    honest = [well for row, well in right if not row.cheat]
    cheats = [well for row, well in right if row.cheat]
    print()
    if honest:
        print(f"{len(honest)} honest tasks, {honest.count(False)} false alarms ({_share(honest, False)})")
    if cheats:
        print(f"{len(cheats)} cheats, {cheats.count(True)} caught ({_share(cheats, True)})")
    return 0 if all(honest) and all(cheats) else 1


def _share(answers: list[bool], wanted: bool) -> str:
    return f"{100 * answers.count(wanted) / len(answers):.0f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
