"""The improvement loop: ask, score, diagnose, try the proposals, and keep what helps on unseen questions.

Questions are split by hash. The development half is asked with the configuration, which is diagnosed. Each patch of an
item is tried on the item's own cases and on as many other records; those that help there, and the user's own, are run
on the whole half. The held-out half is asked once with the baseline, the best patch, the best combination, and a
placebo. All runs share questions, index, judges and seeds, which `run.json` records.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from surefoot.config.settings import Config
from surefoot.evaluate import evaluation
from surefoot.evaluate.ask import runs
from surefoot.evaluate.ask.choices import RULES
from surefoot.evaluate.ask.questions import Example, folded, hashed
from surefoot.evaluate.ask.runs import Arm
from surefoot.evaluate.diagnose.diagnosis import ScoredRun
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve import controls
from surefoot.evaluate.improve.items import after_trials, figures, helps, total
from surefoot.evaluate.improve.ledger import PLACEBO, Cost, Outcome, Proposal, Trial
from surefoot.evaluate.improve.plan import Half, ImprovementPlan, answer_text, record, searched_index
from surefoot.evaluate.improve.proof import ALPHA, Control, Difference, adjusted, needed, paired, values, verdict
from surefoot.evaluate.patch import Patch, joined, size
from surefoot.evaluate.score.scoring import RECORDS, SCORES, key
from surefoot.evaluate.score.summaries import summaries
from surefoot.run import manifest
from surefoot.run.store import Run, read_value, to_json, write_text, write_value
from surefoot.text.json_values import spelled
from surefoot.types import Diagnosis, Gain, Record, Score, Trace
from surefoot.types.errors import SurefootError, UsageError

BASELINE = "baseline"
TOGETHER = 3
"""Most patches in a combination."""
LEAST = 8
"""Fewest questions in a half: of fewer, not even all turned right would be significant among three arms."""
DRAWS = 5
"""Random patches of which the placebo is the one that changes most nearly as many answers as the change does."""
PROBED = 30
"""Questions on which the answers that they change are counted."""

LEDGER, PROPOSED = "ledger.jsonl", "proposed.json"
"""The trials; and the diagnosis before them."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """One configuration on one half."""

    records: list[Record]
    scores: Sequence[Score]


def proposals(plan: ImprovementPlan) -> tuple[Proposal, ...]:
    """Run and diagnose the configuration on the development half, and dry-run each proposal: is it allowed, does it
    build, what would it cost? Resumes what was begun in the plan's folder."""
    loop = _Loop(plan, _about(plan))
    with loop.claimed():
        return loop.proposals(loop.ran("development", BASELINE, plan.config))


def improve(plan: ImprovementPlan) -> Outcome:
    """Run the whole loop, or resume it; the plan's folder gets the ledger and the diagnosis.

    Asks the development half once for the baseline, each of the user's patches, each of an item's that helps its own
    cases, and each combination; of it `PROBED` questions up to `DRAWS` times more for the placebo. If one
    is better there, asks the held-out half once for at most four arms: baseline, best, combination, placebo. The folder
    is then that of an evaluation too, of the baseline on the development half. Raises UsageError for too few questions,
    and where index or settings differ from those of the run in the folder.
    """
    loop = _Loop(plan, _about(plan))
    with loop.claimed():
        before = loop.ran("development", BASELINE, plan.config)
        trials = [loop.trial(one, before) for one in loop.proposals(before)]
        arms = loop.arms(trials, before)
        done = loop.outcome(trials, arms)
        if _index(plan) != loop.about["index"]:
            raise UsageError("the index was changed while it was searched; nothing is shown; improve in a new folder")
        loop.write(done, before)
        return done


@dataclass(frozen=True, slots=True)
class _Loop:
    """A plan at work; `about` is the record of its runs."""

    plan: ImprovementPlan
    about: dict[str, Any]
    arms_by_config: dict[str, str] = field(default_factory=dict)
    """The name under which a configuration was run first, so that none is run twice."""

    def claimed(self) -> AbstractContextManager[None]:
        """Hold the folder against other processes."""
        for half in ("development", "held-out"):
            if len(self.plan.half(half)) < LEAST:
                few = f"the {half} half has {len(self.plan.half(half))} questions and needs {LEAST}"
                raise UsageError(f"{few}; give more questions")
        return Run(self.plan.folder, self.about, LEDGER).held()

    def ran(self, half: Half, name: str, config: Config, only: Collection[str] | None = None) -> _Ran:
        """The configuration on one half, or on `only` these of its questions; finished ones are reused."""
        name = self.arms_by_config.setdefault(spelled([half, config]), name)
        arm = Arm(name, lambda pipeline, one: pipeline.run(one.question))

        def spread(arm: Arm, missing: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
            if missing:
                with self.plan.spreading(config) as ask:
                    yield from ask(arm, missing)

        folder = self.plan.folder / half
        examples = [one for one in self.plan.half(half) if only is None or one.id in only]
        with self.plan.watching(f"{half}: {name}") as on_done:
            about = {**self.about, "config": config, "half": half}
            [(_, traces)] = runs.run([arm], examples, spread, folder, about, on_done)
        records = [record(example, trace) for example, trace in zip(examples, traces, strict=True)]
        # A judge's folder is of certain records; its replies are cached for all.
        scores = self.plan.scoring.scores(records, folder / runs.place(name) / ("" if only is None else "some"))
        if name == BASELINE and not any(v is not None for v in values(scores, self.plan.scoring.metric).values()):
            why = next((score.unscored_because for score in scores if score.unscored_because), "name another")
            raise UsageError(f"no record has a score of the metric '{self.plan.scoring.metric}': {why}")
        return _Ran(records, scores)

    def proposals(self, before: _Ran) -> tuple[Proposal, ...]:
        """The proposals after their dry runs, the user's own first."""
        own = self.plan.own.items()
        found = [Proposal(Trial(name, "item", "given to be tried", patch, None)) for name, patch in own]
        metric = self.plan.scoring.metric
        decides = ("factuality" if metric in RULES else metric,)
        for n, item in enumerate(self.diagnosis(before).items, start=1):
            gain = item.predicted if item.metrics[:1] == decides else None  # of another metric it says nothing here
            for letter, patch in zip(" bcdefgh", filter(None, (item.patch, *item.alternatives)), strict=False):
                name = f"item {n}{letter.strip()}"
                predicted = None if letter.strip() else gain
                found.append(Proposal(Trial(name, "item", item.title, patch, predicted, n), item.cases))
        names = [BASELINE, PLACEBO, *map(_draw, range(DRAWS)), *(one.trial.name for one in found)]
        places = [*map(runs.place, names)]
        if taken := [name for name in names if places.count(runs.place(name)) > 1 or " + " in name]:
            raise UsageError(f"a patch cannot be called '{taken[0]}', which is another arm's name; rename its file")
        return tuple(self._dry_run(one, before) for one in found)

    def diagnosis(self, before: _Ran) -> Diagnosis:
        """The diagnosis, made once and read again when the run is resumed."""
        path = self.plan.folder / PROPOSED
        if path.exists():
            return read_value(path, Diagnosis)
        made = self.plan.diagnose(self._scored(before))
        write_value(path, made)
        self._show(made, before)
        return made

    def trial(self, proposal: Proposal, before: _Ran) -> Trial:
        """The trial of a proposal: on its own cases and as many others first, then on the whole development half."""
        made = proposal.trial
        if proposal.config is None:
            return replace(made, because=f"not tried: {proposal.refused}")
        if proposal.cases:
            made = self._on_cases(made, proposal.cases, proposal.config, before)
            if made.on_cases and not helps(made):
                return replace(made, because=f"tried, no gain: {figures(made)}")
        ran = self.ran("development", made.name, proposal.config)
        if not (found := self._compared(before, ran)):
            return replace(made, because="could not be scored on the development half")
        gain, because = found.gain, "better on the development half, and not the best"
        if gain.difference <= 0:  # the best gets its verdict from the held-out half
            harmful = gain.difference < 0 and gain.p < ALPHA
            because = f"{'harmful' if harmful else 'no better'} on the development half (p = {gain.p:.2g})"
        return replace(made, development=gain, because=because)

    def _on_cases(self, trial: Trial, cases: Sequence[str], config: Config, before: _Ran) -> Trial:
        """The trial with its figures on these records and on as many others, drawn by the seed."""
        others = sorted(
            {one.id for one in before.records} - {*cases}, key=lambda id: hashed(f"{self.plan.seed}\n{id}", 16)
        )[: len(cases)]
        ran = self.ran("development", trial.name, config, {*cases, *others})
        own, rest = (self._compared(before, ran, only) for only in (cases, others))
        return replace(trial, on_cases=own.gain if own else None, on_others=rest.gain if rest else None)

    def arms(self, trials: Sequence[Trial], before: _Ran) -> list[Trial]:
        """The arms for the held-out half: best trial, best combination, placebo; empty: nothing is better so far."""
        good = [one for one in trials if (one.development.difference if one.development else _harmless(one)) >= 0]
        good.sort(key=lambda trial: _order(trial.development, trial.patch))
        if not (good and good[0].development and good[0].development.difference):
            return []
        whole = self._together(good, before)
        chosen = [good[0]] + ([whole] if whole else [])
        placebo = self._placebo(chosen[-1].patch, before)
        return [*chosen, placebo] if placebo else chosen

    def _placebo(self, patch: Patch, before: _Ran) -> Trial | None:
        """Other settings at random, those of several draws that change most nearly as many answers as the patch does;
        None: there are no others."""
        plan = self.plan
        some = sorted((one.id for one in before.records), key=lambda id: hashed(f"{plan.seed}\n{id}", 16))[:PROBED]

        def changed(name: str, one: Patch) -> int:
            ran = self.ran("development", name, self._config(one), some)
            return _changed([record for record in before.records if record.id in some], ran.records)

        goal, draws = changed("change", patch), list[tuple[int, int, Patch]]()
        for draw in range(DRAWS):
            many = size(patch) + draw // 2  # more of them, where as many change too little
            with suppress(UsageError):
                chance = controls.random_lever(
                    plan.config, many, f"{plan.seed}:{draw}", patch, plan.outside, plan.levers, plan.change
                )
                draws.append((abs(changed(_draw(draw), chance) - goal), draw, chance))
            if draws and 2 * min(draws)[0] <= goal:
                break
        if not draws:
            return None
        _, draw, chance = min(draws)
        text = f"{size(chance)} of the other settings at random (seed {plan.seed}, draw {draw + 1})"
        return Trial(PLACEBO, PLACEBO, text, chance, None)

    def outcome(self, trials: Sequence[Trial], arms: Sequence[Trial]) -> Outcome:
        """The verdict of the held-out half on the arms."""
        if arms:
            arms = self._judged(arms, self.ran("held-out", BASELINE, self.plan.config))
        winner = next((arm for arm in arms if arm.kept), None)
        by_name = {arm.name: arm for arm in arms}
        shown = [by_name.pop(trial.name, trial) for trial in trials]
        members = winner.name.split(" + ") if winner and winner.kind == "combination" else []
        shown = [replace(t, kept=True, because="kept in the combination") if t.name in members else t for t in shown]
        questions = {half: len(self.plan.half(half)) for half in ("development", "held-out")}
        enough = needed(len(arms)) if arms else 0
        patch = winner.patch if winner else {}
        return Outcome(self.plan.scoring.metric, questions, (*shown, *by_name.values()), patch, enough)

    def write(self, done: Outcome, before: _Ran) -> None:
        """Write the ledger, and the diagnosis with the figures of its items, each whole or not at all."""
        _lines(self.plan.folder / LEDGER, {trial.name: trial for trial in done.trials})
        made = self.diagnosis(before)
        self._show(replace(made, items=after_trials(made.items, done.trials, self.plan.config)), before)

    def _show(self, made: Diagnosis, before: _Ran) -> None:
        """Write the evaluation of the baseline with this diagnosis, as `surefoot evaluate` does."""
        folder, run = self.plan.folder, self._scored(before)
        _lines(folder / RECORDS, {one.id: one for one in run.records})
        _lines(folder / SCORES, {key(one.record_id, one.metric): one for one in run.scores})
        evaluation.write(folder, run, made)

    def _scored(self, ran: _Ran) -> ScoredRun:
        """The run with its scores as the rules know them: right by the gold answers is factuality, so the gain that
        they predict is of that metric."""
        known = [replace(score, metric="factuality") if score.metric in RULES else score for score in ran.scores]
        return ScoredRun(ran.records, known, summaries(known, {}), self.plan.config, levers=self.plan.levers)

    def _config(self, patch: Patch) -> Config:
        return self.plan.change(self.plan.config, patch, self.plan.outside)

    def _dry_run(self, proposal: Proposal, before: _Ran) -> Proposal:
        try:
            config = self._config(proposal.trial.patch)
        except SurefootError as error:
            return replace(proposal, refused=str(error))
        return replace(proposal, config=config, cost=_cost(before.records, self.plan.config, config))

    def _together(self, good: Sequence[Trial], before: _Ran) -> Trial | None:
        """The best trial joined, one by one, with each that makes it better still; None: none does. Trials that change
        nothing alone are tried too: how passages are read matters only where there are several."""
        best = good[0]
        for one in good[1:]:
            both = joined(best.patch, one.patch)
            if both is None or both == best.patch or best.name.count(" + ") + 1 >= TOGETHER:
                continue
            known = [gain for gain in (best.predicted, one.predicted) if gain is not None]
            name, predicted = f"{best.name} + {one.name}", sum(known) if known else None
            proposal = Proposal(Trial(name, "combination", "the best together", both, predicted))
            made = self.trial(self._dry_run(proposal, before), before)
            if made.development and _order(made.development, made.patch) < _order(best.development, best.patch):
                best = made
        return best if best.kind == "combination" else None

    def _judged(self, arms: Sequence[Trial], before: _Ran) -> list[Trial]:
        """The arms with their gains on the held-out half; at most one is kept: of two that help, the one that helps
        more, and of equals the one that changes less."""
        ran = {arm.name: self.ran("held-out", arm.name, self._config(arm.patch)) for arm in arms}
        found = {name: self._compared(before, one) for name, one in ran.items()}
        judged = [self._with_verdict(arm, ran, found, before) for arm in arms]
        better = sorted((arm for arm in judged if arm.kept), key=lambda arm: _order(arm.realised, arm.patch))
        for arm in better[1:]:
            judged[judged.index(arm)] = replace(arm, kept=False, because=f"{arm.because}; less than the other")
        return judged

    def _with_verdict(
        self, arm: Trial, ran: Mapping[str, _Ran], found: Mapping[str, Difference | None], before: _Ran
    ) -> Trial:
        p = adjusted(found)
        changed = _changed(before.records, ran[arm.name].records)
        arm = replace(arm, changed=changed)
        if not (mine := found[arm.name]):
            return replace(arm, because="could not be scored on the held-out half")
        arm = replace(arm, realised=mine.gain, p=p[arm.name])
        text = f"{changed} of {len(before.records)} answers differ from the baseline's"
        if arm.kind == PLACEBO:
            return replace(arm, because=f"a control: {text}")
        control = None
        if PLACEBO in ran:
            if not (other := found[PLACEBO]):
                return replace(arm, because="the placebo could not be scored, so that nothing is shown")
            control = Control(other, p[PLACEBO], self._compared(ran[PLACEBO], ran[arm.name]))
        better, because = verdict(mine, p[arm.name], control)
        return replace(arm, kept=better, because=f"{because}; {text}")

    def _compared(self, before: _Ran, after: _Ran, only: Collection[str] | None = None) -> Difference | None:
        groups = {r.id: r.group or folded(r.question) for r in before.records}
        metric = self.plan.scoring.metric
        first, second = values(before.scores, metric), values(after.scores, metric)
        if only is not None:
            first = {id: value for id, value in first.items() if id in only}
        return paired(metric, first, second, groups)


def _about(plan: ImprovementPlan) -> dict[str, Any]:
    halves = {half: [example.id for example in plan.half(half)] for half in ("development", "held-out")}
    split = {half: {"questions": len(ids), "ids": hashed("\n".join(ids), 16).hex()} for half, ids in halves.items()}
    return {
        **plan.about,
        "config": plan.config,
        "index": _index(plan),
        "judges": list(plan.scoring.judges),
        "metric": plan.scoring.metric,
        "seed": plan.seed,
        "split": {"by": "hash of the seed and the question's words", **split},
        "outside": plan.outside,
        "own": to_json(dict(plan.own)),
    }


def _index(plan: ImprovementPlan) -> str | None:
    """Hash of the index that is searched, if any."""
    path = searched_index(plan.config)
    return None if path is None else manifest.fingerprint(path)


def _cost(records: Sequence[Record], before: Config, after: Config) -> Cost:
    """The cost at the baseline's pace; grading and reading take as long for each passage of a longer list."""
    first, second = (SystemSettings(config).now("pipeline.k") or 1 for config in (before, after))
    longer = second / first
    steps = [step for record in records if record.trace for step in record.trace.steps]
    seconds = sum(step.seconds * (longer if step.name in ("grade", "refine") else 1) for step in steps)
    return Cost(len(records), seconds, sum(step.calls for step in steps), sum(step.tokens for step in steps))


def _draw(number: int) -> str:
    return f"placebo draw {number + 1}"


def _changed(before: Sequence[Record], after: Sequence[Record]) -> int:
    """The number of records with another answer."""
    return sum(answer_text(one) != answer_text(other) for one, other in zip(before, after, strict=True))


def _harmless(trial: Trial) -> float:
    """From 0: a trial that went no further than its cases, and lost nothing there on the whole."""
    return total(trial) if trial.on_cases else -1.0


def _lines(path: Path, by_key: Mapping[str, Any]) -> None:
    """Write values as `Run.add` would, whole or not at all."""
    write_text(path, "".join(spelled({"key": key, "value": to_json(value)}) + "\n" for key, value in by_key.items()))


def _order(gain: Gain | None, patch: Patch) -> tuple[float, int]:
    """Sorts the largest gain first, and of equals the smallest patch."""
    return (-gain.difference if gain else 0.0, size(patch))
