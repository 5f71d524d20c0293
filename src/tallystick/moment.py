"""Time as text: RFC 3339, UTC, milliseconds, Z (formats 1). Pure: the clock is an argument everywhere."""

from __future__ import annotations

import time
from functools import lru_cache


def stamp(nanoseconds: int) -> str:
    """The moment `nanoseconds` after 1970 as text, such as 2026-05-21T00:00:00.000Z."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03d}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def seconds_of(text: str) -> float | None:
    """Seconds since 1970 of a stamp of ours, None for other text."""
    import calendar

    try:
        whole = calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None
    return float(whole)


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
