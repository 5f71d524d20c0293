"""Under which id a test may be found now that is not reported any more: it was moved, renamed, or both. Pure.

An answer is given only where one test of the old state fits one of the new: the same body, or the same name in a file
or class of which nearly all tests went to one place together.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tallystick.evidence.fingerprints import docstring_and_rest, fingerprint, source_tree

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BODY_LEAST = 5  # nodes: a smaller body (`pass`, `assert False`) says nothing about which test it is
_TOGETHER = 0.75  # the share of the tests of a file or class that have to be found in one place
_ALL = "*"
_Place = tuple[str, ...]  # the path of a file, the classes, the name of the test
_K = TypeVar("_K")


class _Test(NamedTuple):
    """A test by its place: `body` is the fingerprint of all but its name, `sets` that of its decorators."""

    place: _Place
    body: str
    sets: str
    telling: bool


class _Asked(NamedTuple):
    """A missing id, taken apart: `sets` is what stands in brackets, `root` what stands before a dotted module."""

    place: _Place
    sets: str = ""
    dotted: bool = False
    root: tuple[str, ...] = ()


def likely_ids(missing: Sequence[str], before: Mapping[str, bytes], now: Mapping[str, bytes]) -> dict[str, str]:
    """The likely new id of each of `missing`, left out where there is no or more than one.

    `missing` are pytest's ids, unittest's dotted ones and selectors that are not reported any more; `before` are the
    test files as they were when those were, `now` as they are, by path.
    """
    old, new = _index(before), _index(now)
    gone = {place: test for place, test in old.items() if place not in new}
    come = {place: test for place, test in new.items() if place not in old}
    same_files = _same_files(before, now)
    moved = frozenset(same_files.values())
    pairs = _paired(
        {place: test for place, test in gone.items() if place[0] not in same_files},
        {place: test for place, test in come.items() if place[0] not in moved},
    )
    holders = _holders(old, new, pairs)
    modules = _modules(before)
    found: dict[str, str] = {}
    for test_id in dict.fromkeys(missing):
        asked = _taken_apart(test_id, before, modules)
        if asked is None:
            continue
        file = same_files.get(asked.place[0])
        place = (file, *asked.place[1:]) if file else _new_place(asked, pairs, holders, old, come)
        new_id = _put_together(asked, place) if place else ""
        if new_id and new_id != test_id:
            found[test_id] = new_id
    often = Counter(found.values())
    return {test_id: new_id for test_id, new_id in found.items() if often[new_id] == 1}


def _index(files: Mapping[str, bytes]) -> dict[_Place, _Test]:
    """The tests of all files by place; of a name that is bound twice the last."""
    return {test.place: test for path, source in sorted(files.items()) for test in _tests(path, source)}


def _tests(path: str, source: bytes) -> Iterator[_Test]:
    tree = source_tree(source) if path.endswith(".py") else None
    waiting: list[tuple[_Place, ast.stmt]] = [((path,), one) for one in (tree.body if tree else ())]
    for inside, node in waiting:
        if isinstance(node, ast.ClassDef):
            waiting.extend(((*inside, node.name), one) for one in node.body)
        elif isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            rest = docstring_and_rest(node)[1]
            sets = fingerprint(*node.decorator_list)
            body = f"{type(node).__name__} {sets} {fingerprint(node.args)} {fingerprint(*rest)}"
            telling = sum(1 for one in rest for _ in ast.walk(one)) >= _BODY_LEAST
            yield _Test((*inside, node.name), body, sets, telling)


def _same_files(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> dict[str, str]:
    """Files that are gone, each with the one new file that does the same."""
    return _one_to_one(_whole_files(before, now), _whole_files(now, before))


def _whole_files(files: Mapping[str, bytes], others: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for path in files:
        tree = source_tree(files[path]) if path.endswith(".py") and path not in others else None
        if tree is not None and tree.body:
            yield path, fingerprint(tree)


def _paired(gone: dict[_Place, _Test], come: dict[_Place, _Test]) -> dict[_Place, _Place]:
    """Tests with the same body, one to one: first those whose name and class tell as well, last by the body alone."""
    keys: tuple[Callable[[_Place], object], ...] = (
        lambda place: place[1:],
        lambda place: place[:-1],
        lambda place: (place[0], place[-1]),
        lambda place: place[-1],
        lambda place: (),
    )
    found: dict[_Place, _Place] = {}
    for key in keys:
        taken = set(found.values())
        left = ((place, (key(place), test.body)) for place, test in gone.items() if test.telling and place not in found)
        right = ((place, (key(place), test.body)) for place, test in come.items() if place not in taken)
        found |= _one_to_one(left, right)
    return found


def _one_to_one(left: Iterable[tuple[_K, object]], right: Iterable[tuple[_K, object]]) -> dict[_K, _K]:
    """What on the left has the same key as exactly one on the right, and the other way round."""
    there: defaultdict[object, list[_K]] = defaultdict(list)
    here: defaultdict[object, list[_K]] = defaultdict(list)
    for one, key in right:
        there[key].append(one)
    for one, key in left:
        here[key].append(one)
    return {some[0]: there[key][0] for key, some in here.items() if len(some) == 1 == len(there.get(key, ()))}


def _holders(old: Mapping[_Place, _Test], new: Iterable[_Place], pairs: dict[_Place, _Place]) -> dict[_Place, _Place]:
    """Files and classes without any of their tests now, each with the one that nearly all of them are in."""
    size = Counter(place[:end] for place, test in old.items() if test.telling for end in range(1, len(place)))
    left = {place[:end] for place in new for end in range(1, len(place))}
    went: defaultdict[_Place, Counter[_Place]] = defaultdict(Counter)
    for place, to in pairs.items():
        for up in range(1, min(len(place), len(to))):
            went[place[:-up]][to[:-up]] += 1
    found: dict[_Place, _Place] = {}
    for holder, counts in went.items():
        to, count = counts.most_common(1)[0]
        if holder not in left and count >= _TOGETHER * size[holder]:
            found[holder] = to
    often = Counter(found.values())
    return {holder: to for holder, to in found.items() if often[to] == 1}


def _modules(files: Iterable[str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """By each dotted name that a file may be imported under: its path, and the folders before that name."""
    found: defaultdict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for path in files:
        parts = _module_parts(path)
        for at in range(len(parts)):
            found[".".join(parts[at:])].append((path, parts[:at]))
    return found


def _module_parts(path: str) -> tuple[str, ...]:
    if not path.endswith(".py"):
        return ()
    return tuple(path.removesuffix(".py").removesuffix("/__init__").split("/"))


def _taken_apart(
    test_id: str, before: Mapping[str, bytes], modules: Mapping[str, list[tuple[str, tuple[str, ...]]]]
) -> _Asked | None:
    head, mark, rest = test_id.partition("::")
    if mark and head in before:
        names, bracket, sets = rest.partition("[")
        return _Asked((head, *names.split("::")), bracket + sets)
    every = (_ALL,) if test_id.endswith("::" + _ALL) else ()
    parts = test_id.removesuffix("::" + _ALL).split(".")
    for end in range(len(parts), 0, -1):
        files = modules.get(".".join(parts[:end]), [])
        if files:
            place = (files[0][0], *parts[end:], *every)
            return _Asked(place, dotted=True, root=files[0][1]) if len(files) == 1 < len(place) else None
    return None


def _new_place(
    asked: _Asked,
    pairs: dict[_Place, _Place],
    holders: dict[_Place, _Place],
    old: dict[_Place, _Test],
    come: dict[_Place, _Test],
) -> _Place | None:
    if asked.place in pairs:
        return pairs[asked.place]
    ends = range(len(asked.place) - 1, 0, -1)
    end = next((end for end in ends if asked.place[:end] in holders), 0)
    if not end:
        return None
    to = (*holders[asked.place[:end]], *asked.place[end:])
    if asked.place[end:] == (_ALL,):
        return to
    was, is_now = old.get(asked.place), come.get(to)
    if was is None or is_now is None or to in pairs.values():
        return None  # one that cannot be seen, or that is another test
    return to if not asked.sets or was.sets == is_now.sets else None


def _put_together(asked: _Asked, place: _Place) -> str:
    """The id of `place` in the form of the one that was asked for; "" where it has none."""
    if not asked.dotted:
        return "::".join(place) + asked.sets
    parts = _module_parts(place[0])
    root = len(asked.root)
    if parts[:root] != asked.root or len(parts) == root:
        return ""
    names = place[1:-1] if place[-1] == _ALL else place[1:]
    return ".".join((*parts[root:], *names)) + ("::" + _ALL if place[-1] == _ALL else "")
