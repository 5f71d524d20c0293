"""The planted faults: for each promise that is built, one small change of the code that breaks it, and the tests that
must turn red.

A test without brackets stands for all its parameters; at least one of them must fail.
"""

from __future__ import annotations

from typing import NamedTuple


class Plant(NamedTuple):
    """In `file` below src/tallystick, `old` (which stands there once) becomes `new`: what `breaks` says happens."""

    promise: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


PLANTS = (
    Plant(
        "P1",
        "a record is acknowledged before it is synced",
        "journal/log.py",
        "            write_all(self._files, fd, data)\n            self._files.fsync(fd)\n",
        "            write_all(self._files, fd, data)\n",
        (
            "tests/crash/test_deaths.py::test_death_at_any_moment_leaves_the_state_before_or_after[pass]",
            "tests/crash/test_two.py::test_a_power_cut_at_any_moment_of_two_processes_keeps_every_mark",
            "tests/unit/journal/test_store.py::test_what_a_commit_returned_survives_any_power_cut",
        ),
    ),
    Plant(
        "P2",
        "the records of a commit that was cut off count, one by one",
        "journal/chain.py",
        "        if record.place[0] < record.place[1]:\n            return\n",
        "",
        (
            "tests/crash/test_cuts.py::test_an_unanchored_journal_cut_anywhere_is_the_state_before",
            "tests/unit/journal/test_store.py::test_a_commit_of_several_that_is_cut_off_is_set_aside_whole",
        ),
    ),
    Plant(
        "P3",
        "a place that cannot be looked at is taken for an empty one",
        "system/place.py",
        '        raise explained(error, path, "looking there") from error\n',
        "        return 0\n",
        ("tests/crash/test_failures.py::test_a_reading_command_shows_the_truth_or_says_why_not[status]",),
    ),
    Plant(
        "P4",
        "two writers are not kept apart",
        "system/locks.py",
        "            self._held_last = False\n            self._wait_for()\n",
        "            self._held_last = False\n",
        (
            "tests/crash/test_two.py::test_a_command_between_any_two_calls_of_another_loses_nothing[pass]",
            "tests/unit/system/test_locks.py::test_one_holds_and_the_other_waits_and_is_told_who",
        ),
    ),
    Plant(
        "P5",
        "after the wait the lock of a live holder is taken",
        "system/locks.py",
        '                self.close()\n                raise Refusal(\n                    "lock.busy",\n',
        '                return\n                raise Refusal(\n                    "lock.busy",\n',
        (
            "tests/unit/system/test_locks.py::test_one_holds_and_the_other_waits_and_is_told_who",
            "tests/inputs/test_machines.py::test_a_lock_that_another_holds_is_waited_for_and_then_named",
        ),
    ),
    Plant(
        "P6",
        "a home without the key shows what is recorded as if it had checked it",
        "faces/cli/rows.py",
        "    if not shown.snapshot.checkable:\n",
        "    if False:\n",
        (
            "tests/inputs/test_files.py::test_a_key_that_cannot_be_seen",
            "tests/attacks/test_stores.py::test_the_key_gone_reads_as_not_checkable_and_is_not_made_anew",
        ),
    ),
    Plant(
        "P7",
        "an amended criterion keeps its pass",
        "ledger/fold.py",
        "        amended=criterion.amended + 1,\n",
        "        amended=criterion.amended + 1,\n        passes=criterion.passes,\n",
        (
            "tests/unit/ledger/test_rules.py::test_an_amendment_keeps_both_texts_and_drops_the_pass",
            "tests/attacks/test_roles.py::test_a_softened_text_needs_an_amendment_and_costs_the_pass",
        ),
    ),
    Plant(
        "P8",
        "a check that ran red passes its criterion",
        "evidence/service.py",
        "        if not proof.verdict.green:\n            raise self._red(feature, criterion, ran, proof.verdict)\n",
        "",
        ("tests/faces/mcp/test_checks.py::test_red_is_refused_with_the_ids_and_the_line_and_kept",),
    ),
    Plant(
        "P9",
        "a test that was softened after its red moves the lock by itself",
        "evidence/standing.py",
        '_HONEST = ("same", "formatted", "added")\n',
        '_HONEST = ("same", "formatted", "added", "changed")\n',
        ("tests/real/test_proven.py::test_a_softened_test_waits_for_a_person_and_is_made_red_again",),
    ),
    Plant(
        "P10",
        "nobody looks at what a pass rests on again",
        "ledger/keeping.py",
        "            return seen[citation.target] == citation.digest\n",
        "            return True\n",
        (
            "tests/attacks/test_roles.py::test_a_proof_exchanged_after_the_pass_is_noticed_by_the_next_command",
            "tests/unit/ledger/test_citation.py::test_what_is_cited_is_looked_at_again_by_content",
        ),
    ),
    Plant(
        "P11",
        "records that the anchor remembers are not missed",
        "journal/feature.py",
        "        if found is None or found == anchor.id:\n",
        "        if True:\n",
        (
            "tests/crash/test_cuts.py::test_a_journal_that_ends_before_its_anchor_is_a_roll_back",
            "tests/unit/journal/test_store.py::test_records_that_this_place_saw_and_that_are_gone_are_named",
        ),
    ),
    Plant(
        "P12",
        "the role that writes the code passes its own work",
        "ledger/permissions.py",
        '    "pass": _SHELL | {"solo", "verifier"},\n',
        '    "pass": _SHELL | {"solo", "verifier", "implementer"},\n',
        ("tests/attacks/test_roles.py::test_a_pass_from_a_role_that_does_not_verify_is_refused_and_recorded",),
    ),
    Plant(
        "P13",
        "the hooks of the repository run when we ask git",
        "system/git.py",
        '"-c", "core.hooksPath=/dev/null", ',
        "",
        ("tests/real/test_reading.py::test_nothing_out_of_the_repository_runs",),
    ),
    Plant(
        "P15",
        "a file is read however large it is",
        "journal/log.py",
        "        if status.st_size > JOURNAL_FILE:\n",
        "        if False:\n",
        ("tests/inputs/test_files.py::test_a_journal_beyond_the_limit_is_named_and_not_read",),
    ),
    Plant(
        "P16",
        "a command that only reads writes a checkpoint",
        "journal/due.py",
        "        if not self._touched:\n            return ()\n",
        "",
        ("tests/crash/test_failures.py::test_looking_changes_nothing_and_takes_no_lock[show-in-a-long-journal]",),
    ),
    Plant(
        "P17",
        "a store of a newer version is taken for one of ours",
        "journal/membership.py",
        "    if int(found[1]) > version:\n",
        "    if False:\n",
        ("tests/inputs/test_machines.py::test_a_store_that_a_newer_version_made_is_left_alone",),
    ),
    Plant(
        "P18",
        "stored text reaches the terminal as it is",
        "ids.py",
        "    if text.isascii() and text.isprintable():\n",
        "    if text:\n",
        ("tests/inputs/test_texts.py::test_any_text_comes_through_byte_for_byte_and_acts_on_no_terminal",),
    ),
    Plant(
        "P19",
        "what somebody said is recorded as it came",
        "ledger/recording.py",
        "    if not any(event.data.get(name) for name in fields):\n",
        "    if fields:\n",
        ("tests/attacks/test_secrets.py::test_no_secret_reaches_the_disk",),
    ),
    Plant(
        "P20",
        "damage closes every way out",
        "ledger/recording.py",
        'UNDAUNTED = ("fail", "override", "abandon", "output")\n',
        "UNDAUNTED = ()\n",
        (
            "tests/inputs/test_files.py::test_the_ways_out_stay_open_over_damage",
            "tests/crash/test_cuts.py::test_a_journal_that_ends_before_its_anchor_is_a_roll_back",
        ),
    ),
    Plant(
        "P21",
        "a page of failing criteria is as long as the ledger",
        "mcp/answers.py",
        "    page = rows[:PAGE_ROWS]\n",
        "    page = rows\n",
        ("tests/property/test_pages.py::test_the_pages_an_agent_gets_are_bounded_and_together_whole",),
    ),
    Plant(
        "P22",
        "a check run by the superuser keeps his powers where it is shut in",
        "system/confine/bubblewrap.py",
        'ALWAYS = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")\n',
        'ALWAYS = ("--die-with-parent", "--new-session")\n',
        ("tests/real/test_confinement.py::test_no_attack_gets_out",),
    ),
)
