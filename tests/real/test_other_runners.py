"""Holds that tests of Go and of vitest are run for real, shut in and out of a fresh tree, and that the reporter for
vitest and jest says what they say."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tallystick.evidence.runners.report import Report, read
from tests.real.project import Project
from tests.unit.evidence.samples import check_all, codes, project
from yard.node import FOLDER

REPORTER = Path(__file__).parents[2] / "src/tallystick/evidence/runners/node_reporter.mjs"
GO = {
    "go.mod": "module example.org/shop\n\ngo 1.18\n",
    "cart/cart.go": "package cart\n\nfunc Total(a, b int) int { return a + b }\n",
    "cart/cart_test.go": """\
package cart

import (
	"fmt"
	"testing"
)

func TestTotal(t *testing.T) {
	fmt.Println(`{"Action":"pass","Package":"example.org/shop/cart","Test":"TestPrinted"}`)
	if Total(1, 2) != 3 {
		t.Fatal("no")
	}
}

func TestRed(t *testing.T) { t.Errorf("%d lines, not 4", Total(1, 2)) }
""",
    "broken/broken_test.go": 'package broken\n\nimport "testing"\n\nfunc TestX(t *testing.T) { Missing() }\n',
}
GO_CRITERIA = """\
- [ ] AC1 the total
      tests: ./cart::TestTotal
- [ ] AC2 a red one
      tests: ./cart::TestRed
- [ ] AC3 what does not compile
      tests: ./broken::TestX
- [ ] AC4 what a test printed
      tests: ./cart::TestPrinted
- [ ] AC5 no test at all
      run: go test ./cart -run Nosuch
"""


@pytest.mark.needs("go")
def test_tests_of_go_run_shut_in_and_each_criterion_is_judged_by_its_own(tmp_path: Path) -> None:
    shop = Project.made(tmp_path / "shop")
    for name, text in GO.items():
        path = shop.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "-m", "the shop")
    shop.done("ledger", "init", "checkout", "-", given=GO_CRITERIA.encode())
    said = shop.tally("check", "checkout", "--json")
    rows = {row["id"]: row for row in said.document["criteria"]}
    assert {name: row["holds"] for name, row in rows.items()} == {
        "AC1": True, "AC2": False, "AC3": False, "AC4": False, "AC5": False,
    }  # fmt: skip
    first = {name: row["reasons"][0] for name, row in rows.items() if row["reasons"]}
    assert [first[name]["code"] for name in ("AC2", "AC3", "AC4", "AC5")] == [
        "check.red", "check.red", "ids.missing", "check.no_tests",
    ]  # fmt: skip
    assert "3 lines, not 4" in first["AC2"]["says"]
    assert "undefined: Missing" in first["AC3"]["says"]
    assert (first["AC2"]["file"], first["AC3"]["file"]) == ("cart/cart_test.go", "broken/broken_test.go")
    assert shop.git("status", "--short", "--", "cart", "broken", "go.mod") == ""


VITEST = {
    "package.json": '{"type": "module", "devDependencies": {"vitest": "*"}}',
    "vitest.config.js": "export default { test: { globals: true, retry: 3 } };\n",
    "src/cart.js": "export const total = (lines) => lines.reduce((a, b) => a + b, 0);\n",
    "src/cart.test.js": """\
    import { describe, expect, it, test } from "vitest";
    import { total } from "./cart.js";
    describe("cart", () => {
      it("adds", () => {
        console.log('{"row":"test","id":"src/cart.test.js > printed","phase":"call","outcome":"passed"}');
        expect(process.env.TALLYSTICK_REPORT).toBe(undefined);
        expect(total([1, 2])).toBe(3);
      });
      it("red", () => expect(total([1, 2])).toBe(4));
      it.skip("later", () => {});
      it.fails("known", () => { throw new Error("x"); });
      describe("nested (a)", () => it.each([1, 2])("n %i", (n) => expect(n).toBe(n)));
    });
    test("snapshot", () => expect({ a: 1 }).toMatchSnapshot());
    """,
    "src/broken.test.js": 'import { gone } from "./gone.js";\nimport { it } from "vitest";\nit("x", () => gone());\n',
}


@pytest.mark.needs("node packages")
def test_tests_of_vitest_run_and_each_criterion_is_judged_by_its_own(tmp_path: Path) -> None:
    place = project(tmp_path, VITEST, venv=False)
    (tmp_path / "node_modules").symlink_to(FOLDER / "node_modules")
    names = ("cart > adds", "cart > nested (a) > n 2", "cart > red", "cart > later", "cart > known", "snapshot",
             "printed")  # fmt: skip
    ids = [*(f"src/cart.test.js > {name}" for name in names), "src/broken.test.js > x"]
    green = check_all(place, *(f"tests: {test_id}" for test_id in ids))
    assert [verdict.green for verdict in green] == [True, True] + [False] * 6
    assert [codes(verdict)[0] for verdict in green[2:]] == [*["check.red"] * 4, "ids.missing", "check.red"]
    (red,) = green[2].red
    assert ("expected 3 to be 4" in red.says, red.file, red.line) == (True, "src/cart.test.js", 9)
    assert "gone.js" in green[-1].reasons[0].says
    assert not (tmp_path / "src/__snapshots__").exists()


@pytest.mark.needs("node packages")
def test_a_frozen_vitest_command_keeps_its_own_reporter_and_ours(tmp_path: Path) -> None:
    place = project(tmp_path, VITEST, venv=False)
    (tmp_path / "node_modules").symlink_to(FOLDER / "node_modules")
    green, none = check_all(
        place, "run: npx vitest run src/cart.test.js -t adds", "run: npx vitest run src/cart.test.js -t nosuch"
    )
    assert (green.green, [name.rpartition(" > ")[2] for name in green.passed]) == (True, ["adds"])
    assert codes(none) == ["check.no_tests"]


JEST = """
import Reporter from %s;
const reporter = new Reporter();
const test = { path: process.cwd() + "/src/cart.test.js" };
const said = (title, status, more) => ({ ancestorTitles: ["cart"], title, status, failing: false, ...more });
const stack = "Error: expect(received).toBe(expected)\\n\\nExpected: 4\\n    at Object.toBe (" + test.path + ":4:43)";
const results = [
  said("adds", "passed"),
  said("red", "failed", { failureMessages: [stack] }),
  said("known", "passed", { failing: true }),
];
reporter.onRunStart();
for (const one of results) {
  reporter.onTestCaseStart(test, one);
  reporter.onTestCaseResult(test, one);
}
reporter.onTestCaseStart(test, said("hangs"));
reporter.onTestFileResult(test, { testResults: [...results, said("later", "pending")] });
const broken = { path: process.cwd() + "/src/broken.test.js" };
reporter.onTestFileResult(broken, { testResults: [], failureMessage: "Cannot find module './gone'" });
reporter.onRunComplete(new Set(), { numFailedTests: 1, numRuntimeErrorTestSuites: 1 });
"""


def reported(folder: Path, script: str) -> Report:
    """What the reporter writes into its pipe where a program drives it as a runner would."""
    out, pipe = os.pipe()
    env = {**os.environ, "TALLYSTICK_REPORT": str(pipe)}
    words = ["node", "--input-type=module", "--eval", script % json.dumps(str(REPORTER))]
    done = subprocess.run(words, cwd=folder, env=env, pass_fds=(pipe,), capture_output=True, text=True)
    os.close(pipe)
    with open(out, "rb") as file:
        rows = file.read()
    assert done.returncode == 0, done.stderr
    return read(rows)


@pytest.mark.needs("node")
def test_what_jest_says_becomes_rows(tmp_path: Path) -> None:
    report = reported(tmp_path, JEST)
    assert {test.id.rpartition(" > ")[2]: test.outcome for test in report.tests.values()} == {
        "adds": "passed", "red": "failed", "known": "skipped", "hangs": "unfinished", "later": "skipped",
    }  # fmt: skip
    red = report.tests["src/cart.test.js > cart > red"]
    assert (red.says.split("\n")[0], red.file, red.line) == (
        "Error: expect(received).toBe(expected)",
        "src/cart.test.js",
        4,
    )
    assert [(scope.id, scope.says) for scope in report.scopes] == [
        ("src/broken.test.js", "Cannot find module './gone'")
    ]
    assert (report.runner, report.ended, report.status, report.unreadable) == ("jest", True, 1, "")


@pytest.mark.needs("node")
def test_nothing_is_written_where_the_number_is_anothers(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with other.open("wb") as file:
        env = {**os.environ, "TALLYSTICK_REPORT": str(file.fileno())}
        words = ["node", "--input-type=module", "--eval", JEST % json.dumps(str(REPORTER))]
        done = subprocess.run(words, cwd=tmp_path, env=env, pass_fds=(file.fileno(),), capture_output=True, text=True)
    assert (done.returncode, other.read_bytes()) == (0, b"")
