"""Every value comes back from JSON, and from the disk, as it went; and what is no trace is refused."""

import json
import math
import re
import typing
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from surefoot import types
from surefoot.run.store import Run, dumps, from_json, loads, read_trace, to_json, write_trace
from surefoot.types import TRACE_SCHEMA, Grade, Passage, Trace
from surefoot.types.errors import TraceFault
from surefoot.types.metadata import Meta

numbers = st.floats(allow_nan=False, allow_infinity=False)
# Every code point, also half a surrogate pair; two halves side by side are one character to JSON, and to no one else.
texts = st.text(st.characters(), max_size=12).filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
VALUES = [value for value in vars(types).values() if is_dataclass(value)]

metas = st.dictionaries(
    st.text("kä9_.-", max_size=5).map("k{}".format),
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | numbers | st.text("aé\u202e 9", max_size=5),
    max_size=3,
).map(Meta)

PARTS = {str: texts, float: numbers, int: st.integers(), bool: st.booleans(), type(None): st.none(), Any: plain}
PARTS |= {Meta: metas}


def of(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of this type; tuples no longer than three."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in PARTS:
        return PARTS[kind]
    if origin in (UnionType, typing.Union):  # the second where a part is a Literal
        return st.one_of([of(part) for part in arguments])
    if origin is tuple:
        if arguments[-1] is not ...:
            return st.tuples(*map(of, arguments))
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(texts, of(arguments[1]), max_size=3)
    if origin is typing.Literal or issubclass(kind, Enum):
        return st.sampled_from(arguments or list(kind))
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{name: st.just(TRACE_SCHEMA) if name == "schema" else of(hints[name]) for name in hints})


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_value_comes_back_from_json(kind: type, data: st.DataObject) -> None:
    """Equal, tuples as tuples, None as None, through real JSON text."""
    value = data.draw(of(kind))
    assert from_json(kind, json.loads(json.dumps(to_json(value), allow_nan=False))) == value


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(of(Trace))
def test_a_trace_survives_the_disk(tmp_path: Path, trace: Trace) -> None:
    """As a file of its own, and as one line of UTF-8."""
    write_trace(trace, tmp_path / "trace.json")
    assert read_trace(tmp_path / "trace.json") == trace
    line = dumps(trace)
    assert "\n" not in line
    assert loads(line.encode().decode()) == trace


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(texts, of(Trace), max_size=3), st.integers(1, 60))
def test_a_run_survives_a_torn_line(tmp_path: Path, traces: dict[str, Trace], torn: int) -> None:
    """A line that was not written to its end is cut off; all whole ones stay, and the run goes on."""
    (tmp_path / "traces.jsonl").unlink(missing_ok=True)
    run = Run(tmp_path, {"data": "x"})
    for key, trace in traces.items():
        run.append(key, trace)
    line = json.dumps({"key": "torn", "trace": to_json(Trace("t", "Who?"))})
    with run.path.open("a") as file:
        file.write(line[:torn])
    resumed = Run(tmp_path, {"data": "x"})
    assert resumed.done() == traces
    resumed.append("next", Trace("n", "Who?"))
    assert resumed.done() == traces | {"next": Trace("n", "Who?")}


@settings(deadline=None)
@given(
    st.one_of(st.integers(), texts, st.none(), st.lists(st.integers())).filter(lambda schema: schema != TRACE_SCHEMA)
)
def test_an_unknown_schema_is_refused(schema: object) -> None:
    """A trace of another version is not guessed at."""
    data = to_json(Trace("t", "Who?")) | {"schema": schema}
    with pytest.raises(TraceFault, match=r"has trace schema .* this Surefoot reads 4; ask"):
        loads(json.dumps(data))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_written(tmp_path: Path, number: float) -> None:
    """Neither as a file nor as a line, and nothing of it is left behind."""
    trace = Trace("t1", "Who?", (Passage("a", "text", score=number),), (Grade("a", number),))
    run = Run(tmp_path / "run", {})
    for write in (
        lambda: write_trace(trace, tmp_path / "t.json"),
        lambda: run.append("k", trace),
        lambda: dumps(trace),
    ):
        with pytest.raises(TraceFault, match="trace t1 cannot be written as JSON: Out of range float"):
            write()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert run.done() == {}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_not_read_either(number: str) -> None:
    """Python's JSON reader would take it."""
    line = dumps(Trace("t", "Who?", grades=(Grade("a", 0.25),))).replace("0.25", number)
    with pytest.raises(TraceFault, match="is no number"):
        loads(line)
