"""The use cases of the ledger: what a face calls. It looks without a lock, refuses cheaply, keeps the evidence, and
lets the rules decide again inside the commit.

Every method that writes returns what was acknowledged; the view is written afterwards, as something due (D1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import feature_id
from tallystick.journal.home import missing_key
from tallystick.journal.record import By, Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision
from tallystick.journal.subjects import Subjects
from tallystick.ledger import rules
from tallystick.ledger.citation import references
from tallystick.ledger.keeping import Keeper
from tallystick.ledger.model import Criterion, Draft, Ledger, ledger_of, state_of
from tallystick.ledger.recording import UNDAUNTED, Recording
from tallystick.ledger.views import Look, Views
from tallystick.system.settings_file import SETTINGS, SettingsFile

#: The role of a failure that somebody wrote into the file by hand.
_BY_HAND = By("unknown")


class Receipt(NamedTuple):
    """An acknowledged change: the criterion as it is now (None for a whole ledger), and notes for a person."""

    feature: str
    criterion: Criterion | None
    notes: tuple[str, ...]


class Shown(NamedTuple):
    """A ledger as it stands in this tree: each criterion with its state word, and how its view lies."""

    snapshot: Snapshot[Subjects]
    rows: tuple[tuple[Criterion, str], ...]
    view: Look

    @property
    def ledger(self) -> Ledger:
        """The state."""
        return ledger_of(self.snapshot)

    def criterion(self, name: str) -> Criterion:
        """The criterion called `name`. Where it is not found, damage is named first: it may stand there."""
        if self.ledger.find(name) is None:
            rules.unsound(self.snapshot.findings)
        return rules.known_criterion(self.ledger, name)


class LedgerService:
    """The ledger of one tree, for one doer. `head` names the commit that is checked out, for the freeze."""

    def __init__(
        self,
        recording: Recording,
        views: Views,
        keeper: Keeper,
        head: Callable[[], str | None],
        rests: Callable[[], Callable[[str], str | None]],
        state: Callable[[], str | None] = lambda: None,
        checked: Callable[[], str] = lambda: "auto",
        settings: SettingsFile | None = None,
    ) -> None:
        """`rests` begins a look at lists of what passes rest on; asked with a list's digest, it names what changed.

        `state` is the digest of what lies in the tree now, for the freeze; `checked` the policy for machine checks;
        `settings` lie in the tree.
        """
        self._rests = rests
        self._state = state
        self._settings = settings
        self.checked = checked
        self.recording = recording
        self._store = recording.store
        self._views = views
        self._keeper = keeper
        self._head = head
        self._looked: set[str] = set()
        self.by = recording.by
        self.permit = recording.permit
        self.record_denial = recording.record_denial

    # -- looking ------------------------------------------------------------------------------------------------

    def features(self) -> list[str]:
        """Every feature of the store."""
        return self._store.features()

    def snapshot(self, feature: str) -> Snapshot[Subjects]:
        """The state alone, without looking at the tree."""
        return self._store.snapshot(feature)

    def show(self, feature: str) -> Shown:
        """The whole ledger. Raises "feature.unknown" for a feature that no record and no anchor knows."""
        snapshot = self._store.snapshot(feature_id(feature))
        if ledger_of(snapshot).created_at is None and not snapshot.findings:
            raise rules.unknown_feature(feature)
        return self.shown(snapshot)

    def look(self, feature: str) -> Shown:
        """As `show`, also of a feature that has outputs or tasks and no criteria yet.

        Raises "feature.unknown" where nothing was recorded of it.
        """
        snapshot = self._store.snapshot(feature_id(feature))
        if not snapshot.exists:
            raise rules.unknown_feature(feature)
        return self.shown(snapshot)

    def every(self) -> list[Shown]:
        """Every ledger of the store; a feature whose very first record was never finished has none."""
        snapshots = [self._store.snapshot(feature) for feature in self._store.features()]
        return [self.shown(snapshot) for snapshot in snapshots if snapshot.exists]

    def unfinished(self) -> list[str]:
        """Every feature that has a ledger and was not abandoned."""
        snapshots = [self._store.snapshot(feature) for feature in self._store.features()]
        return [one.feature for one in snapshots if one.exists and ledger_of(one).abandoned is None]

    def shown(self, snapshot: Snapshot[Subjects], thorough: bool = False) -> Shown:
        """The ledger of `snapshot` with states computed from the content of this tree."""
        changed, checked = self._look(), self.checked()
        rows = tuple(
            (criterion, state_of(criterion, criterion.passes and changed(criterion), checked))
            for criterion in list(ledger_of(snapshot).criteria.values())  # another thread may add one meanwhile
        )
        return Shown(snapshot, rows, self._views.look(snapshot, thorough))

    # -- writing ------------------------------------------------------------------------------------------------

    def freeze(self, feature: str, drafts: Sequence[Draft]) -> Receipt:
        """Freeze a new ledger. What is refused leaves nothing behind, so the tree is looked at last."""
        rules.checked(drafts)
        self.permit(feature_id(feature), "freeze", "")
        snapshot = self._store.snapshot(feature)
        rules.unsound(snapshot.findings)
        rules.freeze(ledger_of(snapshot), drafts, None)
        commit, state, settings = self._head(), self._state(), self.effective()

        def decide(ledger: Ledger) -> Sequence[Event]:
            return [rules.freeze(ledger, drafts, commit, state, settings)]

        return self.record(feature_id(feature), "freeze", "", decide)

    def add(self, feature: str, drafts: Sequence[Draft]) -> Receipt:
        """Add later criteria."""
        return self.record(feature, "add", "", lambda ledger: rules.add(ledger, drafts))

    def mark_pass(self, feature: str, name: str, reference: str) -> Receipt:
        """Pass a criterion by citing what is kept: level *cited*. A machine check is not passed this way."""
        self.permit(feature, "pass", name)
        criterion, changed = self.markable(feature, name)
        rules.passable_by_citing(criterion)
        self.unweakened(feature)
        evidence = self.keep(criterion, reference, least=1)

        def decide(ledger: Ledger) -> Sequence[Event]:
            return [rules.mark_pass(ledger, criterion, reference, "cited", evidence, changed)]

        return self.record(feature, "pass", name, decide)

    def mark_failure(self, feature: str, name: str, error: str) -> Receipt:
        """Record a failed attempt."""
        return self.record(feature, "fail", name, lambda ledger: [rules.mark_failure(ledger, name, error)])

    def amend(
        self, feature: str, name: str, text: str | None, required: tuple[str, ...] | bool | None, reason: str
    ) -> Receipt:
        """Change text or required evidence, visibly, and drop the pass. `required` False leaves it as it is."""
        return self.record(feature, "amend", name, lambda ledger: [rules.amend(ledger, name, text, required, reason)])

    def close(self, feature: str, name: str, reason: str) -> Receipt:
        """Take a criterion out of what is to do."""
        return self.record(feature, "amend", name, lambda ledger: [rules.close(ledger, name, reason)])

    def override(self, feature: str, name: str, reason: str) -> Receipt:
        """A person counts it as done; always possible where the store can be written (P20)."""
        return self.record(feature, "override", name, lambda ledger: [rules.override(ledger, name, reason)])

    def accept(self, feature: str, name: str, reason: str) -> Receipt:
        """Let count what another copy of the repository amended, closed or overrode; a person decides it (D6)."""
        return self.record(feature, "accept", name, lambda ledger: [rules.accept(ledger, name, reason)])

    def accept_settings(self, feature: str, reason: str) -> Receipt:
        """Let the settings count as they are, although they ask for less than was frozen; a person decides it.

        Raises `Refusal`: "input.invalid" where they do not, "settings.invalid" where they cannot be read.
        """
        damage = self._settings.damage() if self._settings is not None else None
        if damage is not None:
            raise damage
        from tallystick.ledger.settled import accept_settings  # only where there are settings to look at

        now = self.effective()
        return self.record(feature, "accept", "", lambda ledger: [accept_settings(ledger, now, reason)])

    def abandon(self, feature: str, reason: str) -> Receipt:
        """Give the feature up; always possible where the store can be written (P20)."""
        return self.record(feature, "abandon", "", lambda ledger: [rules.abandon(ledger, reason)])

    # -- for the use cases above this one -----------------------------------------------------------------------

    def record(self, feature: str, act: str, name: str, events: Callable[[Ledger], Sequence[Event]]) -> Receipt:
        """Commit what `events` decides on the state as locked, if the role may `act` and the store is sound for it.

        Durable when it returns. What was edited by hand in the view is named in the notes; an error that somebody
        wrote there is taken in afterwards, so that a refused command changes nothing.
        """
        self.permit(feature, act, name)
        edited = self._edited(feature, act)

        def decide(snapshot: Snapshot[Subjects], _now: str) -> Decision[Ledger]:
            ledger = ledger_of(snapshot)
            if act not in UNDAUNTED or ledger.created_at is None or (name and ledger.find(name) is None):
                rules.unsound(snapshot.findings)
            if act != "freeze" and ledger.created_at is None:
                raise rules.unknown_feature(feature)
            return Decision(tuple(events(ledger)), ledger)

        committed = self.recording.append(feature, act, decide)
        if edited.failures:
            self._take_in(feature, edited.failures)
        found = ledger_of(self._store.peek(feature)).find(name) if name else None
        notes = (edited.finding.says,) if edited.finding is not None else ()
        return Receipt(feature, found, (*committed.notes, *notes))

    def markable(self, feature: str, name: str) -> tuple[Criterion, bool]:
        """The criterion, if it may be passed now, and whether it passes already and that does not hold any more.

        Looks at what this process saw last, and again at the journal only where that would refuse.
        """
        try:
            return self._markable(self._store.peek(feature), name)
        except Refusal:
            return self._markable(self._store.snapshot(feature), name)

    def keep(self, criterion: Criterion, text: str, least: int) -> list[rules.Evidence]:
        """Keep what `text` cites: at least `least` references, and one for each requirement in words.

        `file:` requirements are cited by the ledger itself, and stand for the least.
        """
        found = references(text) if text.strip() else []
        wanted = rules.references_wanted(criterion)
        files = rules.files_wanted(criterion)
        needed = max(len(wanted), 0 if files else least)
        if len(found) < needed:
            asked = f"; it asks for {', '.join(wanted)}" if wanted else ""
            raise Refusal(
                "evidence.missing" if found else "evidence.free_text",
                f"{criterion.id} needs {needed} reference(s), {len(found)} given{asked}",
                "cite one for each, separated by ' ; '",
            )
        found = [*found, *(one for path in files for one in references(path))]
        try:
            return self._keeper.keep(found)
        except Refusal as refusal:
            asked = f' {criterion.id} asks for "{"; ".join(wanted)}".' if wanted else ""
            message = f"{criterion.id} is not passed: {refusal.message}.{asked}"
            raise Refusal(refusal.code, message, refusal.hint, refusal.where) from None

    def effective(self) -> dict[str, Json]:
        """The effective settings as they are in this tree now (formats 5)."""
        return self._settings.effective() if self._settings is not None else {}

    def unweakened(self, feature: str, also: frozenset[str] = frozenset()) -> None:
        """Raise "settings.weakened" where the settings ask for less than was frozen with the feature.

        `also` are digests of effective settings that count as accepted for this call. Settings that cannot be read are
        refused by whoever needs them.
        """
        ledger, now = ledger_of(self._store.peek(feature)), self._digest()
        if ledger.effective and now is not None and now not in also:
            from tallystick.ledger.settled import unweakened

            unweakened(ledger, self.effective())

    def need_key(self) -> None:
        """Raise "key.missing" where this home cannot write into the store; the first write makes store and key."""
        if self._store.home.key() is None and self._store.id() is not None:
            raise missing_key(self._store.home.folder)

    def changed(self, criterion: Criterion) -> str | None:
        """What a pass rests on and has changed: the settings, the first file of its list, or of what it cites."""
        if criterion.settings not in (None, self._digest() or criterion.settings):
            return f"what counts for a check in {SETTINGS}"
        if criterion.rests_on is not None:
            found = self._rests()(criterion.rests_on)
            if found is not None:
                return found
        return next((one.target for one in criterion.citations if self._keeper.moved(one)), None)

    # -- inside -------------------------------------------------------------------------------------------------

    def _look(self) -> Callable[[Criterion], bool]:
        """Whether what a pass rests on has changed, for many criteria at one moment."""
        cited = self._keeper.look()
        rests: Callable[[str], str | None] | None = None
        settings: str | None = ""

        def changed(criterion: Criterion) -> bool:
            nonlocal rests, settings
            if criterion.settings is not None:
                settings = self._digest() if settings == "" else settings
                if settings not in (None, criterion.settings):
                    return True
            if criterion.citations and cited(criterion):
                return True
            if criterion.rests_on is None:
                return False
            rests = rests or self._rests()
            return rests(criterion.rests_on) is not None

        return changed

    def _digest(self) -> str | None:
        return self._settings.digest() if self._settings is not None else None

    def _markable(self, snapshot: Snapshot[Subjects], name: str) -> tuple[Criterion, bool]:
        ledger = ledger_of(snapshot)
        rules.unsound(snapshot.findings)  # first: where records are gone, so may be the criterion
        criterion = rules.open_criterion(ledger, name)
        if not criterion.passes:
            return criterion, False
        as_it_stands = criterion._replace(override=None)  # an override is no reason to mark a pass that holds again
        if state_of(as_it_stands, self._look()(criterion), self.checked()) == "holds":
            raise rules.already(ledger, criterion)
        return criterion, True

    def _edited(self, feature: str, act: str) -> Look:
        """Once for each feature: what was edited by hand in its view.

        Raises "view.damaged" where the view cannot be parsed: nothing that counts is marked over it (formats 5),
        while the ways out (P20) stay open.
        """
        nothing = Look("current")
        if feature in self._looked:
            return nothing
        snapshot = self._store.snapshot(feature)
        if ledger_of(snapshot).created_at is None:
            return nothing
        look = self._views.look(snapshot)
        if look.kind == "damaged" and look.finding is not None and act not in UNDAUNTED:
            raise Refusal(
                "view.damaged", look.finding.says, "`tallystick audit --restore` writes it anew and keeps its bytes"
            )
        self._looked.add(feature)
        return look if look.kind == "edited" else nothing

    def _take_in(self, feature: str, failures: dict[str, str]) -> None:
        """Record errors that somebody wrote into failing rows by hand, as the seed lets a fixer do."""

        def decide(snapshot: Snapshot[Subjects], _now: str) -> Decision[None]:
            ledger = ledger_of(snapshot)
            still = [(name, error) for name, error in failures.items() if rules.is_open(ledger, name)]
            return Decision(tuple(rules.mark_failure(ledger, name, error) for name, error in still), None)

        self._store.commit(feature, _BY_HAND, decide)
