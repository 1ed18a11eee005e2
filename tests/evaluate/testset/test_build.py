"""Test sets: the round trip, the kinds, and a run that goes on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import load
from surefoot.evaluate.testset.build import MadeQuestion, QuestionMaker, build, row, shared_out
from surefoot.evaluate.testset.prompter import Prompter, prompts
from surefoot.evaluate.testset.structure import Structure
from surefoot.evaluators.lexical import Lexical
from surefoot.llms.scripted import Scripted
from surefoot.run.store import Run, write_text
from surefoot.text.json_values import spelled
from surefoot.types import Grade, Message, Passage
from surefoot.types.protocols import Pair

STAFF = Passage(
    "staff",
    "| Name | Manager | City |\n| --- | --- | --- |\n| Ada Berg | Eva Roth | Graz |\n| Tom Lind | Eva Roth | Bern |\n"
    "| Eva Roth | Max Moor | Graz |",
    "Office › Staff",
    file="staff.xlsx",
)
FERRY = Passage(
    "ferry",
    "The ferry daemon holds letters in its queue for 5 days. Letters that bounce are returned to whoever sent them, "
    "unless the option silent is set in the harbour file.",
    "Ferry",
    file="ferry.html",
)


class Finding:
    """Finds the same passages for every question."""

    def __init__(self, *passages: Passage) -> None:
        self._passages = passages

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return self._passages[:k]


class Pointing(Lexical):
    """Points at the whole of each passage, or at these offsets."""

    span: tuple[int, int] | None = None

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(p.id, 1.0, span=self.span or (0, len(p.text))) for _, p in pairs)


def maker(*passages: Passage, found: Sequence[Passage] | None = None, **parts: Any) -> QuestionMaker:
    return QuestionMaker(
        Structure(passages), Finding(*(passages if found is None else found)), parts.pop("reader", Pointing()), **parts
    )


def model(messages: Sequence[Message]) -> str:
    """A model that asks about the queue, and finds the answer where it stands."""
    task = messages[-1].content.rpartition("\n\n")[2]
    if task.startswith("About"):
        return "How many days does ferry keep undelivered mail?"
    if task.startswith("Put this"):
        return "And who says so?"
    return "holds letters in its queue for 5 days" if "5 days" in messages[-1].content else "NONE"


def made(one: QuestionMaker, kind: str) -> list[MadeQuestion]:
    """The questions of a kind, dropped ones too."""
    return [done for _, work in one.candidates(kind) if (done := work()).question]


def test_a_single_question_has_its_value_and_its_passage() -> None:
    first = next(one for one in made(maker(STAFF), "single") if "City of “Ada Berg”" in one.question)
    assert (first.answers, first.evidence, first.fault) == (("Graz",), (("staff", "Graz"),), "")


def test_a_question_whose_passage_is_not_retrieved_is_dropped() -> None:
    for kind in ("single", "multi-hop", "false premise"):
        faults = {one.fault for one in made(maker(STAFF, found=[FERRY]), kind)}
        assert faults == {"not retrieved"}


def test_a_question_that_the_reader_answers_elsewhere_is_dropped() -> None:
    """Pointing at another cell of the row is right: the row is quoted."""
    reader = Pointing()
    reader.span = STAFF.text.index("Ada Berg"), STAFF.text.index(" | Graz")
    faults = {one.question: one.fault for one in made(maker(STAFF, reader=reader), "single")}
    assert faults["What is the City of “Ada Berg”?"] == ""
    assert faults["What is the City of “Tom Lind”?"] == "answered elsewhere"


def test_a_hop_has_the_evidence_of_both_facts() -> None:
    found = [one for one in made(maker(STAFF), "multi-hop") if not one.fault]
    assert {one.evidence for one in found} <= {
        (("staff", "Eva Roth"), ("staff", "Max Moor")),
        (("staff", "Eva Roth"), ("staff", "Graz")),
    }
    assert found


def test_what_is_right_about_a_false_premise_is_its_answer() -> None:
    found = {one.question: one for one in made(maker(STAFF), "false premise")}
    assert found["Why is the City of “Ada Berg” Bern?"].answers == ("Graz",)


def test_an_unanswerable_question_has_no_answer_and_no_evidence() -> None:
    found = [one for one in made(maker(STAFF), "unanswerable") if not one.fault]
    assert found
    assert not any(one.answers or one.evidence for one in found)


def test_a_name_that_is_retrieved_after_all_makes_no_unanswerable_question() -> None:
    known = replace(FERRY, text="Ada Lind and Tom Berg are on the ferry.")
    found = made(maker(STAFF, found=[known]), "unanswerable")
    assert {one.fault for one in found} == {"its name is there"}


def test_a_model_writes_the_single_questions() -> None:
    prompter = Prompter(Scripted(model), prompts())
    [one] = made(maker(FERRY, prompter=prompter), "single")
    assert one.question == "How many days does ferry keep undelivered mail?"
    assert one.fault or one.evidence == (("ferry", FERRY.text[: FERRY.text.index(" Letters")]),)


def test_a_rewording_that_loses_a_name_is_not_taken() -> None:
    found = made(maker(STAFF, prompter=Prompter(Scripted(model), prompts())), "false premise")
    assert all(one.question.startswith("Why is the ") for one in found)


def test_an_unanswerable_question_that_the_model_answers_is_dropped() -> None:
    prompter = Prompter(Scripted(model), prompts())
    assert {one.fault for one in made(maker(STAFF, found=[FERRY], prompter=prompter), "unanswerable")} == {"answered"}
    assert {one.fault for one in made(maker(STAFF, prompter=prompter), "unanswerable")} == {""}


def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made, up to a torn last line, is not made again; the questions are the same."""
    wanted = {"single": 2, "false premise": 1}
    whole = build(maker(STAFF), Run(tmp_path / "whole", {}, "values.jsonl"), wanted, 1, lambda *_: None)
    run = Run(tmp_path / "run", {}, "values.jsonl")
    build(maker(STAFF), run, {"single": 1}, 1, lambda *_: None)
    before = run.path.read_text()
    run.path.write_text(before + '{"key": "torn')
    again = Run(tmp_path / "run", {}, "values.jsonl")
    assert build(maker(STAFF), again, wanted, 1, lambda *_: None) == whole
    assert run.path.read_text().startswith(before)


def test_progress_counts_confirmed_questions(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    build(maker(STAFF), Run(tmp_path, {}, "values.jsonl"), {"single": 2}, 1, lambda *counts: seen.append(counts))
    assert seen == [(2, 2)]


def test_the_file_is_one_of_labelled_questions(tmp_path: Path) -> None:
    """Each with its kind, gold passages, and whether anything answers."""
    wanted = {"single": 1, "unanswerable": 1}
    found = build(maker(STAFF), Run(tmp_path / "run", {}, "values.jsonl"), wanted, 1, lambda *_: None)
    rows = [row(key, one, {"staff": "Office"}) for key, one in found.items()]
    write_text(tmp_path / "qa.jsonl", "".join(f"{spelled(one)}\n" for one in rows))
    single, absent = load(tmp_path / "qa.jsonl").examples
    assert (single.prop, single.gold, single.answerable) == ("single", frozenset({"staff"}), True)
    assert (absent.prop, absent.gold, absent.answerable) == ("unanswerable", frozenset(), False)


def test_questions_are_shared_out_to_the_kinds() -> None:
    """No one is lost to rounding."""
    assert shared_out(50, ["single", "multi-hop", "unanswerable", "false premise"]) == {
        "single": 20,
        "multi-hop": 10,
        "unanswerable": 10,
        "false premise": 10,
    }
    assert shared_out(4, ["single", "multi-hop"]) == {"single": 3, "multi-hop": 1}
