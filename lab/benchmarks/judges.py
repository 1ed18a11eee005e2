"""Agreement of the judges that need no language model with people, beside the simplest baselines.

    python benchmarks/judges.py DATA > benchmarks/judges.md

DATA is a folder of people's judgements (EVOUNA, NQ-301, QAGS, BEGIN, ExpertQA, RAGChecker, MTRAG) as JSON lines, beside
the folder `nq` whose references NQ-301's questions are given (the copy of NQ-301 has none). Intervals are of a
bootstrap that draws questions, or sources, each with all that belongs to it.
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.embedders.static import Static
from surefoot.judges.answer_relevancy import AnswerRelevancy
from surefoot.judges.context_adherence import ContextAdherence
from surefoot.judges.factuality import Factuality
from surefoot.stats.figures import Figure, Floats, Ints, Statistic, figure, mean, resampled, roc_auc, token_f1
from surefoot.types import Passage, Record
from surefoot.types.protocols import Embedder, Judge

sys.path.append(str(Path(__file__).parents[1] / "recipes"))
import judge_heads as recipe

NOTES = """Judge: as shipped. Its head for correctness did not learn from these questions; the one for faithfulness did
learn from BEGIN, ExpertQA and QAGS. ROUGE-1 is f against the references, and
against the contexts precision, the share of the answer's words that stand there. A judge that always says what most
records are has an AUC and an agreement of one half, and no τ. Left out: NQ-301's questions without a reference in the
other sets, ExpertQA's claims without a verdict or with bare addresses for evidence, verdicts that cancel out, and
MTRAG's references as answers to be held against themselves. What the judges go by was chosen with these sets in view,
so that on sets of another kind less is to be expected.
"""


@dataclass(frozen=True)
class Task:
    """Records that people judged, and how a judge's values are held against that."""

    name: str
    measure: str
    records: list[Record]
    labels: Floats
    groups: list[str]
    metric: str
    against: Callable[[Floats, Floats, Ints], Statistic]
    """(values, labels, groups) -> the figure."""
    left_out: int
    """Records that the metric does not apply to, or that hold no text."""
    others: list[Record] | None = None
    """Of a comparison: the records with the other answer."""


def numbered(groups: Sequence[str]) -> Ints:
    places: Ints = np.unique(np.array(groups), return_inverse=True)[1]
    return places


def agreement(values: Floats, labels: Floats, groups: Ints) -> Statistic:
    """Share of the pairs in which the judge prefers the answer that people prefer; a tie counts one half."""
    return mean((np.sign(values) == np.sign(labels)) + 0.5 * (values == 0), groups)


def tau(values: Floats, labels: Floats, groups: Ints) -> Statistic:
    """Kendall's τ-b."""
    one, other = (np.sign(np.subtract.outer(each, each)) for each in (values, labels))

    def weighted(weights: Floats) -> Floats:
        def sums(matrix: Floats) -> Floats:
            total: Floats = ((weights @ matrix) * weights).sum(axis=1)
            return total

        spread = np.sqrt(sums(np.abs(one)) * sums(np.abs(other)))
        found: Floats = np.full(len(weights), np.nan)
        np.divide(sums(one * other), spread, out=found, where=spread > 0)
        return found

    return Statistic(weighted, groups, "all are alike")


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def rouge(reply: str, texts: Sequence[str], precision: bool) -> float:
    """ROUGE-1's f, or its precision, against the best of the texts."""
    best, spoken = 0.0, _tokens(reply)
    for text in texts:
        other = _tokens(text)
        same = sum(min(spoken.count(word), other.count(word)) for word in set(spoken))
        whole = len(spoken) if precision else (len(spoken) + len(other)) / 2
        best = max(best, same / whole if whole else 0.0)
    return best


def baselines(record: Record, embedder: Embedder) -> dict[str, float]:
    """Of the answer with the references where there are some, else with the contexts."""
    texts = list(record.truths) or [" ".join(p.text for p in record.contexts or ())]
    rows = embedder.embed([record.answer or "", *texts])
    return {
        "token F1": token_f1(record.answer or "", texts),
        "ROUGE-1": rouge(record.answer or "", texts, precision=not record.truths),
        "cosine": float((rows[1:] @ rows[0]).max()),
    }


def correctness(data: Path) -> list[Task]:
    """NQ-301, and the questions of EVOUNA that the head did not learn from."""
    references: dict[str, list[str]] = {}
    for path in [*sorted((data.parent / "nq").glob("*.jsonl")), data / "evouna_nq_correctness.jsonl"]:
        for row in recipe.rows(path):
            if row.get("answers"):
                references.setdefault(recipe.question_key(row["question"]), row["answers"])
    tasks = []
    for name in ("evouna_nq", "evouna_tqa", "nq301"):
        rows = recipe.rows(data / f"{name}_correctness.jsonl")
        learned = recipe.learned_from(rows) if name != "nq301" else set()
        chosen = [row for row in rows if recipe.question_key(row["question"]) not in learned]
        records = [
            _record(row, row["answers"] or references.get(recipe.question_key(row["question"]), [])) for row in chosen
        ]
        there = [place for place, record in enumerate(records) if record.truths]
        labels = np.array([float(chosen[place]["human"]["correct"]) for place in there])
        selected = [records[place] for place in there]
        groups = [recipe.question_key(record.question) for record in selected]
        tasks.append(
            Task(
                name, "correctness, AUC", selected, labels, groups, "factuality", roc_auc, len(records) - len(selected)
            )
        )
    return tasks


def faithfulness(data: Path) -> list[Task]:
    """True if the context carries the claim."""
    tasks = []
    for name, file in recipe.FILES.items():
        rows = recipe.rows(data / file)
        judged = [(row, found) for row in rows if (found := recipe.judged_support(name, row))]
        records = [_record(row, [], passages) for row, (_, _, passages) in judged]
        labels = np.array([float(label) for _, (label, _, _) in judged])
        groups = [row.get("context") or row["question"] for row, _ in judged]
        tasks.append(
            Task(
                name,
                "faithfulness, AUC",
                records,
                labels,
                groups,
                "context_adherence",
                roc_auc,
                len(rows) - len(judged),
            )
        )
    return tasks


def pairwise(data: Path) -> Task:
    """RAGChecker: which of two answers is better. Two people's verdicts are added; a sum of 0 is left out."""
    rows = recipe.rows(data / "ragchecker_pairwise.jsonl")
    known = [row for row in rows if sum(one["overall"] for one in row["human"])]
    labels = np.array([float(sum(one["overall"] for one in row["human"])) for row in known])
    sides = [[_record({**row, "answer": row[f"answer_{side}"]}, [row["reference"]]) for row in known] for side in "ab"]
    groups, left_out = [row["question"] for row in known], len(rows) - len(known)
    return Task(
        "ragchecker", "better of two, agreement", sides[1], labels, groups, "factuality", agreement, left_out, sides[0]
    )


def graded(data: Path) -> list[Task]:
    """MTRAG: medians of three people's 1 to 4."""
    rows = recipe.rows(data / "mtrag_human.jsonl")
    tasks = []
    kinds = {
        "faithfulness": "context_adherence",
        "completeness": "factuality",
        "appropriateness": "answer_relevancy",
    }
    for queries, metric in kinds.items():
        # The reference itself is one of the systems: beside a reference it would be right by construction.
        chosen = [row for row in rows if metric != "factuality" or row["system"] != "reference"]
        known = [row for row in chosen if row["human"].get(queries)]
        passages = [tuple(Passage(p["id"], p["text"], p["title"] or "") for p in row["passages"]) for row in known]
        truths = [[row["reference"]] if metric == "factuality" else [] for row in known]
        records = [
            _record(row, truth, arguments) for row, truth, arguments in zip(known, truths, passages, strict=True)
        ]
        labels = np.array([float(row["human"][queries]["median"]) for row in known])
        groups = [row["question"] for row in known]
        tasks.append(Task("mtrag", f"{queries}, τ-b", records, labels, groups, metric, tau, len(rows) - len(known)))
    return tasks


def _record(row: dict[str, Any], truths: Sequence[str], passages: tuple[Passage, ...] | None = None) -> Record:
    return Record(row["id"], row.get("question", ""), passages, row["answer"], tuple(truths))


def judged(judge: Judge, records: Sequence[Record]) -> tuple[Floats, float]:
    """Each record's value, NaN where there is none, and the seconds that one took."""
    start = time.perf_counter()
    scores = [judge.judge(record) for record in records]
    values = [np.nan if score.value is None else score.value for score in scores]
    return np.array(values), (time.perf_counter() - start) / len(records)


def measured(task: Task, values: Floats) -> Figure:
    """Over the records that have a value."""
    there = ~np.isnan(values)
    groups = numbered([group for group, known in zip(task.groups, there, strict=True) if known])
    statistic = task.against(values[there], task.labels[there], groups)
    return figure(statistic, resampled(int(groups.max()) + 1))[0]


def shown(one: Figure) -> str:
    if one.value is None:
        return "–"
    return f"{one.value:.3f}" + (f" ({one.low:.3f}–{one.high:.3f})" if one.low is not None else "")


def ways(task: Task, judge: Judge, embedder: Embedder) -> tuple[list[Floats], float]:
    """The values of the judge and of each baseline for each record; and the seconds a record of the judge."""

    def results(records: Sequence[Record]) -> tuple[Floats, float]:
        values, seconds = judged(judge, records)
        simple = [baselines(record, embedder) for record in records]
        every: Floats = np.array([values, *([one[name] for one in simple] for name in simple[0])])
        return every, seconds

    found, seconds = results(task.records)
    if task.others is not None:
        found = found - results(task.others)[0]
    return [*found], seconds


def line(task: Task, judge: Judge, embedder: Embedder) -> str:
    """The task's row of the table."""
    found, seconds = ways(task, judge, embedder)
    unscored = int(np.isnan(found[0]).sum())
    known = [str(len(task.records) - unscored), str(task.left_out + unscored)]
    cells = [task.name, task.measure, *(shown(measured(task, each)) for each in found), *known]
    return "| " + " | ".join([*cells, f"{1000 * seconds:.1f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    embedder, builder = Static(), Builder(read())
    tasks = [
        *correctness(arguments.data),
        *faithfulness(arguments.data),
        pairwise(arguments.data),
        *graded(arguments.data),
    ]
    judges: dict[str, Judge] = {
        "factuality": Factuality(embedder),
        "context_adherence": ContextAdherence(embedder),
        "answer_relevancy": AnswerRelevancy(builder.evaluator),
    }
    command = f"python benchmarks/judges.py {' '.join(sys.argv[1:])}"
    print(f"# Judges without a language model, beside people\n\n    {command}\n")
    print(f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, Python {platform.python_version()}.\n")
    print(NOTES)
    columns = "| set | measure | judge | token F1 | ROUGE-1 | cosine | records | left out | ms a record |"
    print(f"{columns}\n|{' --- |' * 9}")
    for task in tasks:
        print(line(task, judges[task.metric], embedder), flush=True)


if __name__ == "__main__":
    main()
