"""What the probes did is counted: changes, flips, what was expected, and what was left out."""

from collections.abc import Callable, Sequence

import pytest

from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.protocols import Pair
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.figures import counted
from surefoot_lab.robustness import ProbeFinding, ProbeReport, run

OWN = Thresholds(upper=0.8, lower=0.3, strip=0.3, evaluator="told")
Think = Callable[[str, str], tuple[float | None, float | None]]


class Told:
    """Is told what to think of a question and a text: score and probability."""

    name = "told"
    thresholds = OWN

    def __init__(self, think: Think) -> None:
        self.think = think
        self.seen: list[Pair] = []

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One a pair; None has its reason."""
        self.seen += pairs
        return tuple(Grade(p.id, *self.think(question, p.text), reason="no words") for question, p in pairs)


def queries(name: str, *texts: str) -> list[LabelledPair]:
    """Pairs of one question: relevant where the text holds "built by"."""
    return [
        LabelledPair(name, f"Who built {name}?", Passage(f"{name}-{i}", text, name), int("built by" in text), ("Otto",))
        for i, text in enumerate(texts)
    ]


def labelled(*questions: list[LabelledPair], sha256: str = "0123456789abcdef") -> LabelledSet:
    return LabelledSet("some/file.jsonl", sha256, tuple(pair for pairs in questions for pair in pairs), 0)


FILE = labelled(
    *(queries(name, f"The {name} was built by Otto.", "It rained.") for name in ("Olm", "Tor", "Hut", "Arch")),
    queries("Pass", "It is a pass."),
)


def silent(done: int, total: int) -> None:
    """For who need not know."""


def reported(think: Think, file: LabelledSet = FILE) -> ProbeReport:
    return run(Told(think), [file], silent)[0]


def finding(report: ProbeReport, name: str) -> ProbeFinding:
    (found,) = [one for one in report.findings if one.probe == name]
    return found


def manners(question: str, text: str) -> tuple[float, float | None]:
    """Olm and Tor are believed unless asked for politely, Hut only then; Arch never; Tor has no probability then."""
    name, please = question.removesuffix("?").split()[-1], question.startswith("Please")
    before = {"Olm": 0.9, "Tor": 0.8, "Hut": 0.1, "Arch": 0.5}.get(name, 0.0)
    after = {"Olm": 0.2, "Tor": 0.7, "Hut": 0.8, "Arch": 0.4}.get(name, 0.0)
    score = after if please else before
    return score, None if name == "Tor" and please else score / 2


def test_the_change_is_after_less_before() -> None:
    """Its mean over the pairs, with an interval over questions; of probabilities where both are there."""
    one = finding(reported(manners), "polite question")
    assert one.score_change.value == pytest.approx((-0.7 - 0.1 + 0.7 - 0.1) / 4)
    assert one.probability_change.value == pytest.approx((-0.7 + 0.7 - 0.1) / 6)
    assert (one.pairs, one.score_change.of, one.probability_change.of) == (4, 4, 3)
    low, high = one.score_change.low, one.score_change.high
    assert low is not None and high is not None and low < (one.score_change.value or 0) < high  # noqa: PT018
    other = finding(reported(manners, labelled(list(FILE.pairs), sha256="f" * 16)), "polite question")
    assert (other.score_change.value, other.score_change.low) != (one.score_change.value, one.score_change.low)


def test_flips_are_counted_at_both_thresholds() -> None:
    """At one and from below are different things: 0.8 is CORRECT. Olm falls through both, Tor through one."""
    one = finding(reported(manners), "polite question")
    assert [(flips.first, flips.second) for flips in (one.upper, one.lower)] == [(2, 1), (1, 1)]


def test_what_must_fall_was_above_and_is_below() -> None:
    """Of what was never believed, nothing is learned: Olm falls below τ+, Tor does not, Hut and Arch were below."""

    def think(question: str, text: str) -> tuple[float, None]:
        if "Olm" in text:
            return 0.9, None
        return (0.9 if "Tor" in question else 0.79), None

    file = labelled(
        *(queries(name, f"The {name} was built by Otto. It stands alone in the {name} valley, which is deep.")
          for name in ("Olm", "Tor", "Hut"))
    )  # fmt: skip
    assert finding(reported(think, file), "answer removed").as_expected == counted(0, 2)
    gone = reported(lambda q, text: (0.79 if "Otto" not in text and "Tor" in q else 0.8, None), file)
    assert finding(gone, "answer removed").as_expected == counted(1, 3)
    none = reported(lambda q, text: (0.79, None), file)
    assert finding(none, "answer removed").as_expected == counted(0, 0)


def test_what_must_stay_low_was_low() -> None:
    """Irrelevant pairs that are believed as they are do not count; what is only reported is not judged."""

    def think(question: str, text: str) -> tuple[float, None]:
        return (0.8 if "Olm" in question or ("CORRECT" in text and "Tor" in question) else 0.1), None

    report = reported(think)
    assert finding(report, "injected verdict").as_expected == counted(4 - 1, 4)
    assert finding(report, "answer negated").as_expected is None


def test_what_could_not_be_graded_is_counted_by_reason() -> None:
    """Before or after; a score that is no number is none."""

    def think(question: str, text: str) -> tuple[float | None, float | None]:
        gone = question == "Who built Olm?" or (question.startswith("Please") and "Tor" in question)
        return (None if gone else float("nan") if question == "Who built Hut?" else 0.5), None

    one = finding(reported(think), "polite question")
    assert (one.pairs, one.ungraded) == (1, {"no words": 2, "the evaluator returned nan": 1})
    assert one.left_out == {}


def test_no_pair_is_graded_twice() -> None:
    """But the first, off the clock."""
    results = Told(manners)
    (report,) = run(results, [FILE], silent)
    keys = [(question, passage) for question, passage in results.seen]
    assert len(keys) == len(set(keys)) + 1
    assert (report.file, report.relevant, report.irrelevant, report.notes) == ("some/file.jsonl", 4, 5, ())
