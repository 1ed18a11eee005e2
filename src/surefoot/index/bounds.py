"""Passages of any source, cut to what an index would hold."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surefoot.documents.storable import LONGEST_TITLE
from surefoot.evidence.merge import by_id
from surefoot.index.splitter import LONGEST
from surefoot.run import meter
from surefoot.types import Passage

NAMED = 3  # ids that a step names, at most


def bounded(find: Callable[..., tuple[Passage, ...]], *inputs: Any) -> tuple[Passage, ...]:
    """The passages that `find(*inputs)` gives, over-long ones cut, and of several with one id the first. The step says
    so: older indexes, and what others bring, hold such passages."""
    found = find(*inputs)
    cut = tuple(replace(p, text=p.text[:LONGEST], title=p.title[:LONGEST_TITLE]) for p in found)
    if over := sum(before != after for before, after in zip(found, cut, strict=True)):
        meter.degrade(f"{over} of {len(found)} passages are longer than {LONGEST:,} characters and were cut there")
    distinct_ids = by_id(cut)
    if twice := len(cut) - len(distinct_ids):
        named = ", ".join([id for id, times in Counter(p.id for p in cut).items() if times > 1][:NAMED])
        meter.degrade(f"{twice} of {len(cut)} passages have the id of one before them and were left out: {named}")
    return distinct_ids
