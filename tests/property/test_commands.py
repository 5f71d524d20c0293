"""Any sequence of commands, edits, kills and power cuts against a small reference model (P1, P2, P4, P7, P10, P11).

After each step: what is shown in each tree is what the model says; a pass goes away by an amendment alone, and so does
a text; a state read anew is the one that a running process has; with a checkpoint or without one it is the same; the
view of a tree in which a command has just ended is what the model writes, byte for byte.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tallystick.limits import PAGE_ROWS
from tests.crash.stage import tally
from tests.property.model import Model
from tests.property.world import FILES, TREES, End, World, document, recorded, words_of
from tests.simdisk import WAYS, Action, Fault, Kill

FEATURES = ("checkout", "refund")
NAMES = ("AC1", "AC2", "AC3")
ACTS = ("pass",) * 6 + ("fail",) * 4 + ("amend", "close", "override", "add", "note", "init", "abandon")
GARBLED = b"{oops"
WAYS_OUT = ("fail", "override", "abandon")

trees = st.sampled_from(TREES)
acts = st.sampled_from(ACTS)
features = st.sampled_from((*FEATURES[:1] * 5, FEATURES[1]))
names = st.sampled_from((*NAMES * 3, "AC9"))
files = st.sampled_from(FILES)
hands = st.sampled_from(("command", "server"))
bursts = st.lists(st.tuples(acts, features, names, files), min_size=2, max_size=10)
failings = st.sampled_from([(call, way) for call, ways in WAYS.items() for way in ways if not isinstance(way, Kill)])


class Commands(RuleBasedStateMachine):
    """The machine that hypothesis drives."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.model = Model()
        self.serial = 0
        #: Views that somebody touched since they were written last, by tree and feature.
        self.touched: set[tuple[str, str]] = set()
        self.garbled: set[tuple[str, str]] = set()
        #: What a power cut may bring back of a feature whose last writer died before it could answer: the states from
        #: before its write. An acknowledged write syncs all that stands before it in the file, and settles this.
        self.unsettled: dict[str, list[Any]] = {}
        self.before = Model()
        self.amended: set[tuple[str, str]] = set()

    # --- doing

    def word(self, act: str, file: str) -> str:
        """The last word of a command: a file for a pass, else a text that was never said before."""
        self.serial += 1
        return file if act == "pass" else f"text {self.serial} é"

    def carry_out(
        self, by: str, tree: str, act: str, feature: str, name: str, file: str, plan: tuple[Fault, ...] = ()
    ) -> None:
        """Do it, by a command or a server, and hold the answer against the model."""
        self.world.seconds += 1
        feature = FEATURES[1] if act == "abandon" else feature
        word = self.word(act, file)
        here = self.world.trees[tree]
        codes = self.model.refusals(act, feature, name, word, here)
        if (tree, feature) in self.garbled and act not in WAYS_OUT:
            codes = codes | {"view.damaged"} if feature in self.model.features else codes
        after = self.model.copy()
        took = False
        if not codes or plan:
            after = self.expected(act, feature, name, word, tree)
        view = self.world.lying(tree, feature)
        further = after.copy()
        if feature in self.model.features and view is not None and feature in after.features:
            took = further.take_in(feature, view, self.model)
        if by == "server":
            end = self.world.serve(tree, act, feature, name, word)
        else:
            end = self.world.command(tree, words_of(act, feature, name, word), plan)
        event(f"{'a fault' if plan else by}: {act}: {end.code or 'done'}{' and taken in' if took else ''}")
        if act == "amend":
            self.amended.add((feature, name))
        if plan:
            models = [self.model, after, further]
            if codes == {"pass.already"}:  # where the disk hides what was cited, it counts as changed: marked once more
                models.append(self.model.copy())
                models[-1].carry_out(act, feature, name, word, here, self.world.now)
            self.settle(end, models, feature)
            return
        assert (end.code in codes) if codes else (end.code == ""), (act, feature, name, word, end, codes)
        if not codes:
            self.model = further if took else after
            self.unsettled.pop(feature, None)
            self.written(tree, feature)

    def expected(self, act: str, feature: str, name: str, word: str, tree: str) -> Model:
        """The model after the act, or as it is where the act is impossible."""
        after = self.model.copy()
        if not self.model.refusals(act, feature, name, word, self.world.trees[tree]):
            after.carry_out(act, feature, name, word, self.world.trees[tree], self.world.now)
        return after

    def settle(self, end: End, models: list[Model], feature: str) -> None:
        """After a fault: the model becomes the one that is found; after an acknowledgement only a later one may be."""
        if end.code == "":
            models = models[1:]
            self.unsettled.pop(feature, None)
        else:
            self.unsettled.setdefault(feature, []).append(self.model.copy().features.get(feature))
        self.model = self.found(models, str(end))

    def found(self, models: list[Model], why: str) -> Model:
        """The one of `models` that is recorded."""
        found = [model for model in models if not self.differences(model)]
        assert found, (why, [self.differences(model) for model in models])
        return found[0]

    def written(self, tree: str, feature: str) -> None:
        """A command has just ended in `tree`: its view is current, unless nobody could read what lay there."""
        if (tree, feature) not in self.garbled:
            assert self.world.lying(tree, feature) == self.model.features[feature].view()
            self.touched.discard((tree, feature))

    # --- rules: commands

    @initialize(tree=trees, many=st.integers(2, 3))
    def begin(self, tree: str, many: int) -> None:
        """Nearly everything needs a ledger; that there is none is tried with the second feature."""
        self.carry_out("command", tree, "init", FEATURES[0], " ".join(NAMES[:many]), "")

    @rule(tree=trees, by=hands, burst=bursts)
    def work(self, tree: str, by: str, burst: list[tuple[str, str, str, str]]) -> None:
        for act, feature, name, file in burst:
            # What somebody wrote into a view is looked at once by each process, so a new one must come.
            self.carry_out("command" if (tree, feature) in self.touched else by, tree, act, feature, name, file)

    @rule(tree=trees, by=hands, burst=bursts)
    def more_work(self, tree: str, by: str, burst: list[tuple[str, str, str, str]]) -> None:
        self.work(tree, by, burst)

    @precondition(lambda self: not self.touched and not self.model.features["checkout"].rows["AC1"].closed)
    @rule(tree=trees)
    def grow(self, tree: str) -> None:
        """So many long failures that a checkpoint is written."""
        self.world.seconds += 1
        self.unsettled.pop("checkout", None)
        for number in range(60):
            word = f"{self.serial} {number} {'x' * 1900}"
            assert self.world.serve(tree, "fail", "checkout", "AC1", word).code == ""
            self.model.carry_out("fail", "checkout", "AC1", word, {}, self.world.now)

    # --- rules: hands on files

    @rule(tree=trees, name=files, content=st.sampled_from((b"3 passed\n", b"4 passed\n", b"", None)))
    def edit(self, tree: str, name: str, content: bytes | None) -> None:
        self.world.write(tree, name, content)

    @rule(
        tree=trees,
        feature=features,
        how=st.sampled_from(("error", "error", "flip", "drop", "empty", "cut", "gone", "garble")),
    )
    def edit_view(self, tree: str, feature: str, how: str) -> None:
        """Somebody writes into the view. Nothing of it counts, but for an error in a failing row.

        One that nobody can read stays, and holds up marks in that tree.
        """
        view = self.world.lying(tree, feature)
        rows = document(view)
        if view is None or not rows or (tree, feature) in self.garbled:
            return
        self.serial += 1
        if how == "error":
            rows[0]["last_attempt_error"] = f"by hand {self.serial}"
        elif how == "flip":
            rows[-1]["passes"] = not rows[-1]["passes"]
        elif how == "drop":
            rows.pop()
        path = self.world.view(tree, feature)
        if how in ("error", "flip", "drop"):
            whole = {**json.loads(view), "features": rows}
            self.world.disk.put(path, json.dumps(whole, ensure_ascii=False, indent=2).encode() + b"\n")
        elif how == "gone":
            self.world.disk.remove(path)
        elif how == "garble":
            self.world.disk.put(path, GARBLED + view[1:])
            self.garbled.add((tree, feature))
        else:
            self.world.disk.put(path, b"" if how == "empty" else view[: len(view) * self.serial % len(view)])
        self.touched.add((tree, feature))

    @precondition(lambda self: self.touched)
    @rule(tree=trees)
    def restore(self, tree: str) -> None:
        self.world.seconds += 1
        answer = tally(self.world.disk.process(), "audit", "--restore", caller=self.world.caller(tree))
        assert answer.status == 0, answer
        self.garbled = {one for one in self.garbled if one[0] != tree}
        for feature in self.model.features:
            self.written(tree, feature)

    @rule(what=st.sampled_from(("cache", "locks", "tmp", "anchors")))
    def clear(self, what: str) -> None:
        """Take away what can be made again, or what only remembers."""
        self.world.stop()
        self.world.remove("/user/state/tallystick/anchors" if what == "anchors" else f"{self.world.store}/{what}")

    @rule()
    def move(self) -> None:
        self.world.move()

    # --- rules: misfortune

    @rule(tree=trees, act=acts, feature=features, name=names, file=files, nth=st.integers(1, 140), after=st.booleans())
    def killed(self, tree: str, act: str, feature: str, name: str, file: str, nth: int, after: bool) -> None:
        self.carry_out("command", tree, act, feature, name, file, (Fault(Kill(after), nth),))

    @rule(tree=trees, act=acts, feature=features, name=names, file=files, nth=st.integers(1, 12), failing=failings)
    def hampered(
        self, tree: str, act: str, feature: str, name: str, file: str, nth: int, failing: tuple[str, Action]
    ) -> None:
        call, way = failing
        self.carry_out("command", tree, act, feature, name, file, (Fault(way, nth, call),))

    @rule(seed=st.integers(0, 10_000))
    def power_cut(self, seed: int) -> None:
        self.world.cut_power(seed)
        models = [self.model]
        for feature, states in self.unsettled.items():
            models += [model.with_feature(feature, state) for model in list(models) for state in states]
        self.model = self.found(models, "a power cut")
        self.before = self.model.copy()
        self.unsettled.clear()
        views = [(tree, feature) for tree in TREES for feature in self.model.features]
        self.touched.update(views)
        # A view is not synced: what lay there before it was written may be back.
        self.garbled = {one for one in views if (self.world.lying(*one) or b"").startswith(GARBLED)}

    @rule()
    def restart(self) -> None:
        self.world.stop()

    # --- what always holds

    @invariant()
    def always(self) -> None:
        """All of it, after each step."""
        assert self.differences(self.model) == []
        self.shown_is_what_the_model_says()
        self.passes_and_texts_change_by_amendment_alone()
        self.every_way_to_the_state_leads_to_the_same()
        self.the_list_of_failing_is_bounded()

    def differences(self, model: Model) -> list[object]:
        """Where what is recorded differs from `model`."""
        app = self.world.fresh()
        found: list[object] = []
        for feature in FEATURES:
            wanted = model.features.get(feature)
            seen = recorded(app, feature)
            asked = (wanted.created_at, wanted.abandoned, (*wanted.notes,)) if wanted else (None, None, ())
            if (seen.created_at, seen.abandoned, seen.notes) != asked:
                found.append((feature, seen, asked))
            rows = {
                one.id: (one.description, one.passes, one.passed_at, one.error, one.attempts, one.regressed)
                for one in seen.criteria
            }
            table = {} if wanted is None else wanted.rows
            for name in {*rows, *table}:
                row = table.get(name)
                known = row and (row.description, row.passes, row.passed_at, row.error, row.attempts, row.regressed)
                if rows.get(name) != known:
                    found.append((feature, name, rows.get(name), known))
        return found

    def shown_is_what_the_model_says(self) -> None:
        for tree in TREES:
            for feature, wanted in self.model.features.items():
                answer = tally(
                    self.world.disk.process(), "ledger", "show", feature, "--json", caller=self.world.caller(tree)
                )
                assert answer.status == (8 if (tree, feature) in self.garbled else 0), answer
                shown = answer.document
                rows = [
                    {key: value for key, value in row.items() if key not in ("passed_by",)} for row in shown["criteria"]
                ]
                assert rows == wanted.shown(self.world.trees[tree])
                assert shown["checkable"]

    def passes_and_texts_change_by_amendment_alone(self) -> None:
        for feature, old in self.before.features.items():
            for name, row in old.rows.items():
                if (feature, name) not in self.amended:
                    now = self.model.features[feature].rows[name]
                    assert now.passes or not row.passes
                    assert now.description == row.description
        self.before = self.model.copy()
        self.amended.clear()

    def every_way_to_the_state_leads_to_the_same(self) -> None:
        """Read by a running server, with a checkpoint, and from nothing."""
        bare = self.world.disk.settled()
        if f"{self.world.store}/cache" in bare.tree():
            bare.remove(f"{self.world.store}/cache")
        for feature in self.model.features:
            anew = recorded(self.world.fresh(disk=bare), feature)
            assert recorded(self.world.fresh(), feature) == anew
            assert all(state == anew for state in self.world.served(feature))

    def the_list_of_failing_is_bounded(self) -> None:
        for feature in self.model.features:
            answer = tally(
                self.world.disk.process(), "ledger", "failing", feature, "--json", caller=self.world.caller("shop")
            )
            assert len(answer.document["criteria"]) <= PAGE_ROWS


TestCommands = Commands.TestCase
TestCommands.settings = settings(max_examples=60, stateful_step_count=14, deadline=None, report_multiple_bugs=False)
