"""A trace in a terminal: one section a step, drawn as the steps come in or all at once."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Annotated

from platformdirs import user_state_path
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer import Option

from surefoot.cli._answer_view import (
    COLOUR,
    Open,
    answered,
    by_id,
    chance,
    factors,
    line,
    marked,
    place,
    troubles,
    unopened,
)
from surefoot.cli._console import plain, share, tabled
from surefoot.searchers.nowhere import NEEDED
from surefoot.types import Answer, Critique, Decision, Event, Grade, Passage, Trace

Whole = Annotated[
    int | None, Option("--passages", metavar="N", min=0, help="Show the N best passages whole, not three in short.")
]
BAR = 12
"""Width of a full bar, in characters."""
_STYLE = {"corpus": "", "external": "italic"}


@dataclass
class Screen:
    """A listener that draws each section of a running question as soon as it is complete, and while a model writes, its
    checked sentences, which go again before the answer comes."""

    console: Console
    shown: int = 3
    opens: Open = unopened
    passages: int | None = None
    """So many are shown whole; None: three in short."""
    _trace: Trace = field(default_factory=lambda: Trace("", ""), init=False)
    _text: str = field(default="", init=False)
    _writing: Live | None = field(default=None, init=False)

    def __call__(self, event: Event) -> None:
        """Take in one event of the run."""
        if event.name == "begun":
            self._trace = event.value
        elif event.name == "step":
            self._trace = replace(self._trace, steps=(*self._trace.steps, event.value))
        elif event.name == "text":
            self._write(event.value)
        elif event.name not in ("step_begins", "ended"):
            self._trace = replace(self._trace, **{event.name: event.value})
            for part in self._complete(event.name):
                self.console.print(part)

    def _write(self, piece: str) -> None:
        self._text += piece
        if self._writing is None:
            self._writing = Live(console=self.console, transient=True, auto_refresh=False)
            self._writing.start()
        self._writing.update(line("Answer", marked(Answer(self._text))), refresh=True)

    def close(self) -> None:
        """Take away what a model has written so far."""
        if self._writing:
            self._writing.stop()
        self._writing, self._text = None, ""

    def finish(self, trace: Trace) -> None:
        """Draw the answer and what it cost."""
        self.close()
        self.console.print(answered(trace, self.opens, self.passages))
        if self._lacks_searcher() and _first_hint("searcher"):
            self.console.print(Text(f"{NEEDED}; to set one: --set searcher.use=wikipedia", style="dim"))
        self.console.print(_footer(trace))

    def _complete(self, name: str) -> Iterable[RenderableType]:
        """The sections that are complete with this field of the trace."""
        match name:
            case "read_as":
                return _read_as(self._trace)
            case "decision":
                return _graded(self._trace, self.shown)
            case "strips" if not self._lacks_searcher():
                return _searched(self._trace)
            case "conflicts":
                return _conflicts(self._trace)
        return ()

    def _lacks_searcher(self) -> bool:
        return any(step.degraded == NEEDED for step in self._trace.steps)


def _first_hint(name: str) -> bool:
    """True where the advice of this name is to be given: the first time, and wherever that cannot be remembered."""
    place = user_state_path("surefoot") / "hints" / name
    if place.exists():
        return False
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch()
    return True


def whole(trace: Trace, shown: int = 10) -> RenderableType:
    """Everything a trace holds, as `surefoot trace` shows it."""
    question = line("Question", Text(plain(trace.question), style="bold"))
    facts = dict.fromkeys(plain(one.missing) for one in trace.rewritten if one.missing)
    missing = (line("" if number else "Missing", Text(fact)) for number, fact in enumerate(facts))
    found = *_graded(trace, shown), *missing, *_searched(trace), _refined(trace, shown), *_conflicts(trace)
    why = [*_drafts(trace.answer), *factors(trace.answer)] if trace.answer else []
    return Group(question, *_read_as(trace), *found, answered(trace), *why, steps(trace), _footer(trace))


def steps(trace: Trace) -> RenderableType:
    """The table of what each step cost."""
    counts = ("graded", "escalated", "calls", "tokens", "cached")
    rows = (
        (plain(step.name), f"{step.seconds * 1000:.0f}", *(str(getattr(step, name) or "·") for name in counts))
        for step in trace.steps
    )
    return Padding(tabled(["Step"], ["ms", *counts], rows), (1, 0, 0, 2))


def retrieved(trace: Trace, shown: int) -> RenderableType:
    """The passages with their grades as bars, best first."""
    taken = sum(step.seconds for step in trace.steps if step.name in ("retrieve", "grade"))
    head = line("Retrieved", Text(f"{_plural(len(trace.passages), 'passage')} · graded in {taken * 1000:.0f} ms"))
    grades = trace.grades[: len(trace.passages)]
    return Group(head, *troubles(trace, "complete", "retrieve", "grade"), _bars(trace.passages, grades, shown))


def decided(trace: Trace) -> list[RenderableType]:
    """The question as it was read, faults of finding and grading, and the decision."""
    decision = [_decision(one) for one in (*trace.earlier, trace.decision) if one]
    return [*_read_as(trace), *troubles(trace, "complete", "retrieve", "grade"), *decision]


def _read_as(trace: Trace) -> list[RenderableType]:
    """The question as it was completed from the turns before it."""
    return [line("Read as", Text(plain(trace.read_as), style="bold"))] if trace.read_as else []


def _graded(trace: Trace, shown: int) -> list[RenderableType]:
    return [retrieved(trace, shown), _decision(trace.decision)] if trace.decision else []


def _bars(passages: Sequence[Passage], grades: Sequence[Grade], shown: int) -> RenderableType:
    table = _columns(BAR, 3, 4)
    ranked = sorted(zip(passages, grades, strict=True), key=lambda pair: -_height(pair[1]))
    for passage, grade in ranked[:shown]:
        colour, eighths = COLOUR[grade.label], round(max(0.0, min(1.0, _height(grade))) * BAR * 8)
        table.add_row(
            Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style=colour),
            Text(chance(grade), style=colour),
            Text(plain(passage.title.rpartition(" › ")[2] or passage.text), style=_STYLE[passage.source]),
            Text(plain(" · ".join(filter(None, (passage.via, grade.reason)))), style="dim"),
        )
    if len(ranked) > shown:
        table.add_row("", "", Text(f"and {len(ranked) - shown} more", style="dim"), "")
    return Padding(table, (0, 0, 0, 2))


def _columns(first: int, *shares: int) -> Table:
    """A column of this width, one of numbers, and others that are cut and share what is left."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=first)
    table.add_column(width=5, justify="right")
    for part in shares:
        table.add_column(ratio=part, no_wrap=True, overflow="ellipsis")
    return table


def _decision(decision: Decision) -> RenderableType:
    return line("Decision", decision_text(decision))


def decision_text(decision: Decision) -> Text:
    """The action, why, and by how much."""
    text = Text(decision.action.value.upper(), style=f"bold {COLOUR[decision.action]}")
    text.append(f"  {plain(decision.because)}", style="not bold default")
    if decision.margin is not None:
        text.append(f", by {share(decision.margin, 2)}", style="not bold dim")
    return text


def _searched(trace: Trace) -> list[RenderableType]:
    if not any(step.name == "search" for step in trace.steps):
        return []
    queries = ", ".join(f"“{plain(query)}”" for query in trace.queries)
    head = line("Searched", Text(f"{queries} · {_plural(len(trace.external), 'passage')} from outside"))
    parts = [head, *troubles(trace, "rewrite", "search", "grade external")]
    if by := trace.outside:
        thresholds = f"upper {by.upper:.3g} and lower {by.lower:.3g} for what comes from outside"
        parts.append(line("", Text(thresholds, style="dim")))
    return [*parts, _bars(trace.external, trace.grades[len(trace.passages) :], 3)] if trace.external else parts


def _refined(trace: Trace, shown: int) -> RenderableType:
    used, dropped = ([strip for strip in trace.strips if strip.kept is is_kept] for is_kept in (True, False))
    origin = by_id(trace)
    table = _columns(4, 1)
    for marker, strip in enumerate(used, start=1):
        where = "outside: " if origin[strip.passage_id].source == "external" else ""
        text = Text.assemble((where, "italic"), plain(strip.text))
        table.add_row(Text(f"[{marker}]", style="green"), share(strip.score, 2), text)
    for strip in dropped[: max(0, shown - len(used))]:
        text = Text(plain(f"{strip.reason}: {strip.text}"), style="dim")
        table.add_row(Text("✗", style="red"), Text(share(strip.score, 2), style="dim"), text)
    return Group(line("Refined", Text(f"{len(used)} of {len(trace.strips)} strips kept")), Padding(table, (0, 0, 0, 2)))


def _conflicts(trace: Trace) -> list[RenderableType]:
    """The words of each side, one below the other; nothing where they agree."""
    origin = by_id(trace)
    parts: list[RenderableType] = []
    for conflict in trace.conflicts:
        sides = ("the corpus", "outside") if origin[conflict.external].source == "external" else ("one", "another")
        ids, words = (conflict.local, conflict.external), (conflict.local_says, conflict.external_says)
        for where, passage_id, says in zip(sides, ids, words, strict=True):
            text = Text.assemble((f"{where}: ", "italic"), (f"“{plain(says)}”", "yellow"))
            text.append(f" · {place(origin[passage_id])}", style="dim")
            parts.append(line("" if parts else "Conflict", text))
    return parts


def _drafts(answer: Answer) -> list[RenderableType]:
    """The answers among which the generator chose, and what its own critique made of each."""
    if not answer.drafts:
        return []
    names = [field.name for field in fields(Critique)]
    figures = [(one.worth, *astuple(one.critique)) for one in answer.drafts]
    rows = (
        ("✓" if one.chosen else "", Text(plain(one.text)), *(share(value, 2) for value in each))
        for one, each in zip(answer.drafts, figures, strict=True)
    )
    return [Padding(tabled(["Chosen", "from these answers"], ["worth", *names], rows), (1, 0, 0, 2))]


def _footer(trace: Trace) -> RenderableType:
    seconds = sum(step.seconds for step in trace.steps)
    parts = (
        f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms",
        f"{sum(step.graded for step in trace.steps)} pairs graded",
        _plural(sum(step.calls for step in trace.steps), "model call"),
    )
    return Text(" · ".join(parts), style="dim")


def _height(grade: Grade) -> float:
    """Share of a full bar: the probability where there is one; else the score, taken as a logit once it is negative."""
    if grade.probability is not None:
        return grade.probability
    if grade.score is None:
        return 0.0
    return grade.score if 0 <= grade.score <= 1 else (grade.score + 1) / 2


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
