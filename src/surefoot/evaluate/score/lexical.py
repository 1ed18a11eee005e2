"""Overlap of an answer's wording with a reference's: token F1, BLEU, ROUGE-1 and -2. They support a verdict, no more.

Mode "flashrag" computes what FlashRAG computes, to compare with papers that use it: BLEU of order 4 without smoothing,
and ROUGE as the `rouge` package has it, over the distinct n-grams of words parted by white space. Mode "standard"
follows sacrebleu's `sentence_bleu`, and `rouge-score` without its stemmer. Both take 13a tokens for BLEU, which counts
all references at once; the others take the reference that fits best.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import exp, log
from operator import or_
from typing import Literal

from surefoot.judges._diamond import lacking
from surefoot.types import Metric, Record, Score

Mode = Literal["flashrag", "standard"]
LABELS = {"f1": "Token F1", "bleu": "BLEU", "rouge_1": "ROUGE-1", "rouge_2": "ROUGE-2"}
METRICS = {
    name: Metric(
        name,
        edge=("truth", "answer"),
        sees=("truths", "answer"),
        about="How many words do the answer and the reference answer share?",
    )
    for name in LABELS
}
ORDER = 4
"""The longest n-grams that BLEU counts."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_VERDICTS = {"yes", "no", "noanswer"}
_SPLITS_13A = (
    (r"([{-~\[-` -&(-+:-@/])", r" \1 "),
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
_REPLACED_13A = [("<skipped>", ""), ("-\n", ""), ("\n", " ")]
_REPLACED_13A += [("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]
_ROUGE_EPSILON = 1e-8
"""The `rouge` package adds it to the denominator of its f: identical texts come to 0.999999995."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One of the four as a judge."""

    metric: str
    mode: Mode = "flashrag"

    @property
    def name(self) -> str:
        """The mode."""
        return self.mode

    def judge(self, record: Record) -> Score:
        """The score; it does not apply without a reference or an answer, and is 0 for an empty answer."""
        if why := lacking(METRICS[self.metric], record):
            return Score(record.id, self.metric, None, unscored_because=why, applies=False, judge=self.mode)
        value = _MEASURES[self.metric](record.answer or "", record.truths, self.mode)
        return Score(record.id, self.metric, value, judge=self.mode)


def wordings(mode: Mode = "flashrag") -> tuple[Wording, ...]:
    """The four of `METRICS` as judges, in that order."""
    return tuple(Wording(metric, mode) for metric in METRICS)


def f1(answer: str, truths: Sequence[str], mode: Mode = "flashrag") -> float:
    """Harmonic mean of the shares of words that the answer has in common with the reference, after SQuAD's
    normalisation (case, punctuation, articles); the best of the references.

    It is 0 where one of the two is "yes", "no" or "noanswer" and the other is not the same, and where normalisation
    leaves nothing of one, such as of blood group "A"; "standard" has 1 where nothing is left of either (SQuAD 2.0).
    """
    return max((_f1(_squad(answer), _squad(truth), mode) for truth in truths), default=0.0)


def bleu(answer: str, truths: Sequence[str], mode: Mode = "flashrag") -> float:
    """BLEU of one answer against all references at once, in [0, 1]; case counts.

    "flashrag": 0 unless some four tokens in a row are a reference's, and the brevity penalty goes by the shortest
    reference. "standard": a precision of 0 is smoothed (NIST's, "exp"), orders longer than the answer are left out, and
    the penalty goes by the reference that is closest in length, of two the shorter.
    """
    standard = mode == "standard"
    candidate, *others = (_tokens_13a(text.rstrip() if standard else text) for text in (answer, *truths))
    lengths = [len(other) for other in others]
    if not candidate or not any(lengths):
        return 0.0
    length = min(lengths, key=lambda each: (abs(each - len(candidate)), each)) if standard else min(lengths)
    counted = [_matched(candidate, others, n) for n in range(1, ORDER + 1)]
    precisions = _smoothed(counted) if standard else [same / of if of else 0.0 for same, of in counted]
    if not precisions or not min(precisions):
        return 0.0
    penalty = min(1.0, exp(1 - length / len(candidate)))
    return penalty * exp(sum(map(log, precisions)) / len(precisions))


def rouge(answer: str, truths: Sequence[str], n: int, mode: Mode = "flashrag") -> float:
    """F of the n-grams that the answer shares with a reference; of several the best.

    "flashrag": each distinct n-gram once, words apart by white space and at full stops, case and punctuation counting.
    "standard": as often as it occurs in both, words of a-z and 0-9 in lower case.
    """
    return max((_rouge(answer, truth, n, mode) for truth in truths), default=0.0)


_MEASURES: dict[str, Callable[[str, Sequence[str], Mode], float]] = {
    "f1": f1,
    "bleu": bleu,
    "rouge_1": lambda answer, truths, mode: rouge(answer, truths, 1, mode),
    "rouge_2": lambda answer, truths, mode: rouge(answer, truths, 2, mode),
}


def _squad(text: str) -> str:
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def _f1(candidate: str, truth: str, mode: Mode) -> float:
    if candidate != truth and not _VERDICTS.isdisjoint((candidate, truth)):
        return 0.0
    if mode == "standard" and not candidate and not truth:
        return 1.0
    mine, others = candidate.split(), truth.split()
    same = (Counter(mine) & Counter(others)).total()
    return 2 * same / (len(mine) + len(others)) if same else 0.0


def _tokens_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, the tokeniser of WMT."""
    for part, plain in _REPLACED_13A:
        text = text.replace(part, plain)
    text = f" {text} "
    for pattern, spaced in _SPLITS_13A:
        text = re.sub(pattern, spaced, text)
    return text.split()


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _matched(candidate: Sequence[str], others: Sequence[Sequence[str]], n: int) -> tuple[int, int]:
    """The number of the answer's n-grams that a reference has, each as often as there, and of all."""
    mine = _grams(candidate, n)
    known: Counter[tuple[str, ...]] = reduce(or_, (_grams(other, n) for other in others))
    return (mine & known).total(), mine.total()


def _smoothed(counted: Sequence[tuple[int, int]]) -> list[float]:
    """A precision of 0 becomes half, then a quarter, … of one match; empty: nothing at all matches."""
    precisions, halved = [], 1.0
    for same, of in counted:
        if not of:
            break
        halved *= 1.0 if same else 2.0
        precisions.append(same / of if same else 1 / (halved * of))
    return precisions if any(same for same, _ in counted) else []


def _rouge(candidate: str, truth: str, n: int, mode: Mode) -> float:
    if mode == "standard":
        mine, others = (_grams(re.findall(r"[a-z0-9]+", text.lower()), n) for text in (candidate, truth))
        same, total = (mine & others).total(), mine.total() + others.total()
        return 2 * same / total if same else 0.0
    kinds, known = (set(_grams(_pieces(text), n)) for text in (candidate, truth))
    if not kinds or not known:
        return 0.0
    precision, recall = len(kinds & known) / len(kinds), len(kinds & known) / len(known)
    return 2 * precision * recall / (precision + recall + _ROUGE_EPSILON)


def _pieces(text: str) -> list[str]:
    """The words of the `rouge` package. Between full stops with nothing but white space there is one that is empty."""
    return [word for sentence in text.split(".") if sentence for word in " ".join(sentence.split()).split(" ")]
