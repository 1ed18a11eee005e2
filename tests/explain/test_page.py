"""The page: all that was found, readable without colour, and nothing that runs or is fetched."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from surefoot.evidence.policies import Threshold, labelled
from surefoot.explain.action import explain_action
from surefoot.explain.answer import Needs, Without
from surefoot.explain.explanation import Explanation
from surefoot.explain.page import page
from surefoot.types import Attribution, Grade, Passage, Strip, Thresholds, Trace, Unit

OWN = Thresholds(1.0, -1.0, strip=0.0, evaluator="test")
UNITS = (Unit("question", 0, 3, "Who"), Unit("title", 0, 6, "Bridge"), Unit("text", 0, 6, "Aldwin"))
GRADE = Attribution(
    of="score of test",
    question="Who built it?",
    passage=Passage("p", "Aldwin", "Bridge"),
    units=UNITS,
    values=(0.0, -0.5, 1.0),
    errors=(0.0, 0.01, 0.02),
    base=0.5,
    full=1.0,
    gap=0.0,
    method="regression",
    baseline="delete",
    evaluations=300,
    seed=7,
    tolerance=0.1,
    reached=True,
)
GRADES = labelled([Grade("p0", 1.5), Grade("p1", None, reason="empty"), Grade("p2", -2.0)], OWN)
TRACE = Trace(
    "t",
    "Who built it?",
    tuple(Passage(f"p{n}", "text", f"Title {n}") for n in range(3)),
    GRADES,
    Threshold(OWN).decide(GRADES),
)
STRIP = Strip("p0", 0, 4, "text", 1.0, kept=True)
NEEDS = Needs("Aldwin did.", False, (Without(STRIP, "", True, True), Without(STRIP, "Aldwin did.", False, False)))


class Read(HTMLParser):
    """Tags with their attributes, and the text; tags that are not closed, or closed twice, are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self._open = "", list[str]()
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += " ".join(data.split()) + "|"


def read(**parts: object) -> Read:
    return Read(page(Explanation(**parts)))  # type: ignore[arg-type]


def words(found: Read) -> dict[str, str | None]:
    """The tooltip of each coloured word, by its class."""
    return {str(a.get("class")): a["title"] for tag, a in found.tags if tag == "span"}


def test_words_bear_their_value_and_their_signs() -> None:
    """Colour by class, signs as text, the value under the pointer and in a table."""
    found = read(grade=GRADE)
    assert words(found) == {"None": "0 ± 0", "down2": "−0.5 ± 0.01", "up3": "+1 ± 0.02"}
    assert "Aldwin|+++|" in found.text
    assert "Bridge|−−|" in found.text
    assert "|+1|" in found.text.partition("All values")[2]
    assert "300 texts graded, seed 7" in found.text


def test_an_action_is_told_with_its_margins_and_passages() -> None:
    """As words, and passage by passage."""
    found = read(action=explain_action(TRACE), trace=TRACE)
    assert "CORRECT|" in found.text
    assert "best score less τ+: +0.5; less τ−: +2.5" in found.text
    assert "Without p0 it would be ambiguous." in found.text
    assert "p0|Title 0|ambiguous|1.5|" in re.sub(r"\|+", "|", found.text)
    assert "p1|Title 1|correct|–|" in re.sub(r"\|+", "|", found.text)


def test_the_strips_of_an_answer_are_told() -> None:
    """Which were needed, what is said without them, and that it is not what was recorded."""
    text = re.sub(r"\|+", "|", read(action=explain_action(TRACE), trace=TRACE, answer=NEEDS).text)
    assert "[1]|yes|a refusal|text|" in text
    assert "[2]|no|the same|text|" in text
    assert "not what the trace recorded" in text


def test_nothing_is_let_in_but_its_own_style() -> None:
    """The policy names the style by its hash; nothing is styled in place, so that it holds everywhere."""
    html = page(Explanation(action=explain_action(TRACE), trace=TRACE, grade=GRADE, answer=NEEDS))
    found = Read(html)
    (policy,) = (a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert not [a for _, a in found.tags if {"style", "src", "href", "onload"} & set(a)]
    assert "http" not in html.replace("http-equiv", "")
    assert "prefers-color-scheme: dark" in style


def test_hostile_text_stays_text() -> None:
    """In a question, a word, a title, an id, a strip and an answer; no tag of theirs becomes one."""
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x1b\u202e"
    trace = replace(TRACE, question=evil, passages=tuple(replace(p, title=evil) for p in TRACE.passages))
    grade = replace(GRADE, question=evil, units=tuple(replace(unit, words=evil) for unit in UNITS))
    answer = replace(NEEDS, text=evil, strips=tuple(replace(o, strip=replace(STRIP, text=evil)) for o in NEEDS.strips))
    found = read(action=replace(explain_action(trace), because=evil), trace=trace, grade=grade, answer=answer)
    assert not {"script", "img"} & {tag for tag, _ in found.tags}
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text
    assert found.text.count("alert(1)") > 10
