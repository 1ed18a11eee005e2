"""Tells from a language model's name how large it is."""

import re

SMALL = 4.0
"""Billions of parameters below which a model is small: it neither tells well where its sources do not answer, nor keeps
to them."""
_PARAMETERS = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([bm])(?![a-z\d])", re.IGNORECASE)


def is_small(model: str) -> bool:
    """True where the name gives a size below `SMALL`, as "qwen2.5-coder-1.5b" does; one without is large."""
    sizes = [float(number) / (1 if unit in "bB" else 1000) for number, unit in _PARAMETERS.findall(model)]
    return bool(sizes) and max(sizes) < SMALL
