"""The phases of a feature's work: one table, two layouts. Pure.

Phases are known by name. Two layouts number them, one with 16 phases and one with 17 (*simplification* after
implementation), and the two half phases of a user interface have the same number in both; so a number alone says
which phase is meant only where both layouts agree, and otherwise needs the layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.ids import shown

LAYOUTS = (16, 17)
#: The layout of a manifest that we begin, where nobody says which.
DEFAULT_LAYOUT = 17
WORK_TYPES = ("BUGFIX", "SMALL", "MEDIUM", "LARGE")

_SMALL_WORK = frozenset(("BUGFIX", "SMALL"))
_FIXES = frozenset(("BUGFIX",))
_NUMBER = re.compile(r"(\d{1,3})(?:[._](\d))?(?:\.0+)?", re.ASCII)


class Phase(NamedTuple):
    """One phase. `sixteen` and `seventeen` are its numbers in the two layouts, None where a layout has it not.

    `left_out` are the work types that go without it; `ui`: only with a user interface; `heavy`: the context gate asks
    before it; `files`: which files it changed is recorded when it ends.
    """

    name: str
    sixteen: float | None
    seventeen: float | None
    role: str
    left_out: frozenset[str] = frozenset()
    ui: bool = False
    heavy: bool = False
    files: bool = False

    def number(self, layout: int) -> float | None:
        """Its number in a layout; whole numbers are `int`, half phases `float`."""
        return self.sixteen if layout == 16 else self.seventeen


PHASES: tuple[Phase, ...] = (
    Phase("setup", 1, 1, "engine"),
    Phase("triage", 2, 2, "engine"),
    Phase("codebase-discovery", 3, 3, "lead", heavy=True),
    Phase("skill-discovery", 4, 4, "lead"),
    Phase("complexity", 5, 5, "lead", _SMALL_WORK),
    Phase("brainstorming", 6, 6, "lead", _SMALL_WORK),
    Phase("design-system", 6.5, 6.5, "designer", ui=True),
    Phase("architecting", 7, 7, "lead", _SMALL_WORK),
    Phase("implementation", 8, 8, "developer", heavy=True, files=True),
    Phase("simplification", None, 9, "developer", _FIXES),
    Phase("design-verification", 9, 10, "reviewer", _SMALL_WORK),
    Phase("domain-compliance", 10, 11, "reviewer"),
    Phase("design-verify-ui", 11.5, 11.5, "designer", ui=True),
    Phase("code-quality", 11, 12, "reviewer", files=True),
    Phase("test-planning", 12, 13, "test-lead", _FIXES),
    Phase("testing", 13, 14, "tester", heavy=True, files=True),
    Phase("coverage", 14, 15, "tester"),
    Phase("test-quality", 15, 16, "reviewer"),
    Phase("completion", 16, 17, "lead"),
)
BY_NAME: dict[str, Phase] = {phase.name: phase for phase in PHASES}
#: The roles of the table; those with a hyphen matter where a file's name is taken apart.
ROLES = tuple(dict.fromkeys(phase.role for phase in PHASES))


def number_in(text: str) -> float | None:
    """The number that a text means: "8", "08", "8.0", "6.5", "06_5"; None where it is no phase number."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    whole, half = match.groups()
    return int(whole) if half in (None, "0") else float(f"{whole}.{half}")


def number_text(number: float) -> str:
    """A number as a manifest's key has it: "8", "6.5"."""
    return str(int(number)) if number == int(number) else str(number)


def file_prefix(number: float) -> str:
    """A number as the name of an output begins: "08", "06_5"; names sort as the work went."""
    whole, _, half = number_text(number).partition(".")
    return f"{int(whole):02d}_{half}" if half else f"{int(whole):02d}"


def name_in(text: str) -> str | None:
    """The phase that a text names, in any of the usual spellings ("Code Quality", "code_quality"); None for others."""
    plain = re.sub(r"[\s_-]+", "-", text.strip()).lower()
    return plain if plain in BY_NAME else None


def numbered(number: float, layout: int) -> Phase | None:
    """The phase with this number in a layout."""
    return next((phase for phase in PHASES if phase.number(layout) == number), None)


def named(text: str, layout: int | None = None) -> Phase:
    """The phase that a name or a number means; a number that the layouts read differently needs the layout.

    Raises `Refusal` "phase.unknown", which names what there is.
    """
    name = name_in(text)
    if name is not None:
        phase = BY_NAME[name]
        if layout is None or phase.number(layout) is not None:
            return phase
        raise _unknown(f"the layout of {layout} phases has no {name}", layout)
    number = number_in(text)
    if number is None:
        raise _unknown(f"{shown(text)} is no phase", layout)
    found = {each: numbered(number, each) for each in (LAYOUTS if layout is None else (layout,))}
    meant = {phase for phase in found.values() if phase is not None}
    if len(meant) == 1:
        return meant.pop()
    if not meant:
        raise _unknown(f"there is no phase {number_text(number)}", layout)
    both = " or ".join(f"{phase.name} (of {each})" for each, phase in found.items() if phase is not None)
    raise Refusal("phase.unknown", f"phase {number_text(number)} may be {both}", "name the phase instead")


def _unknown(message: str, layout: int | None) -> Refusal:
    there = [
        f"{number_text(number)} {phase.name}"
        for phase in active(layout or DEFAULT_LAYOUT, None, True)
        if (number := phase.number(layout or DEFAULT_LAYOUT)) is not None
    ]
    return Refusal("phase.unknown", message, f"there are: {', '.join(there)}")


def numbers_of(name: str) -> frozenset[float]:
    """The numbers that a phase has, over both layouts. Raises `Refusal` "phase.unknown"."""
    phase = named(name)
    return frozenset(number for number in (phase.sixteen, phase.seventeen) if number is not None)


def active(layout: int, work_type: str | None, ui: bool) -> tuple[Phase, ...]:
    """The phases that apply, by their numbers in the layout. `work_type` None leaves nothing out."""
    there = [(number, phase) for phase in PHASES if (number := phase.number(layout)) is not None]
    there.sort(key=lambda row: row[0])
    return tuple(phase for _, phase in there if work_type not in phase.left_out and (ui or not phase.ui))


def phase_of_output(number: float, role: str, slug: str, layout: int) -> Phase | None:
    """The phase that an output belongs to, whichever layout its writer had in mind.

    A slug that names a phase with that number decides; then the role, in the layout of the manifest and in the other.
    """
    name = name_in(slug)
    if name is not None and number in numbers_of(name):
        return BY_NAME[name]
    here = numbered(number, layout)
    for phase in (here, *(numbered(number, other) for other in LAYOUTS if other != layout)):
        if phase is not None and phase.role == role:
            return phase
    return here


def layout_of(seen: Iterable[tuple[float | None, str]]) -> int | None:
    """The layout that fits what was seen together: numbers with the phase's name, its role or a slug.

    Each pair that only one layout explains speaks for it, and the one more of them speak for is meant; None where
    nothing tells. A phase name that one layout alone has counts without a number.
    """
    votes = dict.fromkeys(LAYOUTS, 0)
    for number, word in seen:
        fits = [layout for layout in LAYOUTS if _fits(number, word, layout)]
        if len(fits) == 1:
            votes[fits[0]] += 1
    if votes[16] == votes[17]:
        return None
    return max(votes, key=lambda layout: votes[layout])


def _fits(number: float | None, word: str, layout: int) -> bool:
    name = name_in(word)
    if number is None:
        return name is not None and BY_NAME[name].number(layout) is not None
    if name is not None:
        return BY_NAME[name].number(layout) == number
    phase = numbered(number, layout)
    return phase is not None and (not word or word not in ROLES or phase.role == word)
