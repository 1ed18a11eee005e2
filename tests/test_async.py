"""Questions in an event loop: as in a thread, with their events, and cancelled with their task."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import replace
from threading import Event as Stop

import pytest

from surefoot.evaluators.lexical import Lexical
from surefoot.pipeline import Pipeline
from surefoot.types import Event, Grade, Passage, Strip, Trace
from surefoot.types.errors import QuestionError
from surefoot.types.protocols import Pair

QUESTION = "Who built the Ruvel Bridge?"
AROUND: ContextVar[str] = ContextVar("around", default="nothing")


class Slow(Lexical):
    """Waits until it is let go, or for a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = Stop(), Stop()

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """As Lexical."""
        self.begun.set()
        self.go.wait(60)
        return super().grade(pairs)


class Asking:
    """A refiner that asks the evaluator once more."""

    def __init__(self, evaluator: Slow) -> None:
        self.evaluator = evaluator

    def refine(self, question: str, passages: Sequence[Passage]) -> tuple[Strip, ...]:
        """No strips."""
        self.evaluator.grade([(question, passage) for passage in passages])
        return ()


class Around:
    """A retriever that finds what the context says."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """One passage."""
        return (Passage("a", AROUND.get()),)


def bare(trace: Trace) -> Trace:
    return replace(trace, id="", created="", steps=())


def test_it_gives_what_run_gives(pipeline: Pipeline) -> None:
    """Also several at a time, with what went before, and what is raised."""

    async def ask() -> list[Trace]:
        with pytest.raises(QuestionError):
            await pipeline.arun("")
        history = [(QUESTION, "Tomas Aldwin did.")]
        return await asyncio.gather(pipeline.arun(QUESTION), pipeline.arun("and in 1911?", history=history))

    first, second = asyncio.run(ask())
    assert bare(first) == bare(pipeline.run(QUESTION))
    assert second.standalone_question != second.question


def test_the_context_goes_along(pipeline: Pipeline) -> None:
    """Deadlines and meters are context variables, and so are those of whoever embeds it."""

    async def ask() -> Trace:
        AROUND.set("a library")
        return await pipeline.but(retriever=Around()).arun(QUESTION)

    assert asyncio.run(ask()).passages[0].text == "a library"


def test_a_task_that_is_cancelled_cancels_its_question(pipeline: Pipeline) -> None:
    """The thread ends its step, begins no other, and hands its trace to the listener."""
    slow, heard = Slow(), list[Event]()

    async def ask() -> None:
        asking = asyncio.create_task(replace(pipeline, evaluator=slow).arun(QUESTION, heard.append))
        await asyncio.to_thread(slow.begun.wait, 60)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        slow.go.set()

    asyncio.run(ask())  # which waits for its threads
    assert heard[-1].name == "ended"
    assert heard[-1].value.error == "cancelled: nobody waits for the answer any more"
    assert [step.name for step in heard[-1].value.steps] == ["retrieve", "grade"]


def test_events_come_one_by_one_and_the_last_is_the_trace(pipeline: Pipeline) -> None:
    """The same, and in the same order, as a listener hears."""
    heard: list[Event] = []
    trace = pipeline.run(QUESTION, heard.append)

    async def ask() -> list[Event]:
        return [event async for event in pipeline.events(QUESTION)]

    events = asyncio.run(ask())
    assert [event.name for event in events] == [event.name for event in heard]
    assert bare(events[-1].value) == bare(trace)
    assert events[0].value.id == events[-1].value.id


def test_events_raise_what_the_question_raises(pipeline: Pipeline) -> None:
    """They do not just end."""

    async def ask() -> None:
        async for _ in pipeline.events("   "):
            pass

    with pytest.raises(QuestionError):
        asyncio.run(ask())


def test_whoever_stops_listening_cancels_the_question(pipeline: Pipeline) -> None:
    """A page that was closed costs no more than the step that was under way."""
    slow, asked = Slow(), list[int]()
    grade = slow.grade

    def counted(pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        asked.append(len(pairs))
        return grade(pairs)

    slow.grade = counted  # type: ignore[method-assign]

    async def ask() -> None:
        async with aclosing(replace(pipeline, evaluator=slow, refiner=Asking(slow)).events(QUESTION)) as events:
            async for event in events:
                if event.name == "passages":
                    break
        slow.go.set()

    asyncio.run(ask())  # which waits for its threads
    assert asked in ([], [2])
