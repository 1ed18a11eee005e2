"""Addresses in an answer: only those that were retrieved, or that stand in the user's own documents, are passed on."""

from dataclasses import replace
from typing import Any

import pytest

from surefoot.evidence.citations import grounded
from surefoot.evidence.links import NO_LINK, UNVISITED, linked
from surefoot.types import Answer, Passage, Source, Strip

BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge")
WHO = "Who built the Ruvel Bridge?"


def strip(passage: Passage) -> Strip:
    return Strip(passage.id, 0, len(passage.text), passage.text, 1.0, kept=True)


PAGE = "https://en.wikipedia.org/wiki/Bridge_(Ruvel)"


@pytest.mark.parametrize(
    "text",
    [
        f"See {PAGE}.",
        f"See {PAGE}/",
        f"See <{PAGE}>, and more.",
        f"[Bridge]({PAGE})",
        f"[Bridge]( {PAGE} 'a title')",
        f"[Bridge](<{PAGE}>)",
        "and//or, 10 // 2, C:/Users, a/b, https: a scheme, // a comment, http:8080, 3:2",
        "It is 3.5 km long: see the map (p. 4).",
        "The file notes.md says so.",
    ],
)
def test_what_was_retrieved_may_be_linked_to(text: str) -> None:
    """With whatever punctuation stands around it; and what is no address is left alone."""
    assert linked(text, {PAGE.rstrip(")")}) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See http://evil.example/x?q=1.", f"See {NO_LINK}."),
        ("See www.evil.example, please", f"See {NO_LINK}, please"),
        ("![x](http://evil.example/x)", f"[x]({NO_LINK})"),
        ("[x](javascript:alert)", f"[x]({NO_LINK})"),
        ("[x](//evil.example/x)", f"[x]({NO_LINK})"),
        (f"See {PAGE}/../evil", f"See {NO_LINK}"),
        (f"See {PAGE}?q=secret", f"See {NO_LINK}"),
        ("ftp://evil.example/x", NO_LINK),
        ("![x]( //evil.example/p?q=secret)", f"[x]( {NO_LINK})"),
        ("![x](\n<//evil.example/p>)", f"[x](\n<{NO_LINK}>)"),
        ("![x]( https:/evil.example/a)", f"[x]( {NO_LINK})"),
        ("![x](\thttps:\\\\evil.example/a)", f"[x](\t{NO_LINK})"),
        ("http:\\\\evil.example", NO_LINK),
        ("http:///evil.example/a", NO_LINK),
        ("[y]: //evil.example/z", f"[y]: {NO_LINK}"),
        ("[y]: \\/\\/evil.example/z", f"[y]: {NO_LINK}"),
        ("[y]: https:evil.example/z", f"[y]: {NO_LINK}"),
        ("<img src=//evil.example/a>", f"<img src={NO_LINK}>"),
        ("<img src='//evil.example/a'>", f"<img src='{NO_LINK}'>"),
        (f"{'x' * 40}http://evil.example", f"{'x' * 23}{NO_LINK}"),
    ],
)
def test_no_other_address_is_passed_on(text: str, left: str) -> None:
    """Nor one that only begins like a source's, nor any target of a Markdown link or image."""
    assert linked(text, {PAGE.rstrip(")")}) == left


@pytest.mark.parametrize(
    ("via", "kept"), [*dict.fromkeys(sorted(UNVISITED), False).items(), ("page", True), ("", True)]
)
def test_an_address_that_was_only_told_of_is_not_passed_on(via: str, kept: bool) -> None:
    """A search engine's row is no page that was fetched: whoever places one there chooses its address."""
    source = replace(BRIDGE, source="external", url=PAGE, via=via)
    answer = grounded(WHO, Answer(f"It was built by Tomas Aldwin, see {PAGE} [1]."), [(strip(source), source)])
    assert (PAGE in answer.text, NO_LINK in answer.text) == (kept, not kept)


@pytest.mark.parametrize("source", ["corpus", "external"])
def test_an_address_that_a_row_of_an_index_claims_is_not_passed_on(source: Source) -> None:
    """Nothing was fetched from it: whoever wrote the row chose its address. The file itself was read."""
    row = replace(BRIDGE, source=source, url=PAGE, file="a/rows.jsonl")
    answer = grounded(WHO, Answer(f"It was built by Tomas Aldwin: {PAGE} [1]."), [(strip(row), row)])
    assert (PAGE in answer.text, NO_LINK in answer.text) == (False, True)
    said = "It was built by Tomas Aldwin: [rows](a/rows.jsonl). [1]"
    assert grounded(WHO, Answer(said), [(strip(row), row)]).text == said


@pytest.mark.parametrize("doubt", [{"source": "external"}, {"trust": "untrusted"}])
def test_a_link_that_somebody_elses_source_holds_is_not_a_source(doubt: dict[str, Any]) -> None:
    """The words are quoted, the address is not passed on, and what the model said is kept."""
    bait = replace(BRIDGE, text="The Ruvel Bridge was built by Tomas Aldwin, see http://evil.example/x.", **doubt)
    said = "It was built by Tomas Aldwin, see http://evil.example/x. [1]"
    answer = grounded(WHO, Answer(said), [(strip(bait), bait)])
    assert answer.text == f"It was built by Tomas Aldwin, see {NO_LINK}. [1]"
    assert answer.withheld == said


def test_an_address_in_the_users_own_documents_is_passed_on() -> None:
    """They are not the web: a command of a manual is answered as it stands there."""
    own = replace(BRIDGE, text="Tomas Aldwin says: git clone https://git.example/ruvel.git builds it.")
    said = "Tomas Aldwin says: git clone https://git.example/ruvel.git builds it. [1]"
    answer = grounded(WHO, Answer(said), [(strip(own), own)])
    assert (answer.text, answer.withheld) == (said, None)
    assert NO_LINK in grounded(WHO, Answer(said.replace("ruvel", "evil")), [(strip(own), own)]).text
