"""Lexical metrics: the golden cases, and equality with other people's code."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.evaluate.score.lexical import METRICS, bleu, f1, rouge, wordings
from surefoot.types import Record

JIMMY = "Yes; Jimmy Barnes has the highest number of hit albums."
CALIFORNIA = "It entered the United States via California in 1997."

PAIRS = [
    (CALIFORNIA, "1997"),
    ("one two three four five", "one two three four five"),
    ("2,214 m at 3.5 %; no. 7 &amp; 8", "at 3.5 %; no. 7 & 8"),
]
TEXTS = st.text(alphabet="abcAB 01.,;-'&\nüé yesno", min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("answer", "truths", "value"),
    [
        (JIMMY, ["Yes"], 0.0),
        (CALIFORNIA, ["1997"], 2 / 9),
        ("Yes.", ["yes"], 1.0),
        ("No", ["Yes", "no"], 1.0),
        ("the red fox", ["blue", "red fox"], 1.0),
        ("The", ["the"], 0.0),
    ],
)
def test_f1_is_squads_with_the_rule_of_yes_and_no(answer: str, truths: list[str], value: float) -> None:
    """Over words without articles and punctuation; the best reference counts."""
    assert f1(answer, truths) == pytest.approx(value)


def test_the_four_are_given_for_each_record() -> None:
    """In a fixed order; without a reference none applies, which is not 0."""
    record = Record("q", "When?", answer=CALIFORNIA, truths=("1997",))
    found = [judge.judge(record) for judge in wordings()]
    assert [score.metric for score in found] == list(METRICS) == ["f1", "bleu", "rouge_1", "rouge_2"]
    assert {(score.record_id, score.judge) for score in found} == {("q", "flashrag")}
    for judge in wordings():
        score = judge.judge(Record("q", "When?", answer="1997"))
        assert (score.value, score.applies) == (None, False)
        assert "no reference" in score.unscored_because


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
@settings(max_examples=60)
def test_every_value_is_a_share(answer: str, truths: list[str]) -> None:
    """In [0, 1], whatever stands there."""
    values = f1(answer, truths), bleu(answer, truths), rouge(answer, truths, 1), rouge(answer, truths, 2)
    assert all(0 <= each <= 1 + 1e-12 for each in values)


@pytest.mark.parametrize(("answer", "truth"), PAIRS)
def test_bleu_is_sacrebleus_unsmoothed(answer: str, truth: str) -> None:
    """With one reference it is the plain BLEU of order 4."""
    metrics = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu, a dependency of the tests, is not installed")
    plain = metrics.BLEU(smooth_method="none", effective_order=False)
    assert bleu(answer, [truth]) == pytest.approx(plain.sentence_score(answer, [truth]).score / 100)


def test_bleu_goes_by_the_shortest_reference() -> None:
    """Its brevity penalty, where sacrebleu takes the closest in length."""
    answer, long = "one two three four", "one two three four five six seven eight"
    assert bleu(answer, [long, "nine"]) == 1.0
    assert bleu(answer, [long]) == pytest.approx(0.36787944)  # e to the minus one


@given(TEXTS, TEXTS)
@settings(max_examples=60)
def test_rouge_is_the_rouge_packages_for_any_text(answer: str, truth: str) -> None:
    """But where it has no words at all, which the package refuses."""
    package = pytest.importorskip("rouge", reason="rouge, a dependency of the tests, is not installed").Rouge()
    if answer.strip(".") and truth.strip("."):
        theirs = package.get_scores(answer, truth)[0]["rouge-1"]["f"]
        assert rouge(answer, [truth], 1) == pytest.approx(theirs, abs=1e-15)
