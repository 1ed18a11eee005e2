"""People's labels of records: ratings, or yes and no."""

from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records import rows
from surefoot.types.errors import UsageError

NAMES = "label", "rating", "value"
"""Names of a label's field, by default; the first that is there counts."""
GOOD_SHARE = 0.6
"""A rating above this share of its scale is good: 4 and 5 of five, 3 and 4 of four."""
ANSWER = "answer"
"""In place of a metric: the label is of the whole answer."""
_TRUTHS: dict[str, bool] = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Label:
    """A person's verdict on a record."""

    record_id: str
    metric: str
    share: float
    """The place on the scale: 0 its lowest, 1 its highest; of yes and no, 1 is yes."""
    binary: bool = False
    group: str = ""
    """The group of the record; empty: not said here."""
    by: str = ""
    """The person; empty: not named."""

    @property
    def good(self) -> bool:
        """True for a yes, and for a rating above `GOOD_SHARE` of its scale."""
        return self.share > (0.5 if self.binary else GOOD_SHARE)


def labelled(
    path: str | Path, metric: str = "", label: str = "", scale: tuple[float, float] = (1, 5)
) -> tuple[Label, ...]:
    """The labels of a file: JSON lines, a JSON list, or a table with a heading.

    A line has `id` and the label: `label`, `rating` or `value`, or the field that `label` names. `true` and `false` say
    yes and no; so do 0 and 1 where they are all that a metric has, 0 among them, and the scale begins higher. Other
    numbers lie on the scale. The line's own metric comes before `metric`; `group` is kept, and `by` or
    `labeller` names the person. Lines without a label are passed over.

    Raises UsageError, naming the line, for a label that is none.
    """
    names, labels = [label] if label else NAMES, []
    for where, row in rows.parsed(Path(path), Problems())[1]:
        if not isinstance(row, dict):
            raise UsageError(f"{where} is no label, which is an object of JSON; take it out, or name another file")
        if (raw := next((row[name] for name in names if row.get(name) not in (None, "")), None)) is not None:
            labels.append((where, _label(where, row, metric, raw)))
    if not labels:
        raise UsageError(f"{path} has no label: no line has {' or '.join(names)}; see --label")
    values: defaultdict[str, set[float]] = defaultdict(set)
    for _, one in labels:
        values[one.metric].add(one.share)
    binary = {name for name, mine in values.items() if scale[0] > 0 and mine in ({0.0}, {0.0, 1.0})}
    binary |= {one.metric for _, one in labels if one.binary}
    scaled = []
    for where, one in labels:
        low, high = (0.0, 1.0) if one.metric in binary else scale
        if not low <= one.share <= high:
            text = f"{where}: {one.share:g} does not lie between {low:g} and {high:g}"
            raise UsageError(f"{text}; give the scale with --scale")
        scaled.append(replace(one, share=(one.share - low) / (high - low), binary=one.metric in binary))
    return tuple(scaled)


def _label(where: str, row: dict[str, Any], metric: str, raw: Any) -> Label:
    """The label as it stands in the file: `share` is its number, and `binary` says that it is true or false."""
    raw = _TRUTHS.get(raw.strip().lower(), raw) if isinstance(raw, str) else raw  # as tables write them
    id, named, group = row.get("id", row.get("record_id")), str(row.get("metric") or metric), row.get("group")
    if not isinstance(id, str | int) or not str(id):
        raise UsageError(f"{where} has no id, which names a record")
    if not named:
        raise UsageError(f"{where} names no metric; give it with --metric")
    try:
        number = float(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{where}: the label {str(raw)[:40]!r} is no number, nor true or false") from error
    person = row.get("by") or row.get("labeller") or ""
    return Label(str(id), named, number, isinstance(raw, bool), "" if group is None else str(group), str(person))
