"""How a trace looks: its sections, and that any trace can be drawn."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from command_line import drawn
from surefoot.cli._answer_view import place
from surefoot.cli._trace_view import Screen, retrieved, steps, whole
from surefoot.types import (
    Action,
    Answer,
    Citation,
    Conflict,
    Critique,
    Draft,
    Event,
    Grade,
    Passage,
    Step,
    Strip,
    Trace,
)


def _of(passages: list[Passage], grades: list[Grade]) -> Trace:
    return Trace("1", "Who?", passages=tuple(passages), grades=tuple(grades))


def test_a_question_that_failed_is_drawn_with_its_error() -> None:
    """Without a decision, passages or an answer."""
    assert "Answer     none: it broke" in drawn(whole(Trace("1", "Who?", error="it broke")))


def test_a_fallback_that_was_taken_shows_where_it_was_taken() -> None:
    step = Step("generate", 0.1, degraded="refused to answer", error="no model")
    text = drawn(whole(Trace("1", "Who?", answer=Answer("No.", refused=True), steps=(step, step))))
    assert (text.count("! no model"), text.count("! refused to answer")) == (1, 1)


@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_model_writes_is_shown_until_the_answer_takes_its_place(terminal: bool) -> None:
    """In a terminal alone: a file gets the answer and nothing besides."""
    console = Console(file=StringIO(), width=60, force_terminal=terminal)
    screen = Screen(console)
    for piece in ("It is of iron. [1]", " It is red. [1]"):
        screen(Event("text", piece))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert ("It is of iron. [1] It is red. [1]" in written) is terminal
    screen.finish(Trace("1", "Who?", answer=Answer("So it is.")))
    shown = console.file.getvalue().rpartition("\x1b[2K")[2]  # type: ignore[attr-defined]
    assert ("So it is." in shown, "It is red." in shown) == (True, False)


@pytest.mark.parametrize(
    ("score", "probability", "shown", "eighths"),
    [
        (1.0, None, "1.00", 96),
        (0.5, None, ".50", 48),
        (-1.04, None, "−1.04", 0),
        (-0.5, None, "−.50", 24),
        (1.03, None, "1.03", 96),
        (0.1, 0.25, "25 %", 24),
        (None, None, "–", 0),
    ],
)
def test_a_bar_is_as_long_as_the_grade_is_good(
    score: float | None, probability: float | None, shown: str, eighths: int
) -> None:
    """A probability, a share, or a logit around [-1, 1]; no grade is no bar and no number."""
    text = drawn(retrieved(_of([Passage("1", "text", "Title")], [Grade("1", score, probability)]), 5))
    row = text.splitlines()[1]
    assert f" {shown} Title" in row
    assert sum({"█": 8}.get(sign, "▏▎▍▌▋▊▉".find(sign) + 1) for sign in row if sign in "█▏▎▍▌▋▊▉") == eighths


def test_passages_that_are_not_shown_are_counted() -> None:
    passages = [Passage(str(n), "text", f"Title {n}") for n in range(9)]
    grades = [Grade(p.id, n / 10, label=Action.INCORRECT) for n, p in enumerate(passages)]
    text = drawn(retrieved(_of(passages, grades), 2))
    assert "9 passages" in text
    assert "and 7 more" in text
    assert [n for n in range(9) if f"Title {n}" in text] == [7, 8]


def test_dropped_strips_are_shown_with_their_reason_while_there_is_room() -> None:
    """After the kept ones, which are numbered as the answer cites them."""
    strips = [Strip("1", n, n + 1, f"text {n}", 0.1, kept=n > 2, reason="" if n > 2 else "too low") for n in range(4)]
    text = drawn(whole(Trace("1", "Who?", passages=(Passage("1", "t"),), strips=tuple(strips)), shown=3))
    assert "1 of 4 strips kept" in text
    assert "[1]    .10 text 3" in text
    assert text.count("too low: ") == 2


def test_how_a_passage_was_come_by_is_shown() -> None:
    """Before the reason of its grade."""
    passages = [Passage("1", "text", "Title", "external", via="typed suffix")]
    assert "typed suffix · lacks: x" in drawn(retrieved(_of(passages, [Grade("1", 0.5, reason="lacks: x")]), 5), 120)


def test_both_sides_of_a_conflict_are_shown() -> None:
    """What each says, and where; without one, no word of it."""
    local, page = Passage("1", "t", url="notes.md"), Passage("2", "t", source="external", url="http://a/1")
    trace = Trace("1", "Who?", passages=(local,), external=(page,), conflicts=(Conflict("1", "1911", "2", "1921"),))
    text = drawn(whole(trace))
    assert "Conflict   the corpus: “1911” · notes.md\n" in text
    assert "outside: “1921” · http://a/1\n" in text
    assert "Conflict" not in drawn(whole(Trace("1", "Who?")))


def test_the_drafts_of_an_answer_are_shown_with_their_critique() -> None:
    """The chosen one is marked, and what the model did not say is a dash; without drafts, no word of it."""
    answers = (
        Draft("Ola [b]", ("1",), Critique(0.6, None, 0.1, None), 0.65, chosen=False),
        Draft("Vint", ("2",), Critique(0.9, 0.8, 0.4, 0.25), 2.15, chosen=True),
    )
    rows = drawn(whole(Trace("1", "Who?", answer=Answer("Vint", drafts=answers))), 120).splitlines()
    cells = [row.split() for row in rows]
    assert ["Ola", "[b]", ".65", ".60", "–", ".10", "–"] in cells
    assert ["✓", "Vint", "2.15", ".90", ".80", ".40", ".25"] in cells
    assert "Chosen from these answers worth relevance support utility likelihood".split() in cells
    assert "Chosen" not in drawn(whole(Trace("1", "Who?", answer=Answer("Vint"))))


@pytest.mark.parametrize(
    ("url", "file", "shown"),
    [
        ("policy.txt", "policy.txt", "policy.txt"),
        ("https://example.org/a", None, "https://example.org/a"),
        ("https://example.org/a", "rows.jsonl", "https://example.org/a (from rows.jsonl)"),
        ("policy.txt", "rows.jsonl", "rows.jsonl (as “policy.txt”)"),
        ("policy.txt (from policy.txt)", "rows.jsonl", "rows.jsonl (as “policy.txt (from policy.txt)”)"),
        ("https://a.b/ (from policy.txt)", "rows.jsonl", "rows.jsonl (as “https://a.b/ (from policy.txt)”)"),
        (None, "rows.jsonl", "rows.jsonl (as “T”)"),
    ],
)
def test_a_citation_shows_the_real_file_beside_the_address_that_a_row_claims(
    url: str | None, file: str | None, shown: str
) -> None:
    """First of all where the claim is no web address: it may be the name of another file."""
    assert place(Passage("a", "b", "T", url=url, file=file)) == shown


def test_the_file_of_a_cited_row_is_drawn() -> None:
    """In the citation, in a conflict, and beside its passage."""
    passage = Passage("a", "Ten days.", url="policy.txt", file="rows.jsonl")
    strip = Strip("a", 0, 9, "Ten days.", 1.0, kept=True)
    answer = Answer("Ten days. [1]", (Citation(1, strip, "Ten days.", quoted=True),))
    conflict = Conflict("a", "Ten days.", "b", "One day.")
    trace = Trace("1", "How long?", (passage,), external=(Passage("b", "One day.", source="external"),), answer=answer)
    assert drawn(whole(replace(trace, conflicts=(conflict,))), 120).count("rows.jsonl (as “policy.txt”)") == 3


def test_a_citation_of_a_source_that_stands_alone_says_so() -> None:
    """That it is quoted says that the words are there, and no more."""
    passage = Passage("a", "Ten days.", source="external", url="https://pages.example/1", trust="untrusted")
    strip = Strip("a", 0, 9, "Ten days.", 1.0, kept=True)
    answer = Answer("Ten days. [1]", (Citation(1, strip, "Ten days.", quoted=True),))
    alone = Grade("a", 3.0, label=Action.AMBIGUOUS, cap=Action.AMBIGUOUS)
    trace = Trace("1", "How long?", external=(passage,), grades=(alone,), answer=answer)
    assert "quoted “Ten days.” · outside: https://pages.example/1 · no other source says the same" in drawn(
        whole(trace), 120
    )
    assert "no other source" not in drawn(whole(replace(trace, grades=(replace(alone, cap=None),))), 120)


def test_the_name_of_a_step_steers_no_terminal() -> None:
    """A trace may be anybody's, its steps too."""
    trace = Trace("1", "How long?", steps=(Step("\u202eevil\x1b[2J", 0.1),))
    shown = drawn(steps(trace), 80)
    assert "evil" in shown
    assert "\u202e" not in shown
