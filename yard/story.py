"""The first five minutes with Tallystick, played through the real command line in a repository made for it.

One table of steps, each with the exit status that it must have; the job `try` shows it, a test holds it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from yard.console import Stop, say

CHECKLIST = """\
- [ ] AC1 the cart keeps its lines
      test report
- [ ] AC2 a coupon works once
      test report
- [ ] AC3 the empty cart says so
      screenshot of the empty cart
"""

#: What an agent left in the project: the evidence that the story cites.
FILES = {
    "criteria.md": CHECKLIST,
    "reports/cart.txt": "test_cart_keeps_its_lines PASSED\n",
}


class Step(NamedTuple):
    """One command of the story, the sentence before it, and the exit status it must have."""

    says: str
    words: str
    status: int = 0


STEPS = (
    Step("A checklist becomes a ledger: ids and texts are frozen from here on.", "ledger init checkout criteria.md"),
    Step("A pass cites something that can be kept.", "ledger pass checkout AC1 --evidence reports/cart.txt"),
    Step("Words alone are refused, and nothing changes.", 'ledger pass checkout AC3 --evidence "looks good"', 1),
    Step("A failure is a fact too.", 'ledger fail checkout AC2 --error "the coupon worked twice"'),
    Step("Where things stand.", "status"),
    Step("The same, criterion by criterion.", "ledger show checkout"),
    Step("Does everything that was written still fit together?", "audit"),
)


def environment(home: Path) -> dict[str, str]:
    """An environment in which nothing reads or writes the developer's own settings: all homes lie below `home`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TERM", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def play(command: list[str]) -> None:
    """Plays every step with `command` as the program (`[".dev/tallystick"]`), output shown as it comes.

    Raises `Stop` at the first step whose exit status is not the one in the table.
    """
    with tempfile.TemporaryDirectory(prefix="tallystick-") as folder:
        place, home = Path(folder, "shop"), Path(folder, "home")
        home.mkdir()
        surroundings = environment(home)
        for name, text in FILES.items():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", str(place)], env=surroundings, check=True)
        say("In a repository of its own lies a checklist, criteria.md:")
        print(CHECKLIST, flush=True)
        for step in STEPS:
            say(step.says)
            print(f"$ tallystick {step.words}", flush=True)
            argv = [*command, *shlex.split(step.words)]
            done = subprocess.run(argv, cwd=place, env=surroundings, stderr=subprocess.STDOUT)
            print(flush=True)
            if done.returncode != step.status:
                raise Stop(f"tallystick {step.words}: exit status {done.returncode}, expected {step.status}")
