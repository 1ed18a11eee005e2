"""Watch a question as its events come in an event loop, and stop one that nobody waits for."""

import asyncio
import threading

import surefoot

QUESTION = "Who built the Ruvel Bridge?"


class Shelf:
    """Finds the same passage for every question."""

    def retrieve(self, question: str, k: int) -> tuple[surefoot.Passage, ...]:
        return (surefoot.Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge"),)


async def watched(pipeline: surefoot.Pipeline) -> None:
    async for event in pipeline.events(QUESTION):
        match event.name:
            case "begun":
                print("trace", event.value.id)
            case "step_begins":
                print("…", event.value)
            case "step":
                print(f"✓ {event.value.name}: {1000 * event.value.seconds:.0f} ms")
            case "decision":
                print(f"{event.value.action}: {event.value.because}, by {event.value.margin:.2f}")
            case "ended":
                print(event.value.answer.text)


pipeline = surefoot.load({}, parts={"retriever": Shelf()})
asyncio.run(watched(pipeline))

left = threading.Event()
left.set()  # as a server does when its client has gone
print(pipeline.run(QUESTION, cancel=left).error)
