"""The study: register the hypotheses, draw pairs, examine each once, and judge the claims.

Every result is written to the run's folder as it comes, so an interrupted study repeats only the pair under way, and
its report is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.progress import MofNCompleteColumn, TaskID
from typer import Argument, Option

from surefoot import __version__
from surefoot.cli._configuration import ConfigFile, Settings, configured
from surefoot.cli._console import bar, err, out, pulling
from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read as configuration
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import require_match
from surefoot.run.store import Run, described, read_value, to_json, write_value
from surefoot.types import Action, Thresholds
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Evaluator
from surefoot_lab.cli._options import Limit
from surefoot_lab.datasets import pairs as pair_files
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import graded
from surefoot_lab.probes import stock
from surefoot_lab.report import Form, Table, count, show
from surefoot_lab.study import report
from surefoot_lab.study.controls import Hashed, shuffled, weights
from surefoot_lab.study.examination import Examined, StudySettings, examined
from surefoot_lab.study.hypotheses import SHIPPED, Hypotheses, read, register
from surefoot_lab.study.kinds import rarity
from surefoot_lab.study.sample import PairSample, drawn, eligible
from surefoot_lab.study.verdicts import ConclusionVerdict, Finding, concluded, judged, questions

PAIRS = "pairs.jsonl"
"""In the run's folder: a line a pair, an `Examined` each."""
SAMPLE = "sample.json"
"""The pairs to examine, written once all pairs are graded."""

_OWN = StudySettings()

OnStage = Callable[[str, int, int], None]
"""Called with the stage ("grading", "explaining"), the number done, and the total."""


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A file of data."""

    path: str
    sha256: str
    questions: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Study:
    """The findings; they follow from the run's folder and the hypotheses alone."""

    evaluator: str
    thresholds: Thresholds
    files: tuple[StudyFile, ...]
    settings: StudySettings
    hypotheses: Hypotheses
    controls: tuple[str, ...]
    """Control evaluators, whose explanations must differ."""
    sample: PairSample
    """Without its candidates; the spread of its scores is the unit of all effects."""
    examined: int
    """Pairs."""
    questions: int
    named: int
    """Examined pairs whose question has a known subject."""
    noted: int
    """Examined pairs for whose attribution some texts could not be graded."""
    note: str
    """The first such pair's; empty: there is none."""
    findings: tuple[Finding, ...]
    conclusions: tuple[ConclusionVerdict, ...]
    tables: Sequence[Table]


def run(
    evaluator: Evaluator,
    files: Sequence[LabelledSet],
    hypotheses: Hypotheses,
    folder: Path,
    on_stage: OnStage,
    settings: StudySettings | None = None,
    thresholds: Thresholds | None = None,
    controls: Mapping[str, Evaluator] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Study:
    """Run the study in this folder, or resume it, and report.

    `thresholds` None: the evaluator's own; `about` is recorded with everything else that must be the same on resuming.
    Cost: one graded pair for each pair of the files, about `most` + 40 for each examined one, and five times that for a
    checked one. Raises UsageError where the folder holds another study or another process runs it, ComponentError where
    the evaluator fails; the study can then be resumed.
    """
    chosen, used, others = settings or StudySettings(), thresholds or evaluator.thresholds, controls or {}
    require_match(used, evaluator.name)
    known = tuple(StudyFile(f.path, f.sha256, len({p.question_id for p in f.pairs}), len(f.pairs)) for f in files)
    described = {
        **(about or {}),
        "study": 1,
        "evaluator": evaluator.name,
        "thresholds": to_json(used),
        "data": to_json(known),
        "settings": to_json(chosen),
        "controls": list(others),
    }
    selected = register(folder, hypotheses, described, PAIRS)
    with selected.held():
        every, too_long = eligible([pair for file in files for pair in file.pairs], chosen.longest)
        sample = _sampled(evaluator, every, too_long, folder / SAMPLE, chosen, used, partial(on_stage, "grading"))
        pairs = _examined(evaluator, every, sample, selected, chosen, others, partial(on_stage, "explaining"))
    if not sample.spread:
        raise UsageError(
            f"{evaluator.name} gives all {sample.graded:,} pairs the same score; there is nothing to explain"
        )
    among = questions(pairs, hypotheses.resamples, hypotheses.seed)
    findings = judged(pairs, hypotheses, among, sample.spread)
    return Study(
        evaluator=evaluator.name,
        thresholds=used,
        files=known,
        settings=chosen,
        hypotheses=hypotheses,
        controls=tuple(others),
        sample=replace(sample, candidates=()),
        examined=len(pairs),
        questions=len(among.numbers),
        named=sum(bool(one.subject) for one in pairs),
        noted=sum(bool(one.attribution.notes) for one in pairs),
        note=next((note for one in pairs for note in one.attribution.notes), ""),
        findings=findings,
        conclusions=concluded(findings, hypotheses.conclusions),
        tables=report.tables(pairs, among, sample.spread, used),
    )


def _sampled(
    evaluator: Evaluator,
    pairs: Sequence[LabelledPair],
    too_long: int,
    path: Path,
    settings: StudySettings,
    thresholds: Thresholds,
    on_done: OnDone,
) -> PairSample:
    """As it was drawn when the run began; else all pairs are graded now."""
    if not path.exists():
        if not pairs:
            raise UsageError(f"no passage has {settings.longest} words or fewer; allow longer ones")
        grades = graded(evaluator, pairs, on_done).grades
        sample = drawn(pairs, grades, thresholds, settings.per_action, settings.seed, too_long)
        if not sample.candidates:
            raise UsageError(f"{evaluator.name} could grade none of {len(pairs):,} pairs: {grades[0].reason}")
        write_value(path, sample)
    return read_value(path, PairSample)


def _examined(
    evaluator: Evaluator,
    pairs: Sequence[LabelledPair],
    sample: PairSample,
    selected: Run,
    settings: StudySettings,
    controls: Mapping[str, Evaluator],
    on_done: OnDone,
) -> list[Examined]:
    lent, rare = stock(pairs), rarity(pair.passage for pair in pairs)
    done = selected.values(Examined)
    places = {action: [one.key for one in sample.candidates if one.action is action] for action in Action}
    checked = {key for keys in places.values() for key in keys[: settings.checked]}
    for number, one in enumerate(sample.candidates):
        on_done(number, len(sample.candidates))
        if one.key not in done:
            done[one.key] = examined(one, evaluator, lent, rare, settings, controls if one.key in checked else None)
            selected.add(one.key, done[one.key])
    on_done(len(sample.candidates), len(sample.candidates))
    return [done[one.key] for one in sample.candidates]


def study(
    data: Annotated[list[Path], Argument(help="Questions with passages: lines of {id, question, passages}.")],
    folder: Annotated[Path, Option("--run", metavar="FOLDER", help="Keep everything here; resumes.")],
    claims: Annotated[
        Path | None, Option("--hypotheses", metavar="FILE.toml", help="Claims to test instead of the shipped ones.")
    ] = None,
    per_action: Annotated[int, Option("--per-action", min=1, help="Pairs of each action.")] = _OWN.per_action,
    checked: Annotated[
        int, Option("--checked", min=0, help="Pairs of these that are explained again in other ways.")
    ] = _OWN.checked,
    longest: Annotated[int, Option("--longest", min=1, help="Words of a passage; longer ones are left out.")] = (
        _OWN.longest
    ),
    tolerance: Annotated[
        float, Option("--tolerance", min=0.0, help="Largest error of a value, as a share of the largest value.")
    ] = _OWN.tolerance,
    most: Annotated[int, Option("--most", min=1, help="Graded texts of an explanation.")] = _OWN.most,
    seed: Annotated[int, Option("--seed", min=0, help="Seed of the sample and of the explanations.")] = _OWN.seed,
    limit: Limit = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Explain many grades, test the claims that were fixed before, and report.

    The claims are kept in the run's folder before anything is computed.
    """
    written, chosen = read(claims or SHIPPED), configured(config, settings, None)
    files = [pair_files.read(path, limit, by_answer=True) for path in data]
    depth = StudySettings(per_action, checked, longest, tolerance, most, seed)
    about = {"surefoot": __version__, "limit": limit, "config": chosen}
    with pulling():
        builder = Builder(chosen)
        others = _controls(chosen, builder, folder) if checked else {}
    with bar(MofNCompleteColumn()) as progress:
        tasks: dict[str, TaskID] = {}

        def results(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done, total=total)

        found = run(builder.evaluator, files, written, folder, results, depth, builder.thresholds, others, about)
    report.write(found, folder, described(folder))
    out.say(f"{found.evaluator}: {found.examined:,} pairs of {found.questions:,} questions")
    rows = [(one.claim.id, one.verdict, one.effect, one.effect.of, one.questions) for one in found.findings]
    words, numbers = dict.fromkeys(("claim", "verdict"), str), dict.fromkeys(("pairs", "questions"), count)
    columns: dict[str, Form] = {**words, "effect": report.signed, **numbers}
    note = "effect: in standard deviations of the score (95 % interval, bootstrap over questions)"
    show([Table("findings", columns, rows, note)])
    for one in found.conclusions:
        out.say(f"{one.conclusion.says} {one.verdict.upper()}, {one.because}")
    err.say(f"report in {folder / report.TEXT}", "dim")


def _controls(chosen: Config, builder: Builder, folder: Path) -> dict[str, Evaluator]:
    """Evaluators that must be explained differently: hashed grades, and minilm with shuffled weights."""
    own: Evaluator = builder.evaluator
    found: dict[str, Evaluator] = {"hashed": Hashed(own.thresholds)}
    if chosen["evaluator"]["use"] == "minilm":
        place = shuffled(weights(chosen["evaluator"].get("model")), folder / "shuffled")
        found["shuffled"] = Builder(configuration(chosen, {"evaluator": {"model": str(place)}})).evaluator
    return found
