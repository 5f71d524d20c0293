"""What records the passes of one run: level, what each rests on, and how its red can be made again elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from tallystick.canonical import Json
from tallystick.evidence.check_run import CheckRun
from tallystick.evidence.model import LastRun, flaky_now
from tallystick.evidence.proving import Prover
from tallystick.evidence.resting import Resting
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Ledger, Red
from tallystick.ledger.requirement import Paths, parse


class Passing:
    """The passes of one run. `names` are the files of the tree, `before` the runs of earlier, by criterion."""

    def __init__(
        self, ran: CheckRun, prover: Prover, resting: Resting, names: Collection[str], before: Mapping[str, LastRun]
    ) -> None:
        self._ran = ran
        self._prover = prover
        self._resting = resting
        self._names = names
        self.flaky = flaky(ran, before)

    def of(self, one: Criterion, cited: Sequence[rules.Evidence]) -> Callable[[Ledger], list[Event]]:
        """The events of one criterion's pass, decided when the ledger is locked; what they name is kept before."""
        ran, proof = self._ran, self._ran.proofs[one.id]
        value = " ; ".join([f"run:{ran.id}", *(kept.reference for kept in cited)])
        more: dict[str, Json] = {"rests_on": self._rests_on(one), "settings": ran.settings}
        red = proof.red or one.red
        if proof.level == "proven" and red is not None and ran.tree is not None:
            was = self._prover.was(red, ran.tree)
            more |= {"was": was} if was else {}
        if one.id in self.flaky:
            more["flaky"] = True

        def events(ledger: Ledger) -> list[Event]:
            passed = rules.mark_pass(ledger, one, value, proof.level, cited, changed=True)
            new = [rules.red_seen(ledger, one, proof.red)] if proof.red is not None else []
            if ran.state is not None and ran.state == ledger.state and not one.born_green:
                new.append(rules.red_seen(ledger, one, born_green(ran, one)))
            return [*new, Event(passed.type, {**passed.data, **more})]

        return events

    def _rests_on(self, criterion: Criterion) -> str:
        """The list of files that the pass of a criterion rests on: what its own tests read, or what it declares."""
        ran = self._ran
        recorded = [ran.results[part.step].recorded(part.ids) for part in ran.plan.parts[criterion.id]]
        entries = [parse(entry) for entry in criterion.evidence_required or ()]
        paths = [glob for entry in entries if isinstance(entry, Paths) for glob in entry.globs]
        locked = ran.proofs[criterion.id].locked
        return self._resting.keep(self._names, recorded, locked, paths, ran.began_ns, ran.bound, ran.irrelevant)


def born_green(ran: CheckRun, criterion: Criterion) -> Red:
    """What is recorded in the place of a red where a check is green on the very state that it was frozen in."""
    return Red(ran.id, criterion.digest, ran.tree or "", None, "", ())


def flaky(ran: CheckRun, before: Mapping[str, LastRun]) -> frozenset[str]:
    """The criteria whose check went another way than the time before, with everything the same."""
    return frozenset(name for name in ran.proofs if flaky_now(before.get(name), ran.last(name, "")))
