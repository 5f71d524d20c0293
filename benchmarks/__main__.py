"""Runs the parts and prints the table: `python3 -m benchmarks [--json] [--flush MS] [--page] [PART ...]`.

A disk without a medium to wait for (a virtual one, or one with a cache that has its own battery) answers a flush in
less than a tenth of a millisecond, so that what is left of a mark is Python's own time. `--flush 1` shows the same
marks on an ordinary drive: every flush, on both sides, waits so many milliseconds more.

Exit status 0 when every figure keeps its bound, 1 when one does not, 2 for a wrong word.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable

from benchmarks import changes, commands, crowd, marks, outputs, proof, replay, server, tokens
from benchmarks.scene import ROOT, SLOWER, scene
from benchmarks.table import Machine, Row, as_json, as_text, holds, say
from benchmarks.timing import Sample, in_turn

PARTS: dict[str, Callable[[], list[Row]]] = {
    "marks": marks.rows,
    "crowd": crowd.rows,
    "commands": commands.rows,
    "replay": replay.rows,
    "changes": changes.rows,
    "outputs": outputs.rows,
    "proof": proof.rows,
    "server": server.rows,
    "tokens": tokens.rows,
}


def flush_of_disk(rounds: int) -> Sample:
    """Appending 1 kB to an open file and syncing it."""
    with scene() as at:
        bare = marks.Bare(at.folder / "bare", b"x" * 1024, 0)
        found = in_turn({"flush": bare.append}, rounds)["flush"]
        bare.close()
    return found


def quote(name: str, table: str) -> None:
    """Put a table between the comments of that name on the page about benchmarks."""
    page = ROOT / "docs" / "benchmarks.md"
    block = re.compile(rf"(<!-- measured: {name} -->\n```text\n).*?(```\n<!-- end of {name} -->)", re.S)
    text = block.sub(lambda found: f"{found[1]}{table}\n{found[2]}", page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")


def main(words: list[str]) -> int:
    """Measure what `words` name, all by default, and print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all by default")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--flush", type=float, metavar="MS", help="let every flush take so much longer, on both sides")
    parser.add_argument("--page", action="store_true", help="put the table into docs/benchmarks.md too")
    arguments = parser.parse_args(words)
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if arguments.flush:
        os.environ[SLOWER] = str(arguments.flush / 1000)
    began = time.monotonic()
    machine = Machine(flush_of_disk(300), commands.start_of_python(20), (arguments.flush or 0) / 1000)
    rows: list[Row] = []
    for name, part in PARTS.items():
        if not arguments.parts or name in arguments.parts:
            say(f"measuring {name} …")
            rows += part()
    print(as_json(machine, rows) if arguments.json else as_text(machine, rows))
    if arguments.page:
        quote("slower disk" if arguments.flush else "disk", as_text(machine, rows))
    say(f"\n{len(rows)} figures in {time.monotonic() - began:.0f} s")
    return 0 if holds(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
