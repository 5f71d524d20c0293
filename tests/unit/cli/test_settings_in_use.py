"""Holds where the settings of a project take hold: which feature is meant, whether marks write into the tree, what git
ignores, how long a check may run; and that settings which cannot be read stop only what needs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.evidence.checks import limits_of
from tallystick.mcp.tools import Tools
from tallystick.mcp.toolset import CallContext
from tallystick.settings import Verify
from tests.desk import FEATURE, Desk

CONFIG = ".tallystick/config.toml"
CALL = CallContext(1, "", "", "", "", "", lambda: False, lambda *_: None)
DAMAGED = (
    ("not TOML", "[verify\n", f"{CONFIG}:1 is no TOML"),
    ("an unknown key", "[verify]\nmodus = 'tree'\n", "verify.modus is no key"),
    ("too large", "#" * 1_000_001, "1,000,001 bytes"),
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A project with two features, one criterion of each passed."""
    desk = Desk(tmp_path / "desk")
    desk.freeze()
    desk.freeze(feature="other")
    desk.cite("AC1")
    return desk


def segments(desk: Desk) -> list[str]:
    return sorted(path.name for path in (desk.folder / ".tallystick").rglob("*.jsonl"))


def test_the_settings_say_which_feature_is_meant(desk: Desk) -> None:
    assert desk.refused("ledger", "show").code == "usage"
    desk.put(CONFIG, 'feature = "other"\n')
    assert desk.ok("ledger", "show", "--json").document["feature"] == "other"
    assert desk.ok("ledger", "show", FEATURE, "--json").document["feature"] == FEATURE
    with_brief = Tools(desk.app(), "solo").call("brief", {}, CALL)
    assert (with_brief.structured or {})["feature"] == "other"


def test_a_feature_that_is_not_there_is_named(desk: Desk) -> None:
    desk.put(CONFIG, 'feature = "gone"\n')
    assert "gone" in desk.refused("ledger", "show").message


def test_marks_write_nothing_into_the_tree_where_they_are_not_to_share(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    desk.put(CONFIG, "[share]\nauto = false\n")
    desk.freeze()
    desk.cite("AC1")
    assert segments(desk) == []
    assert len(desk.ok("share", "--json").document["written"]) == 1
    assert len(segments(desk)) == 1


def test_marks_share_by_themselves_else(desk: Desk) -> None:
    assert segments(desk) != []


@pytest.mark.parametrize("tracked", [True, False])
def test_views_are_ignored_unless_they_are_to_be_tracked(tmp_path: Path, tracked: bool) -> None:
    desk = Desk(tmp_path / "desk")
    desk.put(CONFIG, f"[views]\ntracked = {str(tracked).lower()}\n")
    desk.freeze()
    listed = (desk.folder / ".git" / "info" / "exclude").read_text(encoding="utf-8")
    assert ("/.agent/tasks/*/feature_list.json" in listed, "/.jonggrang/" in listed) == (not tracked,) * 2
    assert "/.tallystick/**/.tmp" in listed


def test_the_limits_of_a_check_are_those_of_the_settings() -> None:
    limits = limits_of(Verify(time_limit_s=5, output_limit_mb=1, memory_limit_mb=64, file_limit_mb=2))
    assert (limits.wall_s, limits.output, limits.memory, limits.file) == (5, 1_000_000, 64_000_000, 2_000_000)


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize(("text", "says"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_reading_commands_work_with_damaged_settings_and_name_them(desk: Desk, text: str, says: str) -> None:
    desk.put(CONFIG, text)
    for words in (
        ("status",), ("ledger", "show", FEATURE), ("ledger", "failing", FEATURE), ("ledger", "get", FEATURE, "AC1"),
        ("brief", FEATURE), ("audit",), ("output", "find", FEATURE), ("board", "list", FEATURE), ("trust", "--show"),
    ):  # fmt: skip
        said = desk.run(*words)
        assert said.status == 0, said
        assert says in said.err, words
    answer = Tools(desk.app(), "solo").call("list_failing", {"task_id": FEATURE}, CALL)
    assert says in (answer.structured or {})["warning"]


@pytest.mark.requirement("F5.16")
@pytest.mark.parametrize(("text", "says"), [row[1:] for row in DAMAGED], ids=[row[0] for row in DAMAGED])
def test_what_needs_the_settings_is_refused(desk: Desk, text: str, says: str) -> None:
    desk.ok("ledger", "add", FEATURE, "-", given=b"- [ ] AC9 it runs\n      run: touch ran.txt\n")
    desk.put(CONFIG, text)
    for words in (("check", FEATURE, "AC9"), ("ledger", "pass", FEATURE, "AC9")):
        error = desk.refused(*words)
        assert (error.code, error.where["file"]) == ("settings.invalid", CONFIG)
        assert says in error.message
    assert desk.refused("trust", "--yes", person=True).code == "settings.invalid"
    assert not (desk.folder / "ran.txt").exists()


def test_a_mark_is_recorded_with_damaged_settings_and_the_tree_is_left_alone(desk: Desk) -> None:
    desk.put(CONFIG, "[share\n")
    before = segments(desk)
    said = desk.cite("AC2")
    assert f"{CONFIG}:1" in said.err
    assert (segments(desk), desk.counted()) == (before, ["AC1", "AC2"])
    desk.put(CONFIG, "")
    desk.cite("AC3")
    assert segments(desk) != before


@pytest.mark.parametrize("inside", [True, False])
def test_settings_behind_a_link_are_read_inside_the_tree_alone(desk: Desk, inside: bool) -> None:
    target = (desk.folder if inside else desk.base) / "elsewhere.toml"
    target.write_text('feature = "other"\n', encoding="utf-8")
    (desk.folder / CONFIG).symlink_to(target)
    said = desk.run("ledger", "show", "--json")
    if inside:
        assert said.document["feature"] == "other"
        target.write_text(f'feature = "{FEATURE}"\n', encoding="utf-8")
        assert desk.ok("ledger", "show", "--json").document["feature"] == FEATURE
    else:
        assert said.document["error"]["code"] == "usage"  # two features, and nobody says which
        assert "leads outside the project" in desk.run("status").err


def test_a_link_that_leads_nowhere_and_a_folder_are_no_empty_settings(desk: Desk) -> None:
    (desk.folder / CONFIG).symlink_to(desk.base / "gone")
    assert "leads nowhere" in desk.run("status").err
    os.unlink(desk.folder / CONFIG)
    (desk.folder / CONFIG).mkdir()
    assert "no regular file" in desk.run("status").err


def test_a_process_that_lives_long_sees_a_change(desk: Desk) -> None:
    settings = desk.app().settings
    assert settings.default_feature() == ""
    desk.put(CONFIG, 'feature = "other"\n')
    assert settings.default_feature() == "other"
    desk.put(CONFIG, "feature = 3\n")
    assert settings.damage() is not None
    desk.put(CONFIG, f'feature = "{FEATURE}"\n')
    assert (settings.damage(), settings.read().feature) == (None, FEATURE)
