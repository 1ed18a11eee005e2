"""What people said of records, read from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot.evaluate.score.labels import Label, labelled
from surefoot.types.errors import UsageError


def read(folder: Path, *lines: str, name: str = "labels.jsonl", **options: Any) -> list[Label]:
    (folder / name).write_text("\n".join(lines) + "\n")
    return list(labelled(folder / name, **options))


def test_ratings_lie_between_one_and_five(tmp_path: Path) -> None:
    """1 is the scale's lowest end, 5 its highest; the group is kept, and a number may be an id."""
    line = '{"id": 7, "metric": "m", "label": 5, "group": "q7", "domain": "law"}'
    assert read(tmp_path, line) == [Label("7", "m", 1.0, group="q7")]
    found = read(tmp_path, '{"id": "a", "metric": "m", "rating": 1}', '{"id": "b", "metric": "m", "rating": 4}')
    assert found == [Label("a", "m", 0.0), Label("b", "m", 0.75)]


def test_another_scale_can_be_said(tmp_path: Path) -> None:
    """As from 1 to 4, or shares from 0 to 1, which then are no yes and no."""
    assert read(tmp_path, '{"id": "a", "label": 2}', metric="m", scale=(1, 4)) == [
        Label("a", "m", pytest.approx(1 / 3))
    ]
    assert read(tmp_path, '{"id": "a", "label": 0}', metric="m", scale=(0, 1)) == [Label("a", "m", 0.0)]


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("1", "0")])
def test_yes_and_no_are_told_from_ratings(tmp_path: Path, yes: str, no: str) -> None:
    """Truth values are; 0 and 1 are where there is a 0, which no rating is. Ones alone are ratings."""
    assert read(tmp_path, '{"id": "a", "rating": 1}', metric="m") == [Label("a", "m", 0.0)]
    found = read(tmp_path, f'{{"id": "a", "label": {yes}}}', f'{{"id": "b", "label": {no}}}', metric="m")
    assert found == [Label("a", "m", 1.0, binary=True), Label("b", "m", 0.0, binary=True)]


def test_a_table_is_read_like_lines(tmp_path: Path) -> None:
    """With a heading; an empty cell says nothing."""
    found = read(tmp_path, "id,metric,label,domain", "a,m,TRUE,law", "b,m,false,", "c,m,,law", name="labels.csv")
    assert found == [Label("a", "m", 1.0, True), Label("b", "m", 0.0, True)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "a", "rating": 7, "metric": "m"}', "7 does not lie between 1 and 5; give the scale"),
        ('{"id": "a", "rating": "good", "metric": "m"}', "line 1: the label 'good' is no number"),
        ('{"id": "a", "rating": 1' + "0" * 400 + ', "metric": "m"}', "line 1: the label '1000"),
        ('{"id": "a", "rating": NaN, "metric": "m"}', "line 1 is damaged: NaN is no number"),
        ('{"id": "a", "rating": 3}', "names no metric; give it with --metric"),
        ('{"rating": 3, "metric": "m"}', "has no id"),
        ('{"id": "a"}', "no line has label or rating or value"),
    ],
)
def test_what_is_no_label_is_refused(tmp_path: Path, line: str, said: str) -> None:
    """In one line that says where and what to do."""
    with pytest.raises(UsageError, match=said):
        read(tmp_path, line)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Of either kind."""
    for name in ("none.csv", "none.jsonl"):
        with pytest.raises(UsageError, match=f"{name} cannot be read"):
            labelled(tmp_path / name)
