"""Means and verdicts before and after 50 of people's labels, on the sets of judges.py.

    python benchmarks/calibration.py DATA [--most 250] [--sets nq301 begin] [--judge rouge]

For each of ten draws, the labels of 50 records drawn at random calibrate a run of the set, and the other records are
held against people: the distance of the mean from theirs, and the precision and recall of "lost". `--judge rouge` takes
token F1 with the references, or the share of the answer's words that stand in the contexts, in place of the judge, in a
tenth of the time.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

import judges
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.embedders.static import Static
from surefoot.evaluate.diagnose.failures import contexts
from surefoot.evaluate.diagnose.verdicts import VerdictCheck, checked
from surefoot.evaluate.score.calibration import Calibration, calibrations
from surefoot.evaluate.score.correction import corrected_summaries
from surefoot.evaluate.score.labels import Label
from surefoot.judges.context_adherence import ContextAdherence
from surefoot.judges.factuality import Factuality
from surefoot.stats.figures import mean as measure
from surefoot.types import Passage, Record, Score
from surefoot_lab.figures import token_f1

LABELS, DRAWS = 50, 10
WITHIN = 0.08
KINDS = "faithfulness", "completeness", "appropriateness"

Judged = tuple[Record, float, str]


def whole(data: Path) -> judges.Task:
    """MTRAG's answers as a whole: the lowest of three medians. The references among the answers are left out."""
    rows = [one for one in judges.recipe.rows(data / "mtrag_human.jsonl") if one["system"] != "reference"]
    judged = []
    for row in rows:
        passages = tuple(Passage(p["id"], p["text"], p["title"] or "") for p in row["passages"])
        rating = min(row["human"][kind]["median"] for kind in KINDS if row["human"].get(kind))
        record = Record(row["id"], row["question"], passages, row["answer"])
        judged.append((record, float(rating), row["question"]))
    return judges.Task("mtrag", "", "context_adherence", lambda v, *_: measure(v), judged, len(rows))


def overlap(record: Record) -> float:
    """Token F1 with the references; without any, the share of the answer's words that stand in the contexts."""
    if record.truths:
        return float(token_f1(record.answer or "", list(record.truths)))
    return judges.rouge(record.answer or "", [" ".join(p.text for p in record.contexts or ())], precision=True)


def labelled(judged: Sequence[Judged], metric: str) -> list[Label]:
    """People's verdicts: of yes and no, or ratings from 1 to 4."""
    binary = max(rating for _, rating, _ in judged) <= 1
    shares = [rating if binary else (rating - 1) / 3 for _, rating, _ in judged]
    return [Label(r.id, metric, share, binary, group) for (r, _, group), share in zip(judged, shares, strict=True)]


def checks(
    judged: Sequence[Judged], scores: Sequence[Score], labels: Sequence[Label]
) -> Iterator[tuple[float, float, VerdictCheck, VerdictCheck, str]]:
    """For each draw: the distance of the judge's mean, and of the corrected one, from people's; the verdicts on the
    records without a label, before and after; why the cuts were not fitted."""
    groups = {record.id: group for record, _, group in judged}
    truth, bad = fmean(label.share for label in labels), {label.record_id: not label.good for label in labels}
    records = [record for record, _, _ in judged]
    for draw in range(DRAWS):
        drawn = np.random.default_rng(draw).choice(len(labels), LABELS, replace=False)
        few = [labels[n] for n in drawn]
        rest = {name: wrong for name, wrong in bad.items() if name not in {one.record_id for one in few}}
        found = calibrations(scores, few, groups)

        def verdicts(fitted: Sequence[Calibration], rest: dict[str, bool] = rest) -> VerdictCheck:
            return checked(contexts(records, scores, {}, calibrations=fitted), rest)

        (plain,), (summary,) = corrected_summaries(scores, (), groups), corrected_summaries(scores, few, groups)
        means = (abs((one.mean or 0.0) - truth) for one in (plain, summary))
        yield *means, verdicts(()), verdicts(found), found[0].because


def _line(name: str, found: Sequence[tuple[float, float, VerdictCheck, VerdictCheck, str]], of: int, bad: float) -> str:
    judge, corrected, before, after, because = zip(*found, strict=True)
    cells = [name, f"{of}", f"{bad:.0%}".replace("%", " %"), f"{fmean(judge):.3f}", f"{fmean(corrected):.3f}"]
    cells.append(f"{sum(one <= WITHIN for one in corrected)} of {DRAWS}")
    for each in (before, after):
        lost, rightly = sum(one.lost for one in each), sum(one.rightly for one in each)
        cells.append(f"{rightly / lost:.2f}" if lost else "none lost")
        cells.append(f"{rightly / sum(one.bad for one in each):.2f}")
    cells.append(f"{sum(one.undecided for one in after) / sum(one.of for one in after):.2f}")
    cells.append(f"{sum(map(bool, because))}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, default=250, help="records of a set, drawn by lot")
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--judge", choices=("shipped", "rouge"), default="shipped")
    arguments = parser.parse_args()
    builder, data = Builder(read()), arguments.data
    shipped = {
        "factuality": Factuality(Static(), builder.verifier),
        "context_adherence": ContextAdherence(builder.verifier),
    }
    columns = "| set | records | bad | mean off | corrected | within .08 | precision | recall | then | recall |"
    print(f"{columns} undecided | not fitted |\n|{' --- |' * 12}")
    for task in [*judges.correctness(data), *judges.faithfulness(data), whole(data)]:
        if arguments.sets and task.name not in arguments.sets:
            continue
        picked = np.random.default_rng(0).permutation(len(task.judged))[: arguments.most]
        judged, metric = [task.judged[n] for n in picked], task.metric
        if arguments.judge == "rouge":
            scores = [Score(record.id, metric, overlap(record)) for record, _, _ in judged]
        else:
            scores = [shipped[metric].judge(record) for record, _, _ in judged]
        there = {score.record_id for score in scores if score.value is not None}
        judged = [one for one in judged if one[0].id in there]
        scores = [score for score in scores if score.record_id in there]
        labels = labelled(judged, metric)
        bad = fmean(not label.good for label in labels)
        print(_line(task.name, [*checks(judged, scores, labels)], len(judged), bad), flush=True)


if __name__ == "__main__":
    sys.exit(main())
