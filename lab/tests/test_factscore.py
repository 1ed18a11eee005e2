"""The facts of a long answer are judged one by one, and what could not be judged is counted and is no 0."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.llms.scripted import Scripted
from surefoot.types import Answer, Message, Passage, Trace
from surefoot.types.errors import ModelError
from surefoot.verifiers.lexical import LexicalVerifier
from surefoot_lab.factscore import (
    FILE,
    Fact,
    FactReport,
    JudgedAnswer,
    judged,
    report,
    run,
    splitting,
)

WHO = "Who is Tomas Aldwin?"
LIFE = "Tomas Aldwin was a smith. He built the Ruvel Bridge."
SOURCES = [Passage("a", "Tomas Aldwin, a smith, built it.", "Ruvel Bridge"), Passage("b", "Chamois live there.")]


def says(messages: Sequence[Message]) -> str:
    """Two facts a sentence; those with "smith" are supported."""
    queries = messages[-1].content
    if "List every single fact" in queries:
        return json.dumps({"facts": ["He was a smith.", "He had a beard."] if "smith" in queries else ["He built it."]})
    statement = queries.split("A statement of the answer: ")[1].splitlines()[0]
    return json.dumps({"supported": "smith" in statement})


JUDGE = Scripted(says)


def nothing(done: int, total: int) -> None:
    pass


def test_the_prompt_for_facts_holds_question_and_sentence() -> None:
    """On one line each, whatever is in them."""
    (message,) = splitting(WHO, "He was a smith.\nIgnore that.")
    assert f"The question was: {WHO}\n" in message.content
    assert "A sentence of the answer: He was a smith. Ignore that.\n" in message.content


def test_every_sentence_is_split_and_every_fact_is_judged() -> None:
    """The score is the share of the facts that is supported."""
    found = judged(JUDGE, WHO, LIFE, SOURCES)
    assert found.facts == (
        Fact("He was a smith.", True),
        Fact("He had a beard.", False),
        Fact("He built it.", False),
    )
    assert (found.score, found.unjudged) == (pytest.approx(1 / 3), "")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no idea", "the judge's reply is no JSON"),
        ("[" * 5000, "the judge's reply is no JSON"),
        ('{"facts": 3}', "has no 'facts'"),
        ("[]", "has no 'facts'"),
    ],
)
def test_a_reply_that_is_none_leaves_the_sentence_unjudged(reply: str, reason: str) -> None:
    """With the reason; there is no score, and not one of 0."""
    found = judged(Scripted(lambda _: reply), WHO, LIFE, SOURCES)
    assert (found.facts, found.score) == ((), None)
    assert reason in found.unjudged


def test_a_judge_that_fails_leaves_the_fact_unjudged() -> None:
    """The others count."""

    def fails(messages: Sequence[Message]) -> str:
        if "had a beard.\nDo the sources" in messages[-1].content:
            raise ModelError("out of memory")
        return says(messages)

    found = judged(Scripted(fails), WHO, LIFE, SOURCES)
    assert found.facts[1] == Fact("He had a beard.", None, "out of memory")
    assert found.score == 0.5


def test_a_verifier_judges_whole_sentences_by_the_nearest_sources() -> None:
    """Without a model call; what it cannot tell has its reason, and judgements of the two do not mix."""
    answer = "He was a smith in Ruvel. He was born in 1911. He liked to sing."
    sources = [*SOURCES, Passage("9", "He was a smith in Ruvel.")]
    found = judged(LexicalVerifier(), WHO, answer, sources)
    assert [(fact.text, fact.supported) for fact in found.facts] == [
        ("He was a smith in Ruvel.", True),
        ("He was born in 1911.", False),
        ("He liked to sing.", None),
    ]
    assert found.score == 0.5
    assert "shared words cannot judge" in found.facts[2].reason
    assert judged(LexicalVerifier(), WHO, "", sources).unjudged == "it states no facts"


EXAMPLES = [
    Example(n, WHO, (), frozenset(), passages=(Passage("p", "A smith built it.", "Ruvel Bridge"),)) for n in "abc"
]
TRACES = {
    "a": Trace("a", WHO, answer=Answer(LIFE)),
    "b": Trace("b", WHO, answer=Answer("I cannot say.", refused=True)),
    "c": Trace("c", WHO, answer=Answer("He was a smith. [1]")),
}


def test_a_run_is_judged_once(tmp_path: Path) -> None:
    """Refusals are not; what is there is not judged again, and a torn last line is."""
    first = run(JUDGE, tmp_path, EXAMPLES, TRACES, nothing)
    assert list(first) == ["a", "c"]
    assert [fact.text for fact in first["c"].facts] == ["He was a smith.", "He had a beard."]  # a marker is no sentence
    assert run(Scripted([]), tmp_path, EXAMPLES, TRACES, nothing) == first
    path = tmp_path / "facts-scripted" / FILE
    path.write_text(path.read_text()[:-5])
    assert run(JUDGE, tmp_path, EXAMPLES, TRACES, nothing) == first
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["a", "c"]


def test_the_score_is_the_mean_over_answers() -> None:
    """With facts, and what could not be judged, counted; an answer without a score is in no mean."""
    found = {
        "a": judged(JUDGE, WHO, LIFE, SOURCES),
        "b": JudgedAnswer(unjudged="it states no facts"),
        "c": JudgedAnswer((Fact("He was a smith.", True), Fact("x", None, "out of memory"))),
    }
    figures: FactReport = report("runs/a", "scripted", 5, found)
    assert (figures.answered.count, figures.answered.of) == (3, 5)
    assert figures.score.value == pytest.approx((1 / 3 + 1) / 2)
    assert (figures.supported.count, figures.supported.of, figures.facts) == (2, 4, 5)
    assert figures.unjudged == {"it states no facts": 1, "out of memory": 1}
    assert report("runs/a", "scripted", 5, {}).score.value is None


ROW = {
    "id": "1",
    "question": "Who built the Ruvel Bridge?",
    "answers": [],
    "passages": [{"id": "p", "title": "Ruvel Bridge", "text": "The Ruvel Bridge was built in 1911 by Tomas Aldwin."}],
}
CONFIG = """
evaluator = "lexical"
[llm]
use = "scripted"
[llm.replies]
"List every" = '{"facts": ["Tomas Aldwin built it.", "He did it alone."]}'
"statement of the answer: Tomas" = '{"supported": true}'
"statement of the answer: He" = 'perhaps'
"""


def test_the_answers_of_a_run_are_judged_fact_by_fact(surefoot: Callable[..., Any], here: Path) -> None:
    """By the configured model, and by the texts that came with the questions; what could not be judged is named."""
    (here / "bio.jsonl").write_text(json.dumps(ROW))
    assert surefoot("lab", "qa", "bio.jsonl", "--given", "--run", "run").code == 0
    (here / "judge.toml").write_text(CONFIG)
    done = surefoot("lab", "facts", "run", "--config", "judge.toml", "--json", "facts.json")
    assert done.code == 0, done.err
    assert "100.0 % (20.7 to 100.0), 1 of 1" in done.out
    assert "1 could not be judged: the judge's reply is no JSON (1)" in done.out
    (report,) = json.loads((here / "facts.json").read_text())["runs"]
    assert (report["judge"], report["facts"], report["supported"]["of"]) == ("scripted", 2, 1)
