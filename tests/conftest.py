"""What every test stands on: an environment of its own, so that no test can read or write the developer's machine.

Each test gets a new home and new state, cache and config folders, and of the developer's variables only those in
`KEPT`: no git folder set by a hook, no marker of a coding agent, no setting of git's. `tests/yard/test_isolation.py`
proves it. The marker `needs` and the option `--no-skip` stand here too.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

from yard.probes import missing, pythons
from yard.requirements import current

ROOT = Path(__file__).resolve().parent.parent

#: What a test sees of the developer's environment, by exact name or by the beginning of the name.
KEPT = ("PATH", "TMPDIR", "CI", "NO_COLOR")
KEPT_BEGINNINGS = ("PYTEST_", "COVERAGE_", "HYPOTHESIS_")

GIT_SETTINGS = """\
[user]
    name = Tester
    email = tester@example.invalid
[init]
    defaultBranch = main
"""

set_hypothesis_home_dir(ROOT / ".dev" / "cache" / "hypothesis")
# A slow machine is no defect; a run that is red on the server is red at home too.
settings.register_profile("tallystick", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("tallystick")

pythons()  # found now, by the developer's own variables; tests see the answer only


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The test's own home: HOME and the XDG folders lie in it, git's user settings too. The old values come back."""
    place = tmp_path_factory.mktemp("home")
    (place / ".gitconfig").write_text(GIT_SETTINGS, encoding="utf-8")
    compared, known = tmp_path_factory.getbasetemp() / "compared", place / ".cache" / "tallystick" / "installed"
    if compared.is_dir():  # to compare this interpreter's files once for all tests is enough
        shutil.copytree(compared, known)
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(
        {name: value for name, value in before.items() if name in KEPT or name.startswith(KEPT_BEGINNINGS)}
    )
    os.environ.update(
        HOME=str(place),
        XDG_STATE_HOME=str(place / ".local" / "state"),
        XDG_CACHE_HOME=str(place / ".cache"),
        XDG_CONFIG_HOME=str(place / ".config"),
        XDG_DATA_HOME=str(place / ".local" / "share"),
        XDG_RUNTIME_DIR=str(place / ".run"),
        GIT_CONFIG_NOSYSTEM="1",
        LC_ALL="C.UTF-8",
        TZ="UTC",
        PYTHONPATH=str(ROOT / "src"),
    )
    yield place
    if known.is_dir() and not compared.is_dir():
        shutil.copytree(known, compared)
    os.environ.clear()
    os.environ.update(before)


def pytest_configure() -> None:
    """Whoever starts the tests in the background may have had Ctrl-C ignored, and what we start would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--no-skip`: a skipped test is a failed one, for the server that has everything."""
    parser.addoption("--no-skip", action="store_true", help="count a skipped test as failed")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that needs what the machine lacks is skipped with the reason."""
    for marker in item.iter_markers("needs"):
        for need in marker.args:
            reason = missing(need)
            if reason:
                pytest.skip(f"needs {need}: {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure names the rows that the test holds. Under `--no-skip`, a skip is a failure that keeps the reason."""
    del call
    report = yield
    rows = [row for marker in item.iter_markers("requirement") for row in marker.args]
    if report.failed and rows:
        says = {row.id: row.says for row in current().rows}
        report.sections.append(("What this test holds", "\n".join(f"{row}: {says.get(row, '')}" for row in rows)))
    if report.skipped and not hasattr(report, "wasxfail") and item.config.getoption("--no-skip"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and --no-skip allows none: {report.longreprtext}"
    return report
