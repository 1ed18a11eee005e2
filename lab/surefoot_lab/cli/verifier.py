"""`surefoot lab verifier`: how well a verifier tells supported sentences from others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import counting, headed, out, pulling, short, write_json
from surefoot.cli._numbers import figure, share
from surefoot.config.builder import Builder
from surefoot.config.settings import settings as overrides
from surefoot.run import manifest
from surefoot.stats.text import NONE
from surefoot_lab import support
from surefoot_lab.report import of
from surefoot_lab.support import SupportReport
from surefoot_lab.train import claims
from surefoot_lab.train.examples import TrainingExample


def verifier(
    data: Annotated[list[Path], Argument(help="Labelled claims: lines of {set, claim, evidence, label}.")],
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many claims a set.")] = None,
    json_file: Annotated[Path | None, Option("--json", metavar="FILE", help="Write the report here.")] = None,
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
    about = {"surefoot": __version__, "limit": limit, "environment": manifest.environment(), "config": chosen}
    write_json(json_file, support.as_json(one.name, reports, about))
    _show(one.name, reports)


def _show(name: str, reports: Sequence[SupportReport]) -> None:
    ways = [*reports[0].baselines] if reports else []
    table = headed(["set"], ["claims", "positive", "ROC-AUC", *ways])
    for one in reports:
        beside = [share(one.baselines[way].value) for way in ways]
        table.add_row(short(one.name), f"{one.claims:,}", share(one.positive), figure(one.roc_auc), *beside)
    means = [share(support.mean(one.baselines[way] for one in reports)) for way in ways]
    table.add_row("mean", "", "", share(support.mean(one.roc_auc for one in reports)), *means)
    verdicts = headed(["set"], ["supported, and is", "of those that are", "undecided", "words F1", "claims/s"])
    for one in reports:
        speed = NONE if one.per_second is None else f"{one.per_second:,.1f}"
        verdicts.add_row(
            short(one.name), of(one.precision), of(one.recall), of(one.undecided), share(one.word_f1), speed
        )
    for shown in (table, verdicts):
        out.print(shown)
        out.print()
    out.say(f"{name}; in square brackets 95 % intervals, from a bootstrap over evidences", "dim")
