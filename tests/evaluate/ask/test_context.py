"""The texts that come with a question are read as they came, and nothing is found that is not there."""

from __future__ import annotations

from surefoot.components import find
from surefoot.evaluate.ask.context import inside, outside
from surefoot.evaluate.ask.questions import Example
from surefoot.retrievers._given import USE, Given
from surefoot.types import Passage

PASSAGES = (Passage("a", "first"), Passage("b", " "), Passage("c", "third"), Passage("a", "again"))


def example(passages: tuple[Passage, ...] = (), internal: str = "", external: str = "") -> Example:
    return Example("1", "Who?", (), frozenset(), passages=passages, internal=internal, external=external)


def test_passages_are_read_in_their_order_each_once() -> None:
    """The first of an id; one without text says nothing."""
    assert [passage.text for passage in inside(example(PASSAGES, "not read"))] == ["first", "third"]
    assert find("retriever", USE) is find("searcher", USE) is Given
    assert Given(PASSAGES).retrieve("Who?", 2) == Given(PASSAGES).search("?", 2) == PASSAGES[:2]


def test_an_internal_text_is_read_in_parts_with_their_titles() -> None:
    """As CRAG's files join them, for PopQA with two spaces, for the others with two strokes."""
    parts = inside(example(internal="Ruvel Bridge  It is long. ; Hut // It is old. ; No title here."))
    assert [(part.title, part.text) for part in parts] == [
        ("Ruvel Bridge", "It is long."),
        ("Hut", "It is old."),
        ("", "No title here."),
    ]
    assert {part.source for part in parts} == {"corpus"}
    assert len({part.id for part in parts}) == 3


def test_an_external_text_comes_from_outside() -> None:
    """Its titles end with a colon."""
    assert outside(example(external="Hut: It is old. ;  ; Bare")) == (
        Passage("external-0", "It is old.", "Hut", "external"),
        Passage("external-1", "Bare", "", "external"),
    )
    assert outside(example()) == inside(example()) == ()
