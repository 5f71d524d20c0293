"""Holds that git is run with clean hands: no variable of git's, no hook, no monitor of the examined repository."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.system.files import OsFiles
from tallystick.system.git import Git, clean_environment

NAMES = st.sampled_from(
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_EXTERNAL_DIFF", "GIT_X"]
)


@pytest.mark.requirement("P13", "P16")
@given(
    st.dictionaries(NAMES, st.just("elsewhere")), st.dictionaries(st.sampled_from(["PATH", "HOME", "LANG"]), st.text())
)
def test_no_variable_of_gits_reaches_it_and_all_others_do(theirs: dict[str, str], others: dict[str, str]) -> None:
    clean = clean_environment({**theirs, **others})
    assert "elsewhere" not in {value for name, value in clean.items() if name not in others}
    assert {name: clean[name] for name in others} == others
    assert (clean["GIT_OPTIONAL_LOCKS"], clean["GIT_TERMINAL_PROMPT"], clean["LC_ALL"]) == ("0", "0", "C")
    assert clean["GIT_NO_REPLACE_OBJECTS"] == clean["GIT_NO_LAZY_FETCH"] == "1"


def test_without_a_repository_every_question_has_the_empty_answer() -> None:
    git = Git(OsFiles(), "/nowhere", "", "", {})
    assert (git.head(), git.commit("HEAD"), git.held("c0ffee")) == (None, None, False)
