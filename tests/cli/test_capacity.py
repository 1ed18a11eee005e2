"""`surefoot capacity`: the model is near what was measured, and says where it goes beyond."""

from typing import Any

import pytest

from surefoot.cli.capacity import Estimate, Load, plan, retrieval

MEASURED = [  # passages, disk in GB, memory in MB, retrieve p50 and p95, answer p50 and p95 in ms, of two runs the mean
    (10_313, 0.021, 137, 18.5, 44, 407, 583),
    (102_981, 0.256, 236, 28, 88, 409, 583),
    (1_007_079, 2.57, 814, 49, 98, 425, 612),
]


def by_name(load: Load) -> dict[str, Estimate]:
    return {one.name: one for one in plan(load)}


@pytest.mark.parametrize("measured", MEASURED)
def test_the_model_is_near_what_was_measured(measured: tuple[float, ...]) -> None:
    passages, disk, memory, p50, p95, whole, late = measured
    found = by_name(Load(int(passages)))
    assert {one.basis for one in found.values()} - {"extrapolated"} == {"modelled"}
    assert found["disk"].low == pytest.approx(disk, rel=0.25)
    assert found["memory"].low == pytest.approx(memory / 1000, rel=0.2)
    assert found["retrieve p95"].low == pytest.approx(p95, rel=0.35)
    for name, ms in {"retrieve p50": p50, "answer p50": whole, "answer p95": late}.items():
        assert found[name].low == found[name].high == pytest.approx(ms, rel=0.1), name


def test_beyond_the_sizes_measured_latency_is_a_range_that_is_called_extrapolated() -> None:
    at = by_name(Load(100_000_000))["retrieve p50"]
    assert at.basis == "extrapolated"
    assert (at.low, at.high) == (pytest.approx(347, abs=1), pytest.approx(4897, abs=5))


def test_more_cores_than_were_measured_make_an_answer_extrapolated() -> None:
    few, many = (by_name(Load(100_000, cores=cores))["answer p50"] for cores in (2, 8))
    assert (few.basis, many.basis) == ("modelled", "extrapolated")
    assert (many.low or 0) < (few.low or 0)


def test_what_was_not_measured_is_no_number() -> None:
    found = by_name(Load(1_000_000, engine="lance"))
    for name in ("disk", "retrieve p50", "answer p95", "machines to search"):
        assert (found[name].low, found[name].high, found[name].basis) == (None, None, "unknown")
        assert "only 40 ms at 104,014 passages was measured" in found[name].because
    assert retrieval(Load(104_014, engine="lance"), "p50") == (0.04, 0.04)


def test_machines_grow_with_the_questions_and_are_never_fewer_than_the_replicas() -> None:
    quiet, busy, doubled = (
        by_name(Load(1_000_000, questions))["machines to grade"].low for questions in (0.0, 100.0, 200.0)
    )
    assert (quiet, busy, doubled) == (1, 42, 84)
    assert by_name(Load(1_000_000, 0, replicas=3))["machines to search"].low == 3


def test_the_next_wall_is_the_first_that_the_corpus_comes_to() -> None:
    wall = by_name(Load(1_000_000, memory=4))["the next wall"]
    assert wall.because == "vectors fill 80 % of 4 GB"
    assert wall.low == pytest.approx(4.69e6, rel=0.01)


def test_walls_that_the_corpus_is_beyond_are_all_named() -> None:
    behind = [one.because for one in plan(Load(10_000_000_000)) if one.name == "a wall behind"]
    assert len(behind) == 3


def test_the_figures_are_printed_with_what_they_rest_on(surefoot: Any) -> None:
    done = surefoot("capacity", "100000000", "--questions", "5")
    assert done.code == 0
    [line] = [line.split() for line in done.out.splitlines() if line.startswith("disk")]
    assert line[:4] == ["disk", "251", "GB", "extrapolated"]


def test_an_unknown_engine_is_refused_with_those_that_there_are(surefoot: Any) -> None:
    done = surefoot("capacity", "1", "--engine", "lanse")
    assert done.code == 2
    assert "embedded, pgvector, lance" in done.err
