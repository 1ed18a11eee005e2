"""Answers that stand in the evidence word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.contracts import verify
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.citations import grounded
from surefoot.generators.extractive import LONGEST, Extractive, extent
from surefoot.refiners.strips import StripSizes, by_sentences
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds
from surefoot.types.protocols import Pair

QUESTION = "Who built the Ruvel Bridge?"
NUMBERS: dict[str, Any] = {"least": 0.1, "sure": 0.9, "most": 3, "words": 80, "context": 0}
"""Of the generator; its own may change."""


class Pointing:
    """An evaluator that points at what stands in «», and is as sure as the number before it says."""

    name = "pointing"
    thresholds = Thresholds(0.5, 0.1, 0.1, "pointing")

    def __init__(self, calibrated: bool = True) -> None:
        self.calibrated = calibrated
        self.seen: list[Pair] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """The span is what the marks hold, without them."""
        self.seen += pairs
        return tuple(self._grade(passage) for _, passage in pairs)

    def _grade(self, passage: Passage) -> Grade:
        start, end = passage.text.find("«") + 1, passage.text.find("»")
        chance = float(passage.text.split()[0]) if self.calibrated else None
        return Grade(passage.id, 1.0, chance, span=(start, end) if end > start > 0 else None)


def known(*texts: str) -> list[tuple[Strip, Passage]]:
    passages = [Passage(str(n), f"Before. {text} After.", "Ruvel Bridge") for n, text in enumerate(texts)]
    return [(Strip(p.id, 8, 8 + len(t), t, 1.0, kept=True), p) for p, t in zip(passages, texts, strict=True)]


def answered(*texts: str, calibrated: bool = True) -> Answer:
    return Extractive(Pointing(calibrated), least=0.1, whole=False).generate(QUESTION, known(*texts))


def test_it_says_what_the_evaluator_points_at() -> None:
    """Word for word, cited, and without a language model: the model is the evaluator."""
    assert answered("0.9 Built by «Tomas Aldwin» in 1911.") == Answer("Tomas Aldwin [1]", model="pointing")


def test_the_strip_is_graded_and_not_its_passage() -> None:
    """Under its passage's title: what refinement has already paid for."""
    evaluator = Pointing()
    Extractive(evaluator).generate(QUESTION, known("0.9 «A»"))
    assert evaluator.seen == [(QUESTION, Passage("0", "0.9 «A»", "Ruvel Bridge"))]


def test_strips_that_agree_add_up() -> None:
    """Two that say the same outweigh one that is surer; case and marks make no difference."""
    assert answered("0.9 «Josef»", "0.5 «Tomas Aldwin»", "0.6 «tomas ALDWIN»").text == "tomas ALDWIN [3]"
    assert answered("0.9 «Josef»", "0.3 «Tomas Aldwin»", "0.4 «Tomas Aldwin»").text == "Josef [1]"


def test_the_surest_strip_is_cited() -> None:
    """Of those that agree; of equals the first, which is the better retrieved."""
    assert answered("0.3 «A»", "0.8 «A»", "0.5 «A»").text == "A [2]"
    assert answered("0.3 «A»", "0.3 «A»").text == "A [1]"


def test_it_refuses_where_nothing_is_pointed_at() -> None:
    """However good the strips are; and where there are none."""
    assert answered("0.9 nothing here") == Answer("", refused=True, model="pointing")
    assert answered() == Answer("", refused=True, model="pointing")


@pytest.mark.parametrize(("chance", "refused"), [("0.09", True), ("0.1", False)])
def test_it_refuses_where_no_strip_is_likely_enough(chance: str, refused: bool) -> None:
    """Many unlikely ones do not make a likely one."""
    assert answered(*[f"{chance} «A»"] * 9).refused is refused


def test_an_evaluator_without_probabilities_says_it_by_pointing() -> None:
    """Each strip then counts the same."""
    assert answered("x «A»", "x «B»", "x «B»", calibrated=False).text == "B [2]"


@pytest.mark.parametrize("score", [None, float("nan")])
def test_what_could_not_be_graded_is_not_believed(score: float | None) -> None:
    """Though words be pointed at, with a probability: a failure is no evidence."""

    class Failing(Pointing):
        def _grade(self, passage: Passage) -> Grade:
            return replace(super()._grade(passage), score=score, reason="it failed")

    assert Extractive(Failing()).generate(QUESTION, known("0.9 «A»")).refused


def test_a_footnote_is_no_citation() -> None:
    """A number in brackets that the text brings along would lead to another strip, or to none."""
    assert answered("0.9 «Tomas\nAldwin [12][3, 4]»").text == "Tomas Aldwin [1]"
    assert answered("0.9 «[2]»").refused


def test_brackets_without_a_number_are_quoted() -> None:
    """They can cite nothing, and `plot [] [0:1]` says something else than `plot [0:1]`."""
    assert answered("0.9 «plot [ ] [,] x[] with lines»").text == "plot [ ] [,] x[] with lines [1]"


def test_words_without_letters_are_told_apart() -> None:
    """Two signs that are no words are not one answer."""
    assert answered("0.5 «+»", "0.4 «−»", "0.3 «−»").text == "− [2]"


def test_it_says_the_whole_sentence_unless_told_otherwise() -> None:
    """The one that holds the words, or all that they stand in; strips still agree by the words."""
    whole = Extractive(Pointing(), **NUMBERS)
    two = known("0.5 So it was. Built by «Aldwin» [3] in 1911. Then rain.", "0.4 Ask «Aldwin»!", "0.8 «Josef» did.")
    assert whole.generate(QUESTION, two).text.split("\n\n") == [
        "Built by «Aldwin» in 1911. [1]",
        "0.8 «Josef» did. [3]",
    ]
    across = known("0.5 So. By «Tomas. Aldwin» it was. Then rain.")
    assert whole.generate(QUESTION, across).text == "By «Tomas. Aldwin» it was. [1]"


def test_a_short_sentence_is_quoted_with_its_neighbours() -> None:
    """Those behind it first, while all fit; a long one stays out."""
    near = Extractive(Pointing(), **{**NUMBERS, "context": 6})
    assert (
        near.generate(QUESTION, known("0.5 So. «Aldwin» did. Then rain.")).text == "«Aldwin» did. Then rain. After. [1]"
    )
    long = f"0.5 {'It rained ' * 9}. «Aldwin» did. {'It rained ' * 9}."
    assert near.generate(QUESTION, known(long)).text == "«Aldwin» did. [1]"


# What is quoted around the words that are pointed at

STEPS = "It is old. Do this:\n\n- Stop the server.\n- Copy the folder.\n- Start it again."
TABLE = "| Option | Default |\n| --- | --- |\n| fsync | on |\n| jit | off |"
CODE = "Run this:\n\n```sh\npg_dump ruvel\n\n  createdb larrow\npsql larrow\n```"


class Marked:
    """An evaluator that points at the first of these words that a text holds, with its probability."""

    name = "marked"
    thresholds = Thresholds(0.5, 0.1, 0.1, "marked")

    def __init__(self, chances: dict[str, float]) -> None:
        self.chances = chances
        self.seen: list[str] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        self.seen += [passage.text for _, passage in pairs]
        return tuple(self._grade(passage) for _, passage in pairs)

    def _grade(self, passage: Passage) -> Grade:
        word = next((word for word in self.chances if word in passage.text), None)
        if word is None:
            return Grade(passage.id, 0.0, 0.0)
        start = passage.text.index(word)
        return Grade(passage.id, self.chances[word], self.chances[word], span=(start, start + len(word)))


def strips(*texts: str, title: str = "") -> list[tuple[Strip, Passage]]:
    """Every strip of each text, as the refiner cuts them."""
    found = [Passage(str(n), text, title) for n, text in enumerate(texts)]
    every = [(p, *span) for p in found for span in by_sentences(p.text, StripSizes())]
    return [(Strip(p.id, a, b, p.text[a:b], 1.0 / n, kept=True), p) for n, (p, a, b) in enumerate(every, start=1)]


def quoting(
    chances: dict[str, float], *texts: str, question: str = "Which?", title: str = "", **options: Any
) -> Answer:
    generator = Extractive(Marked(chances), **(NUMBERS | options))
    return generator.generate(question, strips(*texts, title=title))


@pytest.mark.parametrize("item", ["Stop", "Copy", "Start"])
def test_an_item_is_answered_with_its_list_and_what_leads_to_it(item: str) -> None:
    """Whichever item is pointed at: the list is the answer, and its line says of what."""
    answer = quoting({item: 0.5}, STEPS)
    marker = answer.citations[0].marker
    assert answer.text == f"Do this: [{marker}]\n- Stop the server.\n- Copy the folder.\n- Start it again."
    assert [citation.quote for citation in answer.citations] == ["Do this:", STEPS[STEPS.index("- Stop") :]]


def test_a_list_that_several_strips_point_at_is_quoted_once() -> None:
    """Though their scores differ."""
    assert quoting({"Stop": 0.5, "Copy": 0.4, "Start": 0.3}, STEPS).text.count("Stop") == 1


def test_of_a_long_list_the_item_is_quoted() -> None:
    """With the line that leads to it; the next one pointed at likewise."""
    items = [f"- Option {chr(65 + n)} " + "is one of many words here." * 3 for n in range(LONGEST // 10)]
    text = "These are set:\n\n" + "\n".join(items)
    answer = quoting({"Option B": 0.5, "Option C": 0.4}, text, words=1_000)
    assert answer.text == f"These are set: [3]\n{items[1]}\n\nThese are set: [4]\n{items[2]}"


def test_a_list_without_a_lead_is_quoted_alone() -> None:
    """The sentence before it says something else."""
    text = "It is old.\n\n- Stop it.\n- Copy it."
    assert quoting({"Copy": 0.5}, text).text == "- Stop it.\n- Copy it.\n[3]"


def test_a_row_is_answered_with_its_header() -> None:
    """And no other row, each on a line of its own; the words are pointed at in the row, and not in the header."""
    answer = quoting({"jit": 0.5}, TABLE)
    assert answer.text == "| Option | Default |\n| jit | off |\n[2]"
    assert [citation.quote for citation in answer.citations] == ["| Option | Default |", "| jit | off |"]


def test_the_header_is_read_with_the_row() -> None:
    """So that the reader knows what its cells are; pointing at it is pointing at the row."""
    reader = Marked({"Default": 0.5})
    answer = Extractive(reader, **NUMBERS).generate("Which?", strips(TABLE)[1:])
    assert reader.seen == ["| Option | Default |\n| jit | off |"]
    assert answer.text == "| Option | Default |\n| jit | off |\n[1]"


def test_two_rows_of_a_table_are_two_quotations() -> None:
    """Each with the header."""
    answer = quoting({"jit": 0.5, "fsync": 0.4}, TABLE)
    assert answer.text == "| Option | Default |\n| jit | off |\n[2]\n\n| Option | Default |\n| fsync | on |\n[1]"


def test_code_is_quoted_whole_between_its_fences() -> None:
    """With its empty lines and indentation, and the sentence before it."""
    assert quoting({"createdb": 0.5}, CODE).text == "Run this: [2]\n" + CODE[CODE.index("```") :]


def test_of_several_empty_lines_of_code_one_is_shown() -> None:
    """A picture of a screen is mostly empty; its citation has it as it stands."""
    answer = quoting({"Suggest": 0.5}, "```\nPackages\n\n\n  \n\n  Suggest one\n\nQuit\n```")
    assert answer.text == "```\nPackages\n\n  Suggest one\n\nQuit\n```\n[1]"
    assert "\n\n\n" in answer.citations[-1].quote


def test_of_long_code_the_lines_between_two_empty_ones_are_quoted() -> None:
    """Manuals written as plain text are code to a reader of HTML, and half a sentence says nothing."""
    code = "\n\n".join(f"  The limit {n}\n    is set here." for n in range(LONGEST))
    answer = quoting({"limit 7\n": 0.5}, f"```\n{code}\n```")
    assert answer.text == "The limit 7\n  is set here.\n[1]"
    assert answer.citations[-1].quote == "  The limit 7\n    is set here."


def test_of_long_code_the_line_is_quoted() -> None:
    """All of it as it stands, from its indentation to its end, and no other; in the last line too."""
    lines = [f"    call({n},  of many words, in a line, of argv[1])" for n in range(LONGEST)]
    text = "Run this:\n\n```\n" + "\n".join(lines)
    assert quoting({"(7,": 0.5}, text).text == "Run this: call(7,  of many words, in a line, of argv[1]) [2]"
    assert quoting({f"({LONGEST - 1},": 0.5}, text).citations[-1].quote == lines[-1]


def test_a_meaning_is_quoted_with_its_term() -> None:
    """Of several sentences the one that is pointed at."""
    answer = quoting({"disk": 0.5}, "fsync\n: Old. Writes to disk. Slow.")
    assert [citation.quote for citation in answer.citations] == ["fsync", "Writes to disk."]
    assert answer.text == "fsync [1]\nWrites to disk."


@pytest.mark.parametrize(
    ("question", "follows"),
    [("How do I copy it?", True), ("Wie geht das?", True), ("怎么做？", True), ("What is old?", False)],
)
@pytest.mark.parametrize("following", ["- Stop.\n- Copy.", "```\ncp a b\n```", "| cp | copies |"])
def test_a_question_that_asks_how_is_answered_with_the_steps(question: str, follows: bool, following: str) -> None:
    """The list, code or table that follows the sentence; for another question the sentence alone."""
    answer = quoting({"old": 0.5}, f"First. It is an old way.\n\n{following}", question=question)
    assert answer.text == "It is an old way. [1]" + (f"\n{following}" if follows else "")


def test_a_sentence_that_ends_in_a_colon_is_answered_with_what_follows() -> None:
    """Whatever was asked; not where something else stands between, and not where it is too long to show."""
    assert quoting({"this": 0.5}, STEPS).text.startswith("Do this: [1]\n- Stop the server.\n- Copy")
    assert quoting({"this": 0.5}, "Do this: or not.\n\n- Stop.").text == "Do this: or not. [1]"
    assert quoting({"old": 0.5}, STEPS).text == "It is old. [1]"
    assert quoting({"this": 0.5}, "Do this:\n\nNow.\n\n- Stop.").text == "Do this: [1]"
    long = "Do this:\n\n" + "\n".join(f"- Step {n}." for n in range(LONGEST))
    assert quoting({"this": 0.5}, long).text == "Do this: [1]"


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        ("How slow is a backup?", "Manual › Backup", "Backup: It is slow. [1]"),
        ("How slow is it?", "Manual › Backup", "It is slow. [1]"),
        ("How slow is a backup?", "Backup", "It is slow. [1]"),
        ("How slow is a backup?", "Backup › Speed", "It is slow. [1]"),
        ("Is it slow?", "Manual › Slow", "This decides: It is slow. [1]"),
        ("How slow are backups?", "Manual › Backup", "Backup: It is slow. [1]"),
    ],
)
def test_the_heading_is_said_where_only_it_names_what_was_asked(question: str, title: str, text: str) -> None:
    """Its last part, in any form of the word; not where the sentence says it, and not the document's own title."""
    assert quoting({"slow": 0.5}, "It is slow. It is old.", question=question, title=title).text == text


QUEUES = "incoming\n: New mail. It is old.\n\nheld\n: Mail on hold."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"It has two queues:\n\n{QUEUES}", "It has two queues: [1]\n- incoming\n- held"),
        (f"It has two queues:\n\n{QUEUES}\n\nMore.\n\nlate\n: Another.", "It has two queues: [1]\n- incoming\n- held"),
        (f"It has two queues.\n\n{QUEUES}", "It has two queues. [1]"),
        (f"It has two queues:\n\n{QUEUES}\n\n{'x ' * 80}\n: Too long.", "It has two queues: [1]"),
        ("It has two queues:\n\n" + "- One of these.\n" * 30, "It has two queues: [1]"),
    ],
)
def test_of_definitions_that_a_sentence_announces_the_terms_are_listed(text: str, shown: str) -> None:
    """Those that follow it at once, and all or none; the definitions themselves may be long."""
    answer = quoting({"queues": 0.5}, text, question="Which of them?")
    assert answer.text == shown


@pytest.mark.parametrize(
    ("text", "context", "shown"),
    [
        ("It asks you. Type this:\n\nstop it now\n\nMore.", 5, "It asks you. Type this: stop it now [1]"),
        ("It asks you. Type this:\n\nstop it now and go away\n\nMore.", 5, "It asks you. Type this: [1]"),
        ("It asks you. Type this\n\nstop it now\n\nMore.", 5, "It asks you. Type this [1]"),
        ("It asks you. Type this\n\n```\nstop\n```", 5, "It asks you. Type this [1]\n```\nstop\n```"),
        ("It asks you. Type this.\n\n```\nstop\n```", 5, "It asks you. Type this. [1]"),
        ("It asks you. Type “this.”\n\n```\nstop\n```", 5, "It asks you. Type “this.” [1]"),
    ],
)
def test_what_a_sentence_without_an_end_leads_to_follows(text: str, context: int, shown: str) -> None:
    """Code in any case, and a paragraph of at most `context` words behind a colon; also where it is a neighbour of what
    was pointed at."""
    assert quoting({"asks": 0.5}, text, question="Which of them?", context=context).text == shown


@pytest.mark.parametrize(
    ("question", "shown"), [("What is fsync?", "It is old. It is slow."), ("Is fsync old?", "It is old.")]
)
def test_a_definition_of_what_is_asked_for_is_whole(question: str, shown: str) -> None:
    """Where the question names nothing else."""
    answer = quoting({"old": 0.5}, "fsync\n: It is old. It is slow.", question=question)
    assert answer.citations[-1].quote == shown


def test_a_heading_stands_above_what_has_lines() -> None:
    """The marker is behind it."""
    answer = quoting({"jit": 0.5}, TABLE, question="What does the planner do?", title="Manual › Planner")
    assert answer.text == "Planner: [2]\n| Option | Default |\n| jit | off |"


# How much is quoted

THREE = ("One is Aldwin of the bridge.", "Two is Brandt of the hut.", "Three is Carl of the ford.", "Four is Dora.")
CHANCES = {"Aldwin": 0.6, "Brandt": 0.5, "Carl": 0.4, "Dora": 0.3}


@pytest.mark.parametrize(("most", "count"), [(1, 1), (2, 2), (3, 3), (9, 4)])
def test_at_most_so_many_are_quoted(most: int, count: int) -> None:
    """The best first, each with its own marker, an empty line between two."""
    answer = quoting(CHANCES, *THREE, most=most, words=100, sure=0.9)
    assert answer.text.split("\n\n") == [f"{text} [{n}]" for n, text in enumerate(THREE[:count], start=1)]
    assert [citation.marker for citation in answer.citations] == [*range(1, count + 1)]


@pytest.mark.parametrize(
    ("words", "which"), [(1, [0]), (6, [0]), (8, [0]), (9, [0, 3]), (11, [0, 3]), (12, [0, 1]), (15, [0, 1, 3])]
)
def test_the_quotations_hold_so_many_words_in_all(words: int, which: list[int]) -> None:
    """The first is whole however long it is; a later one that is too long makes room for a shorter one."""
    answer = quoting(CHANCES, *THREE, most=4, words=words, sure=0.9)
    assert [citation.quote for citation in answer.citations] == [THREE[n] for n in which]


@pytest.mark.parametrize(("sure", "count"), [(0.6, 1), (0.61, 3)])
def test_one_is_quoted_where_the_reader_is_sure_of_it(sure: float, count: int) -> None:
    """At the threshold it is sure; how sure it is of the others makes no difference."""
    assert len(quoting(CHANCES, *THREE, most=3, words=100, sure=sure).citations) == count


def test_nothing_is_quoted_beside_an_answer_that_is_nearly_sure() -> None:
    """Unless told otherwise: what strangers plant would stand there (`benchmarks/injections.md`)."""
    texts = "0.93 The builder was «Tomas Aldwin».", "0.85 «Ida Brandt», as others say."
    assert [citation.marker for citation in Extractive(Pointing()).generate(QUESTION, known(*texts)).citations] == [1]


@given(
    st.lists(
        st.sampled_from([STEPS, TABLE, CODE, "fsync\n: Old. Slow.", "# A\nIt is old.", *THREE]), min_size=1, max_size=4
    ),
    st.dictionaries(
        st.sampled_from([*"aeot|-", "Do", "old", "jit", "psql", "Aldwin", "\n"]), st.floats(0.1, 1), min_size=1
    ),
    st.sampled_from(["How?", "Which?"]),
)
def test_quotations_are_slices_of_their_passages(texts: list[str], chances: dict[str, float], question: str) -> None:
    """Line breaks and all; each stands in the answer's text, and all are found again when they are checked."""
    known = strips(*texts)
    answer = Extractive(Marked(chances), **NUMBERS).generate(question, known)
    for citation in answer.citations:
        strip, passage = citation.strip, known[citation.marker - 1][1]
        assert strip
        assert strip.passage_id == passage.id
        assert citation.quote == strip.text == passage.text[strip.start : strip.end]
        assert citation.quote.strip()
        assert citation.quote.strip() in answer.text
    assert answer.refused or answer.citations
    assert answer.refused or all(citation.quoted for citation in grounded(question, answer, known).citations)


@pytest.mark.parametrize(("span", "slices"), [((0, 3), ["# A"]), ((4, 6), ["It is old."]), ((14, 15), ["It is old."])])
def test_a_heading_and_what_lies_behind_the_text_are_something_too(span: tuple[int, int], slices: list[str]) -> None:
    """A reader may point at either."""
    text = "# A\nIt is old."
    assert [text[a:b] for a, b in extent("Which?", text, span, 0)] == slices


def test_what_two_sources_say_alike_is_quoted_once() -> None:
    """However their lines are broken; another sentence follows it."""
    said = known("0.5 «Tomas Aldwin» built it.", "0.5 Tomas\n«Aldwin» built it.", "0.3 It was in «1911» then.")
    answer = Extractive(Pointing()).generate(QUESTION, said)
    assert [(citation.marker, citation.quoted) for citation in answer.citations] == [(1, True), (3, True)]


def test_the_answer_is_passed_on() -> None:
    """For those who stream; a refusal is silent."""
    pieces: list[str] = []
    Extractive(Pointing(), whole=False).generate(QUESTION, known("0.9 «A»"), pieces.append)
    Extractive(Pointing()).generate(QUESTION, known("0.9 none"), pieces.append)
    assert pieces == ["A [1]"]


def test_it_keeps_the_contract() -> None:
    """The one that every generator has to keep, also with an evaluator that points at nothing."""
    verify("generator", Extractive(Pointing(calibrated=False)))
    verify("generator", Extractive(Lexical()))


def test_a_name_that_is_only_in_the_heading_is_said() -> None:
    """An option's meaning says nothing without the option; an ordinary heading that was not asked for is left out."""
    title = "Manual › Options › -c, --check"
    passage = Passage("0", "0.9 «Checks the syntax without running it.»", title)
    strip = Strip("0", 0, len(passage.text), passage.text, 1.0, kept=True)

    def said(title: str) -> str:
        return (
            Extractive(Pointing(), **NUMBERS).generate("How do I test?", [(strip, replace(passage, title=title))]).text
        )

    assert said(title) == f"-c, --check: {passage.text} [1]"
    assert said("CHECK_SYNTAX — Manual 3.25") == f"CHECK_SYNTAX: {passage.text} [1]"
    assert said("Manual › Remarks on scripts") == f"{passage.text} [1]"
    assert said(f"Manual › Notes on a_b {'and so on ' * 6}") == f"{passage.text} [1]"


def test_a_heading_is_said_once() -> None:
    """Several quotations from one section need it at the first only."""
    texts = ("0.5 «Checks the syntax.»", "0.5 «Runs nothing.»")
    shelf = [Passage(str(n), text, "Manual › --check") for n, text in enumerate(texts)]
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in shelf]
    answer = Extractive(Pointing(), **NUMBERS).generate("How do I test?", knowledge)
    assert answer.text == f"--check: {texts[0]} [1]\n\n{texts[1]} [2]"


class Defining(Pointing):
    """Points at the whole of a text; surer where the question names what it begins with."""

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        chances = (0.8 if p.text.split()[1].lower() in question.lower() else 0.5 for question, p in pairs)
        spans = ((0, len(p.text)) for _, p in pairs)
        return tuple(
            Grade(p.id, 1.0, chance, span=span) for (_, p), chance, span in zip(pairs, chances, spans, strict=True)
        )


def test_a_comparison_quotes_a_sentence_on_each_of_the_things() -> None:
    """In the order of the question, whatever is surest of the question as a whole."""
    shelf = [Passage(str(n), text) for n, text in enumerate(["A stove burns.", "A rope is long.", "A lamp shines."])]
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in shelf]
    answer = Extractive(Defining(), **NUMBERS).generate("What is the difference between lamp and rope?", knowledge)
    assert answer.text == "A lamp shines. [3]\n\nA rope is long. [2]"


def test_a_comparison_of_which_one_thing_is_unknown_is_answered_like_any_question() -> None:
    """Half of a comparison is none."""
    shelf = [Passage(str(n), text) for n, text in enumerate(["A stove burns.", "A lamp shines."])]
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in shelf]
    answer = Extractive(Defining(), **NUMBERS).generate("lamp vs rope", knowledge)
    assert answer.text == "A lamp shines. [2]\n\nA stove burns. [1]"
