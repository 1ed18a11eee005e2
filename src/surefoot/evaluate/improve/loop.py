"""The improvement loop: ask, score, diagnose, try the proposals, and keep what helps on unseen questions.

Questions are split by hash. The development half is asked with the configuration, which is diagnosed, and with each
proposed patch; the held-out half once with the baseline, the best patch, the best combination, and two controls of as
many settings. All runs share questions, index, judges and seeds, which `run.json` records.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from surefoot.config.settings import Config, read
from surefoot.evaluate.ask import runs
from surefoot.evaluate.ask.choices import RULES
from surefoot.evaluate.ask.questions import Example, folded, hashed
from surefoot.evaluate.ask.runs import Arm
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve import controls
from surefoot.evaluate.improve.ledger import CONTROLS, Cost, Kind, Outcome, Proposal, Trial
from surefoot.evaluate.improve.plan import Half, ImprovementPlan, answer_text, record, searched_index
from surefoot.evaluate.improve.proof import ALPHA, Control, Difference, adjusted, needed, paired, values, verdict
from surefoot.evaluate.patch import Patch, joined, size, tried
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
"""Fewest questions in a half: of fewer, not even all turned right would be significant among four arms."""

LEDGER, DIAGNOSIS = "ledger.jsonl", "diagnosis.json"


@dataclass(frozen=True, slots=True)
class _Ran:
    """One configuration on one half."""

    records: list[Record]
    scores: Sequence[Score]
    seconds: float
    """Median per question."""


def proposals(plan: ImprovementPlan) -> tuple[Proposal, ...]:
    """Run and diagnose the configuration on the development half, and dry-run each proposal: is it allowed, does it
    build, what would it cost? Resumes what was begun in the plan's folder."""
    loop = _Loop(plan, _about(plan))
    with loop.claimed():
        return loop.proposals(loop.ran("development", BASELINE, plan.config))


def improve(plan: ImprovementPlan) -> Outcome:
    """Run the whole loop, or resume it; the plan's folder gets the ledger and the diagnosis.

    Asks the development half once for the baseline, each proposal and each combination (fewer than proposals). If one
    is better there, asks the held-out half once for at most five arms: baseline, best, combination, placebo, random
    lever. Raises UsageError for too few questions, and where index or settings differ from those of the run in the
    folder.
    """
    loop = _Loop(plan, _about(plan))
    with loop.claimed():
        before = loop.ran("development", BASELINE, plan.config)
        trials = [loop.trial(one, before) for one in loop.proposals(before)]
        arms = loop.arms(trials, before)
        done = loop.outcome(trials, arms)
        if _index(plan) != loop.about["index"]:
            raise UsageError("the index was changed while it was searched; nothing is shown; improve in a new folder")
        loop.write(done)
        return done


@dataclass(frozen=True, slots=True)
class _Loop:
    """A plan at work; `about` is the record of its runs."""

    plan: ImprovementPlan
    about: dict[str, Any]

    def claimed(self) -> AbstractContextManager[None]:
        """Hold the folder against other processes."""
        for half in ("development", "held-out"):
            if len(self.plan.half(half)) < LEAST:
                few = f"the {half} half has {len(self.plan.half(half))} questions and needs {LEAST}"
                raise UsageError(f"{few}; give more questions")
        return Run(self.plan.folder, self.about, LEDGER).held()

    def ran(self, half: Half, name: str, config: Config) -> _Ran:
        """The configuration on one half; finished questions are reused."""
        arm = Arm(name, lambda pipeline, one: pipeline.run(one.question))

        def spread(arm: Arm, missing: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
            if missing:
                with self.plan.spreading(config) as ask:
                    yield from ask(arm, missing)

        folder, examples = self.plan.folder / half, self.plan.half(half)
        with self.plan.watching(f"{half}: {name}") as on_done:
            about = {**self.about, "config": config, "half": half}
            [(_, traces)] = runs.run([arm], examples, spread, folder, about, on_done)
        records = [record(example, trace) for example, trace in zip(examples, traces, strict=True)]
        scores = self.plan.scoring.scores(records, folder / runs.place(name))
        if not values(scores, self.plan.scoring.metric):
            raise UsageError(f"no record has a score of the metric '{self.plan.scoring.metric}'; name another")
        return _Ran(records, scores, median(sum(step.seconds for step in trace.steps) for trace in traces))

    def proposals(self, before: _Ran) -> tuple[Proposal, ...]:
        """The proposals after their dry runs, the user's own first."""
        named: list[tuple[str, str, Patch, float | None]]
        named = [(name, "given to be tried", patch, None) for name, patch in self.plan.own.items()]
        metric = self.plan.scoring.metric
        decides = ("factuality" if metric in RULES else metric,)
        items = [item for item in self.diagnosis(before).items if item.patch]
        for n, item in enumerate(items, start=1):
            gain = item.predicted if item.metrics[:1] == decides else None  # of another metric it says nothing here
            named.append((f"item {n}", item.title, item.patch, gain))
        places = [*map(runs.place, (BASELINE, *CONTROLS)), *(runs.place(name) for name, *_ in named)]
        if taken := [name for name, *_ in named if places.count(runs.place(name)) > 1 or " + " in name]:
            raise UsageError(f"a patch cannot be called '{taken[0]}', which is another arm's name; rename its file")
        return tuple(self._proposal(*one, before) for one in named)

    def diagnosis(self, before: _Ran) -> Diagnosis:
        """The diagnosis, made once and read again when the run is resumed."""
        path = self.plan.folder / DIAGNOSIS
        if path.exists():
            return read_value(path, Diagnosis)
        # The rules know "right by the gold answers" as factuality, so the gain that they predict is of that metric.
        known = [replace(s, metric="factuality") if s.metric in RULES else s for s in before.scores]
        made = self.plan.diagnose(before.records, known, summaries(known, {}), self.plan.config)
        write_value(path, made)
        return made

    def trial(self, proposal: Proposal, before: _Ran, kind: Kind = "item") -> Trial:
        """The trial of a proposal on the development half."""
        made = Trial(proposal.name, kind, proposal.title, proposal.patch, proposal.predicted)
        if proposal.config is None:
            return replace(made, because=f"not tried: {proposal.refused}")
        ran = self.ran("development", proposal.name, proposal.config)
        made = replace(made, seconds=ran.seconds)
        if not (found := self._compared(before, ran)):
            return replace(made, because="could not be scored on the development half")
        gain, because = found.gain, "better on the development half, and not the best"
        if gain.difference <= 0:  # the best gets its verdict from the held-out half
            harmful = gain.difference < 0 and gain.p < ALPHA
            because = f"{'harmful' if harmful else 'no better'} on the development half (p = {gain.p:.2g})"
        return replace(made, development=gain, because=because)

    def arms(self, trials: Sequence[Trial], before: _Ran) -> list[Trial]:
        """The arms for the held-out half: best trial, best combination, controls; empty: nothing is better so far."""
        good = [trial for trial in trials if trial.development and trial.development.difference >= 0]
        good.sort(key=lambda trial: _order(trial.development, trial.patch))
        if not (good and good[0].development and good[0].development.difference):
            return []
        whole = self._together(good, before)
        chosen = [good[0]] + ([whole] if whole else [])
        plan, patch = self.plan, chosen[-1].patch
        nothing = controls.placebo(plan.config, size(patch), plan.seed)
        chance = controls.random_lever(plan.config, size(patch), plan.seed, patch, plan.outside, plan.levers)
        text = f"{size(chance)} of the other settings at random (seed {plan.seed})"
        placebo = Trial("placebo", "placebo", "the values that are in effect already, written out", nothing, None)
        return [*chosen, placebo, Trial("random lever", "random lever", text, chance, None)]

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
        kept = winner.patch if winner else {}
        return Outcome(self.plan.scoring.metric, questions, (*shown, *by_name.values()), kept, enough)

    def write(self, done: Outcome) -> None:
        """Write the ledger, and the diagnosis with realised gains, each whole or not at all."""
        folder = self.plan.folder
        lines = [spelled({"key": t.name, "value": to_json(t)}) + "\n" for t in done.trials]
        write_text(folder / LEDGER, "".join(lines))
        realised = [(t.patch, t.realised) for t in done.trials if t.realised and t.kind == "item"]
        made = read_value(folder / DIAGNOSIS, Diagnosis)
        items = tuple(replace(i, realised=next((g for p, g in realised if p == i.patch), None)) for i in made.items)
        write_value(folder / DIAGNOSIS, replace(made, items=items))

    def _proposal(self, name: str, title: str, patch: Patch, predicted: float | None, before: _Ran) -> Proposal:
        try:
            config = tried(self.plan.config, patch, self.plan.outside)
        except SurefootError as error:
            return Proposal(name, title, patch, predicted, None, str(error), None)
        return Proposal(name, title, patch, predicted, config, "", _cost(before.records, self.plan.config, config))

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
            proposal = self._proposal(name, "the best together", both, predicted, before)
            made = self.trial(proposal, before, "combination")
            if made.development and _order(made.development, made.patch) < _order(best.development, best.patch):
                best = made
        return best if best.kind == "combination" else None

    def _judged(self, arms: Sequence[Trial], before: _Ran) -> list[Trial]:
        """The arms with their gains on the held-out half; at most one is kept: of two that help, the one that helps
        more, and of equals the one that changes less."""
        ran = {arm.name: self.ran("held-out", arm.name, read(self.plan.config, arm.patch)) for arm in arms}
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
        pairs = zip(before.records, ran[arm.name].records, strict=True)
        changed = sum(answer_text(one) != answer_text(other) for one, other in pairs)
        arm = replace(arm, seconds=ran[arm.name].seconds, changed=changed)
        if not (mine := found[arm.name]):
            return replace(arm, because="could not be scored on the held-out half")
        arm = replace(arm, realised=mine.gain, p=p[arm.name])
        if arm.kind in CONTROLS:
            text = f"{changed} of {len(before.records)} answers differ from the baseline's"
            return replace(arm, because=f"a control: {text}")
        beside: dict[str, Control] = {}
        for name in CONTROLS:
            if not (other := found[name]):
                return replace(arm, because=f"the {name} could not be scored, so that nothing is shown")
            beside[name] = Control(other, p[name], self._compared(ran[name], ran[arm.name]))
        better, because = verdict(mine, p[arm.name], beside)
        return replace(arm, kept=better, because=because)

    def _compared(self, before: _Ran, after: _Ran) -> Difference | None:
        groups = {r.id: r.group or folded(r.question) for r in before.records}
        metric = self.plan.scoring.metric
        return paired(metric, values(before.scores, metric), values(after.scores, metric), groups)


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
    longer = SystemSettings(after).now("pipeline.k") / SystemSettings(before).now("pipeline.k")
    steps = [step for record in records if record.trace for step in record.trace.steps]
    seconds = sum(step.seconds * (longer if step.name in ("grade", "refine") else 1) for step in steps)
    return Cost(len(records), seconds, sum(step.calls for step in steps), sum(step.tokens for step in steps))


def _order(gain: Gain | None, patch: Patch) -> tuple[float, int]:
    """Sorts the largest gain first, and of equals the smallest patch."""
    return (-gain.difference if gain else 0.0, size(patch))
