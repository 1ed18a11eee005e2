"""The texts of the page in its languages, without a browser."""

import re
from importlib.resources import files

import pytest

from surefoot import web
from surefoot.evidence.confidence import QUOTED, WORDED
from surefoot.types import Trace

MODULES = [file.name for file in (files("surefoot") / "web").iterdir() if file.name.endswith(".js")]
SCRIPT = "\n".join(map(web.static, MODULES))
ENGLISH = web.texts("en")


def forms(text: str | dict[str, str]) -> list[str]:
    return [text] if isinstance(text, str) else [*text.values()]


def fields(text: str | dict[str, str]) -> set[str]:
    return {name for form in forms(text) for name in re.findall(r"\{(\w+)\}", form)}


def test_every_text_that_is_drawn_is_there_and_none_is_left_over() -> None:
    """Modules name a text by its id as it is written in the files; so does the page, and the head of a shared file."""
    assert re.findall(r"(?<!function )\b(?:t|rich)\((?![\"i])", SCRIPT) == []
    named = {*re.findall(r'\b(?:t|rich)\("(\w+)"', SCRIPT), *re.findall(r"\$(\w+)", web.static("ask.html"))}
    named |= {"shared_title", "opening_answer", "shared_no_script"}
    assert named - {"lang"} == {*ENGLISH}


@pytest.mark.parametrize("language", web.LANGUAGES)
def test_each_language_has_every_text_with_the_same_places(language: str) -> None:
    """In their order, none empty; a text with a number has the same kinds of forms, of which "other" always fits."""
    own = web.texts(language)
    assert [*own] == [*ENGLISH]
    assert {name: fields(text) for name, text in own.items()} == {n: fields(text) for n, text in ENGLISH.items()}
    assert all(form.strip() for text in own.values() for form in forms(text))
    assert all("other" in text for text in own.values() if isinstance(text, dict))


def test_the_facts_of_a_confidence_are_known_to_the_page_by_name() -> None:
    """Which words them in its language."""
    script = web.static("confidence.js")
    assert [fact for fact in {*QUOTED, *WORDED} if f'"{fact}": t(' not in script] == []


def test_a_page_and_a_shared_answer_come_in_their_language() -> None:
    page, file = web.served("de"), web.shared(Trace("t", "?"), "de")
    assert '<html lang="de" dir="ltr">' in page
    assert "Neues Gespräch" in page
    assert not re.search(r"\$\w|@[A-Z]+@", page)
    assert '<html lang="de">' in file
    assert "Die Antwort wird geöffnet" in file


def test_the_modules_of_the_page_stay_small() -> None:
    """120 kB of JavaScript; of the texts one language stands in the page."""
    loaded = re.findall(r'/static/(\w+\.js)"', web.static("ask.html"))
    assert sum(len(web.static(name).encode()) for name in loaded) < 120_000
