"""Holds the races around a check that outlasts its call: who waits, who was told to come again, who is cancelled, what
the end does. Real threads on a clock that only the test moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tallystick.errors import Refusal
from tallystick.mcp import jobs as module
from tallystick.mcp.jobs import Jobs, Running
from tallystick.mcp.toolset import CallContext, ToolResult

WAIT_S = 45.0
#: Only what hangs ever meets this.
BACKSTOP_S = 30.0


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> int:
        return int(self.seconds * 1e9)

    def monotonic(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds


class Work:
    """Work that begins, waits to be let through, and counts how often it was done."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.through = threading.Semaphore(0)
        self.times = 0
        self.stopped = threading.Event()
        self.error: Exception | None = None

    def __call__(self, name: str, stopped: Callable[[], bool]) -> ToolResult:
        self.times += 1
        self.begun.release()
        while not self.through.acquire(timeout=0.005):
            if stopped():
                self.stopped.set()
                raise Refusal("interrupted", "stopped", "")
        if self.error is not None:
            raise self.error
        return ToolResult(f"{name} done", {"run": name})


class Caller:
    """One call in a thread of its own. `cancel` is what a client's cancellation does."""

    def __init__(self, jobs: Jobs, work: Work, key: str = "AC1", asked: Callable[[], None] = lambda: None) -> None:
        """`asked` is called each time the job asks whether the call was cancelled."""
        self.cancelled = False
        self.told: list[float] = []
        self.outcome: tuple[ToolResult, bool] | Running | Exception | None = None

        def cancelled() -> bool:
            asked()
            return self.cancelled

        context = CallContext(1, "", "c", "1", "", "", cancelled, lambda done, *_: self.told.append(done))
        self._thread = threading.Thread(target=self._run, args=(jobs, key, context, work))
        self._thread.start()

    def _run(self, jobs: Jobs, key: str, context: CallContext, work: Work) -> None:
        try:
            self.outcome = jobs.run(key, lambda: f"r-{work.times}", context, work)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.outcome = error

    def cancel(self) -> None:
        self.cancelled = True

    def ended(self) -> tuple[ToolResult, bool] | Running | Exception | None:
        """What the call came to."""
        self._thread.join(BACKSTOP_S)
        assert not self._thread.is_alive(), "the call never ended"
        return self.outcome

    def result(self) -> tuple[str, bool]:
        """The text of the result and whether an earlier call began the work."""
        outcome = self.ended()
        assert outcome is not None
        assert not isinstance(outcome, Running | Exception), outcome
        return outcome[0].text, outcome[1]

    @property
    def waits(self) -> bool:
        return self._thread.is_alive()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(clock: Clock) -> Iterator[Jobs]:
    made = Jobs(clock, WAIT_S)
    yield made
    made.close()


def began(work: Work) -> None:
    assert work.begun.acquire(timeout=BACKSTOP_S), "the work never began"


def late(caller: Caller, clock: Clock) -> Running:
    """Let the deadline of a call pass; it must answer that the work runs."""
    clock.seconds += WAIT_S
    outcome = caller.ended()
    assert isinstance(outcome, Running), outcome
    return outcome


def until(holds: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(int(BACKSTOP_S / 0.005)):
        if holds():
            return
        waiting.wait(0.005)
    raise AssertionError("it never came about")


def waiting(jobs: Jobs, count: int, key: str = "AC1") -> None:
    """Wait until so many calls wait for the job."""
    until(lambda: key in jobs._jobs and jobs._jobs[key].waiting == count)


def test_a_quick_job_answers_its_call_and_is_forgotten(jobs: Jobs) -> None:
    work = Work()
    work.through.release(2)
    assert Caller(jobs, work).result() == ("r-0 done", False)
    assert Caller(jobs, work).result() == ("r-1 done", False)
    assert work.times == 2


def test_after_the_deadline_it_runs_on_and_the_same_call_gets_what_came_of_it(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    assert late(first, clock) == Running("r-0", WAIT_S)
    second = Caller(jobs, work)
    waiting(jobs, 1)
    work.through.release()
    assert second.result() == ("r-0 done", True)
    assert work.times == 1


def test_a_job_that_ended_while_nobody_waited_is_picked_up_once(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    late(first, clock)
    work.through.release()
    until(lambda: jobs._jobs["AC1"].done.is_set())
    assert Caller(jobs, work).result() == ("r-0 done", True)
    work.through.release()
    assert Caller(jobs, work).result() == ("r-1 done", False)


def test_who_was_told_to_come_again_finds_it_although_another_has_taken_it(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    clock.seconds += WAIT_S / 2
    second = Caller(jobs, work)
    waiting(jobs, 2)
    clock.seconds += WAIT_S / 2
    assert isinstance(first.ended(), Running)
    work.through.release()
    assert second.result() == ("r-0 done", True)
    assert Caller(jobs, work).result() == ("r-0 done", True)
    assert work.times == 1


def test_a_job_that_ends_at_the_very_deadline_is_answered(jobs: Jobs, clock: Clock) -> None:
    work = Work()

    def just_now() -> None:
        if clock.seconds >= WAIT_S:
            job = jobs._jobs["AC1"]
            work.through.release()
            until(job.done.is_set)

    caller = Caller(jobs, work, asked=just_now)
    began(work)
    clock.seconds += WAIT_S
    assert caller.result() == ("r-0 done", False)
    assert jobs._jobs == {}


def test_two_calls_share_one_run(jobs: Jobs) -> None:
    work = Work()
    callers = [Caller(jobs, work), Caller(jobs, work)]
    began(work)
    waiting(jobs, 2)
    work.through.release()
    assert sorted(caller.result() for caller in callers) == [("r-0 done", False), ("r-0 done", True)]


def test_cancelling_one_of_two_leaves_the_work_to_the_other(jobs: Jobs) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    second = Caller(jobs, work)
    waiting(jobs, 2)
    first.cancel()
    outcome = first.ended()
    assert isinstance(outcome, Refusal)
    assert outcome.code == "interrupted"
    assert not work.stopped.is_set()
    work.through.release()
    assert second.result() == ("r-0 done", True)


def test_cancelling_the_last_one_stops_the_work_and_the_next_call_begins_anew(jobs: Jobs) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    first.cancel()
    assert isinstance(first.ended(), Refusal)
    assert work.stopped.is_set()
    work.through.release()
    assert Caller(jobs, work).result() == ("r-1 done", False)


def test_cancelling_who_picks_up_does_not_stop_what_another_was_promised(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first, second = Caller(jobs, work), Caller(jobs, work)
    began(work)
    waiting(jobs, 2)
    clock.seconds += WAIT_S
    assert isinstance(first.ended(), Running)
    assert isinstance(second.ended(), Running)
    third = Caller(jobs, work)
    waiting(jobs, 1)
    third.cancel()
    assert isinstance(third.ended(), Refusal)
    assert not work.stopped.is_set()
    work.through.release()
    assert Caller(jobs, work).result() == ("r-0 done", True)


def test_a_cancellation_that_comes_too_late_tells_what_happened(jobs: Jobs) -> None:
    class Stubborn(Work):
        def __call__(self, name: str, stopped: Callable[[], bool]) -> ToolResult:
            return super().__call__(name, lambda: False)

    work = Stubborn()
    first = Caller(jobs, work)
    began(work)
    first.cancel()
    until(lambda: "AC1" not in jobs._jobs)
    work.through.release()
    assert first.result() == ("r-0 done", False)


def test_what_follows_an_answer_is_done_for_a_job_that_nobody_waits_for(clock: Clock) -> None:
    followed: list[bool] = []
    jobs, work = Jobs(clock, WAIT_S, lambda: followed.append(True)), Work()
    work.through.release()
    Caller(jobs, work).result()
    began(work)
    assert followed == []
    first = Caller(jobs, work)
    began(work)
    late(first, clock)
    work.through.release()
    until(lambda: followed == [True])
    jobs.close()


def test_jobs_run_one_after_the_other_in_their_order(jobs: Jobs) -> None:
    works = [Work() for _ in range(3)]
    callers = []
    for number, work in enumerate(works):
        callers.append(Caller(jobs, work, f"AC{number}"))
        waiting(jobs, 1, f"AC{number}")
    for number, work in enumerate(works):
        began(work)
        assert [later.times for later in works[number + 1 :]] == [0] * (2 - number)
        work.through.release()
        assert callers[number].result() == ("r-0 done", False)


def test_a_job_that_is_cancelled_before_its_turn_never_begins(jobs: Jobs) -> None:
    first, second = Work(), Work()
    one = Caller(jobs, first)
    began(first)
    other = Caller(jobs, second, "AC2")
    waiting(jobs, 1, "AC2")
    other.cancel()
    until(lambda: "AC2" not in jobs._jobs)
    first.through.release()
    assert isinstance(other.ended(), Refusal)
    assert one.result() == ("r-0 done", False)
    assert second.times == 0


@pytest.mark.parametrize("error", [Refusal("check.red", "red", ""), RuntimeError("nobody expected this")])
def test_what_the_work_raises_is_raised_in_every_call_and_is_not_kept(jobs: Jobs, error: Exception) -> None:
    work = Work()
    work.error = error
    callers = [Caller(jobs, work), Caller(jobs, work)]
    began(work)
    waiting(jobs, 2)
    work.through.release()
    assert [caller.ended() for caller in callers] == [error, error]
    work.error = None
    work.through.release()
    assert Caller(jobs, work).result() == ("r-1 done", False)


def test_what_nobody_picks_up_is_forgotten_in_time(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    late(first, clock)
    work.through.release()
    until(lambda: jobs._jobs["AC1"].done.is_set())
    clock.seconds += module.KEPT_S + 1
    work.through.release()
    assert Caller(jobs, work).result() == ("r-1 done", False)


def test_what_runs_is_never_forgotten(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    first = Caller(jobs, work)
    began(work)
    late(first, clock)
    clock.seconds += 2 * module.KEPT_S
    second = Caller(jobs, work)
    waiting(jobs, 1)
    work.through.release()
    assert second.result() == ("r-0 done", True)


def test_the_end_stops_what_runs_what_waits_and_what_was_left(clock: Clock) -> None:
    jobs = Jobs(clock, WAIT_S)
    left, running, queued = Work(), Work(), Work()
    told = Caller(jobs, left, "left")
    began(left)
    late(told, clock)
    waits = [Caller(jobs, running, "running"), Caller(jobs, queued, "queued")]
    waiting(jobs, 1, "running")
    waiting(jobs, 1, "queued")
    jobs.close()
    assert [type(caller.ended()) for caller in waits] == [Refusal, Refusal]
    assert left.stopped.is_set()
    assert (running.times, queued.times) == (0, 0)
    after = Caller(jobs, Work())
    assert isinstance(after.ended(), Refusal)


def test_the_end_does_not_wait_for_ever_for_work_that_does_not_stop(clock: Clock) -> None:
    class Deaf(Work):
        def __call__(self, name: str, stopped: Callable[[], bool]) -> ToolResult:
            def never() -> bool:
                if stopped():
                    clock.pause(module.CLOSE_S)
                return False

            return super().__call__(name, never)

    jobs, work = Jobs(clock, 1_000_000.0), Deaf()
    caller = Caller(jobs, work)
    began(work)
    jobs.close()
    assert caller.waits
    work.through.release()
    assert caller.result() == ("r-0 done", False)


def test_a_waiting_client_is_told_now_and_then_that_it_goes_on(jobs: Jobs, clock: Clock) -> None:
    work = Work()
    caller = Caller(jobs, work)
    began(work)
    for _ in range(3):
        before = len(caller.told)
        clock.seconds += 6
        until(lambda before=before: len(caller.told) > before)  # type: ignore[misc]
    assert caller.told == sorted(set(caller.told))
    work.through.release()
    assert caller.result() == ("r-0 done", False)
