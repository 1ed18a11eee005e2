"""`surefoot lab verifier`: how well a verifier tells supported sentences from others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import counting, figure, out, pulling, share, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import settings as overrides
from surefoot.stats.figures import Figure
from surefoot_lab import support
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.cli.evaluator import rate, recorded
from surefoot_lab.report import Form, Table, as_json, count, of, short, show
from surefoot_lab.support import SupportReport
from surefoot_lab.train import claims
from surefoot_lab.train.examples import TrainingExample


def verifier(
    data: Annotated[list[Path], Argument(help="Labelled claims: lines of {set, claim, evidence, label}.")],
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many claims a set.")] = None,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Hold labelled sentences against their evidence: AUC, precision, words, speed.

    Beside the verifier stand the share of shared words, ROUGE-L and the cosine of the configured embedder's vectors.
    """
    chosen = agreed(agreed(config), *overrides(settings or []))
    sets: dict[str, list[TrainingExample]] = {}
    for path in data:
        for name, some in claims.read(path, limit).items():
            sets.setdefault(name, []).extend(some)
    with pulling():
        builder = Builder(chosen)
        one = builder.verifier
    ways = {"overlap": support.overlap, "ROUGE-L": support.rouge_l, "cosine": support.cosine(builder.embedder)}
    with counting(one.name) as on_progress:
        reports = support.run(one, sets, ways, on_progress)
    tables = _tables(reports, [*ways])
    write_json(json_file, {**recorded(limit), "config": chosen, "verifier": one.name, **as_json(tables)})
    show(tables)
    out.say(f"{one.name}; in square brackets 95 % intervals, from a bootstrap over evidences", "dim")


def _tables(reports: Sequence[SupportReport], ways: Sequence[str]) -> list[Table]:
    """AUC beside the baselines; then what is called supported, and the words."""
    ranked: list[tuple[Any, ...]] = [
        (short(one.name), one.claims, one.positive, one.roc_auc, *(one.baselines[way].value for way in ways))
        for one in reports
    ]
    mean = support.mean(one.roc_auc for one in reports)
    means = [support.mean(one.baselines[way] for one in reports) for way in ways]
    ranked.append(("mean", None, None, Figure(mean, None, None, len(reports)), *means))
    verdicts = [
        (short(one.name), one.precision, one.recall, one.undecided, one.word_f1, one.per_second) for one in reports
    ]
    called: dict[str, Form] = {
        "supported, and is": of,
        "of those that are": of,
        "undecided": of,
        "words F1": share,
        "claims/s": rate,
    }
    beside: dict[str, Form] = dict.fromkeys(ways, share)
    return [
        Table("ranking", {"set": str, "claims": count, "positive": share, "ROC-AUC": figure, **beside}, ranked),
        Table("verdicts", {"set": str, **called}, verdicts),
    ]
