"""Secrets of known shapes are masked before a byte is written (promise P19): texts and JSON values. Pure.

What is written in place of a secret is `[masked:NAME]`, with the name of its row in `shapes.SHAPES` and nothing of
the secret. First go the rows known by their own look, then those known by their place: a token in a URL is called by
its own name. Masking what is masked changes nothing: a mask holds nothing that a row could take for a secret, no
row known by its look asks what comes after, and what it takes reaches to the end of the run of letters and digits, so
that nothing is laid bare before or behind it.
At last come the detectors of the extra `scan`, where it is installed (`scan.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.masking import scan
from tallystick.masking.scan import Detector
from tallystick.masking.shapes import SHAPES, Shape

_REST_OF_RUN = "[A-Za-z0-9]*+"


class Masked(NamedTuple):
    """What may be written, and how many secrets were masked in it: name of the shape -> number."""

    text: str
    counts: dict[str, int]


def masked(text: str, further: Iterable[Detector] | None = None) -> Masked:
    """`text` without its secrets; the same object where there were none.

    `further` is what looks for more of them; None stands for the extra's detectors, if it is installed. Takes time
    in proportion to the text, whatever is in it, and one more copy of it for each of the three rounds that finds some.
    """
    counts: dict[str, int] = {}
    for by_place in (False, True):
        text = _round(text, by_place, counts)
    return Masked(scan.masked(text, scan.installed() if further is None else tuple(further), counts), counts)


def masked_value(value: Json, further: Iterable[Detector] | None = None) -> tuple[Json, dict[str, int]]:
    """A JSON value without the secrets in its strings and keys, and their numbers; the same object if there were none.

    A key speaks for its value as in a text: `{"password": …}`. Two keys that become one by masking stay two.
    """
    walk = _Walk(scan.installed() if further is None else tuple(further))
    return walk.value(value, ""), walk.counts


class _Key(NamedTuple):
    """A key as it may be written, what was masked in it, and the former again if it may tell of a secret, else ""."""

    written: str
    counts: dict[str, int]
    speaks: str


class _Walk:
    """One walk through a JSON value. Most keys come again and again: each is looked at once."""

    __slots__ = ("_detectors", "_keys", "counts")

    def __init__(self, detectors: tuple[Detector, ...]) -> None:
        self.counts: dict[str, int] = {}
        self._detectors = detectors
        self._keys: dict[str, _Key] = {}

    def value(self, value: Json, key: str) -> Json:
        """`value`, which stands under `key` ("" for one that says nothing of it), masked; itself if nothing changed."""
        if isinstance(value, str):
            return self._under(key, value) if key else self._masked(value)
        if isinstance(value, (list, tuple)):
            items = [self.value(item, key) for item in value]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _object(self, value: dict[str, Json]) -> dict[str, Json]:
        pairs: list[tuple[str, Json]] = []
        same = True
        for name, item in value.items():
            key = self._keys.get(name) or self._met(name)
            if key.counts:
                _add(self.counts, key.counts)
            new = self.value(item, key.speaks)
            same = same and new is item and not key.counts
            pairs.append((key.written, new))
        return value if same else _kept_apart(pairs)

    def _met(self, name: str) -> _Key:
        written, counts = masked(name, self._detectors)
        speaks = written if _trigger(True).search(written) else ""
        return self._keys.setdefault(name, _Key(written, counts, speaks))

    def _masked(self, text: str) -> str:
        found = masked(text, self._detectors)
        _add(self.counts, found.counts)
        return found.text

    def _under(self, key: str, value: str) -> str:
        """A string, read as what its key is given."""
        ahead = f'{key}="'
        found = masked(f'{ahead}{value}"', self._detectors)
        if not found.counts:
            return value
        if not (found.text.startswith(ahead) and found.text.endswith('"')):
            return self._masked(value)  # what begins in the key ends in the value
        _add(self.counts, found.counts)
        return found.text[len(ahead) : -1]


def _kept_apart(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object of these pairs; a key that is there already gets a number."""
    kept: dict[str, Json] = {}
    wanted = {key for key, _ in pairs}
    numbers: dict[str, int] = {}
    for key, value in pairs:
        name, number = key, numbers.get(key, 1)
        while name in kept or (name != key and name in wanted):
            number += 1
            name = f"{key} ({number})"
        numbers[key] = number
        kept[name] = value
    return kept


def _add(counts: dict[str, int], more: dict[str, int]) -> None:
    for name, number in more.items():
        counts[name] = counts.get(name, 0) + number


def _round(text: str, by_place: bool, counts: dict[str, int]) -> str:
    """`text` with the secrets of one kind of rows masked and counted."""
    trigger, rows = _trigger(by_place), _rows(by_place)
    pieces: list[str] = []
    done = at = 0
    while (hit := trigger.search(text, at)) is not None:
        at = hit.start() + 1
        for shape in rows[hit[0]]:
            found = _pattern(shape.name).match(text, hit.start())
            if found is None:
                continue
            at = max(at, found.end())  # also past one that is not real: nothing is looked at again and again
            if shape.real(found[1]):
                pieces += (text[done : found.start(1)], f"[masked:{shape.name}]")
                done = found.end(1)
                counts[shape.name] = counts.get(shape.name, 0) + 1
                break
    return "".join((*pieces, text[done:])) if pieces else text


@cache
def _rows(by_place: bool) -> dict[str, tuple[Shape, ...]]:
    """The rows to try where a needle stands, in the order of the table; a needle may begin with another's."""
    shapes = [shape for shape in SHAPES if bool(shape.before) is by_place]
    needles = {needle for shape in shapes for needle in shape.needles}
    return {
        needle: tuple(shape for shape in shapes if any(map(needle.startswith, shape.needles))) for needle in needles
    }


@cache
def _trigger(by_place: bool) -> re.Pattern[str]:
    """Finds any needle, the longest first."""
    return re.compile(_tree(list(_rows(by_place)), outermost=True))


def _tree(words: list[str], outermost: bool = False) -> str:
    """An expression for any of `words` that tries each first letter once: five times as fast as one after another."""
    after: dict[str, list[str]] = {}
    for word in words:
        after.setdefault(word[:1], []).append(word[1:])
    ways = "|".join(re.escape(letter) + _tree(rest) for letter, rest in sorted(after.items()) if letter)
    if outermost or not ways:  # a charset for the first letter is found by the engine only without a group around it
        return ways
    return f"(?:{ways})?" if "" in after else f"(?:{ways})"


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """The pattern of a row, whose second half is the secret; made when one of its needles is met."""
    shape = next(shape for shape in SHAPES if shape.name == name)
    return re.compile(f"{shape.before}({shape.secret}{'' if shape.before else _REST_OF_RUN})")
