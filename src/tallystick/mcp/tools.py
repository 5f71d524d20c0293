"""The tools of one connection: what a call means, by name. The role was fixed when the connection was opened (D9).

Calls that may run a check go through `Jobs`; every other one is a read or one commit. A name that the role is not
offered is refused with what it is offered, and recorded.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from functools import partial

from tallystick.briefing import brief
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.model import runs_of
from tallystick.handoff import service as handoff
from tallystick.ids import feature_id, shown
from tallystick.journal.home import missing_key
from tallystick.journal.record import Record
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Draft, Ledger, ledger_of
from tallystick.ledger.requirement import is_machine_check, parse
from tallystick.ledger.service import Receipt, Shown
from tallystick.limits import ANSWER_S
from tallystick.mcp import answers
from tallystick.mcp.advice import advised, named, not_yours
from tallystick.mcp.catalogue import OFFERED, READING, SLOW, TOOLS, offered
from tallystick.mcp.jobs import Jobs, Running, Work
from tallystick.mcp.receipts import Receipts
from tallystick.mcp.toolset import CallContext, ToolResult, ToolSpec
from tallystick.wiring import App, evidence

Arguments = dict[str, Json]
#: The act that a refused call is recorded under, where the ledger knows one for it.
_ACTS = {"mark_pass": "pass", "mark_failure": "fail", "amend": "amend", "init_feature_list": "freeze", "check": "check"}

#: Tools that are carried out by a module of their own, imported at the first call.
_ELSEWHERE = {
    "save_output": "tallystick.mcp.output_tools",
    "find_outputs": "tallystick.mcp.output_tools",
    "get_output": "tallystick.mcp.output_tools",
    "next_task": "tallystick.mcp.board_tools",
    "update_task": "tallystick.mcp.board_tools",
}


class Tools:
    """A `Toolset` for one role over one app. `wait_s` is how long a call may wait for its check."""

    def __init__(self, app: App, role: str, wait_s: float = ANSWER_S) -> None:
        self._app = app
        self._role = role
        self._jobs = Jobs(app.machine.clock, wait_s, self.idle)
        self._receipts = Receipts()
        self._writing = _thread.allocate_lock()
        self._finishing = _thread.allocate_lock()
        self._calls: dict[str, Callable[[Arguments], ToolResult]] = {
            "init_feature_list": self._init,
            "list_failing": self._failing,
            "get_feature": self._feature,
            "mark_pass": self._pass,
            "mark_failure": self._failure,
            "compare_runs": self._compare,
            "amend": self._amend,
            "brief": self._brief,
            "note": self._note,
            "hook_event": self._hook,
            **{name: partial(self._elsewhere, name) for name in _ELSEWHERE},
        }

    def tools(self) -> Sequence[ToolSpec]:
        """What this role lists; where nothing can be written, the reading tools of it (D6)."""
        return offered(self._role, self._shut() is None)

    def is_slow(self, name: str) -> bool:
        """Whether the call may run a check."""
        return name in SLOW

    def call(self, name: str, arguments: Arguments, context: CallContext) -> ToolResult:
        """Carry one call out. A refusal comes back as a result with `isError`."""
        try:
            self._admit(name, arguments)
            if name in READING or name == "hook_event":
                return self._calls[name](arguments)
            criterion = self._to_be_run(name, arguments)
            if criterion is not None:
                return self._once(name, arguments, context, lambda: self._run(name, criterion, arguments, context))
            with self._writing:  # a retry that comes while the first is being written waits for its receipt
                return self._once(name, arguments, context, lambda: self._calls[name](arguments))
        except Refusal as refusal:
            listed = [spec.name for spec in self.tools()]
            return answers.refused(advised(refusal, arguments, self._app.ledger, listed))

    def idle(self) -> None:
        """Write the views that are due."""
        with self._finishing:
            self._app.due.finish()

    def close(self) -> None:
        """End what still runs, and let the store go."""
        self._jobs.close()
        self.idle()
        self._app.store.close()

    # -- at the door --------------------------------------------------------------------------------------------

    def _admit(self, name: str, arguments: Arguments) -> None:
        """Raise unless this connection may make the call, and it names a feature that there is."""
        if name != "hook_event" and name not in {spec.name for spec in self.tools()}:
            raise self._denied(name, arguments)
        feature, _ = named(arguments)
        if feature and name != "hook_event":
            feature_id(feature)
            if name not in _ELSEWHERE and name not in ("init_feature_list", "brief"):
                self._ledger(feature)

    def _shut(self) -> Refusal | None:
        """Why nothing can be written here, None where it can."""
        try:
            if self._app.home.key() is not None or self._app.store.id() is None:
                return None
        except Refusal as refusal:
            return refusal
        return missing_key(self._app.home.folder)

    def _denied(self, name: str, arguments: Arguments) -> Refusal:
        """Why `name` is not for this connection; recorded where a role asked for what is another's."""
        listed = [spec.name for spec in self.tools()]
        if name not in TOOLS:
            return Refusal("usage", f"there is no tool {shown(name)}", f"this connection has {', '.join(listed)}")
        if name in OFFERED[self._role]:
            return self._shut() or missing_key(self._app.home.folder)
        refusal = not_yours(name, self._role, arguments, listed)
        feature, criterion = named(arguments)
        if feature in self._app.ledger.features():
            self._app.ledger.record_denial(feature, criterion, _ACTS.get(name, name), refusal)
        return refusal

    def _once(
        self, name: str, arguments: Arguments, context: CallContext, work: Callable[[], ToolResult]
    ) -> ToolResult:
        """What `work` answers; a retry of this very call gets the answer it had. What changed nothing is not kept."""
        known = self._receipts.find(name, arguments, context)
        if known is not None:
            return answers.again(known)
        try:
            result = work()
        except Refusal:
            known = self._receipts.find(name, arguments, context)
            if known is None:
                raise
            return answers.again(known)  # the first call got through while this one was on its way
        if "running" not in (result.structured or {}):
            self._receipts.keep(name, arguments, context, result)
        return result

    # -- calls that read ----------------------------------------------------------------------------------------

    def _failing(self, arguments: Arguments) -> ToolResult:
        seen = self._show(arguments["task_id"])
        rows = [(one, state) for one, state in seen.rows if state in ("failing", "regressed", "flaky")]
        cursor = arguments.get("cursor")
        if cursor is not None:
            last = seen.ledger.find(cursor)
            if last is None:
                raise Refusal("usage", f"cursor {shown(cursor)} is none that list_failing gave", "call it without")
            place = next(at for at, (one, _) in enumerate(seen.rows) if one.id == last.id)
            behind = {one.id for one, _ in seen.rows[place + 1 :]}
            rows = [row for row in rows if row[0].id in behind]
        words = [state for _, state in seen.rows]
        return answers.failing(rows, cursor, words.count("stale"), words.count("elsewhere"), self._warning(seen))

    def _feature(self, arguments: Arguments) -> ToolResult:
        seen = self._show(arguments["task_id"])
        known = seen.criterion(arguments["feature_id"])
        criterion, state = next((one, word) for one, word in seen.rows if one.id == known.id)
        last = runs_of(seen.snapshot).get(criterion.id)
        return answers.feature(criterion, state, last.run if last else None, self._warning(seen))

    def _compare(self, arguments: Arguments) -> ToolResult:
        wanted = (arguments["run_a"], arguments["run_b"])
        found: dict[str, dict[str, bool]] = {}

        def visit(record: Record, _ours: bool) -> None:
            if record.type == "run_recorded" and record.data["run"] in wanted:
                found[record.data["run"]] = _ids(record)

        self._app.store.history(arguments["task_id"], visit)
        for key, run in zip(("run_a", "run_b"), wanted, strict=True):
            if run not in found:
                says = f"{key}: no run {shown(run)} was recorded for {arguments['task_id']}"
                raise Refusal("evidence.missing", says, "get_feature names the last run of a criterion")
        return answers.compared(found[wanted[0]], found[wanted[1]])

    def _brief(self, arguments: Arguments) -> ToolResult:
        feature = arguments.get("feature") or self._default()
        if feature is None:
            return ToolResult("No criteria yet.", {"feature": None, "brief": "No criteria yet."})
        text = brief(self._app, self._app.ledger.look(feature))
        return ToolResult(text, {"feature": feature, "brief": text})

    def _hook(self, arguments: Arguments) -> ToolResult:
        """For hooks of a client that call a tool; no event has an answer of its own yet, so all may go on."""
        return ToolResult("{}", {})

    # -- calls that write ---------------------------------------------------------------------------------------

    def _init(self, arguments: Arguments) -> ToolResult:
        feature = arguments["task_id"]
        drafts = [_draft(one) for one in arguments["features"]]
        rules.freeze(ledger_of(self._app.ledger.snapshot(feature)), drafts, None)  # what is refused leaves no trace
        self._app.ledger.freeze(feature, drafts)
        with_check = sum(1 for draft in drafts if _has_check(draft.evidence_required))
        return answers.frozen(ledger_of(self._app.store.peek(feature)), with_check)

    def _pass(self, arguments: Arguments) -> ToolResult:
        feature, name, reference = (arguments[key] for key in ("task_id", "feature_id", "evidence_ref"))
        return answers.passed(_criterion(self._app.ledger.mark_pass(feature, name, reference)))

    def _failure(self, arguments: Arguments) -> ToolResult:
        feature, name, error = (arguments[key] for key in ("task_id", "feature_id", "error"))
        return answers.failed(_criterion(self._app.ledger.mark_failure(feature, name, error)))

    def _amend(self, arguments: Arguments) -> ToolResult:
        feature, name, change, reason = (arguments[key] for key in ("feature", "criterion", "change", "reason"))
        if change.get("close"):
            return answers.amended(_criterion(self._app.ledger.close(feature, name, reason)))
        required = tuple(change["require"]) if "require" in change else False
        return answers.amended(_criterion(self._app.ledger.amend(feature, name, change.get("text"), required, reason)))

    def _note(self, arguments: Arguments) -> ToolResult:
        handoff.note(self._app.ledger, arguments["feature"], arguments["text"])
        return ToolResult("Noted.", {"noted": True})

    def _elsewhere(self, name: str, arguments: Arguments) -> ToolResult:
        """A tool whose function, of the same name, stands in a module of its own."""
        import importlib

        function: Callable[[App, Arguments], ToolResult] = getattr(importlib.import_module(_ELSEWHERE[name]), name)
        return function(self._app, arguments)

    # -- calls that run a check ---------------------------------------------------------------------------------

    def _to_be_run(self, name: str, arguments: Arguments) -> Criterion | None:
        """The criterion whose check the call is about; None for a call that runs nothing."""
        if name not in SLOW:
            return None
        feature, one = named(arguments)
        criterion = rules.known_criterion(self._ledger(feature), one)
        return criterion if name == "check" or _has_check(criterion.evidence_required) else None

    def _run(self, name: str, criterion: Criterion, arguments: Arguments, context: CallContext) -> ToolResult:
        """Run the check as a job; one for each criterion as it reads now, whatever is cited beside it."""
        from tallystick.evidence.service import new_run_id

        feature, _ = named(arguments)
        work = self._pass_work(arguments) if name == "mark_pass" else self._check_work(arguments)
        try:
            outcome = self._jobs.run(f"{name} {feature} {criterion.digest}", new_run_id, context, work)
        except Refusal as refusal:
            if "run" not in refusal.facts:
                raise
            return answers.refused(refusal)  # it ran and was recorded, so this answer is a receipt
        if isinstance(outcome, Running):
            return answers.running(outcome.name, outcome.since_s)
        result, joined = outcome
        return answers.again(result) if joined else result

    def _pass_work(self, arguments: Arguments) -> Work:
        def work(run: str, stopped: Callable[[], bool]) -> ToolResult:
            from tallystick.evidence.service import Watch

            feature, name, reference = (arguments[key] for key in ("task_id", "feature_id", "evidence_ref"))
            receipt, _ = evidence(self._app).mark_pass(feature, name, reference, Watch(stopped, run=run))
            return answers.passed(_criterion(receipt))

        return work

    def _check_work(self, arguments: Arguments) -> Work:
        def work(run: str, stopped: Callable[[], bool]) -> ToolResult:
            from tallystick.evidence.service import Watch

            feature, name = (arguments[key] for key in ("feature", "criterion"))
            return answers.checked(evidence(self._app).check(feature, [name], Watch(stopped, run=run)))

        return work

    # -- inside -------------------------------------------------------------------------------------------------

    def _show(self, feature: str) -> Shown:
        return self._app.ledger.show(feature)

    def _ledger(self, feature: str) -> Ledger:
        """The ledger of a feature. Raises "feature.unknown"."""
        snapshot = self._app.ledger.snapshot(feature)
        ledger = ledger_of(snapshot)
        if ledger.created_at is None and not snapshot.findings:
            raise rules.unknown_feature(feature)
        return ledger

    def _warning(self, seen: Shown) -> str | None:
        """What an answer must say beside the ledger: what is wrong with it, else with the settings."""
        damage = self._app.settings.damage()
        return _warning(seen) or (damage.message if damage is not None else None)

    def _default(self) -> str | None:
        said = self._app.settings.default_feature()
        if said in self._app.ledger.features():
            return said
        names = self._app.ledger.unfinished()
        if len(names) > 1:
            from tallystick.system.place import branch

            current = branch(self._app.machine.files, self._app.place)
            if current in names:
                return current
            raise Refusal("usage", f"which feature? There are {', '.join(names[:8])}", "name it as `feature`")
        return names[0] if names else None


def _draft(given: Arguments) -> Draft:
    required = given.get("evidence_required")
    return Draft(given["id"], given["description"], tuple(required) if required else None)


def _has_check(required: tuple[str, ...] | None) -> bool:
    return any(is_machine_check(parse(entry)) for entry in required or ())


def _criterion(receipt: Receipt) -> Criterion:
    assert receipt.criterion is not None
    return receipt.criterion


def _warning(seen: Shown) -> str | None:
    grave = seen.snapshot.grave
    if grave:
        return grave[0].says
    if not seen.snapshot.checkable:
        return "not checkable here: this home has no key"
    if seen.view.finding is not None and seen.view.kind in ("edited", "damaged"):
        return seen.view.finding.says
    return None


def _ids(record: Record) -> dict[str, bool]:
    """Which ids of a run were green; a command that reports none stands for itself."""
    ids: dict[str, bool] = {}
    for step in record.data["steps"]:
        ids.update(dict.fromkeys(step["green"], True))
        ids.update({one["id"]: False for one in step["red"]})
        if not step["green"] and not step["red"] and not step["missing"]:
            ids[" ".join(step["command"])] = step["status"] == 0 and not step["stopped"]
    return ids
