"""The placebo of a change: other settings, drawn at random."""

import random
from collections.abc import Callable
from contextlib import suppress

from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.evaluate.diagnose.remedies import Levers
from surefoot.evaluate.diagnose.settings import SystemSettings, flat, settable
from surefoot.evaluate.patch import Patch, tried
from surefoot.text import toml_values
from surefoot.types.errors import UsageError

DRAWS = 50
"""Draws of a random patch before giving up."""

Change = Callable[[Config, Patch, bool], Config]
"""The configuration with a patch, which may ask other machines or not. Raises UsageError where it may not be tried."""

CHOICES = toml_values.beside(__file__, "controls.toml")
"""Settings that a random lever draws from, and their values: always, and where a searcher is configured."""
SHIFTS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""Shifts of the evaluator's own thresholds, in quarters of the distance between them."""


def random_lever(
    config: Config,
    settings: int,
    seed: int | str,
    chosen: Patch,
    outside: bool = False,
    levers: Levers | None = None,
    change: Change = tried,
) -> Patch:
    """A random patch that builds, the same for a seed. It leaves the settings of the chosen patch alone and changes as
    many others, or fewer where `DRAWS` draws find none. It draws from `levers`; None: those that fit. Raises UsageError
    where not even one can be changed."""
    chance = random.Random(f"{seed}:{settings}")  # noqa: S311 - no secret
    now, known = SystemSettings(config).now, settable(config) | flat(config).keys()
    free = {
        (section, key): others
        for (section, key), every in (_fitting(config) if levers is None else levers).items()
        if key not in chosen.get(section, {}) and f"{section}.{key}" in known
        if (others := [value for value in every if value != now(f"{section}.{key}")])
    }
    for many in range(min(settings, len(free)), 0, -1):
        for _ in range(DRAWS):
            patch: Patch = {}
            for section, key in chance.sample(sorted(free), many):
                patch.setdefault(section, {})[key] = chance.choice(free[section, key])
            with suppress(UsageError):
                change(config, patch, outside)
                return patch
    raise UsageError(f"no random patch could be built in {DRAWS} draws; there is nothing to hold a change against")


def _fitting(config: Config) -> Levers:
    own = Builder(config).evaluator.thresholds
    quarter = (own.upper - own.lower) / 4
    every = {"upper": own.upper, "lower": own.lower, "strip": own.strip}
    shifted = {("thresholds", k): tuple(round(v + shift * quarter, 3) for shift in SHIFTS) for k, v in every.items()}
    searches = config["searcher"].get("use") != "nowhere"
    tables = [of for name in ("always", "searching")[: 1 + searches] for of in CHOICES[name].items()]
    return {(section, key): tuple(some) for section, of in tables for key, some in of.items()} | shifted
