"""Holds time as text: what a stamp says, that it reads back, and how long ago a moment was in words."""

from __future__ import annotations

import calendar
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.moment import ago, seconds_of, stamp

SECOND = 1_000_000_000
#: Up to the end of the year 9999, which is the last one of four digits.
MOMENTS = st.integers(min_value=0, max_value=253_402_300_799)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (1_779_321_600, "2026-05-21T00:00:00.000Z"),
        (4_107_542_399, "2100-02-28T23:59:59.000Z"),
    ],
)
def test_a_stamp_says_the_moment_in_utc(seconds: int, text: str) -> None:
    assert stamp(seconds * SECOND) == text
    assert seconds_of(text) == seconds


@given(MOMENTS)
def test_a_stamp_reads_back_as_the_calendar_says(seconds: int) -> None:
    text = stamp(seconds * SECOND + 999_999_999)
    assert seconds_of(text) == seconds
    assert seconds_of(text) == calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-05-21", "2026-13-01T00:00:00.000Z", "2026-00-01T00:00:00Z", "2026-05-32T00:00:00Z",
     "2026-05-21T24:00:00Z", "2026-05-21T00:00:00+02:00", "2026-05-21T00:00:00.000Z ", "٢٠٢٦-05-21T00:00:00Z"],
)  # fmt: skip
def test_other_text_is_no_moment(text: str) -> None:
    assert seconds_of(text) is None
    assert ago(text, 0) == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "just now"), (59, "just now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"), (86_400, "1 d ago"),
     (-60, "just now"), (-61, "in the future")],
)  # fmt: skip
def test_how_long_ago_it_was(seconds: int, words: str) -> None:
    then = 1_779_321_600
    assert ago(stamp(then * SECOND), (then + seconds) * SECOND) == words
