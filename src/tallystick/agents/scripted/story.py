"""The story of the demo: one small feature, from its criteria to the last pass, scene by scene. Pure data.

Everything that Tallystick is for happens once: criteria are frozen, tests are seen red, a role is refused what is not
its own, a process is killed in the middle, a file is edited by hand, words are no evidence, a fixer mends one line.
"""

from __future__ import annotations

from tallystick.agents.scripted.sample import CODE, CRITERIA, FEATURE, MENDED, SLIP, SPEC, TESTS
from tallystick.agents.scripted.script import Ask, Commit, Crash, Edit, Expect, Scene, See, Write

#: The seed's own file, a view that Tallystick writes.
VIEW = f".agent/tasks/{FEATURE}/feature_list.json"

#: The criteria that a machine decides.
CHECKED = ("AC1", "AC2", "AC3", "AC4", "AC5")
LEVELS = {**dict.fromkeys(CHECKED[:4], "proven"), "AC5": "ran", "AC6": "cited"}

NOTE = "AC4: redeem() looked for the coupon among the lines. Mended in shop/cart.py, no test was changed."


def _check(criterion: str, holds: bool) -> Ask:
    return Ask("check", {"feature": FEATURE, "criterion": criterion}, Expect(facts={"holds": holds}))


def _mark(criterion: str, expect: Expect, reference: str = "") -> Ask:
    return Ask("mark_pass", {"task_id": FEATURE, "feature_id": criterion, "evidence_ref": reference}, expect)


def _read(criterion: str, expect: Expect) -> Ask:
    return Ask("get_feature", {"task_id": FEATURE, "feature_id": criterion}, expect)


def _failing(*says: str) -> Ask:
    return Ask("list_failing", {"task_id": FEATURE}, Expect(says=says))


#: Of AC5 only an exit status tells how it went, so no test of it can be seen red.
_RAN = Expect(facts={"passes": True, "level": "ran"})
_PROVEN = Expect(facts={"passes": True, "level": "proven"})
_CITED = Expect(facts={"passes": True, "level": "cited"})

SCENES: tuple[Scene, ...] = (
    Scene(
        "spec-freezer",
        'freezes what "done" means',
        (
            Write(SPEC),
            Ask(
                "init_feature_list",
                {"task_id": FEATURE, "features": CRITERIA},
                Expect(facts={"frozen": len(CRITERIA), "with_check": len(CHECKED)}),
            ),
            Commit("Freeze the criteria of checkout"),
        ),
    ),
    Scene(
        "test-author",
        "writes the tests first, and sees them fail",
        (Write(TESTS), *(_check(criterion, False) for criterion in CHECKED), Commit("Test the cart and its coupons")),
    ),
    Scene(
        "implementer",
        "writes the code, and would call it done",
        (
            Write(CODE),
            Commit("Build the cart and its coupons"),
            _mark("AC1", Expect("role.denied", says=("mark_pass is not yours",)), "it works"),
            _check("AC1", True),
        ),
    ),
    Scene(
        "verifier",
        "runs the proofs itself, and is killed in the middle of one",
        (_mark("AC1", _PROVEN), _mark("AC2", _PROVEN), Crash(_mark("AC3", _PROVEN))),
    ),
    Scene(
        "verifier",
        "is a new process, and goes on where the old one was killed",
        (
            _read("AC1", _PROVEN),
            _read("AC2", _PROVEN),
            # Killed between its commit and its answer, the old one would have left a whole pass.
            _mark("AC3", _PROVEN._replace(or_refused="pass.already")),
            _mark("AC4", Expect("check.red", says=("test_works_once", "tests/test_coupon.py:"))),
            _mark("AC5", _RAN),
        ),
    ),
    Scene(
        "",
        "somebody would rather edit the file",
        (Edit(VIEW, '"passes": false', '"passes": true', after='"id": "AC4"'),),
    ),
    Scene(
        "verifier",
        "is told what was edited, and learns what counts as evidence",
        (
            _failing("AC4 ", "edited by hand and does not count", "passes false -> true"),
            _mark("AC6", Expect("evidence.free_text", says=("points at nothing that can be kept",)), "looks good"),
            _mark("AC6", _CITED, "docs/manual.md:4"),
            See(VIEW, '"passes": false', '"id": "AC4"', "AC4 is false again: the file is only a view"),
        ),
    ),
    Scene(
        "fixer",
        "reads what failed, and changes one line",
        (
            _failing("AC4 ", "810 != 900"),
            _read("AC4", Expect(facts={"passes": False, "state": "failing"}, says=("810 != 900",))),
            Edit("shop/cart.py", SLIP, MENDED),
            _check("AC4", True),
            Ask("note", {"feature": FEATURE, "text": NOTE}, Expect()),
            Commit("Look for the coupon among the coupons"),
        ),
    ),
    Scene(
        "verifier",
        "asks for a brief, and runs again what the change touched",
        (
            Ask("brief", {"feature": FEATURE}, Expect(says=("To re-run: 4", "AC4", NOTE))),
            *(_mark(name, _PROVEN) for name in ("AC4", "AC1", "AC2", "AC3")),
            _mark("AC5", _RAN),
        ),
    ),
)
