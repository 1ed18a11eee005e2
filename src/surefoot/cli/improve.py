"""`surefoot improve`: diagnose, try what is proposed, and keep what is shown to help on held-out questions."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Argument, Option

from surefoot.cli import _questions as questions
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import counting, err, out, plain, tabled
from surefoot.config import settings as configuration
from surefoot.config.settings import read_file
from surefoot.evaluate import patch
from surefoot.evaluate.diagnose.settings import SYSTEM
from surefoot.evaluate.improve import loop
from surefoot.evaluate.improve.items import effect
from surefoot.evaluate.improve.ledger import Outcome, Proposal, Trial, expected, interval, points
from surefoot.evaluate.improve.plan import ImprovementPlan, scoring_by
from surefoot.evaluate.improve.system import of_system
from surefoot.evaluate.patch import Patch
from surefoot.run import manifest
from surefoot.types.errors import UsageError

WORKERS = 4
"""Questions at a time."""


def improve(
    data: Annotated[
        Path | None, Argument(metavar="[DATA]", help="Labelled questions, as `surefoot lab qa` takes them.")
    ] = None,
    run: Annotated[
        Path | None,
        Option("--run", metavar="FOLDER", help="Folder for traces and ledger; a run that is there goes on."),
    ] = None,
    apply: Annotated[bool, Option("--apply", help="Write what is kept into the configuration.")] = False,
    revert: Annotated[
        Path | None,
        Option("--revert", metavar="FOLDER", help="Bring back the configuration as it was before this run's patch."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Diagnose, show patches and their cost, stop.")] = False,
    own: Annotated[
        list[Path] | None,
        Option("--try", metavar="FILE", help="Settings, as surefoot.toml has them, to try as well; again for more."),
    ] = None,
    metric: Annotated[
        str | None,
        Option(
            "--metric",
            metavar="NAME",
            help="The score that has to gain: a rule for gold answers (unnamed: match_lower), f1 or another wording, "
            "or a metric of the diamond, by the judge that is configured for it.",
        ),
    ] = None,
    outside: Annotated[bool, Option("--outside", help="Let a patch ask other machines.")] = False,
    system: Annotated[
        str | None,
        Option(
            "--system",
            metavar="COMMAND",
            help="Improve another RAG system: a command that reads a line of JSON for each question and writes one "
            "for its answer, or an address that takes such a POST.",
        ),
    ] = None,
    levers: Annotated[
        Path | None,
        Option("--levers", metavar="FILE", help="What can be changed of that system: 'k = [3, 5, 10]', the first now."),
    ] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Diagnose, try each proposed change, and show on held-out questions which helps.

    Half of the questions serve to diagnose and to choose: each change is tried on the cases that call for it and on as
    many others. The other half shows the best beside a placebo. What helps is written into the configuration with
    --apply.
    """
    file = Path(config or configuration.FILE)
    if revert:
        out.say(f"{patch.revert(revert, file)} is as it was before")
        return
    if data is None:
        raise UsageError("name the questions: surefoot improve DATA --run FOLDER")
    if apply and settings:
        raise UsageError("--apply writes what was measured, and --set is in no file; put those settings into it first")
    if bool(system) != bool(levers) or (system and apply):
        raise UsageError("--system and --levers go together, without --apply: only you can set that system's levers")
    chosen = questions.question_run("improve", data, configured(config, settings, None), run)
    examples = chosen.loaded.examples
    plan = ImprovementPlan(
        examples,
        chosen.config,
        chosen.folder,
        scoring_by(metric, examples, chosen.config),
        partial(questions.spread, workers=WORKERS),
        counting,
        own={path.stem: {SYSTEM: read_file(path)} if system else read_file(path) for path in own or []},
        about={**chosen.about, "file": manifest.fingerprint(file) if file.exists() else None},
        outside=outside,
    )
    with of_system(plan, system, levers) if system and levers else nullcontext(plan) as plan:
        if dry_run:
            text = file.read_bytes().decode() if file.exists() else ""
            _offered(loop.proposals(plan), patch.shown if system else partial(patch.diff, text))
        else:
            done = loop.improve(plan)
            _show(done)
            _applied(done, file, chosen.folder, apply, bool(system))
    err.say(f"to look at it: surefoot view {chosen.folder}", "dim")


def _applied(done: Outcome, file: Path, folder: Path, wanted: bool, theirs: bool) -> None:
    if not done.patch:
        out.print("nothing is kept: no change is shown to help on the held-out half")
        return
    out.say(f"kept: {patch.shown(done.patch)}")
    if not wanted:
        out.print("set this in your system" if theirs else "write it into the configuration with --apply")
        return
    patch.apply(file, done.patch, folder)
    named = "" if file == configuration.FILE else f" --config {file}"
    out.say(f"written into {file}; undo with: surefoot improve --revert {folder}{named}")


def _show(done: Outcome) -> None:
    out.print(_table(done.trials))
    out.print()
    for trial in done.trials:
        if trial.item and trial.name == f"item {trial.item}":
            out.say(f"{trial.name}. {trial.title}", "bold")
        out.say(f"{trial.name}: {patch.shown(trial.patch)}", "dim")
        out.say(trial.because)
    halves = f"{done.questions['development']} questions to choose on, {done.questions['held-out']} held out"
    out.say(f"points of {done.metric}, 95 % intervals; p after Holm; {halves}", "dim")
    if done.needed:
        out.say(f"of the held-out ones a change has to turn at least {done.needed} right to be shown better", "dim")


def _table(trials: Sequence[Trial]) -> Table:
    """Within 80 columns: what a trial changes stands below."""
    rows = []
    for one in trials:
        chosen = points(one.development.difference if one.development else None)
        held = points(one.realised.difference if one.realised else None)
        cells = effect(one.on_cases), effect(one.on_others), chosen, held, interval(one.realised)
        rows.append((plain(f"{one.name}, kept" if one.kept else one.name), *cells))
    return tabled(["tried"], ["own cases", "others", "chosen on", "held out", "95 % interval"], rows)


def _offered(proposals: Sequence[Proposal], shown: Callable[[Patch], str]) -> None:
    """Print each patch, of our own configuration as a diff of its file, with the cost of trying it."""
    for one in proposals:
        out.say(f"{one.trial.name}: {one.trial.title}", "bold")
        if one.refused:
            err.say(f"not tried: {one.refused}", "yellow")
            continue
        for line in shown(one.trial.patch).splitlines():
            out.say(line[:1] + plain(line[1:]))
        out.say(f"predicted {points(one.trial.predicted)} points; {expected(one.cost)}")
    if not proposals:
        out.print("nothing to try: the diagnosis proposes no change of settings")
