"""How two texts differ, as lines for a person: bounded, and in time that grows with their length. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

_AROUND = 3  # lines that are shown before and after what differs
_COMPARED_MOST = 1_000  # lines on either side; of more than that the whole block counts as replaced
_LINE_MOST = 400  # characters
#: What a terminal would act on, and what turns the direction of writing.
_ACTING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class _Block(NamedTuple):
    """Lines `start` to `end` of the old text that became `new_start` to `new_end` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def unified(path: str, before: bytes | None, after: bytes | None, most_lines: int) -> list[str]:
    """The unified difference of a file, at most `most_lines` lines of it: the last one then says how many are missing.

    None is a file that is not there. Bytes that are no UTF-8 and characters that a terminal acts on are escaped, long
    lines are cut.
    """
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    name = _shown(path.encode("utf-8", "surrogateescape"))
    said = [f"--- {'/dev/null' if before is None else name}", f"+++ {'/dev/null' if after is None else name}"]
    for hunk in _hunks(_blocks(old, new)):
        _say_hunk(said, hunk, old, new)
    if len(said) <= most_lines:
        return said
    kept = max(most_lines - 1, 0)
    return [*said[:kept], f"… {len(said) - kept} more lines"][:most_lines]


def lines_differ(before: bytes | None, after: bytes | None) -> int:
    """How many lines differ; a line that was changed counts once."""
    blocks = _blocks(_lines(before), _lines(after))
    return sum(max(one.end - one.start, one.new_end - one.new_start) for one in blocks)


def _lines(data: bytes | None) -> list[bytes]:
    """The lines of a file with their ends. A carriage return is part of its line: it may be all that differs."""
    lines = [line + b"\n" for line in (data or b"").split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _blocks(old: list[bytes], new: list[bytes]) -> list[_Block]:
    """What differs, in order. Lines at both ends that are equal are never compared with others."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    here, there = old[start : len(old) - end], new[start : len(new) - end]
    if not here and not there:
        return []
    if max(len(here), len(there)) > _COMPARED_MOST:
        return [_Block(start, start + len(here), start, start + len(there))]
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, here, there).get_opcodes()
    return [_Block(*(at + start for at in places)) for tag, *places in codes if tag != "equal"]


def _hunks(blocks: list[_Block]) -> list[list[_Block]]:
    """The blocks that are shown together."""
    hunks: list[list[_Block]] = []
    for one in blocks:
        if hunks and one.start - hunks[-1][-1].end <= 2 * _AROUND:
            hunks[-1].append(one)
        else:
            hunks.append([one])
    return hunks


def _say_hunk(said: list[str], hunk: list[_Block], old: list[bytes], new: list[bytes]) -> None:
    before = min(_AROUND, hunk[0].start)
    start, new_start = hunk[0].start - before, hunk[0].new_start - before
    after = min(_AROUND, len(old) - hunk[-1].end)
    end, new_end = hunk[-1].end + after, hunk[-1].new_end + after
    said.append(f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@")
    at = start
    for one in hunk:
        for line in old[at : one.start]:
            _say_line(said, " ", line)
        for line in old[one.start : one.end]:
            _say_line(said, "-", line)
        for line in new[one.new_start : one.new_end]:
            _say_line(said, "+", line)
        at = one.end
    for line in old[at:end]:
        _say_line(said, " ", line)


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start}" + ("" if count == 1 else f",{count}")


def _say_line(said: list[str], mark: str, line: bytes) -> None:
    said.append(mark + _shown(line.removesuffix(b"\n")))
    if not line.endswith(b"\n"):
        said.append("\\ No newline at end of file")


def _shown(line: bytes) -> str:
    text = line[: 4 * _LINE_MOST].decode("utf-8", "backslashreplace")
    text = _ACTING.sub(lambda found: ascii(found.group())[1:-1], text)
    return text if len(text) <= _LINE_MOST and len(line) <= 4 * _LINE_MOST else text[:_LINE_MOST] + "…"
