"""Labelled questions are read line by line, and a line that is none is named."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.components import find
from surefoot.evaluate.ask.choices import RULES, Posed, is_claim, picked, rules, stated, with_choices
from surefoot.evaluate.ask.questions import Example, distinct, load, read
from surefoot.evaluate.ask.runs import Arm, place, run, threads
from surefoot.generators.llm import LLMGenerator
from surefoot.llms.scripted import Scripted
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import USE, Given
from surefoot.run.store import Run
from surefoot.types import Passage, Trace
from surefoot.types.errors import UsageError
from surefoot_lab.methods import arms

ROW = {"id": "q1", "question": "Who built it?", "answers": ["Tomas Aldwin", "Aldwin"]}


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_question_has_its_answers_and_gold_passages(tmp_path: Path) -> None:
    """Only passages with label 1 are gold; ids may be numbers; blank lines are nothing."""
    passages = [{"id": 7, "label": 1}, {"id": 8, "label": 0}, {"id": 9}]
    path = lines(tmp_path / "q.jsonl", ROW, "", ROW | {"id": 2, "answers": [1911], "passages": passages})
    assert read(path) == [
        Example("q1", "Who built it?", ("Tomas Aldwin", "Aldwin"), frozenset()),
        Example("2", "Who built it?", ("1911",), frozenset({"7"})),
    ]


def test_a_question_may_be_unanswerable(tmp_path: Path) -> None:
    """Only where the data say so; that it has no gold answer is then no problem."""
    path = lines(tmp_path / "q.jsonl", ROW | {"answers": [], "answerable": False}, ROW | {"id": "q2", "answers": []})
    loaded = load(path)
    assert [example.answerable for example in loaded.examples] == [False, True]
    assert [problem.count for problem in loaded.problems if "no gold answer" in problem.what] == [1]


def test_an_id_that_was_there_before_gets_the_next_free_number() -> None:
    """Also where another row has that number in its own id."""
    assert distinct(["q", "q#2", "r", "q", "q"]) == ["q", "q#2", "r", "q#3", "q#4"]


def test_a_limit_takes_the_same_sample_everywhere(tmp_path: Path) -> None:
    """In the order of the file; a smaller one is part of a larger one; it is not the first lines. An id may be half a
    surrogate pair, and a file may begin with a mark of byte order."""
    path = lines(tmp_path / "q.jsonl", *(ROW | {"id": f"q{n}"} for n in range(50)))
    (tmp_path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW | {"id": "\ud800"}).encode())
    assert len(read(tmp_path / "marked.jsonl", limit=1)) == 1
    order = [f"q{n}" for n in range(50)]
    small, large = ([example.id for example in read(path, limit)] for limit in (5, 20))
    assert len(small) == 5
    assert set(small) < set(large)
    assert large == sorted(large, key=order.index)
    assert small != order[:5]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{", "line 2 is not JSON: Expecting property name"),
        ("1" * 5000, "line 2 is not JSON: .*digits"),
        ({"id": "x", "question": "Q?"}, r"line 2 is not a question: it needs id, question and answers \('answers'\)"),
        ({"question": "Q?", "answers": []}, "line 2 is not a question"),
        ([1, 2], "line 2 is not a question"),
        (ROW | {"id": "x", "answers": None}, "line 2 is not a question"),
        (
            ROW | {"id": "x", "answers": "Paris"},
            "line 2 is not a question: question must be a text, and answers a list",
        ),
        (ROW | {"id": "x", "question": 5}, "line 2 is not a question: question must be a text, and answers a list"),
        (ROW | {"id": "x", "passages": ["p1"]}, "line 2 is not a question"),
        (ROW, "line 2: the id 'q1' was there before; ids must be distinct"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, row: Any, says: str) -> None:
    """With its number; an answer that is one text would be read letter by letter."""
    with pytest.raises(UsageError, match=says):
        read(lines(tmp_path / "q.jsonl", ROW, row))


def test_a_file_without_questions_says_so(tmp_path: Path) -> None:
    """Empty, absent, or no text."""
    with pytest.raises(UsageError, match="holds no questions"):
        read(lines(tmp_path / "empty.jsonl", "", ""))
    with pytest.raises(UsageError, match=r"absent\.jsonl cannot be read: No such file"):
        read(tmp_path / "absent.jsonl")
    (tmp_path / "image.jsonl").write_bytes(b"\x89PNG\xff")
    with pytest.raises(UsageError, match=r"image\.jsonl is not UTF-8 text"):
        read(tmp_path / "image.jsonl")


# The texts that come with a question are read as they came, and nothing is found that is not there.


ROWS = [{"id": id, "text": text} for id, text in (("a", "first"), ("b", " "), ("c", "third"), ("a", "again"))]


def test_passages_are_read_in_their_order_each_once(tmp_path: Path) -> None:
    """The first of an id; one without text says nothing. What a web search brought comes from outside."""
    row = {"id": "1", "question": "Who?", "answers": [], "passages": ROWS, "outside": [{"id": "w", "text": "far"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(row))
    (one,) = read(tmp_path / "q.jsonl")
    assert [passage.text for passage in one.passages] == ["first", "third"]
    assert one.outside == (Passage("w", "far", source="external"),)
    assert find("retriever", USE) is find("searcher", USE) is Given
    assert Given(one.passages).retrieve("Who?", 1) == Given(one.passages).search("?", 1) == one.passages[:1]


# Answers that have to be one of a few: what they settle on, and what counts as right.


CHOICES = (("A", "the control"), ("B", "a gas"), ("C", "a gas mixture"), ("D", "water"))
MELTS = Example("m", "What melts?", ("a gas",), frozenset(), CHOICES, "B")
CLAIM = Example("c", "Ice is warm.", ("False",), frozenset())
OPEN = Example("o", "Who?", ("Aldwin",), frozenset())


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        (" (B) ", "B"),
        ("**B.** a gas", "B"),
        ("C: a gas mixture", "C"),
        ("The answer is B.", "B"),
        ("The correct answer is (D) water [1].", "D"),
        ("The answer is B because it is one.", "B"),
        ("I would say option C", "C"),
        ("It is water.", "D"),
        ("It is a gas mixture.", "C"),
        ("A physicist uses water.", "D"),
    ],
)
def test_an_answer_settles_by_a_letter_or_by_words(answer: str, letter: str) -> None:
    """A letter that stands alone; the words of one choice, the longest that stand there; "A" is a word."""
    assert picked(answer, CHOICES) == letter


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        "a gas or water",
        "B: water",
        "The answer is B. The answer is C.",
        "The answer is A physicist",
        "E",
        "It is A.",
    ],
)
def test_an_answer_that_settles_on_nothing_is_none(answer: str) -> None:
    """Nothing said, several said, a letter and another choice's words, a letter that there is not."""
    assert picked(answer, CHOICES) is None


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("True.", "true"),
        ("The claim is FALSE", "false"),
        ("SUPPORTS", "true"),
        ("REFUTES", "false"),
        ("That is not true.", "false"),
        ("true, not false", "true"),
        ("It is true that it is false.", None),
        ("untrue", None),
        ("", None),
    ],
)
def test_a_claim_is_said_to_be_true_or_false(answer: str, truth: str | None) -> None:
    """In any case, also negated; both or neither is none."""
    assert stated(answer) == truth


def test_the_lenient_rule_takes_nearly_anything() -> None:
    """The released scripts' rule finds the key within any word; the strict one does not, and neither without a key."""
    text = "Because nobody knows, a guess."
    assert {name: RULES[name](text, MELTS) for name in rules(MELTS)} == {
        "match": False,
        "match_lower": False,
        "strict": False,
        "letter": True,
        "letter_or_text": True,
    }
    assert RULES["strict"]("B.", MELTS)
    assert RULES["letter_or_text"]("it is a gas", MELTS)
    keyless = Example("k", "What melts?", (), frozenset(), CHOICES)
    assert not RULES["strict"]("", keyless)
    assert not RULES["letter"]("", keyless)


def test_a_rule_that_does_not_fit_is_refused() -> None:
    """Rather than counted as wrong. The case of a claim's gold does not matter; an open question is no claim."""
    assert rules(OPEN) == ("match", "match_lower")
    assert rules(CLAIM) == ("match", "match_lower", "strict")
    assert RULES["strict"]("It is not true.", CLAIM)
    assert not is_claim(Example("n", "Ice is warm.", (), frozenset()))
    with pytest.raises(UsageError, match="question o is neither"):
        RULES["strict"]("x", OPEN)
    with pytest.raises(UsageError, match="question c has no choices"):
        RULES["letter"]("x", CLAIM)


def test_only_the_generator_is_shown_the_choices(pipeline: Pipeline) -> None:
    """Passages are found and graded by the question alone; it is shown them a line each."""
    assert with_choices(MELTS) == "What melts?\nA: the control\nB: a gas\nC: a gas mixture\nD: water"
    assert with_choices(OPEN) == "Who?"
    said: list[str] = []
    bridge = replace(MELTS, question="Who built the Ruvel Bridge?")
    generator = LLMGenerator(Scripted(lambda messages: said.append(messages[-1].content) or "B: a gas [1]"))
    trace = replace(pipeline, generator=Posed(generator, bridge)).run(bridge.question)
    assert trace.question == bridge.question
    assert "C: a gas mixture" in said[0]


# Each question is asked once a way, whatever happens in between.


EXAMPLES = [Example(str(n), f"Who built hut {n}?", ("Aldwin",), frozenset()) for n in range(6)]
ARMS = arms(["rag:1", "none"], searches=False)


def nothing(done: int, total: int) -> None:
    pass


def asked(pipeline: Pipeline, folder: Path, workers: int = 1, **others: Any) -> dict[str, list[Trace]]:
    found = run(ARMS, EXAMPLES, threads(pipeline, workers), folder, {}, others.get("on_done", nothing))
    return {arm.name: traces for arm, traces in found}


@pytest.mark.parametrize("workers", [1, 4])
def test_every_arm_is_asked_every_question_once(pipeline: Pipeline, tmp_path: Path, workers: int) -> None:
    """In the order of the questions, however many are asked at a time; on disk a line each."""
    found = asked(pipeline, tmp_path, workers)
    assert list(found) == ["rag:1", "none"]
    for name, traces in found.items():
        assert [trace.question for trace in traces] == [example.question for example in EXAMPLES]
        lines = (tmp_path / place(name) / "traces.jsonl").read_text().splitlines()
        assert sorted(json.loads(line)["key"] for line in lines) == [example.id for example in EXAMPLES]


def test_what_is_there_is_not_asked_again(pipeline: Pipeline, tmp_path: Path) -> None:
    """Another run over it comes to the same."""
    first = asked(pipeline, tmp_path)
    assert asked(pipeline.but(generator=None), tmp_path) == first


def test_a_trace_is_on_disk_before_the_next_is_waited_for(pipeline: Pipeline, tmp_path: Path) -> None:
    """So that nothing that was answered is lost. Progress counts questions times arms, and what was there at once."""
    seen: list[int] = []
    progress: list[tuple[int, int]] = []

    def counted(done: int, total: int) -> None:
        path = tmp_path / "rag-1" / "traces.jsonl"
        seen.append(len(path.read_text().splitlines()) if path.exists() else 0)
        progress.append((done, total))

    asked(pipeline, tmp_path, on_done=counted)
    assert seen[:7] == list(range(7))
    assert progress == [(n, 12) for n in (*range(7), *range(6, 13))]
    asked(pipeline, tmp_path, on_done=counted)
    assert progress[14:] == [(6, 12), (12, 12)]


def test_a_run_that_another_process_holds_is_refused(pipeline: Pipeline, tmp_path: Path) -> None:
    """Two would ask each question twice."""
    with Run(tmp_path / "rag-1", {"method": "rag:1"}).held(), pytest.raises(UsageError, match="another process"):
        asked(pipeline, tmp_path)


@pytest.mark.parametrize(
    ("error", "told"), [(UsageError("mend it"), "UsageError: mend it"), (KeyError("x"), "KeyError: 'x'")]
)
def test_a_question_that_fails_does_not_take_the_others_with_it(
    pipeline: Pipeline, tmp_path: Path, error: Exception, told: str
) -> None:
    """It is a trace with its error, also where the error is a bug."""

    def ask(_: Pipeline, example: Example) -> Trace:
        if example.id == "1":
            raise error
        return Trace("t", example.question)

    ((_, traces),) = run([Arm("odd", ask)], EXAMPLES, threads(pipeline), tmp_path, {}, nothing)
    assert [trace.error for trace in traces[:3]] == [None, told, None]


def test_what_is_interrupted_is_not_begun_again(pipeline: Pipeline, tmp_path: Path) -> None:
    """Questions that wait are left for the next time."""
    begun: list[str] = []

    def ask(_: Pipeline, example: Example) -> Trace:
        begun.append(example.id)
        if example.id == "1":
            raise KeyboardInterrupt
        time.sleep(0.01)
        return Trace("t", example.question)

    many = [Example(str(n), "Who?", (), frozenset()) for n in range(200)]
    with pytest.raises(KeyboardInterrupt):
        list(run([Arm("stopped", ask)], many, threads(pipeline, 2), tmp_path, {}, nothing))
    assert len(begun) < 100


def test_each_question_has_its_own_texts(pipeline: Pipeline, tmp_path: Path) -> None:
    """Where the texts that came with the questions are read."""
    own = [Example(n, "Who built it?", (), frozenset(), passages=(Passage(n, f"text {n}"),)) for n in "ab"]
    ((_, traces),) = run(ARMS[:1], own, threads(pipeline.but(retriever=Given())), tmp_path, {}, nothing)
    assert [trace.passages[0].id for trace in traces] == ["a", "b"]
