"""Action items after their trials: the figures of their own cases and of as many other records, helpful ones first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from surefoot.evaluate.ask.choices import RULES
from surefoot.evaluate.diagnose.diagnosis import PROVE, to_set
from surefoot.evaluate.diagnose.settings import SystemSettings, named
from surefoot.evaluate.improve.ledger import Trial
from surefoot.stats.text import percent
from surefoot.types import ActionItem, Gain


def effect(gain: Gain | None) -> str:
    """A gain as counts, such as "0 → 7 of 12", or, of a metric that does not count, as means."""
    if gain is None:
        return "–"
    if gain.metric in RULES:
        before, after = (round(mean * gain.questions) for mean in (gain.before, gain.after))
        return f"{before} → {after} of {gain.questions}"
    return f"{percent(gain.before)} → {percent(gain.after)} over {gain.questions}"


def total(trial: Trial) -> float:
    """The sum of what a trial gained on its own cases and on the others."""
    return sum(gain.difference * gain.questions for gain in (trial.on_cases, trial.on_others) if gain)


def helps(trial: Trial) -> bool:
    """True if the item's own cases gain, and by more than the others lose."""
    return trial.on_cases is not None and trial.on_cases.difference > 0 and total(trial) > 0


def figures(trial: Trial) -> str:
    """What the trial came to on both, in words."""
    return f"own cases {effect(trial.on_cases)}, others {effect(trial.on_others)}"


def after_trials(
    items: Sequence[ActionItem], trials: Sequence[Trial], config: Mapping[str, Any]
) -> tuple[ActionItem, ...]:
    """Each item with the best of its patches and with its figures in place of the prediction; those without gain, which
    say so, come last."""
    made = []
    for number, item in enumerate(items, start=1):
        mine = [trial for trial in trials if trial.item == number]
        best = max(mine, key=lambda trial: (helps(trial), total(trial)), default=None)
        if best and best.on_cases:
            made.append((not helps(best), _tried(item, best, config)))
        else:  # a single case is no sample, and what was not allowed has no figures
            made.append((False, replace(item, realised=best.realised if best else None)))
    return tuple(item for _, item in sorted(made, key=lambda one: one[0]))


def _tried(item: ActionItem, best: Trial, config: Mapping[str, Any]) -> ActionItem:
    settings = SystemSettings(config)
    now = settings.now if settings.ours else named(settings.values).get
    text = f"{'Tried' if helps(best) else 'Tried, no gain'}: {figures(best)}."
    protocol = item.recommended_protocol.replace(to_set(item.patch, now), to_set(best.patch, now))
    gist = item.recommended_protocol_gist.replace(to_set(item.patch), to_set(best.patch))
    return replace(
        item,
        recommended_protocol=f"{protocol.partition(' Expected: ')[0]} {text}",
        recommended_protocol_gist=gist.replace(PROVE, text),
        patch=best.patch,
        alternatives=(),
        predicted=None,
        on_cases=best.on_cases,
        on_others=best.on_others,
        realised=best.realised,
    )
