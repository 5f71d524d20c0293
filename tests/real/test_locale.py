"""Holds that text is UTF-8 whatever the machine's locale says (P18): the same bytes in and out under LC_ALL=C."""

from __future__ import annotations

import json

import pytest

from tests.real.project import Project

PLAIN = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
LOCALES = {"C": PLAIN, "C.UTF-8": {"LC_ALL": "C.UTF-8"}, "ascii streams": {**PLAIN, "PYTHONIOENCODING": "ascii:strict"}}
TEXT = "der Warenkorb zählt 数 und 🧮, e\u0301 und é"
EVIDENCE = "Belege/größe 数 🧮.txt"


@pytest.mark.requirement("P18")
def test_the_same_bytes_in_and_out_under_every_locale(project: Project) -> None:
    (project.folder / "Belege").mkdir()
    (project.folder / EVIDENCE).write_text(TEXT, encoding="utf-8")
    answers = {}
    for number, (name, env) in enumerate(LOCALES.items()):
        feature = f"ledger-{number}"
        lines = f"- [ ] Ä1 {TEXT}\n- [ ] 数2 {TEXT}\n".encode()
        project.done("ledger", "init", feature, "-", given=lines, env=env)
        project.done("ledger", "pass", feature, "Ä1", "--evidence", EVIDENCE, env=env)
        project.done("ledger", "fail", feature, "数2", "--error", TEXT, env=env)
        shown = project.done("ledger", "show", feature, env=env).out
        document = project.done("ledger", "show", feature, "--json", env=env).document
        view = json.loads((project.folder / f".agent/tasks/{feature}/feature_list.json").read_bytes())
        rows = [
            (row["id"], row["description"], row["evidence_ref"], row["last_attempt_error"])
            for table in (document["criteria"], view["features"])
            for row in table
        ]
        answers[name] = (shown.replace(feature, "F"), rows)
    one, *others = answers.values()
    assert all(other == one for other in others)
    assert one[1] == [("Ä1", TEXT, EVIDENCE, None), ("数2", TEXT, None, TEXT)] * 2
    assert project.audit(PLAIN).document["holds"]


@pytest.mark.requirement("P18")
def test_a_folder_with_any_name(project: Project) -> None:
    """The repository itself lies at a path that the locale cannot spell."""
    there = project.at(project.folder.rename(project.folder.parent / "größe 数 $(id) 🧮"), PLAIN)
    (name,) = there.freeze("checkout", 1)
    assert there.mark("checkout", name).status == 0
    assert there.passing("checkout") == {name}
    assert there.done("status", "--json").document["store"] == str(there.folder / ".git" / "tallystick")
    assert there.audit().document["findings"] == []
