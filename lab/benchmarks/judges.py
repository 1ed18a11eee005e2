"""Agreement of the judges that need no language model with people, beside the simplest baselines.

    python benchmarks/judges.py DATA > benchmarks/judges.md

DATA is a folder of people's judgements (EVOUNA, NQ-301, QAGS, BEGIN, ExpertQA, RAGChecker, MTRAG) as JSON lines, beside
the folder `nq` whose references NQ-301's questions are given (the copy of NQ-301 has none). Intervals are of a
bootstrap that draws questions, or sources, each with all that belongs to it.
"""

import argparse
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from surefoot.stats.figures import Figure, Floats, Ints, Statistic, figure, mean, resampled, roc_auc
from surefoot.types import Passage, Record
from surefoot.types.protocols import Embedder, Judge
from surefoot_lab.figures import token_f1

sys.path.append(str(Path(__file__).parents[1] / "recipes"))
import judge_heads as recipe

_ADDRESS = re.compile(r"^\[\d+\]\s*https?://\S+\s*")

NOTES = """Judge: as shipped. Its head for correctness did not learn from these questions; the verifier, which judges
faithfulness, did learn from parts of BEGIN and ExpertQA. ROUGE-1 is f against the references, and
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
    metric: str
    against: Callable[[Floats, Floats, Ints], Statistic]
    """(values, labels, groups) -> the figure."""
    judged: Sequence[tuple[Record, float, str]]
    """Each with its label and its group: a question or a source."""
    of: int
    """Records in the file; the metric does not apply to the others, or they hold no text."""
    others: Sequence[Record] = ()
    """Of a comparison: the records with the other answer."""


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


def rouge(reply: str, texts: Sequence[str], precision: bool) -> float:
    """ROUGE-1's f, or its precision, against the best of the texts."""
    spoken, *others = (Counter(re.findall(r"[a-z0-9]+", text.lower())) for text in (reply, *texts))
    wholes = [spoken.total() if precision else (spoken.total() + other.total()) / 2 for other in others]
    return max(((spoken & one).total() / of for one, of in zip(others, wholes, strict=True) if of), default=0.0)


def baselines(record: Record, embedder: Embedder) -> dict[str, float]:
    """Of the answer with the references where there are some, else with the contexts."""
    texts = list(record.truths) or [" ".join(p.text for p in record.contexts or ())]
    rows = embedder.embed([record.answer or "", *texts])
    return {
        "token F1": token_f1(record.answer or "", texts),
        "ROUGE-1": rouge(record.answer or "", texts, precision=not record.truths),
        "cosine": float((rows[1:] @ rows[0]).max()),
    }


def correctness(data: Path) -> Iterator[Task]:
    """NQ-301, and the questions of EVOUNA that the head did not learn from."""
    references: dict[str, list[str]] = {}
    for path in [*sorted((data.parent / "nq").glob("*.jsonl")), data / "evouna_nq_correctness.jsonl"]:
        for row in recipe.rows(path):
            if row.get("answers"):
                references.setdefault(recipe.question_key(row["question"]), row["answers"])
    for name in ("evouna_nq", "evouna_tqa", "nq301"):
        rows = recipe.rows(data / f"{name}_correctness.jsonl")
        learned = recipe.learned_from(rows) if name != "nq301" else set()
        keyed = [(row, key) for row in rows if (key := recipe.question_key(row["question"])) not in learned]
        known = [(row, row["answers"] or references.get(key, []), key) for row, key in keyed]
        judged = [(_record(row, truths), float(row["human"]["correct"]), key) for row, truths, key in known if truths]
        yield Task(name, "correctness, AUC", "factuality", roc_auc, judged, len(keyed))


def judged_support(name: str, record: Mapping[str, Any]) -> tuple[bool, str, tuple[Passage, ...]] | None:
    """(supported, claim, contexts) of a record of claims; None: nobody could judge it, or the contexts are bare
    addresses."""
    if name == "expertqa":
        texts = [_ADDRESS.sub("", passage["text"]).strip() for passage in record["passages"]]
        passages = tuple(Passage(str(i), text) for i, text in enumerate(texts) if text)
        known = record["human"]["support"] != "N/A" and passages
        return (record["human"]["support"] == "Complete", record["answer"], passages) if known else None
    return record["human"]["faithful"], record["answer"], (Passage("0", record["context"]),)


FILES = {"begin": "begin_attribution.jsonl", "expertqa": "expertqa_claims.jsonl", "qags": "qags_faithfulness.jsonl"}


def faithfulness(data: Path) -> Iterator[Task]:
    """True if the context carries the claim."""
    for name, file in FILES.items():
        rows = recipe.rows(data / file)
        known = [(row, found) for row in rows if (found := judged_support(name, row))]
        judged = [
            (_record(row, [], passages), float(label), row.get("context") or row["question"])
            for row, (label, _, passages) in known
        ]
        yield Task(name, "faithfulness, AUC", "context_adherence", roc_auc, judged, len(rows))


def pairwise(data: Path) -> Task:
    """RAGChecker: which of two answers is better. Two people's verdicts are added; a sum of 0 is left out."""
    rows = recipe.rows(data / "ragchecker_pairwise.jsonl")
    known = [(row, float(label)) for row in rows if (label := sum(one["overall"] for one in row["human"]))]
    one, other = (
        [_record({**row, "answer": row[f"answer_{side}"]}, [row["reference"]]) for row, _ in known] for side in "ab"
    )
    judged = [(record, label, row["question"]) for record, (row, label) in zip(other, known, strict=True)]
    return Task("ragchecker", "better of two, agreement", "factuality", agreement, judged, len(rows), one)


def graded(data: Path) -> Iterator[Task]:
    """MTRAG: medians of three people's 1 to 4."""
    rows = recipe.rows(data / "mtrag_human.jsonl")
    kinds = {
        "faithfulness": "context_adherence",
        "completeness": "factuality",
        "appropriateness": "answer_relevancy",
    }
    for kind, metric in kinds.items():
        beside = metric == "factuality"
        judged = []
        for row in rows:
            # The reference itself is one of the systems: beside a reference it would be right by construction.
            if (not beside or row["system"] != "reference") and row["human"].get(kind):
                passages = tuple(Passage(p["id"], p["text"], p["title"] or "") for p in row["passages"])
                record = _record(row, [row["reference"]] if beside else [], passages)
                judged.append((record, float(row["human"][kind]["median"]), row["question"]))
        yield Task("mtrag", f"{kind}, τ-b", metric, tau, judged, len(rows))


def _record(row: dict[str, Any], truths: Sequence[str], passages: tuple[Passage, ...] | None = None) -> Record:
    return Record(row["id"], row.get("question", ""), passages, row["answer"], tuple(truths))


def measured(task: Task, values: Floats) -> Figure:
    """Over the records that have a value."""
    there = ~np.isnan(values)
    labels, groups = (np.array([each[n] for each in task.judged])[there] for n in (1, 2))
    numbers = np.unique(groups, return_inverse=True)[1]
    return figure(task.against(values[there], labels, numbers), resampled(int(numbers.max()) + 1))[0]


def shown(one: Figure) -> str:
    if one.value is None:
        return "–"
    return f"{one.value:.3f}" + (f" ({one.low:.3f}–{one.high:.3f})" if one.low is not None else "")


def ways(records: Sequence[Record], judge: Judge, embedder: Embedder) -> tuple[Floats, float]:
    """The values of the judge, NaN where there is none, and of each baseline; and the judge's seconds a record."""
    start = time.perf_counter()
    scores = [judge.judge(record).value for record in records]
    seconds = (time.perf_counter() - start) / len(records)
    simple = [baselines(record, embedder) for record in records]
    return np.array([scores, *([one[name] for one in simple] for name in simple[0])], dtype=float), seconds


def line(task: Task, judge: Judge, embedder: Embedder) -> str:
    """The task's row of the table."""
    found, seconds = ways([record for record, _, _ in task.judged], judge, embedder)
    if task.others:
        found = found - ways(task.others, judge, embedder)[0]
    known = int((~np.isnan(found[0])).sum())
    cells = [
        task.name,
        task.measure,
        *(shown(measured(task, each)) for each in found),
        str(known),
        str(task.of - known),
    ]
    return "| " + " | ".join([*cells, f"{1000 * seconds:.1f}"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    embedder, builder = Static(), Builder(read())
    data = arguments.data
    tasks = [*correctness(data), *faithfulness(data), pairwise(data), *graded(data)]
    judges: dict[str, Judge] = {
        "factuality": Factuality(embedder, builder.verifier),
        "context_adherence": ContextAdherence(builder.verifier),
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
