"""Time as text: RFC 3339, UTC, milliseconds, Z (formats 1). Pure: the clock is an argument everywhere."""

from __future__ import annotations

import re
import time
from functools import lru_cache

_STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{3})?Z\Z", re.ASCII)
#: Days from 1 March of the year 0 to 1 January 1970.
_DAYS_TO_1970 = 719_468


def stamp(nanoseconds: int) -> str:
    """The moment `nanoseconds` after 1970 as text, such as 2026-05-21T00:00:00.000Z."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03d}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def seconds_of(text: str) -> float | None:
    """Seconds since 1970 of a stamp of ours, None for other text.

    Counted by hand: `strptime` and `calendar` would load four modules on the way to a screen.
    """
    found = _STAMP.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    # Years that begin in March have their leap day last, and months in a pattern of 153 days for each five.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1 - _DAYS_TO_1970
    return float(((days * 24 + hour) * 60 + minute) * 60 + second)


def ago(text: str, now_ns: int) -> str:
    """How long ago a stamp was, for people: "just now", "5 min ago", "2 h ago", "3 d ago"."""
    then = seconds_of(text)
    if then is None:
        return ""
    seconds = now_ns / 1e9 - then
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {word} ago"
    return "just now" if seconds >= -60 else "in the future"


class SystemClock:
    """The real clock."""

    now = staticmethod(time.time_ns)
    monotonic = staticmethod(time.monotonic)
    pause = staticmethod(time.sleep)
