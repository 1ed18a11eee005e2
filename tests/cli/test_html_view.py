"""A trace, an answer and an evaluation as a notebook shows them."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from surefoot.evaluate.records.folder import opened
from surefoot.run.store import Run, to_json
from surefoot.types import (
    Action,
    ActionItem,
    Answer,
    Citation,
    Decision,
    Diagnosis,
    Grade,
    Passage,
    Record,
    Score,
    Strip,
    Trace,
)

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'> \u202egpj.exe\u2066 & more"
TEXT = "The bridge was built in 1911. Tomas Aldwin built it."
STRIP = Strip("b", 30, 52, "Tomas Aldwin built it.", 0.9, True)
TRACE = Trace(
    "t",
    "Who built the bridge?",
    (Passage("b", TEXT, "Bridge", url="https://example.org/b"), Passage("c", "It is closed.", "Closed")),
    (Grade("b", 3.1, 0.96, Action.CORRECT, span=(30, 42)), Grade("c", -4.0, 0.02, Action.INCORRECT)),
    Decision(Action.CORRECT, "threshold", 0.5, -0.5, "the best passage is at or above the upper threshold", 3.1, 2.6),
    strips=(STRIP, Strip("c", 0, 13, "It is closed.", -4.0, False, "below the strip threshold")),
    answer=Answer(
        "Tomas Aldwin built it. [1]",
        (Citation(1, STRIP, STRIP.text, True, title="Bridge", url="https://example.org/b"),),
        certainty="sure",
        confidence=0.93,
    ),
)


class Tags(HTMLParser):
    """The elements and attributes of a piece of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def test_a_trace_shows_decision_answer_sources_and_what_was_kept() -> None:
    """In the words of the terminal."""
    text = Tags(TRACE._repr_html_()).text
    assert "CORRECT  the best passage" not in text  # one space, as HTML has it
    for words in ("CORRECT the best passage is", "Tomas Aldwin built it. [1]", "sure · 93 %", "[1] quoted “Tomas"):
        assert words in text
    for words in ("96 %", "2 %", "1 of 1 strips", "no: below the strip threshold", "https://example.org/b"):
        assert words in text


def test_a_passage_that_was_not_refined_shows_the_reason_of_its_grade() -> None:
    """None of it was kept either."""
    grades = TRACE.grades[0], Grade("c", None, reason="an instruction to the machine")
    text = Tags(replace(TRACE, grades=grades, strips=(STRIP,))._repr_html_()).text
    assert "no: an instruction to the machine" in text


def test_a_question_that_ended_before_all_was_graded_shows_the_rest_as_not_graded() -> None:
    """As one does that is cancelled behind the search."""
    ended = replace(TRACE, external=(Passage("w", "A page.", source="external"),), answer=None, error="cancelled")
    assert "not graded" in Tags(ended._repr_html_()).text


def test_the_words_that_answer_are_bold() -> None:
    """Where the evaluator points."""
    assert "built in 1911. <b>Tomas Aldwin</b> built it." in TRACE._repr_html_()


def test_the_sentence_that_answers_is_bold() -> None:
    """A mark that nothing closes is a text."""
    assert "<b>Tomas</b> did." in Answer("**Tomas** did.")._repr_html_()
    assert "**Tomas did." in Answer("**Tomas did.")._repr_html_()


def test_an_answer_alone_names_its_sources() -> None:
    """By what its citations say of them."""
    assert TRACE.answer
    text = Tags(TRACE.answer._repr_html_()).text
    assert "[1] quoted “Tomas Aldwin built it.” · Bridge · https://example.org/b" in text


def test_a_failed_question_says_why() -> None:
    """There is neither an answer nor a passage."""
    html = Trace("t", "Who?", error="no index")._repr_html_()
    assert "No answer: no index" in html
    assert "<table" not in html


def evaluation(folder: Path, words: str) -> str:
    (folder / "records.jsonl").write_text(json.dumps(to_json(Record("r", words))) + "\n")
    run = Run(folder, {"what": "evaluation"}, file="scores.jsonl")
    run.add("r\ta", Score("r", "context_recall", 0.8))
    run.add("r\tb", Score("r", "factuality", None, unscored_because=words))
    return opened(folder)._repr_html_()


def diagnosis(words: str) -> Diagnosis:
    item = ActionItem(*(words, "high"), *([words] * 8), patch={"pipeline": {"k": 10}})
    return Diagnosis(words, words, (), (item,), words, "rules")


def test_an_evaluation_shows_means_and_why_scores_are_missing(tmp_path: Path) -> None:
    """A row a metric."""
    text = Tags(evaluation(tmp_path, "no reply")).text
    for words in ("Records: 1", "context_recall", "0.800", "1 unscored: no reply"):
        assert words in text


def test_a_diagnosis_shows_each_change_with_its_setting() -> None:
    """As `--set` takes it."""
    text = Tags(diagnosis("Retrieve more")._repr_html_()).text
    assert "Retrieve more (high)" in text
    assert "pipeline.k=10" in text


@pytest.mark.parametrize("what", ["trace", "answer", "error", "evaluation", "diagnosis"])
def test_no_text_of_a_document_becomes_markup_or_turns_the_direction(what: str, tmp_path: Path) -> None:
    """Wherever it stands; the words themselves are shown."""
    strip = Strip("b", 0, 9, HOSTILE, None, True)
    bad = Answer(
        HOSTILE, (Citation(1, strip, HOSTILE, True, title=HOSTILE, url=HOSTILE),), refused=True, because=HOSTILE
    )
    passages = Passage("b", HOSTILE, HOSTILE, url=HOSTILE), Passage("c", HOSTILE, url="javascript:alert(1)")
    decision = Decision(Action.CORRECT, HOSTILE, 0.5, 0.1, HOSTILE)
    dropped = Strip("c", 0, 9, HOSTILE, None, False, HOSTILE)
    grades = Grade("b", 0.3, span=(3, 40)), Grade("c", None, reason=HOSTILE)
    trace = Trace("t", HOSTILE, passages, grades, decision, strips=(strip, dropped), answer=bad)
    shown = {
        "trace": trace._repr_html_,
        "answer": bad._repr_html_,
        "error": replace(trace, answer=None, error=HOSTILE)._repr_html_,
        "evaluation": lambda: evaluation(tmp_path, HOSTILE),
        "diagnosis": diagnosis(HOSTILE)._repr_html_,
    }[what]()
    found = Tags(shown)
    assert found.tags <= {*"div p b span br ul ol li table tr th td code".split()}
    assert found.attributes <= {"style", "dir"}
    assert "script>alert(1)" in found.text.replace("\n", "")
    assert not {*"\u202e\u2066"} & {*shown}
