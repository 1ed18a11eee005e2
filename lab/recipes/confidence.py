"""Fits confidence.json: how likely is an answer of the default configuration right, quoted or worded by a model?

    python recipes/confidence.py DATA --manuals QUESTIONS.jsonl MANUALS --runs RUNS --out confidence.json

1. It asks 50 questions of each set in `SETS` (`surefoot lab qa`) and all questions about manuals (`surefoot lab
   manuals`, once for each --manuals), and has answers quoted; a model of --llm words those to `WORDED_SETS` and to the
   manuals. The traces stay in RUNS; a stopped run goes on. Give a new folder to other weights.
2. For each of the two kinds it holds out each set in turn, with all others of its family, and predicts its answers from
   the rest; each manual is a family. These predictions give the figures in the file (`held_out`, `sets`); those of
   manuals, which are most like the documents that people bring, give the risk that goes with each confidence.
3. It fits the shipped weights on all of them. The same traces give the same file, byte for byte.

Right is what the reports call right. On two cores 14 sets and 278 questions about manuals take 20 minutes to quote,
most of it for grading, and a model of 1.5 billion parameters 15 seconds a question; the fits take seconds.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.evaluate.ask.questions import read
from surefoot.evidence.confidence import AGAINST, QUOTED, WORDED, facts
from surefoot.run.store import recorded, write_value
from surefoot.stats.calibration import Head
from surefoot.stats.figures import Floats, figure, resampled, roc_auc
from surefoot.types import Trace
from surefoot.types.errors import UsageError
from surefoot_lab import manuals, qa
from surefoot_lab.datasets import manuals as asked
from surefoot_lab.figures import relative, risk_area
from surefoot_lab.heads import Labelled, fit

SETS = (
    *"popqa/contriever popqa/wikidata_paragraphs popqa/crag_refs nq/oracle nq/e5 triviaqa/e5 squad2/dev".split(),
    *"hotpotqa/dev_distractor musique/dev 2wiki/dev retrievalqa/web rgb/en_fact xquad/en tatqa/dev".split(),
)
WORDED_SETS = ("popqa/crag_refs",)
QUESTIONS = 50
"""Of each set."""
SHRINK = 0.3
"""Penalty on each set's own bias, so that a set of easy questions does not teach the weights."""
STEPS = 20
"""Entries of the table of risks."""
MANUALS = "manuals-"
"""Beginning of the names of sets of questions about manuals."""
PLAIN = "answer.risk=1"
"""Nothing is withheld from what is learned."""
LLM = ("llm.use=local", "llm.model=qwen2.5-coder-1.5b")


@dataclass(frozen=True, slots=True)
class AnsweredSet:
    """The answers of one set as inputs of the fit."""

    family: str
    """Sets of one family are held out together."""
    models: frozenset[str]
    """Names of who wrote the answers: the evaluator that was asked to quote, or the model."""
    answers: Labelled
    best: Floats
    """The grade that each decision hung on."""


def answered(family: str, judged: Sequence[tuple[str, Trace, bool]], worded: bool = False) -> AnsweredSet:
    """The answers among these questions that are quoted, or worded; each comes with its id, its trace and whether it is
    right."""
    found = []
    for id, trace, right in judged:
        answer, decision = trace.answer, trace.decision
        if answer and not answer.refused and answer.worded == worded and decision and decision.best is not None:
            results = facts(trace.standalone_question, answer, trace.passages + trace.external, trace.grades)
            if results is not None:
                found.append((results, right, id, decision.best, answer.model or ""))
    inputs, labels, groups, best, models = zip(*found, strict=True)
    say = len(found) ** 0.5  # a large set says more than a small one, but does not speak for it
    own = Labelled(np.array(inputs), np.array(labels, dtype=float), groups, say)
    return AnsweredSet(family, frozenset(models), own, np.array(best))


def held_out(sets: Mapping[str, AnsweredSet], names: Sequence[str]) -> dict[str, Floats]:
    """For each set the confidence in its answers by a fit on the sets of other families."""
    found = {}
    for name, own in sets.items():
        head = _head([one for one in sets.values() if one.family != own.family], names)
        found[name] = np.array([head.probability(list(row)) for row in own.answers.inputs])
    return found


def _head(sets: Sequence[AnsweredSet], names: Sequence[str]) -> Head:
    return fit(names, [one.answers for one in sets], frozenset(AGAINST), shrink=SHRINK)


def risks(confidence: Floats, wrong: Floats) -> list[tuple[float, float]]:
    """(confidence, share of wrong ones among the answers that are at least so sure), the surest first. The share never
    falls from one to the next: it is the least that this confidence or a lower one keeps. The last confidence is 0."""
    surest = np.argsort(-confidence, kind="stable")
    shares = np.cumsum(wrong[surest]) / np.arange(1, len(wrong) + 1)
    ends = np.unique(np.linspace(0, len(wrong), STEPS + 1).round().astype(int))[1:] - 1
    rising = np.minimum.accumulate(shares[ends][::-1])[::-1]
    sure = [*confidence[surest][ends][:-1], 0.0]
    return [(round(float(c), 4), round(float(share), 4)) for c, share in zip(sure, rising, strict=True)]


def figures(confidence: Floats, best: Floats, wrong: Floats) -> dict[str, list[float | None]]:
    """The areas under risk and coverage, by grade and by confidence, how much smaller the second is, and both AUCs;
    each with its interval."""
    counts = resampled(len(wrong))
    by_grade, by_confidence = (figure(risk_area(sure, wrong), counts) for sure in (best, confidence))
    found = {
        "area_by_grade": by_grade[0],
        "area_by_confidence": by_confidence[0],
        "area_change": relative(by_grade, by_confidence),
        "auc_by_grade": figure(roc_auc(best, 1 - wrong), counts)[0],
        "auc_by_confidence": figure(roc_auc(confidence, 1 - wrong), counts)[0],
    }
    ends = {name: (one.value, one.low, one.high) for name, one in found.items()}
    return {name: [None if end is None else round(end, 4) for end in each] for name, each in ends.items()}


def reader(sets: Mapping[str, AnsweredSet]) -> str:
    """The evaluator that read all these quotations. Raises UsageError where there are several."""
    found = sorted({name for one in sets.values() for name in one.models})
    if len(found) != 1:
        raise UsageError(f"the runs are of several evaluators: {', '.join(found)}; give a new folder")
    return found[0]


def fitted(sets: Mapping[str, AnsweredSet], names: Sequence[str], evaluator: str) -> dict[str, Any]:
    """One of the two parts of confidence.json. A set whose answers are all right, or all wrong, teaches nothing."""
    sets = {name: one for name, one in sets.items() if 0 < one.answers.labels.mean() < 1}
    apart = held_out(sets, names)
    sure, wrong = _together(sets, apart)
    best = np.concatenate([one.best for one in sets.values()])
    similar = {name: one for name, one in sets.items() if name.startswith(MANUALS)} or sets
    head = _head([*sets.values()], names)
    middle = np.vstack([one.answers.inputs for one in sets.values()]).mean(axis=0)
    return {
        "evaluator": evaluator,
        "models": sorted({name for one in sets.values() for name in one.models}),
        "inputs": head.inputs,
        "weights": head.weights,
        "bias": head.bias,
        "middle": [round(float(value), 4) for value in middle],
        "risks": risks(*_together(similar, apart)),
        "held_out": figures(sure, best, wrong),
        "sets": {name: _about(one, apart[name]) for name, one in sets.items()},
    }


def _together(sets: Mapping[str, AnsweredSet], apart: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """The confidence in each answer of these sets, and whether it is wrong."""
    return np.concatenate([apart[name] for name in sets]), 1 - np.concatenate([s.answers.labels for s in sets.values()])


def _about(one: AnsweredSet, confidence: Floats) -> dict[str, Any]:
    wrong = 1 - one.answers.labels
    areas = [round(risk_area(sure, wrong).value or 0.0, 4) for sure in (one.best, confidence)]
    right = round(1 - float(wrong.mean()), 4)
    return {"answers": len(wrong), "right": right, "area_by_grade": areas[0], "area_by_confidence": areas[1]}


Judged = tuple[str, Trace, bool]


def gathered(
    data: Path, names: Sequence[str], about: Sequence[tuple[Path, Path]], runs: Path, settings: Sequence[str]
) -> Iterator[tuple[str, str, list[Judged]]]:
    """Ask what was not asked yet; yield the name and the family of each set with its questions."""
    for name in names:
        file, run = data / f"{name}.jsonl", runs / name.replace("/", "-")
        _lab(settings, "qa", file, "--given", "--limit", str(QUESTIONS), "--method", "crag", "--run", run)
        _, traces = recorded(run / "crag")
        examples = read(file, QUESTIONS)
        outcomes = qa.report("crag", examples, [traces[one.id] for one in examples]).outcomes
        yield name, name.partition("/")[0], [(one["id"], traces[one["id"]], qa.right(one)) for one in outcomes]
    for questions, folder in about:
        run = runs / f"{MANUALS}{questions.stem}"
        _lab(settings, "manuals", questions, folder, "--out", run)
        _, traces = recorded(run / "surefoot")
        by_manual: dict[str, list[Judged]] = {}
        for one in asked.read(questions):
            right = one.answerable and manuals.outcome(one, traces[one.id])["right"]
            by_manual.setdefault(MANUALS + one.manual, []).append((one.id, traces[one.id], right))
        yield from ((name, name, judged) for name, judged in by_manual.items())


def _lab(settings: Sequence[str], *command: str | Path) -> None:
    options = (part for one in (PLAIN, *settings) for part in ("--set", one))
    subprocess.run([sys.executable, "-m", "surefoot", "lab", *map(str, command), *options], check=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of the sets")
    parser.add_argument("--manuals", nargs=2, type=Path, action="append", default=[], metavar=("QUESTIONS", "FOLDER"))
    parser.add_argument("--runs", type=Path, required=True, help="where the traces are kept")
    parser.add_argument("--llm", nargs="+", default=LLM, metavar="SETTING", help="the model that words answers")
    parser.add_argument("--out", type=Path, required=True)
    inputs = parser.parse_args(arguments)
    about, runs = inputs.manuals, inputs.runs
    quoting = gathered(inputs.data, SETS, about, runs / "quoted", ["generator.use=extractive"])
    wording = gathered(inputs.data, WORDED_SETS, about, runs / "worded", ["generator.use=llm", *inputs.llm])
    quoted = {name: answered(family, judged) for name, family, judged in quoting}
    worded = {name: answered(family, judged, worded=True) for name, family, judged in wording}
    evaluator = reader(quoted)
    made = {"quoted": fitted(quoted, QUOTED, evaluator), "worded": fitted(worded, WORDED, evaluator)}
    write_value(inputs.out, made)


if __name__ == "__main__":
    main()
