"""Holds that phases are known by name: in both layouts, with the half phases, in every spelling. The ten ways in which
the documents of the seed disagree with each other have a test each, called after the way."""

from __future__ import annotations

import pytest

from tallystick.errors import Refusal
from tallystick.handoff.manifest import phases
from tallystick.handoff.manifest.phases import (
    active,
    file_prefix,
    layout_of,
    named,
    number_text,
    numbers_of,
    phase_of_output,
)
from tallystick.handoff.manifest.reading import OldManifest, read_manifest
from tallystick.handoff.output.header import read_name

SIXTEEN = [
    "setup", "triage", "codebase-discovery", "skill-discovery", "complexity", "brainstorming", "architecting",
    "implementation", "design-verification", "domain-compliance", "code-quality", "test-planning", "testing",
    "coverage", "test-quality", "completion",
]  # fmt: skip
SMALLER = {"complexity", "brainstorming", "architecting", "design-verification"}
SEVENTEEN = [*SIXTEEN[:8], "simplification", *SIXTEEN[8:]]


def names(layout: int, work_type: str | None = None, ui: bool = False) -> list[str]:
    return [phase.name for phase in active(layout, work_type, ui)]


def said(phases: object, **more: object) -> OldManifest:
    return read_manifest({"feature_id": "shop", "phases": phases, **more}, "MANIFEST.yaml")


@pytest.mark.requirement("F3.2")
@pytest.mark.parametrize(("layout", "expected"), [(16, SIXTEEN), (17, SEVENTEEN)])
def test_both_layouts_are_whole_and_in_order(layout: int, expected: list[str]) -> None:
    assert names(layout) == expected
    assert [named(str(number), layout).name for number in range(1, layout + 1)] == expected


@pytest.mark.parametrize(
    ("work_type", "without"),
    [
        ("BUGFIX", {*SMALLER, "simplification", "test-planning"}),
        ("SMALL", SMALLER),
        ("MEDIUM", set()),
        ("LARGE", set()),
    ],
)  # fmt: skip
def test_a_work_type_leaves_phases_out(work_type: str, without: set[str]) -> None:
    assert set(SEVENTEEN) - set(names(17, work_type)) == without


def test_a_user_interface_adds_the_half_phases_by_their_numbers() -> None:
    with_it = names(17, None, ui=True)
    assert set(with_it) - set(SEVENTEEN) == {"design-system", "design-verify-ui"}
    assert with_it.index("design-system") == with_it.index("brainstorming") + 1
    assert with_it.index("design-verify-ui") == with_it.index("domain-compliance") + 1


@pytest.mark.parametrize("text", ["8", "08", "8.0", " 8 ", "implementation", "Implementation", "IMPLEMENTATION"])
def test_every_spelling_means_the_phase(text: str) -> None:
    assert named(text, 16).name == named(text, 17).name == named(text).name == "implementation"


@pytest.mark.parametrize("text", ["code-quality", "code_quality", "Code Quality", "CODE-QUALITY"])
def test_a_name_has_the_usual_spellings(text: str) -> None:
    assert named(text).name == "code-quality"


@pytest.mark.parametrize("text", ["-1", "0", "18", "99", "8.3", "1e1", "", "deploy", "8;9", "٨", "\n", "0x8", "1000"])
@pytest.mark.parametrize("layout", [None, 16, 17])
def test_what_is_no_phase_is_refused_with_what_there_is(text: str, layout: int | None) -> None:
    with pytest.raises(Refusal) as caught:
        named(text, layout)
    assert caught.value.code == "phase.unknown"
    assert "8 implementation" in caught.value.hint


def test_a_number_that_the_layouts_read_differently_needs_one() -> None:
    with pytest.raises(Refusal, match=r"test-planning \(of 16\) or code-quality \(of 17\)") as caught:
        named("12")
    assert caught.value.code == "phase.unknown"


def test_a_phase_that_the_layout_has_not_is_refused() -> None:
    with pytest.raises(Refusal, match="of 16 phases has no simplification"):
        named("simplification", 16)


@pytest.mark.parametrize("phase", phases.PHASES, ids=lambda phase: str(phase.name))
def test_numbers_and_prefixes_round_trip(phase: phases.Phase) -> None:
    for layout in phases.LAYOUTS:
        number = phase.number(layout)
        if number is not None:
            assert named(number_text(number), layout) == named(file_prefix(number), layout) == phase
            assert number in numbers_of(phase.name)


def test_prefixes_sort_as_the_work_goes() -> None:
    numbers = [phase.seventeen for phase in active(17, None, True) if phase.seventeen is not None]
    prefixes = [file_prefix(number) for number in numbers]
    assert prefixes == sorted(prefixes)
    assert "06_5" in prefixes


# -- the ten ways -----------------------------------------------------------------------------------------------------


def test_way_1_code_quality_is_eleven_or_twelve() -> None:
    assert numbers_of("code-quality") == {11, 12}
    assert layout_of([(11, "code-quality")]) == 16
    assert layout_of([(12, "code-quality")]) == 17


def test_way_2_testing_is_thirteen_or_fourteen() -> None:
    assert numbers_of("testing") == {13, 14}
    assert {phase_of_output(13, "tester", "results", layout) for layout in (16, 17)} == {named("testing")}
    assert phase_of_output(14, "tester", "results", 17) == named("testing")
    assert layout_of([(14, "testing")]) == 17
    assert layout_of([(13, "testing")]) == 16


def test_way_3_a_test_plan_is_of_twelve_or_thirteen() -> None:
    for number in (12, 13):
        assert {phase_of_output(number, "test-lead", "test-plan", layout) for layout in (16, 17)} == {
            named("test-planning")
        }


def test_way_4_sixteen_phases_or_seventeen() -> None:
    assert said({"8": {"name": "implementation"}, "12": {"name": "code-quality"}}).layout == 17
    assert said({"8": {"name": "implementation"}, "11": {"name": "code-quality"}}).layout == 16
    assert said({"17": {"status": "completed"}}).layout == 17
    assert said({"8": {"status": "completed"}}).layout is None


def test_way_5_the_newer_text_keeps_the_file_names_of_the_older() -> None:
    """Its prose counts 8, 12 and 14, its examples 08, 11 and 13: the same three phases."""
    shown = ("08-developer-task-001.json", "11-reviewer-code-quality.json", "13-tester-results.json")
    read = [read_name(file) for file in shown]
    found = [phase_of_output(name.phase, name.role, name.slug, 17) for name in read if name is not None]
    assert found == [named(number, 17) for number in ("8", "12", "14")]
    checked = phase_of_output(9, "reviewer", "design-check", 17)
    assert checked == named("design-verification")


def test_way_6_the_name_ends_in_output_or_in_anything() -> None:
    assert read_name("08-developer-output.json") == (8, "developer", "output")
    assert read_name("12-test-lead-test-plan.json") == (12, "test-lead", "test-plan")
    assert read_name("07-lead-architecture-plan.json") == (7, "lead", "architecture-plan")


def test_way_7_two_digits_in_names_and_plain_numbers_in_headers() -> None:
    assert named("08", 17) == named("8", 17) == named("8.0", 17)
    assert said({"08": "completed"}).phases[0].phase == said({"8": "completed"}).phases[0].phase


def test_way_8_half_phases_are_numbers_or_text() -> None:
    for key in ("6.5", "06_5", "6_5"):
        assert [entry.phase.name for entry in said({key: "completed"}).phases] == ["design-system"]
    assert said({}, active_phases=[6, 6.5, 7, "11.5"]).active == (
        "brainstorming", "design-system", "architecting", "design-verify-ui",
    )  # fmt: skip


def test_way_9_keys_of_phases_are_integers_floats_strings_or_names() -> None:
    rows = {
        "8": "completed",
        "6.5": "completed",
        "12": {"name": "code-quality", "status": "completed"},
        "testing": "failed",
    }
    assert [(entry.phase.name, entry.status) for entry in said(rows).phases] == [
        ("design-system", "completed"),
        ("implementation", "completed"),
        ("code-quality", "completed"),
        ("testing", "failed"),
    ]


def test_way_10_what_runs_is_running_or_in_progress_and_its_files_lie_in_two_places() -> None:
    entry = said({"8": {"status": "in_progress", "output": {"files_modified": ["a.ts"], "files_created": ["b.ts"]}}})
    other = said({"8": {"status": "running", "output_files": [{"path": "a.ts", "type": "modified"}, "b.ts"]}})
    assert [one.phases[0].status for one in (entry, other)] == ["running", "running"]
    for one in (entry, other):
        attempt = one.phases[0].current
        assert attempt is not None
        assert {file.path for file in attempt.files} == {"a.ts", "b.ts"}
