"""Lexical metrics: the golden cases, the modes, and equality with other people's code."""

import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evaluate.score.lexical import METRICS, Mode, bleu, f1, rouge, wordings
from surefoot.types import Record

MODES: tuple[Mode, ...] = ("flashrag", "standard")
JIMMY = "Yes; Jimmy Barnes has the highest number of hit albums."
CALIFORNIA = "It entered the United States via California in 1997."

PAIRS = [
    (CALIFORNIA, ["1997"]),
    (CALIFORNIA, ["It entered the US in 1997, via California.", "In 1997 it came to the United States"]),
    ("the the the cat", ["the cat sat on the mat", "a cat"]),
    ("Herman A. Barnett was a surgeon, a pilot &amp; an anesthesiologist (1926-1973).", ["surgeon", "a pilot"]),
    ("Paris.  . is it", ["Paris is it.", "is it"]),
    ("one two three four five", ["one two three four five"]),
    ("a-\nb c", ["ab c", "a b c d e f"]),
    ("2,214 m at 3.5 %; no. 7", ["2,214 m", "3.5 %"]),
    ("nothing in common", ["Ümläute — “quotes”", "x"]),
]
TEXTS = st.text(alphabet="abcAB 01.,;-'&\nüé yesno", min_size=1, max_size=40)


@pytest.mark.parametrize("mode", MODES)
def test_the_golden_cases_of_f1(mode: Mode) -> None:
    """ "Yes; Jimmy Barnes …" for "Yes" has 0, by the yes/no rule, and "Yes." 1; "1997" in a sentence of eight words,
    articles apart, two ninths."""
    assert f1(JIMMY, ["Yes"], mode) == 0.0
    assert f1("Yes.", ["yes"], mode) == f1("No", ["Yes", "no"], mode) == 1.0
    assert f1(CALIFORNIA, ["1997"], mode) == pytest.approx(2 / 9)


def test_the_four_are_given_for_each_record_with_their_mode() -> None:
    """In a fixed order; the judge of the score says which mode it is."""
    record = Record("q", "When?", answer=CALIFORNIA, truths=("1997",))
    for mode in MODES:
        found = [wording.judge(record) for wording in wordings(mode)]
        assert [score.metric for score in found] == list(METRICS) == ["f1", "bleu", "rouge_1", "rouge_2"]
        assert {(score.record_id, score.judge) for score in found} == {("q", mode)}


def test_the_modes_differ_where_they_say_they_do() -> None:
    """A full stop belongs to the word, in which case it is another one; an answer without four tokens has no BLEU."""
    assert rouge("in 1997,", ["1997"], 1, "flashrag") == 0.0
    assert rouge("in 1997,", ["1997"], 1, "standard") == pytest.approx(2 / 3)
    assert bleu("in 1997", ["in 1997"], "flashrag") == 0.0
    assert bleu("in 1997", ["in 1997"], "standard") == pytest.approx(1.0)
    assert f1("The", ["the"], "flashrag") == 0.0
    assert f1("The", ["the"], "standard") == 1.0


def test_without_a_reference_none_of_them_applies() -> None:
    """Not 0 and not NaN: no value, and a reason."""
    for wording in wordings():
        score = wording.judge(Record("q", "When?", answer="1997"))
        assert (score.value, score.applies) == (None, False)
        assert "no reference" in score.unscored_because


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
@settings(max_examples=60)
def test_every_value_is_a_share(answer: str, truths: list[str]) -> None:
    """In [0, 1], whatever stands there."""
    for mode in MODES:
        values = f1(answer, truths, mode), bleu(answer, truths, mode), *(rouge(answer, truths, n, mode) for n in (1, 2))
        assert all(0 <= each <= 1 + 1e-12 for each in values)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
@settings(max_examples=60)
def test_standard_bleu_is_sacrebleus_for_any_text(answer: str, truths: list[str]) -> None:
    """The same over texts that nobody thought of."""
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu, a dependency of the tests, is not installed")
    assert bleu(answer, truths, "standard") == pytest.approx(sacrebleu.sentence_bleu(answer, truths).score / 100)


@pytest.mark.parametrize(("answer", "truths"), [pair for pair in PAIRS if len(pair[1]) == 1])
def test_flashrags_bleu_is_sacrebleus_unsmoothed(answer: str, truths: list[str]) -> None:
    """With one reference it is the plain BLEU of order 4; of several, its brevity penalty goes by the shortest."""
    four, eight = "one two three four", "one two three four five six seven eight"
    assert bleu(four, [eight, "nine"], "flashrag") == 1.0
    assert bleu(four, [eight], "flashrag") == pytest.approx(0.36787944)  # e to the minus one
    metrics = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu, a dependency of the tests, is not installed")
    plain = metrics.BLEU(smooth_method="none", effective_order=False)
    assert bleu(answer, truths, "flashrag") == pytest.approx(plain.sentence_score(answer, truths).score / 100)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(("answer", "truths"), PAIRS)
def test_standard_rouge_is_rouge_scores(answer: str, truths: list[str], n: int) -> None:
    """`RougeScorer` without its stemmer, the best of several references."""
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score, a test dependency, is not installed")
    theirs = scorer.RougeScorer([f"rouge{n}"]).score_multi(truths, answer)[f"rouge{n}"].fmeasure
    assert rouge(answer, truths, n, "standard") == pytest.approx(theirs)


@given(TEXTS, TEXTS)
@settings(max_examples=60)
def test_flashrags_rouge_is_the_rouge_packages_for_any_text(answer: str, truth: str) -> None:
    """But where it has no words at all, which the package refuses."""
    package = pytest.importorskip("rouge", reason="rouge, a dependency of the tests, is not installed").Rouge()
    if answer.strip(".") and truth.strip("."):
        theirs = package.get_scores(answer, truth)[0]["rouge-1"]["f"]
        assert rouge(answer, [truth], 1, "flashrag") == pytest.approx(theirs, abs=1e-15)
