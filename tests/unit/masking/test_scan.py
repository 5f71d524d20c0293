"""Holds the extra `scan`: what a library's detectors find is masked too, on lines of any length, and without the
library nothing is asked and nothing is imported."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tallystick.masking import scan, secrets
from tests.unit.masking.test_secrets import LOOK_ALIKES, PLANTED, chance

SOURCE = Path(__file__).resolve().parents[3] / "src"


class Badge:
    """Finds what its maker calls a badge."""

    secret_type = "Door Badge (v2)"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def analyze_string(self, string: str) -> Iterator[str]:
        """The badges in a line; like some of the library's, with a blank and a prefix too many."""
        self.asked.append(string)
        yield from re.findall(r" badge-[0-9a-f]{16}", string)
        yield "badge"


class KeywordDetector(Badge):
    """Has the name of one that is left out."""


BADGE = "badge-" + chance(16, "0123456789abcdef")


def test_what_a_detector_finds_is_masked_under_its_type() -> None:
    found = secrets.masked(f"a badge:\nhis {BADGE}, her {BADGE}\n", (Badge(),))
    mask = "[masked:door-badge-v2]"
    assert found == (f"a badge:\nhis {mask}, her {mask}\n", {"door-badge-v2": 2})


def test_a_value_is_scanned_too() -> None:
    found, counts = secrets.masked_value({"seen": [f"a {BADGE}"], f"of {BADGE}": 1}, (Badge(),))
    assert found == {"seen": ["a [masked:door-badge-v2]"], "of [masked:door-badge-v2]": 1}
    assert counts == {"door-badge-v2": 2}


def test_our_own_table_goes_first() -> None:
    badge = Badge()
    found = secrets.masked("an ordinary-long-enough-line with ghp_" + chance(36), (badge,))
    assert found.counts == {"github-token": 1}
    assert badge.asked == ["an ordinary-long-enough-line with ~"]


def test_a_long_line_is_shown_in_pieces_and_nothing_is_missed() -> None:
    badge = Badge()
    text = f"{'x' * 1990} {BADGE} {'word ' * 1000} {BADGE}"
    found = secrets.masked(text, (badge,))
    assert found == (text.replace(BADGE, "[masked:door-badge-v2]"), {"door-badge-v2": 2})
    assert max(map(len, badge.asked)) <= 2_000


def test_text_in_which_nothing_can_be_is_shown_to_nobody() -> None:
    badge, text = Badge(), "the cart keeps every line\n" * 5
    assert secrets.masked(text, (badge,)).text is text
    assert badge.asked == []


def test_the_librarys_detectors_are_taken_but_those_left_out() -> None:
    found = {"a": Badge, "b": KeywordDetector}
    library = SimpleNamespace(get_mapping_from_secret_type_to_class=lambda: found)
    asked = scan.detectors(lambda name: library)
    assert [type(detector) for detector in asked] == [Badge]


def test_without_the_library_there_are_none() -> None:
    def load(name: str) -> Any:
        raise ModuleNotFoundError(name)

    assert scan.detectors(load) == ()


def test_without_the_library_masking_works_and_loads_nothing() -> None:
    """An interpreter without site packages has nothing but us."""
    program = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        "from tallystick.masking.secrets import masked\n"
        "assert not {'importlib.metadata', 'detect_secrets', 'requests', 'logging'} & set(sys.modules)\n"
        "print(masked('the key ' + 'ghp_' + 'a1B2' * 9).text)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("the key [masked:github-token]\n", "")


@pytest.mark.needs("scan library")
@pytest.mark.parametrize(
    ("before", "secret", "name"),
    [
        ("sid ", "SK" + chance(32, "0123456789abcdef"), "twilio-api-key"),
        ("mail ", chance(32, "0123456789abcdef") + "-us12", "mailchimp-access-key"),
        ("cloudant_password = ", chance(64, "0123456789abcdef"), "assigned-secret"),
        ("bot ", f"M{chance(23)}.{chance(6)}.{chance(27)}", "discord-bot-token"),
        ("square ", "sq0csp-" + chance(43), "square-oauth-secret"),
    ],
)
def test_the_real_library_finds_what_our_table_does_not_know(before: str, secret: str, name: str) -> None:
    found = secrets.masked(f"{before}{secret}\n", scan.installed())
    assert found == (f"{before}[masked:{name}]\n", {name: 1})


@pytest.mark.needs("scan library")
def test_the_real_library_raises_no_false_alarm_over_what_we_leave_alone() -> None:
    asked = scan.installed()
    assert [text for text in LOOK_ALIKES if secrets.masked(text, asked).text is not text] == []


@pytest.mark.needs("scan library")
def test_the_real_library_changes_nothing_of_what_our_table_finds() -> None:
    asked = scan.installed()
    texts = [f"{before}{secret}{after}" for _, secret, before, after in PLANTED]
    assert [secrets.masked(text, asked) for text in texts] == [secrets.masked(text, ()) for text in texts]


@pytest.mark.needs("scan library")
def test_every_detector_that_is_left_out_exists() -> None:
    from importlib import import_module

    plugins = import_module("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class()
    assert set(scan.LEFT_OUT) - {kind.__name__ for kind in plugins.values()} == set()
