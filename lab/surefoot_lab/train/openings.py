"""Makes questions of the openings of an encyclopedia's articles, by their usual wordings (`openings.toml`).

    Landresse is a commune in the Doubs department in eastern France.  →  In what country is Landresse?  France

Labelled sets ask some relations often and others hardly ever, and an evaluator grades a relation that it was never
asked by the likeness of words. These are PopQA's relations and some more, each asked in several ways. No person has
judged the answers.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.evaluate.ask.questions import hashed
from surefoot.text.words import bare, fold

MOST = 500
"""Questions of one wording, at most: an encyclopedia says of everyone when they were born."""
_OPENING = 600
"""Characters of an opening that are read."""


@dataclass(frozen=True, slots=True)
class OpeningForm:
    """A fact as openings tell it, and the questions that ask for it."""

    about: re.Pattern[str]
    """Matches openings about a thing that has such a fact."""
    pattern: re.Pattern[str]
    """Its group `a` is the answer."""
    questions: tuple[str, ...]
    """Questions with {x} in place of the thing's name."""


def _wordings(path: Path) -> tuple[OpeningForm, ...]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))

    def whole(pattern: str) -> str:
        return re.sub(r"(?<!\?P)<(\w+)>", lambda part: whole(table["parts"][part[1]]), pattern)

    about = {name: re.compile(whole(pattern)) for name, pattern in table["about"].items()}
    return tuple(
        OpeningForm(about[one["about"]], re.compile(whole(one["pattern"]), re.DOTALL), tuple(one["questions"]))
        for one in table["wordings"]
    )


WORDINGS = _wordings(Path(__file__).with_suffix(".toml"))


def stated_facts(text: str) -> Iterator[tuple[OpeningForm, str]]:
    """The facts that an opening tells, each with its answer; none for a text that opens no article."""
    opening = text[:_OPENING]
    holds = {about for about in {wording.about for wording in WORDINGS} if about.search(opening)}
    for wording in WORDINGS:
        if wording.about in holds and (match := wording.pattern.search(opening)):
            yield wording, match["a"].strip()


def questions(passages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions in the format of labelled data, each with the one passage that opens its article and answers it.

    At most MOST of each wording; a hash picks them, and the way of asking.
    """
    found: dict[OpeningForm, list[tuple[bytes, dict[str, Any]]]] = {wording: [] for wording in WORDINGS}
    for passage in passages:
        thing = bare(passage["title"])
        if thing and fold(thing.split()[-1]) in fold(passage["text"][: len(thing) + 40]):
            for wording, answer in stated_facts(passage["text"]):
                drawn = hashed(f"{passage['id']} {wording.questions[0]}")
                found[wording].append((drawn, _question(passage, thing, wording, answer, drawn[0])))
    return [row for rows in found.values() for _, row in sorted(rows, key=lambda pair: pair[0])[:MOST]]


def _question(passage: dict[str, Any], thing: str, wording: OpeningForm, answer: str, drawn: int) -> dict[str, Any]:
    queries = wording.questions[drawn % len(wording.questions)].format(x=thing)
    return {
        "id": f"{passage['id']}: {queries}",
        "question": queries,
        "answers": [answer],
        "prop": wording.questions[0],
        "s_wiki_title": passage["title"],
        "passages": [{**passage, "label": 1}],
    }
