"""Answers that stand in the evidence word for word."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from surefoot.evidence.beyond import CHOOSE, COMPARE, COUNT, JOIN, JUDGE, WHEN, beyond
from surefoot.evidence.citations import grounded
from surefoot.generators.extractive import DIFFERS, GAP, Extractive, layout
from surefoot.refiners.strips import Mode, Strips
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds
from surefoot.types.protocols import Knowledge, Pair

QUESTION = "Who built the Ruvel Bridge?"
STEPS = "Do this:\n\n- Stop it.\n- Copy it.\n- Start it."
TABLE = "| Option | Default |\n| --- | --- |\n| fsync | on |\n| jit | off |"
CODE = "Run:\n\n```sql\nSELECT 1;\n```"
TERM = "fsync\n: It syncs. It is slow."


class Pointing:
    """An evaluator that points at one word and is as sure as the number in the title says."""

    name = "pointing"
    thresholds = Thresholds(0.5, 0.1, 0.1, "pointing")

    def __init__(self, word: str = "Aldwin", calibrated: bool = True) -> None:
        self.word, self.calibrated = word, calibrated
        self.seen: list[Pair] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The chance is also the score."""
        self.seen += pairs
        return tuple(self._grade(passage) for _, passage in pairs)

    def _grade(self, passage: Passage) -> Grade:
        number = re.fullmatch(r"[\d.]+", passage.title)
        start, chance = passage.text.find(self.word), float(passage.title) if number else 0.9
        span = (start, start + len(self.word)) if start >= 0 else None
        return Grade(passage.id, chance, chance if self.calibrated else None, span=span)


def whole(*texts: str, chances: Sequence[float] = ()) -> Knowledge:
    passages = [Passage(str(n), text, f"{chances[n]}" if chances else "0.9") for n, text in enumerate(texts)]
    return [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in passages]


def answered(text: str, word: str, question: str = QUESTION, **options: int) -> str:
    return Extractive(Pointing(word), **options).generate(question, whole(text)).text  # type: ignore[arg-type]


def test_the_block_that_answers_stands_first_and_the_rest_of_its_passage_follows() -> None:
    """First what stands behind it, then, after a gap, what stands before it; the marker is behind the block."""
    text = "It is old.\n\nAldwin built it.\n\nIt is of iron."
    assert answered(text, "Aldwin") == f"Aldwin built it. [1]\n\nIt is of iron.\n\n{GAP}\n\nIt is old."
    assert answered(text, "It is old") == "It is old. [1]\n\nAldwin built it.\n\nIt is of iron."


def test_a_place_is_cited_once_with_the_sentence_in_it_that_answers() -> None:
    """Not the sentence, the block around it and its neighbours one by one."""
    text = "It is old.\n\nAldwin built it. It is long.\n\nIt is of iron."
    (citation,) = Extractive(Pointing()).generate(QUESTION, whole(text)).citations
    assert citation.strip
    assert (citation.strip.text, citation.quote) == (text, "Aldwin built it.")


@pytest.mark.parametrize(
    ("text", "word", "block"),
    [
        (STEPS, "Copy", f"{STEPS.replace('Copy it.', '**Copy it.**')}\n[1]"),
        (TABLE, "jit", f"{TABLE}\n[1]"),
        (CODE, "SELECT", f"{CODE}\n[1]"),
        (TERM, "syncs", f"{TERM.replace('It syncs.', '**It syncs.**')}\n[1]"),
    ],
)
def test_a_list_a_table_and_code_are_shown_whole_with_what_leads_to_them(text: str, word: str, block: str) -> None:
    """The sentence or item that answers is in bold; nothing before the block is lost."""
    assert answered(text, word) == block
    assert answered(f"It is old.\n\n{text}", word) == f"{block}\n\n{GAP}\n\nIt is old."


def test_a_sentence_over_several_lines_is_marked_whole() -> None:
    """Text that was wrapped by hand is shown on one line."""
    text = "It is old. Aldwin built\nit with his\nsons. It is long."
    assert answered(text, "Aldwin") == "It is old. **Aldwin built it with his sons.** It is long. [1]"


ROWS = "| Pump | Bar |\n| --- | --- |\n| TX-146 | 9 |\n| TX-103 | 4.5 |"


def test_the_row_of_the_identifier_is_the_one_that_answers() -> None:
    """Whatever row the reader points at; a row that shares no word with the question is not marked."""
    marked = ROWS.replace("| TX-103 | 4.5 |", "| **TX-103** | **4.5** |")
    assert answered(ROWS, "TX-146", "What is the pressure of the TX-103?") == f"{marked}\n[1]"
    assert answered(ROWS, "TX-146", "What is the highest pressure?") == f"{ROWS}\n[1]"
    words = f"{ROWS}\n| Oil pump | 3 |"
    marked = words.replace("| Oil pump | 3 |", "| **Oil pump** | **3** |")
    assert answered(words, "TX-146", "How high is the pressure of oil?") == f"{marked}\n[1]"


def test_another_document_that_answers_otherwise_follows_the_newer_one() -> None:
    """By the dates of the titles; where none tells, the answer is hedged."""
    old = Passage("a", "The hut takes 40 guests.", "Rules 2023 › Guests")
    new = Passage("b", "The hut takes 48 guests.", "Rules 2026 › Guests")
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in (old, new)]
    answer = Extractive(Pointing("takes")).generate("How many guests?", knowledge)
    assert answer.text == f"{new.text} [2]\n\n{DIFFERS.format(title=old.title)}\n\n{old.text} [1]"
    assert not answer.hedged


@pytest.mark.parametrize(
    ("question", "quoted", "because"),
    [
        ("What is the difference between json and jsonb?", "json keeps the text.", COMPARE),
        ("What is the difference between json and jsonb?", "Unlike json, it is binary.", ""),
        ("What is the difference between json and jsonb?", "json keeps the text. jsonb is binary.", ""),
        ("Is json faster, or jsonb?", "json keeps the text.", COMPARE),
        ("Which is the largest?", "A has 3, B has 5.", COMPARE),
        ("Which is the largest hut?", "The largest hut is B.", ""),
        ("How many huts are there?", "Two of them: the Hohrin Hut, and the Larrow Hut.", ""),
        ("How many huts of 2026 are there?", "In 2026, the Hohrin Hut, and the Larrow Hut.", COUNT),
        ("Who is the manager of the owner of the Hohrin Hut?", "| Ilse Kamber | manager: Tom Reding |", JOIN),
        ("Who is the manager of the owner of the Hohrin Hut?", "Hohrin Hut: owned by Kamber, whose manager …", ""),
        ("Which metal rusts?\nA: iron\nB: gold", "Iron rusts.", CHOOSE),
        ("True or false: iron rusts.", "Iron rusts.", JUDGE),
        ("When is the summer outing?", "The summer outing goes to the islands.", WHEN),
        ("When is the summer outing?", "The outing is in May.", ""),
        ("When is the summer outing?", "The outing begins after lunch.", ""),
        ("Who built it?", "Aldwin.", ""),
    ],
)
def test_what_quoting_cannot_do_is_said(question: str, quoted: str, because: str) -> None:
    """Unless the text does it."""
    assert beyond(question, quoted) == because


@pytest.mark.parametrize(("task", "because"), [("qa", ""), ("choice", CHOOSE), ("claim", JUDGE)])
def test_a_task_that_quoting_cannot_do_is_hedged(task: str, because: str) -> None:
    """A claim looks like any statement, and choices may be told elsewhere."""
    answer = Extractive(Pointing()).with_task(task).generate(QUESTION, whole("Aldwin built it."))
    assert (answer.because, answer.hedged) == (because, bool(because))


def test_a_strip_that_is_part_of_a_block_is_shown_behind_its_lead() -> None:
    """A row of a table behind the header."""
    passage = Passage("0", TABLE)
    row = TABLE.index("| jit")
    strip = Strip("0", row, len(TABLE), TABLE[row:], 1.0, kept=True)
    answer = Extractive(Pointing("jit")).generate(QUESTION, [(strip, passage)])
    assert answer.text == "| Option | Default |\n| jit | off |\n[1]"
    assert [c.quote for c in answer.citations] == ["| jit | off |", "| Option | Default |"]


def test_of_a_long_passage_the_blocks_around_the_answer_are_shown() -> None:
    """As far as the words go; the block itself always."""
    text = "One two.\n\nThree four.\n\nAldwin built it.\n\nFive six.\n\nSeven eight nine."
    assert answered(text, "Aldwin", words=1) == "Aldwin built it. [1]"
    assert answered(text, "Aldwin", words=6) == "Aldwin built it. [1]\n\nFive six."
    assert answered(text, "Aldwin", words=10).endswith(f"Seven eight nine.\n\n{GAP}\n\nThree four.")


@pytest.mark.parametrize(("chance", "shown"), [(0.69, 2), (0.7, 1)])
def test_a_second_place_is_shown_where_the_first_is_unsure(chance: float, shown: int) -> None:
    """Of the second passage only the block that is pointed at."""
    found = whole("Aldwin built it.", "It is old.\n\nJosef Aldwin was there.", chances=(chance, 0.3))
    answer = Extractive(Pointing()).generate(QUESTION, found)
    assert answer.text.split("\n\n") == ["Aldwin built it. [1]", "Josef Aldwin was there. [2]"][:shown]


@pytest.mark.parametrize(("chance", "shown"), [(0.19, 2), (0.17, 1)])
def test_what_is_far_less_likely_to_answer_is_no_second_place(chance: float, shown: int) -> None:
    """As the row of another thing."""
    found = whole("Aldwin built it.", "Josef Aldwin was there.", chances=(0.6, chance))
    assert len(Extractive(Pointing()).generate(QUESTION, found).citations) == shown


def test_a_passage_that_repeats_the_first_is_no_second_place() -> None:
    """Manuals come as HTML and as their own source."""
    found = whole("Aldwin built it.", "Aldwin built  it.", "Josef Aldwin was there.", chances=(0.5, 0.4, 0.3))
    assert [c.marker for c in Extractive(Pointing()).generate(QUESTION, found).citations] == [1, 3]


def test_passages_stand_in_the_order_of_grade_and_retrieval() -> None:
    """The second was found better, which outweighs a grade that is a little lower."""
    first, second = whole("Aldwin built it.", "Josef Aldwin was there.", chances=(0.9, 0.8))
    found = [(first[0], replace(first[1], score=1.0)), (second[0], replace(second[1], score=9.0))]
    assert Extractive(Pointing()).generate(QUESTION, found).citations[0].marker == 2


def test_what_is_quoted_alone_is_the_words_that_are_pointed_at() -> None:
    """On one line and without the footnotes that the text brought along, since those would cite other sources."""
    reader = Extractive(Pointing("Tomas\nAldwin [12]"), whole=False)
    assert reader.generate(QUESTION, whole("By Tomas\nAldwin [12].")) == Answer("Tomas Aldwin [1]", model="pointing")
    assert answered("Tomas Aldwin[3, 4] built it [ ] then.", "Aldwin") == "Tomas Aldwin built it [ ] then. [1]"


def test_the_strip_is_graded_and_not_its_passage() -> None:
    """Under its passage's title: what refinement has already paid for."""
    evaluator = Pointing()
    passage = Passage("0", "It is old. Aldwin built it.", "0.9")
    Extractive(evaluator).generate(QUESTION, [(Strip("0", 11, 27, "Aldwin built it.", 1.0, kept=True), passage)])
    assert evaluator.seen == [(QUESTION, replace(passage, text="Aldwin built it."))]


@pytest.mark.parametrize(
    ("reader", "texts", "refused"),
    [
        (Pointing(), (), True),
        (Pointing(calibrated=False), ("nothing",), True),
        (Pointing(calibrated=False), ("Aldwin.",), False),
        (Pointing(), ("nothing",), False),
    ],
)
def test_it_refuses_where_the_reader_finds_nothing(reader: Pointing, texts: Sequence[str], refused: bool) -> None:
    """A reader without probabilities says it by pointing; with one it may be sure of a passage as a whole."""
    assert Extractive(reader).generate(QUESTION, whole(*texts)).refused is refused


def test_it_refuses_where_no_strip_is_likely_enough() -> None:
    """Many unlikely ones do not make a likely one."""
    found = [whole(*["Aldwin."] * 9, chances=[chance] * 9) for chance in (0.09, 0.1)]
    assert [Extractive(Pointing()).generate(QUESTION, known).refused for known in found] == [True, False]


@pytest.mark.parametrize("score", [None, float("nan")])
def test_an_ungraded_strip_is_not_quoted(score: float | None) -> None:
    """Though words be pointed at, with a probability: a failure is no evidence."""

    class Failing(Pointing):
        def _grade(self, passage: Passage) -> Grade:
            return replace(super()._grade(passage), score=score, reason="it failed")

    assert Extractive(Failing()).generate(QUESTION, whole("Aldwin.")).refused


@given(
    st.lists(st.sampled_from([STEPS, TABLE, CODE, TERM, "# A\nIt is old. [1] So."]), min_size=1, max_size=3),
    st.sampled_from(["a", "It", "jit", "SELECT", "|", "- ", "\n", "# A"]),
    st.sampled_from(get_args(Mode)),
    st.integers(0, 20),
)
def test_quotations_are_slices_of_their_passages(texts: list[str], word: str, mode: Mode, words: int) -> None:
    """Whichever way strips are cut, and all are found again when the answer is checked."""
    passage = Passage("0", "\n\n".join(texts), "0.5")
    reader = Pointing(word)
    spans = Strips(reader, reader.thresholds, mode).cut(passage.text)
    known = [(Strip("0", a, b, passage.text[a:b], 1.0, kept=True), passage) for a, b in spans]
    answer = Extractive(reader, words=words).generate(QUESTION, known)
    for citation in answer.citations:
        strip = citation.strip
        assert strip
        assert citation.quote in strip.text == passage.text[strip.start : strip.end]
        assert citation.quote.strip()
    assert answer.refused or all(citation.quoted for citation in grounded(QUESTION, answer, known).citations)


@given(st.lists(st.sampled_from([STEPS, TABLE, CODE, TERM, "It is old."]), min_size=1, max_size=4), st.integers(0, 200))
def test_a_short_passage_is_shown_whole_and_once(texts: list[str], place: int) -> None:
    """The slices are disjoint and hold every letter of it, and one place holds them."""
    text = "\n\n".join(texts)
    shown = layout(Strip("0", 0, len(text), text, 1.0, kept=True), text, (place, place), 250)
    letters = [n for span in (shown.before, shown.block, shown.after) if span for n in range(*span)]
    assert [n for n in letters if not text[n].isspace()] == [n for n, one in enumerate(text) if not one.isspace()]
    assert text[slice(*shown.place)].split() == text.split()
