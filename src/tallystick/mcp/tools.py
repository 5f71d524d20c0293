"""The tools of one connection: what a call means, by name. The role was fixed when the connection was opened (D9).

Calls that may run a check go through `Jobs`; every other one is a read or one commit. A name that the role is not
offered is refused with what it is offered, and recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.model import runs_of
from tallystick.handoff import service as handoff
from tallystick.ids import feature_id, shown
from tallystick.journal.home import missing_key
from tallystick.journal.record import Record
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Draft, ledger_of
from tallystick.ledger.requirement import is_machine_check, parse
from tallystick.ledger.service import Shown
from tallystick.limits import ANSWER_S
from tallystick.mcp import answers
from tallystick.mcp.catalogue import OFFERED, READING, SLOW, TOOLS, offered
from tallystick.mcp.jobs import Jobs, Receipts, Running
from tallystick.mcp.toolset import CallContext, ToolResult, ToolSpec
from tallystick.wiring import App, evidence

Arguments = dict[str, Json]
#: The act that a refused call is recorded under, where the ledger knows one for it.
_ACTS = {"mark_pass": "pass", "mark_failure": "fail", "amend": "amend", "init_feature_list": "freeze", "check": "check"}


class Tools:
    """A `Toolset` for one role over one app."""

    def __init__(self, app: App, role: str, wait_s: float = ANSWER_S) -> None:
        self._app = app
        self._role = role
        self._jobs = Jobs(app.machine.clock, wait_s)
        self._receipts = Receipts()
        self._calls: dict[str, Callable[[Arguments], ToolResult]] = {
            "init_feature_list": self._init,
            "list_failing": self._failing,
            "get_feature": self._feature,
            "mark_failure": self._failure,
            "compare_runs": self._compare,
            "amend": self._amend,
            "brief": self._brief,
            "note": self._note,
            "hook_event": self._hook,
        }

    def tools(self) -> Sequence[ToolSpec]:
        """What this role lists; without the user's key the reading tools of it (D6)."""
        return offered(self._role, self._app.home.key() is not None or self._app.store.id() is None)

    def is_slow(self, name: str) -> bool:
        """Whether the call may run a check."""
        return name in SLOW

    def call(self, name: str, arguments: Arguments, context: CallContext) -> ToolResult:
        """Carry one call out. A refusal comes back as a result with `isError`."""
        try:
            if name != "hook_event" and name not in {spec.name for spec in self.tools()}:
                raise self._denied(name, arguments)
            if name in READING or name == "hook_event":
                return self._calls[name](arguments)
            known = self._receipts.find(name, arguments, context)
            if known is not None:
                return _again(known)
            result = self._slow(name, arguments, context) if name in SLOW else self._calls[name](arguments)
            if "running" not in (result.structured or {}):
                self._receipts.keep(name, arguments, context, result)
            return result
        except Refusal as refusal:
            return answers.refused(self._swapped(arguments, refusal))

    def idle(self) -> None:
        """Write the views that are due."""
        self._app.ledger.finish()

    def close(self) -> None:
        """End what still runs, and let the store go."""
        self._jobs.close()
        self._app.ledger.finish()
        self._app.store.close()

    # -- calls --------------------------------------------------------------------------------------------------

    def _init(self, arguments: Arguments) -> ToolResult:
        drafts = [_draft(one) for one in arguments["features"]]
        feature = feature_id(arguments["task_id"])
        self._app.ledger.freeze(feature, drafts)
        with_check = sum(1 for draft in drafts if _has_check(draft.evidence_required))
        return answers.frozen(ledger_of(self._app.store.peek(feature)), with_check)

    def _failing(self, arguments: Arguments) -> ToolResult:
        seen = self._show(arguments["task_id"])
        rows = [(one, state) for one, state in seen.rows if state in ("failing", "regressed", "flaky")]
        cursor = arguments.get("cursor")
        if cursor is not None:
            place = list(seen.ledger.criteria).index(rules.known_criterion(seen.ledger, cursor).id)
            behind = {one.id for one, _ in seen.rows[place + 1 :]}
            rows = [row for row in rows if row[0].id in behind]
        words = [state for _, state in seen.rows]
        return answers.failing(rows, cursor, words.count("stale"), words.count("elsewhere"), _warning(seen))

    def _feature(self, arguments: Arguments) -> ToolResult:
        seen = self._show(arguments["task_id"])
        criterion = rules.known_criterion(seen.ledger, arguments["feature_id"])
        state = next(word for one, word in seen.rows if one.id == criterion.id)
        last = runs_of(seen.snapshot).get(criterion.id)
        return answers.feature(criterion, state, last.run if last else None, _warning(seen))

    def _failure(self, arguments: Arguments) -> ToolResult:
        receipt = self._app.ledger.mark_failure(arguments["task_id"], arguments["feature_id"], arguments["error"])
        return answers.failed(_sure(receipt.criterion))

    def _amend(self, arguments: Arguments) -> ToolResult:
        feature, name, change, reason = (arguments[key] for key in ("feature", "criterion", "change", "reason"))
        if change.get("close"):
            receipt = self._app.ledger.close(feature, name, reason)
        else:
            required = tuple(change["require"]) if "require" in change else False
            receipt = self._app.ledger.amend(feature, name, change.get("text"), required, reason)
        return answers.amended(_sure(receipt.criterion))

    def _compare(self, arguments: Arguments) -> ToolResult:
        wanted = (arguments["run_a"], arguments["run_b"])
        found: dict[str, dict[str, bool]] = {}

        def visit(record: Record, _ours: bool) -> None:
            if record.type == "run_recorded" and record.data["run"] in wanted:
                found[record.data["run"]] = _ids(record)

        self._show(arguments["task_id"])
        self._app.store.history(arguments["task_id"], visit)
        for run in wanted:
            if run not in found:
                says = f"no run {shown(run)} was recorded for {arguments['task_id']}"
                raise Refusal("evidence.missing", says, "get_feature names the last run")
        return answers.compared(found[wanted[0]], found[wanted[1]])

    def _brief(self, arguments: Arguments) -> ToolResult:
        feature = arguments.get("feature") or self._default()
        if feature is None:
            return ToolResult("No criteria yet.", {"feature": None, "brief": "No criteria yet."})
        text = handoff.brief(self._app.ledger, feature)
        return ToolResult(text, {"feature": feature, "brief": text})

    def _note(self, arguments: Arguments) -> ToolResult:
        handoff.note(self._app.ledger, arguments["feature"], arguments["text"])
        return ToolResult("Noted.", {"noted": True})

    def _hook(self, arguments: Arguments) -> ToolResult:
        """For hooks of a client that call a tool; no event has an answer of its own yet, so all may go on."""
        return ToolResult("{}", {})

    def _slow(self, name: str, arguments: Arguments, context: CallContext) -> ToolResult:
        """`check` and `mark_pass`: at once where nothing is run, else as a job that outlives an impatient call."""
        task, one = ("task_id", "feature_id") if name == "mark_pass" else ("feature", "criterion")
        feature, criterion = arguments[task], arguments[one]
        if name == "mark_pass" and not self._is_checked(feature, criterion):
            receipt = self._app.ledger.mark_pass(feature, criterion, arguments["evidence_ref"])
            return answers.passed(_sure(receipt.criterion))
        maker = self._pass_work if name == "mark_pass" else self._check_work
        outcome = self._jobs.run(f"{name} {feature} {criterion}", _job_id, context, maker(arguments))
        if isinstance(outcome, Running):
            return answers.running(outcome.id, outcome.since_s)
        result, again = outcome
        return _again(result) if again else result

    def _pass_work(self, arguments: Arguments) -> Callable[[Callable[[], bool]], ToolResult]:
        def work(cancelled: Callable[[], bool]) -> ToolResult:
            from tallystick.evidence.service import Watch

            feature, name, reference = (arguments[key] for key in ("task_id", "feature_id", "evidence_ref"))
            receipt, _ = evidence(self._app).mark_pass(feature, name, reference, Watch(cancelled))
            return answers.passed(_sure(receipt.criterion))

        return self._guarded(arguments, work)

    def _check_work(self, arguments: Arguments) -> Callable[[Callable[[], bool]], ToolResult]:
        def work(cancelled: Callable[[], bool]) -> ToolResult:
            from tallystick.evidence.service import Watch

            checked = evidence(self._app).check(arguments["feature"], [arguments["criterion"]], Watch(cancelled))
            for refusal in checked.refused.values():
                raise refusal
            return answers.checked(checked)

        return self._guarded(arguments, work)

    def _guarded(
        self, arguments: Arguments, work: Callable[[Callable[[], bool]], ToolResult]
    ) -> Callable[[Callable[[], bool]], ToolResult]:
        """`work` on a thread of its own, where nobody else would turn a refusal into an answer."""

        def guarded(cancelled: Callable[[], bool]) -> ToolResult:
            try:
                return work(cancelled)
            except Refusal as refusal:
                return answers.refused(self._swapped(arguments, refusal))

        return guarded

    def _is_checked(self, feature: str, name: str) -> bool:
        """Whether a machine check decides this criterion; an unknown one is refused by whoever is asked next."""
        criterion = ledger_of(self._app.ledger.snapshot(feature)).find(name)
        return criterion is not None and _has_check(criterion.evidence_required)

    # -- inside -------------------------------------------------------------------------------------------------

    def _show(self, feature: str) -> Shown:
        return self._app.ledger.show(feature)

    def _default(self) -> str | None:
        ledger = self._app.ledger
        names = [name for name in ledger.features() if ledger_of(ledger.snapshot(name)).abandoned is None]
        if len(names) > 1:
            from tallystick.system.place import branch

            current = branch(self._app.machine.files, self._app.place)
            if current in names:
                return current
            raise Refusal("usage", f"which feature? There are {', '.join(names[:8])}", "name it as `feature`")
        return names[0] if names else None

    def _denied(self, name: str, arguments: Arguments) -> Refusal:
        """Why `name` is not for this connection; recorded where a role asked for what is another's."""
        listed = [spec.name for spec in self.tools()]
        if name not in TOOLS:
            return Refusal("usage", f"there is no tool {shown(name)}", f"this connection has {', '.join(listed)}")
        if name in OFFERED[self._role]:
            return missing_key(self._app.home.folder)
        refusal = Refusal(
            "role.denied", f"{name} is not yours: this connection is `{self._role}`", _next_for(name, listed, arguments)
        )
        feature = arguments.get("task_id", arguments.get("feature"))
        criterion = arguments.get("feature_id", arguments.get("criterion", ""))
        if isinstance(feature, str) and isinstance(criterion, str) and feature in self._app.ledger.features():
            self._app.ledger.record_denial(feature, criterion, _ACTS.get(name, name), refusal)
        return refusal

    def _swapped(self, arguments: Arguments, refusal: Refusal) -> Refusal:
        """The same refusal, or the corrected call where feature and criterion were given the wrong way round."""
        for task, one in (("task_id", "feature_id"), ("feature", "criterion")):
            feature, criterion = arguments.get(task), arguments.get(one)
            if refusal.code not in ("feature.unknown", "input.invalid") or not isinstance(criterion, str):
                continue
            if isinstance(feature, str) and criterion in self._app.ledger.features():
                ledger = ledger_of(self._app.store.peek(criterion))
                if ledger.find(feature) is not None:
                    says = f"{task} and {one} are swapped: {shown(criterion)} is the feature"
                    return Refusal("usage", says, f'call it with {task}="{criterion}", {one}="{feature}"')
        return refusal


def _draft(given: Arguments) -> Draft:
    required = given.get("evidence_required")
    return Draft(given["id"], given["description"], tuple(required) if required else None)


def _has_check(required: tuple[str, ...] | None) -> bool:
    return any(is_machine_check(parse(entry)) for entry in required or ())


def _job_id() -> str:
    from tallystick.evidence.service import new_run_id

    return new_run_id()


def _again(result: ToolResult) -> ToolResult:
    if result.structured is None or result.is_error:
        return result
    return result._replace(structured={**result.structured, "again": True})


def _sure(criterion: Criterion | None) -> Criterion:
    assert criterion is not None
    return criterion


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
    ids: dict[str, bool] = {}
    for step in record.data["steps"]:
        ids.update(dict.fromkeys(step["green"], True))
        ids.update({one["id"]: False for one in step["red"]})
    return ids


def _next_for(name: str, listed: Sequence[str], arguments: Arguments) -> str:
    if name == "mark_pass" and "check" in listed:
        feature, criterion = arguments.get("task_id"), arguments.get("feature_id")
        return f"check({feature}, {criterion}) tells whether it would pass; then stop. The verifier marks it"
    return f"this connection has {', '.join(listed)}"
