"""A question that nobody waits for ends soon, wherever it is, and its trace says so."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Event as Stop, Thread, current_thread

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.llm import LLMEvaluator
from surefoot.evaluators.minilm import MiniLM
from surefoot.llms.local import interruptible
from surefoot.llms.scripted import Scripted
from surefoot.network import transport
from surefoot.network.pace import Turns, within
from surefoot.pipeline import Pipeline
from surefoot.run import cancel
from surefoot.run.store import dumps, loads
from surefoot.types import Answer, Event, Grade, Passage
from surefoot.types.errors import Cancelled, ComponentError
from surefoot.types.protocols import Knowledge, OnText, Pair

QUESTION = "Who built the Ruvel Bridge?"
CANCELLED = "cancelled: nobody waits for the answer any more"


@pytest.fixture
def stop() -> Stop:
    return Stop()


def when(name: str, stop: Stop) -> Callable[[Event], None]:
    """A listener that cancels the question with the first event of this name."""

    def listen(event: Event) -> None:
        if event.name == name:
            stop.set()

    return listen


@pytest.mark.parametrize(
    ("event", "steps"), [("begun", []), ("passages", ["retrieve"]), ("decision", ["retrieve", "grade"])]
)
def test_a_cancelled_question_begins_no_further_step(
    pipeline: Pipeline, stop: Stop, event: str, steps: list[str]
) -> None:
    """The trace keeps what was found until then, has no answer, and survives the disk."""
    trace = pipeline.run(QUESTION, when(event, stop), cancel=stop)
    assert [step.name for step in trace.steps] == steps
    assert (trace.error, trace.answer) == (CANCELLED, None)
    assert bool(trace.passages) == (event != "begun")
    assert loads(dumps(trace)) == trace


def test_a_listener_may_cancel_too(pipeline: Pipeline) -> None:
    """By raising Cancelled, wherever it is; the trace is that of a cancelled question, with the listener's reason."""

    def listen(event: Event) -> None:
        if event.name == "passages":
            raise Cancelled("the client left")

    trace = pipeline.run(QUESTION, listen)
    assert (trace.error, [step.name for step in trace.steps]) == ("cancelled: the client left", ["retrieve"])


def test_what_else_a_listener_raises_passes_through(pipeline: Pipeline) -> None:
    """It is a bug of whoever listens."""
    with pytest.raises(ZeroDivisionError):
        pipeline.run(QUESTION, lambda event: 1 / 0)  # type: ignore[func-returns-value]


def test_a_draft_ends_with_its_next_piece(pipeline: Pipeline, stop: Stop) -> None:
    """The step that was under way is on record, as cancelled."""
    written: list[str] = []

    class Writer:
        def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
            assert on_text
            for word in ("Tomas", "Aldwin", "built"):
                written.append(word)
                on_text(word)
                stop.set()
            return Answer("")

    trace = pipeline.but(generator=Writer()).run(QUESTION, cancel=stop)
    assert written == ["Tomas", "Aldwin"]
    assert (trace.error, trace.steps[-1].name) == (CANCELLED, "generate")
    assert trace.steps[-1].error == "nobody waits for the answer any more"


def test_a_question_stops_between_the_windows_of_its_evaluator(stop: Stop) -> None:
    """After those that its threads had begun, however many there are to read; then the threads are free again."""
    threads, windows = MiniLM(threads=2)._model.pool, list[int]()

    def read(window: int) -> int:
        windows.append(window)
        if len(windows) == 3:
            stop.set()
        if stop.is_set():
            time.sleep(0.5)  # as long as a slow machine takes to look whether anybody waits
        return window

    with cancel.heeding(stop), pytest.raises(Cancelled):
        threads.each(read, [(n,) for n in range(60)])
    assert 3 <= len(windows) <= 3 + 3 * 2
    assert threads.each(read, [(60,), (61,)]) == [60, 61]


def test_a_model_that_grades_is_not_asked_again(stop: Stop) -> None:
    """Between two calls, each with some of the passages."""
    asked: list[object] = []

    def said(messages: object) -> str:
        asked.append(messages)
        stop.set()
        return "{}"

    pairs = [(QUESTION, Passage(f"{n}", f"Bridge {n}")) for n in range(5)]
    with cancel.heeding(stop), pytest.raises(Cancelled):
        LLMEvaluator(Scripted(said), per_call=1).grade(pairs)
    assert len(asked) == 1


def test_a_question_that_waits_for_the_threads_of_others_leaves(stop: Stop) -> None:
    """Before any of its windows was read: the threads are busy with other people's."""
    evaluator, busy, go = MiniLM(threads=1), Stop(), Stop()
    others = Thread(target=evaluator._model.pool.each, args=(lambda: (busy.set(), go.wait(60)), [()]))
    others.start()
    busy.wait(60)
    Thread(target=lambda: (time.sleep(0.05), stop.set())).start()
    try:
        with cancel.heeding(stop), pytest.raises(Cancelled):
            evaluator.grade([(QUESTION, Passage("a", "The bridge is of iron."))])
    finally:
        go.set()
        others.join()


class Failing(Lexical):
    """Fails once it was cancelled."""

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self.stop = stop

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """Never."""
        self.stop.set()
        raise ComponentError("broken")


def test_a_part_that_fails_when_it_is_cancelled_is_replaced_no_more(pipeline: Pipeline, stop: Stop) -> None:
    """Its fallback is taken, and the next step is not."""
    trace = replace(pipeline, evaluator=Failing(stop)).run(QUESTION, cancel=stop)
    assert [(step.name, step.error) for step in trace.steps] == [("retrieve", None), ("grade", "broken")]
    assert trace.error == CANCELLED


def test_a_wait_for_a_turn_ends_at_once(stop: Stop) -> None:
    """Long before the turn would come."""
    turns, begun = Turns(), time.monotonic()
    turns.hold("host", 600, "it asked us to wait")
    Thread(target=lambda: (time.sleep(0.05), stop.set())).start()
    with within(3000), cancel.heeding(stop), pytest.raises(Cancelled):
        turns.wait("host", 1)
    assert time.monotonic() - begun < 60


def test_a_checkpoint_stops_between_its_batches(stop: Stop, tiny_cross_encoder: Callable[..., Path]) -> None:
    """Before the next run, also before the first."""
    from surefoot.evaluators.cross_encoder import CrossEncoder

    evaluator = CrossEncoder(str(tiny_cross_encoder()))
    stop.set()
    with cancel.heeding(stop), pytest.raises(Cancelled):
        evaluator.grade([(QUESTION, Passage("a", "The bridge is of iron."))])


def test_a_local_model_ends_its_answer_with_the_next_piece(stop: Stop) -> None:
    """Whoever waits for it does so no more, though it may be reading its prompt still."""
    ended = Stop()

    def work(take: Callable[[object], bool]) -> None:
        while not take({}):
            time.sleep(0.01)
        ended.set()

    stop.set()
    with cancel.heeding(stop), pytest.raises(Cancelled):
        interruptible(work, lambda _: None)
    assert ended.wait(60)


def test_a_connection_is_read_no_further(stop: Stop) -> None:
    """A server that drips its answer holds nobody who has gone."""
    assert transport._bounded(3) == 3
    stop.set()
    with cancel.heeding(stop), pytest.raises(Cancelled):
        transport._bounded(3)


def test_a_wait_for_another_thread_ends_soon(stop: Stop) -> None:
    """What the other brings in time is taken; what it does not, is late."""
    future: Future[int] = Future()
    with cancel.heeding(stop):
        with pytest.raises(TimeoutError):
            cancel.result(future, 0.01)
        Thread(target=lambda: (time.sleep(0.05), stop.set())).start()
        with pytest.raises(Cancelled):
            cancel.result(future, 600)
    future.set_result(3)
    assert cancel.result(future, 1) == 3


def test_an_inner_question_goes_by_the_outer_one_too(stop: Stop) -> None:
    """One that is given no event of its own; behind the block nothing is cancelled."""
    stop.set()
    with cancel.heeding(stop), cancel.heeding(None), pytest.raises(Cancelled):
        cancel.check()
    cancel.check()
    cancel.pause(0)


def test_work_beside_goes_with_the_question_and_fails_where_it_is_waited_for(stop: Stop) -> None:
    """Its thread knows that the question was cancelled, and keeps no program from ending."""
    stop.set()
    with cancel.heeding(stop):
        checked, daemon = cancel.beside(cancel.check), cancel.beside(lambda: current_thread().daemon)
    with pytest.raises(Cancelled):
        checked.result(5)
    assert daemon.result(5) is True
