"""From numbers to verdicts: each claim's effect, its certainty, and the verdict. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.stats import figures
from surefoot.stats.figures import Figure, Floats, holm
from surefoot_lab.study.examination import MEASURES, Examined
from surefoot_lab.study.hypotheses import Hypotheses, Hypothesis, StudyConclusion, fits

Verdict = Literal["supported", "refuted", "undetermined"]
Draws = npt.NDArray[np.uint16]
"""The number of times that each question is in each resample."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and its verdict."""

    claim: Hypothesis
    questions: int
    effect: Figure
    """The mean over pairs, in standard deviations of the scores, upwards; `of` counts pairs."""
    delta: Figure
    """Cliff's delta within pairs: the share of those in which it is above 0, less that in which it is below."""
    supports: float | None
    """One-sided p-value of support; None: not tested."""
    refutes: float | None
    """One-sided p-value of refutation."""
    supports_holm: float | None
    """After Holm's correction over all claims that are tested."""
    refutes_holm: float | None
    verdict: Verdict
    because: str


@dataclass(frozen=True, slots=True)
class ConclusionVerdict:
    """A conclusion and the verdict of its claims."""

    conclusion: StudyConclusion
    verdict: Verdict
    because: str


@dataclass(frozen=True, slots=True)
class Questions:
    """The question of each pair, and resamples of the questions."""

    numbers: dict[str, int]
    draws: Draws

    def of(self, pairs: Sequence[Examined]) -> figures.Ints:
        """The number of each pair's question."""
        return np.array([self.numbers[pair.question_id] for pair in pairs], dtype=np.int64)


def questions(pairs: Sequence[Examined], resamples: int, seed: int) -> Questions:
    """The questions of these pairs, and so many bootstrap resamples of them."""
    ids = list(dict.fromkeys(pair.question_id for pair in pairs))
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(ids), [1 / len(ids)] * len(ids), size=resamples).astype(np.uint16)
    return Questions(dict(zip(ids, range(len(ids)), strict=True)), draws)


def judged(pairs: Sequence[Examined], hypotheses: Hypotheses, drawn: Questions, spread: float) -> tuple[Finding, ...]:
    """A finding for each claim, by the rule in the hypotheses."""
    found = [_found(claim, pairs, drawn, spread, hypotheses) for claim in hypotheses.claims]
    tested = [n for n, one in enumerate(found) if one.supports is not None]
    supports = holm([p for n in tested if (p := found[n].supports) is not None])
    refutes = holm([p for n in tested if (p := found[n].refutes) is not None])
    for n, one, other in zip(tested, supports, refutes, strict=True):
        found[n] = _decided(replace(found[n], supports_holm=one, refutes_holm=other), hypotheses.alpha)
    return tuple(found)


def concluded(findings: Sequence[Finding], conclusions: Sequence[StudyConclusion]) -> tuple[ConclusionVerdict, ...]:
    """Each conclusion: supported by all of its claims, refuted by one, or neither."""
    verdicts = {finding.claim.id: finding.verdict for finding in findings}
    found = []
    for one in conclusions:
        mine = [verdicts[name] for name in one.needs]
        verdict: Verdict = "refuted" if "refuted" in mine else "undetermined" if "undetermined" in mine else "supported"
        because = ", ".join(name for name in dict.fromkeys(one.needs) if verdicts[name] == verdict)
        found.append(ConclusionVerdict(one, verdict, f"{verdict}: {because}"))
    return tuple(found)


def effects(claim: Hypothesis, pairs: Sequence[Examined], spread: float) -> list[tuple[Examined, float]]:
    """The claim's pairs that have something to measure, with the effect in each."""
    found = []
    for pair in (pair for pair in pairs if fits(claim.among, pair)):
        value, less = MEASURES[claim.measure](pair), MEASURES[claim.less](pair) if claim.less else 0.0
        if value is not None and less is not None:
            found.append((pair, value / spread - less / spread))
    return found


def _found(
    claim: Hypothesis, pairs: Sequence[Examined], drawn: Questions, spread: float, hypotheses: Hypotheses
) -> Finding:
    nothing = Figure(None, None, None, 0, claim.untestable or "no pair has anything of the kind")
    found = Finding(claim, 0, nothing, nothing, None, None, None, None, "undetermined", claim.untestable)
    each = effects(claim, pairs, spread) if spread and not claim.untestable else []
    values, numbers = np.array([value for _, value in each]), drawn.of([pair for pair, _ in each])
    many = len(set(numbers.tolist()))
    if each:
        effect, replicates = figures.figure(figures.mean(values, numbers), drawn.draws)
        delta = figures.figure(figures.mean(np.sign(values), numbers), drawn.draws)[0]
        found = replace(found, questions=many, effect=effect, delta=delta)
    if many < hypotheses.questions:
        why = f"pairs of {many} questions have anything to measure, and it takes {hypotheses.questions}"
        return replace(found, because=claim.untestable or why)
    there, isnt = _chances(claim, replicates)
    supports, refutes = (there, isnt) if claim.presence == "present" else (isnt, there)
    return replace(found, supports=supports, refutes=refutes)


def _chances(claim: Hypothesis, replicates: Floats) -> tuple[float, float]:
    """The shares of resamples without an effect in the direction, and with one as large as the smallest."""
    drawn = replicates[~np.isnan(replicates)] * (1 if claim.direction == "up" else -1)
    none, large = int((drawn <= 0).sum()), int((drawn >= claim.smallest).sum())
    return (none + 1) / (len(drawn) + 1), (large + 1) / (len(drawn) + 1)


def _decided(one: Finding, alpha: float) -> Finding:
    claim, effect = one.claim, one.effect.value or 0.0
    large = (effect if claim.direction == "up" else -effect) >= claim.smallest
    fitting = large is (claim.presence == "present")
    p = one.supports_holm if fitting else one.refutes_holm
    if p is None or p >= alpha:
        return replace(one, because="neither is the effect sure enough, nor its absence")
    verdict: Verdict = "supported" if fitting else "refuted"
    return replace(one, verdict=verdict, because=f"p {p:.2g} < {alpha:g} after Holm's correction")
