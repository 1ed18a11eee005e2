"""`surefoot capacity`: the machines that a corpus and its questions need, by the measurements in `capacity.toml`."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Annotated, Any, Literal

from typer import Argument, Option

from surefoot.cli._console import out, tabled
from surefoot.text import toml_values
from surefoot.types.errors import UsageError

MEASURED: dict[str, Any] = toml_values.beside(__file__, "capacity.toml")
ENGINES = [name for name, figures in MEASURED.items() if "to" in figures]
GB = 1e9


@dataclass(frozen=True, slots=True)
class Load:
    """A corpus, the questions a second at the busiest, and machines with so many cores and GB of memory."""

    passages: int
    questions: float = 1.0
    graded: int = 30
    cores: int = 2
    memory: float = 16.0
    replicas: int = 1
    engine: str = "embedded"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure of a plan, from `low` to `high`; both None: not known. `because` says what it rests on."""

    name: str
    unit: str
    low: float | None
    high: float | None
    basis: Literal["modelled", "extrapolated", "unknown"]
    """Modelled: between sizes, and on cores, that were measured; extrapolated: beyond them."""
    because: str


def plan(load: Load) -> Iterator[Estimate]:
    """Yield disk, memory, time to build, latency, machines, and what ends first as the corpus grows."""
    of, engine = MEASURED["grading"], MEASURED[load.engine]
    known = engine["from"] <= load.passages <= engine["to"]
    pairs = load.graded + of["others"]
    speed = load.cores * of["parallel"] if load.cores > 1 else 1

    def estimate(name: str, unit: str, ends: tuple[float, float] | None, because: str, usual: bool = True) -> Estimate:
        if ends is None:
            why = f"of {load.engine} only {engine['seconds'] * 1000:.0f} ms at {engine['to']:,} passages was measured"
            return Estimate(name, unit, None, None, "unknown", why)
        return Estimate(name, unit, *ends, "modelled" if known and usual else "extrapolated", because)

    def machines(seconds: float) -> float:
        return float(max(load.replicas, ceil(load.questions * seconds / (load.cores * of["busy"])), 1))

    sizes = _sizes(load)
    yield estimate("disk", "GB", sizes and (sizes[0],) * 2, "of a machine, at 90 words a passage")
    yield estimate(
        "memory", "GB", sizes and (sizes[1],) * 2, "of a machine, for the vectors and what is read of the index"
    )
    yield estimate("build", "min", sizes and (sizes[2],) * 2, "one process on two cores", load.cores == 2)
    for percentile, tail in (("p50", 1.0), ("p95", of["tail"])):
        found = retrieval(load, percentile)
        graded = pairs * of["core_seconds"] / speed * tail + of["rest"]
        whole = found and (1000 * (found[0] + graded), 1000 * (found[1] + graded))
        found = found and (1000 * found[0], 1000 * found[1])
        yield estimate(f"retrieve {percentile}", "ms", found, "by words and by vector, one question at a time")
        because = f"of it {1000 * graded:.0f} ms to grade and quote; a language model's time comes on top"
        yield estimate(f"answer {percentile}", "ms", whole, because, load.cores == 2)
    cost, half = pairs * of["core_seconds"], retrieval(load, "p50")
    basis: Literal["modelled", "extrapolated"] = "modelled" if load.cores == 2 else "extrapolated"
    because = f"{cost:.2f} s of a core a question, {of['busy']:.0%} of the cores busy"
    yield Estimate("machines to grade", "", machines(cost), machines(cost), basis, because)
    because = "a core a question; each holds all passages, and may be one that grades"
    yield estimate("machines to search", "", half and (machines(half[0]), machines(half[1])), because, load.cores == 2)
    yield from _walls(load)


def retrieval(load: Load, percentile: str) -> tuple[float, float] | None:
    """Seconds to retrieve, the low and the high end: one figure between the sizes that were measured; beyond, the low
    end goes on as the fit does, and the high end grows with the passages. None: it was not measured."""
    engine = MEASURED[load.engine]
    if percentile not in engine:
        same = percentile == "p50" and engine["from"] <= load.passages <= engine["to"]
        return (engine["seconds"],) * 2 if same else None
    always, root = engine[percentile]
    fitted, last = (always + root * sqrt(count / 1e6) for count in (load.passages, engine["to"]))
    return fitted, max(fitted, last * load.passages / engine["to"])


def _sizes(load: Load) -> tuple[float, float, float] | None:
    """GB on disk, GB of memory and minutes to build; None: not measured."""
    if "index" not in (engine := MEASURED[load.engine]):
        return None
    stored = engine["index"] + engine["vectors"]
    held = engine["process"] + load.passages * engine["resident"]
    return load.passages * stored / GB, held / GB, load.passages / engine["built"] / 60


def _walls(load: Load) -> Iterator[Estimate]:
    """Yield the limits that the corpus is beyond, or else the first that it comes to."""
    if "index" not in (engine := MEASURED[load.engine]):
        return
    at = {
        f"vectors fill 80 % of {load.memory:g} GB": (0.8 * load.memory * GB - engine["process"]) / engine["resident"],
        "a build takes a day": engine["built"] * 86_400,
        "half of the searches take 1 s, at worst": engine["to"] / (engine["p50"][0] + engine["p50"][1]),
    }
    behind = [what for what in at if at[what] <= load.passages]
    for what in behind or [min(at, key=at.__getitem__)]:
        name = "a wall behind" if behind else "the next wall"
        yield Estimate(name, "passages", at[what], at[what], "extrapolated", what)


def capacity(
    passages: Annotated[int, Argument(metavar="PASSAGES", min=1, help="Passages of the corpus.")],
    questions: Annotated[float, Option("--questions", min=0, help="Questions a second, at the busiest.")] = 1.0,
    graded: Annotated[int, Option("--graded", min=1, help="Passages graded for a question.")] = 30,
    cores: Annotated[int, Option("--cores", min=1, help="Cores of a machine.")] = 2,
    memory: Annotated[float, Option("--memory", min=1, help="GB of a machine.")] = 16.0,
    replicas: Annotated[int, Option("--replicas", min=1, help="Machines with the same passages, at least.")] = 1,
    engine: Annotated[str, Option("--engine", help=f"The store: {', '.join(ENGINES)}.")] = "embedded",
) -> None:
    """Reckon the machines and the latency for a corpus of some size, from measurements; docs/capacity.md has these."""
    if engine not in ENGINES:
        raise UsageError(f"no engine called '{engine}'; there are: {', '.join(ENGINES)}")
    found = plan(Load(passages, questions, graded, cores, memory, replicas, engine))
    rows = ((one.name, _spelled(one), one.basis, one.because) for one in found)
    out.print(tabled(["", "figure", "basis", "rests on"], [], rows))


def _spelled(one: Estimate) -> str:
    ends = [f"{end:,.{0 if end >= 10 or end == int(end) else 2}f}" for end in (one.low, one.high) if end is not None]
    return f"{' to '.join(dict.fromkeys(ends)) or '–'} {one.unit if ends else ''}".strip()
