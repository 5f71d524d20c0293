"""Test ids and the selectors that stand for several of them (formats 1). Pure.

An id is compared as it is. A selector ends in `::*` (all tests of a file, a module or a class) or in `[*]` (all
parameter sets of one test). A *scope* is what a reporter names when something fails before the tests in it have ids
of their own: a file that cannot be imported, a class whose set-up raises.
"""

from __future__ import annotations

ALL_IN = "::*"
ALL_SETS = "[*]"
_BORDERS = ("::", "/", ".", " > ")
_EVERYTHING = ("", ".")  # what pytest calls the project itself


def base(selector: str) -> str | None:
    """What stands before the star of a selector; None for a plain id."""
    for ending in (ALL_IN, ALL_SETS):
        if selector.endswith(ending) and len(selector) > len(ending):
            return selector[: -len(ending)]
    return None


def covers(selector: str, test_id: str) -> bool:
    """Whether `selector` is this id or stands for it. `a::*` covers ids below it, in every runner's form."""
    start = base(selector)
    if start is None:
        return selector == test_id
    if selector.endswith(ALL_SETS):
        return test_id.startswith(start + "[") and test_id.endswith("]")
    return test_id.startswith((start + "::", start + ".", start + " > "))


def in_scope(scope: str, wanted: str) -> bool:
    """Whether an id or selector lies in `scope`, or `scope` in what a selector stands for."""
    start = base(wanted) or wanted
    if scope in (start, *_EVERYTHING):
        return True
    # a package of Go (`./cart`) is no part of the one in the folder above
    borders = ("::",) if scope.startswith("./") else _BORDERS
    return start.startswith(tuple(scope + border for border in borders)) or (start != wanted and covers(wanted, scope))
