"""A probe changes the one thing that it names, and leaves a pair alone where it cannot."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from surefoot.text.words import places
from surefoot.types import Passage
from surefoot_lab import probes
from surefoot_lab.datasets.pairs import LabelledPair
from surefoot_lab.probes import INJECTIONS, PROBES, perturbed, stock

LIFE = (
    "Tomas Jan Aldwin (1871 to 1940) lived in the town of Larrow. He was a famed engineer, the first of many. "
    "Aldwin built four bridges of iron, and never saw the last of them."
)


def pair(question: str, text: str = "", title: str = "", *answers: str, label: int = 1, **more: Any) -> LabelledPair:
    """With ids made of question and text."""
    return LabelledPair(more.pop("id", question), question, Passage(f"{title}/{text}", text, title), label, answers)


ALDWIN = pair("What is Tomas Aldwin's occupation?", LIFE, "Tomas Aldwin (engineer)", "Famed  Engineer", "technician")
KARNAK = pair("What is Josef Karnak's occupation?", "Josef Karnak is a miner.", "Josef Karnak", "miner")
BRIDGE = pair("Who built the Ruvel Bridge?", "The Ruvel Bridge was built by Aldwin.", "Ruvel Bridge", "Aldwin")
HUT = pair("who built hohrin hut", "Hohrin Hut was built by miners.", "Hohrin Hut", "miners")
CHEESE = pair("How do dumplings boil?", "Boil them. Then eat them.", "Dumplings", "slowly")
AWAY = pair("What is Tomas Aldwin's occupation?", "It rained. Then it did not.", "Weather", "engineer", label=0)
FILE = [ALDWIN, AWAY, KARNAK, BRIDGE, HUT, CHEESE]


def probe(name: str) -> probes.Probe:
    (found,) = [one for one in PROBES if one.name == name]
    return found


def made(name: str, of: LabelledPair, *others: LabelledPair, file: Sequence[LabelledPair] = FILE) -> LabelledPair:
    """The changed pair; its file is `FILE` and the others."""
    found = perturbed(probe(name), of, stock([*file, *others, of]))
    assert isinstance(found, LabelledPair), found
    return found


def why_not(name: str, of: LabelledPair, *others: LabelledPair, file: Sequence[LabelledPair] = FILE) -> str:
    """Why the probe does not apply."""
    found = perturbed(probe(name), of, stock([*file, *others, of]))
    assert isinstance(found, str), found
    return found


def same_but(new: LabelledPair, old: LabelledPair, *parts: str) -> bool:
    """Whether nothing but these parts, and what follows from them, differs; and all of them do."""
    both = {
        part: (getattr(new.passage if part in ("text", "title") else new, part),
               getattr(old.passage if part in ("text", "title") else old, part))
        for part in ("question", "text", "title")
    }  # fmt: skip
    selected = (new.question_id, new.passage.id, new.source) == (old.question_id, old.passage.id, old.source)
    return selected and {part for part, (now, before) in both.items() if now != before} == set(parts)


# What a question is about


def test_a_question_is_about_the_title_that_it_holds() -> None:
    """Without brackets, and written as the title, also where the question has no capitals."""
    subjects = stock(FILE).subjects
    assert subjects[ALDWIN.question_id] == "Tomas Aldwin"
    assert subjects[HUT.question_id] == "Hohrin Hut"


@pytest.mark.parametrize("one", PROBES, ids=lambda one: one.name)
def test_a_pair_is_changed_in_the_same_way_again(one: probes.Probe) -> None:
    """By the same seed, whatever other pairs are changed before; the label is what the probe makes it."""
    lent, start = stock(FILE), ALDWIN if one.label else AWAY
    first = perturbed(one, start, lent)
    assert isinstance(first, LabelledPair)
    assert first == perturbed(one, start, stock(FILE))
    assert first != start
    assert first.label == (0 if one.expects == "falls" else one.label)
    assert (first.question_id, first.passage.id) == (start.question_id, start.passage.id)


# Whom or what the question asks about


def test_the_question_is_about_another_of_its_kind() -> None:
    """Where a question of the file is the same but for the name; the passage stays, and what answers is not known."""
    new = made("entity in question", ALDWIN)
    assert new.question == "What is Josef Karnak's occupation?"
    assert (new.answers, same_but(new, ALDWIN, "question")) == ((), True)


def test_the_passage_is_about_another() -> None:
    """Title and text, the name with others in its midst, and the last name alone; question and answers stay."""
    new = made("entity in passage", ALDWIN)
    assert new.passage.title == "Josef Karnak (engineer)"
    assert new.passage.text == LIFE.replace("Tomas Jan Aldwin", "Josef Karnak").replace("Aldwin", "Karnak")
    assert same_but(new, ALDWIN, "title", "text")
    assert new.answers == ALDWIN.answers


def test_question_and_passage_are_about_the_same_other() -> None:
    """So that the answer still answers."""
    new = made("entity in both", ALDWIN)
    assert (new.question, new.passage.title) == ("What is Josef Karnak's occupation?", "Josef Karnak (engineer)")
    assert "Josef Karnak (1871" in new.passage.text
    assert "Aldwin" not in new.passage.text
    assert (new.label, new.answers) == (1, ALDWIN.answers)


def test_another_question_on_the_same_name_is_asked() -> None:
    """With its answers."""
    other = pair("When did Tomas Aldwin die?", "Aldwin died in 1950.", "Diary", "1950")
    new = made("relation changed", ALDWIN, other)
    assert (new.question, new.answers) == ("When did Tomas Aldwin die?", ("1950",))
    assert same_but(new, ALDWIN, "question")


@pytest.mark.parametrize(
    "other",
    [
        pair("Who made it?", "Aldwin.", "Ruvel Bridge", "ALDWIN"),
        pair("Who made it?", "Aldwin.", "Ruvel Bridge", "Ruvel"),
        pair("Who made it?", "Aldwin.", "Ruvel Bridge"),
        pair("who built the ruvel bridge?", "Aldwin.", "Ruvel Bridge", "Miners", id="twin"),
        replace(BRIDGE, question_id="same passage", question="Of what is it?", answers=("iron",)),
    ],
    ids=["answer in text", "answer in title", "answer unknown", "same question", "labelled as answered"],
)
def test_what_the_passage_may_answer_is_not_asked(other: LabelledPair) -> None:
    """An answer in text or title, none known, the same question, or a label that says so."""
    reason = "nothing else is known to be asked of it that the passage does not answer"
    assert why_not("relation changed", BRIDGE, other) == reason


# What the passage says


def test_the_sentences_with_an_answer_go() -> None:
    """No alias is left in the text, in any form; the title, the name and the question stay."""
    new = made("answer removed", ALDWIN)
    assert new.passage.text == LIFE.replace("He was a famed engineer, the first of many. ", "")
    assert not any(places(alias, new.passage.text) for alias in ALDWIN.answers)
    assert same_but(new, ALDWIN, "text")


@pytest.mark.parametrize(
    ("answers", "title", "text", "reason"),
    [
        (["Otto"], "Ruvel Bridge by Otto", "", "the title holds an answer"),
        ([], "Ruvel Bridge", LIFE, "no answer is known to stand in the text"),
        (["Otto"], "Ruvel Bridge", LIFE, "no answer is known to stand in the text"),
        (["iron"], "Ruvel Bridge", "It is of iron. And it is long, all in all.", "too little of the text would be"),
        (
            ["Tom Otto"],
            "Ruvel Bridge",
            "It was paid for by a merchant and Tom. Tom Otto built it. Otto saw the end of all the work.",
            "too little of the text would be left, or an answer",
        ),
        (["Otto"], "", f"The Ruvel Bridge is by Otto. {LIFE}", "what the question is about would go with the answer"),
    ],
)
def test_an_answer_that_cannot_go_alone_stays(answers: list[str], title: str, text: str, reason: str) -> None:
    """In the title, unknown, all there is, put together from what is left, or beside the only mention of the name."""
    assert why_not("answer removed", pair(BRIDGE.question, text, title, *answers)).startswith(reason)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It was long. Aldwin was, and is, old.", "It was long. Aldwin was not, and is, old."),
        ("The Will of Aldwin will stand.", "The Will of Aldwin will not stand."),
        ("Aldwin is not old, but was ill.", "Aldwin is not old, but was not ill."),
    ],
)
def test_the_sentence_with_the_answer_is_denied(text: str, denied: str) -> None:
    """At its first auxiliary or copula that is not denied yet; a name is none."""
    of = replace(BRIDGE, passage=Passage("x", text))
    assert same_but(made("answer negated", of), of, "text")
    assert made("answer negated", of).passage.text == denied


def test_the_name_is_stuffed_into_a_text_that_lacks_it() -> None:
    """Five times, between sentences, which keep their order; the text stays irrelevant."""
    new = made("entity stuffed", AWAY)
    assert new.passage.text.count("Tomas Aldwin.") == 5
    assert " ".join(new.passage.text.replace("Tomas Aldwin.", "").split()) == AWAY.passage.text
    assert (new.label, same_but(new, AWAY, "text")) == (0, True)


@pytest.mark.parametrize("name", INJECTIONS)
def test_a_sentence_is_injected_at_either_end(name: str) -> None:
    """With the question where it wants it; the text around it stays whole."""
    sentence = INJECTIONS[name].replace("{question}", AWAY.question)
    texts = {made(f"injected {name}", replace(AWAY, question_id=str(n))).passage.text for n in range(10)}
    assert texts == {f"{sentence} {AWAY.passage.text}", f"{AWAY.passage.text} {sentence}"}
