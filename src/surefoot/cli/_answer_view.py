"""An answer in a terminal: its text as it stands, what each citation quotes and where that opens, and the passages."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from surefoot.cli._console import cut, plain, share, tabled
from surefoot.cli._text_view import excerpt, readable
from surefoot.evidence.ranking import best
from surefoot.evidence.sources import ALONE
from surefoot.index.search import Index
from surefoot.text.blocks import fragment
from surefoot.text.places import located
from surefoot.types import NOT_THERE, Action, Answer, Citation, Grade, Passage, Trace
from surefoot.types.metadata import day_of

COLOUR = {Action.CORRECT: "green", Action.AMBIGUOUS: "yellow", Action.INCORRECT: "red", None: "bright_black"}
SHORT = 3
"""Passages that are shown beside an answer."""
QUOTED = 100
"""Characters of a quotation that are repeated behind its marker."""
MARKED = "bold underline"
UNCITED = "•"
"""Stands before a passage that the answer beside it does not cite."""

Open = Callable[[Passage], str]
"""The address that opens a passage, or ""."""

_IDS = re.compile(r"\bp[0-9a-f]{24}(?:, p[0-9a-f]{24})*")
"""Ids of passages, as `surefoot.text.ids` makes them."""


def unopened(passage: Passage) -> str:
    """The passage's own address, if it is one of the web; else ""."""
    return passage.url if passage.url and _is_web(passage.url) else ""


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http://", "https://")) and address.isprintable() and " " not in address


def opening(index: Index | None) -> Open:
    """Opens the files of an index that are still there, at the passage's place; and addresses of the web."""

    @cache
    def found(file: str) -> str:
        path = index.place(file) if index else None
        return path.as_uri() if path else ""

    def opened(passage: Passage) -> str:
        if passage.source != "corpus" or not passage.file or unopened(passage):
            return unopened(passage)
        address, before, url = found(passage.file), f"{passage.file}#", passage.url or ""
        place = fragment(url.removeprefix(before)) if url.startswith(before) else ""
        return f"{address}#{place}" if address and place else address

    return opened


def answered(trace: Trace, opens: Open = unopened, shown: int | None = None) -> RenderableType:
    """The answer with its citations, and then the best passages: `shown` of them whole, or where None, three in short.

    A hedged answer comes behind the passages, with the places of its sentences; a refusal says so.
    """
    answer = trace.answer
    if answer is None:
        why = trace.error or "the question did not run to its end"
        return line("Answer", Text(plain(f"none: {why}"), style="red"))
    origin = by_id(trace)
    ending = [*confidence(answer), *troubles(trace, "generate")]
    if answer.hedged and not (answer.refused or answer.uncited or answer.worded):
        before = passages("These passages may answer", trace, opens, shown)
        return Group(*before, *_nearest(answer, origin, opens), *_note(answer.because, "yellow"), *ending)
    because = _note(answer.because if answer.refused else "", "yellow")
    worded = [line("Worded by", Text(plain(answer.model or "")))] if answer.worded and not answer.refused else []
    withheld = _note(f"withheld: {answer.withheld}" if answer.withheld else "", "dim")
    alone = _alone(trace.grades)
    citations = [_citation(same, _cited(same[0], origin), opens, alone) for same in _by_marker(answer).values()]
    unmarked = () if NOT_THERE in answer.text else answer.uncited
    unsupported = (f"not supported by any source: “{cut(plain(sentence), QUOTED)}”" for sentence in unmarked)
    uncited = [note for content in unsupported for note in _note(content, "red")]
    after = passages("Nearest passages" if answer.refused else "Passages", trace, opens, shown)
    return Group(line("Answer", marked(answer)), *because, *worded, *ending, *withheld, *citations, *uncited, *after)


def _by_marker(answer: Answer) -> dict[int, list[Citation]]:
    """Each source once, with all that is cited of it."""
    found: dict[int, list[Citation]] = {}
    for citation in answer.citations:
        found.setdefault(citation.marker, []).append(citation)
    return found


def _note(content: str, style: str) -> list[RenderableType]:
    return [_indented(Text(plain(content), style=style))] if content else []


def marked(answer: Answer) -> RenderableType:
    """Its text, in red what no source carries."""
    if answer.refused:
        return Text(plain(answer.text), style="yellow")
    wanting = "|".join(map(re.escape, (*answer.uncited, NOT_THERE)))
    return readable(answer.text, [(*found.span(), "red") for found in re.finditer(wanting, answer.text)])


def _nearest(answer: Answer, origin: Mapping[str, Passage], opens: Open) -> Iterator[RenderableType]:
    """The quotations, each marker with its place: no tick, and no "quoted", since it may not answer."""
    cited = _by_marker(answer)
    yield Text("Nearest sentences" if len(cited) > 1 else "Nearest sentence", style="cyan")
    yield _indented(readable(answer.body, style="dim"))
    for marker, (citation, *_) in sorted(cited.items()):
        if source := _cited(citation, origin):
            yield _indented(_beside(Text(f"[{marker}]", "dim"), whence(source, opens)))


def _cited(citation: Citation, origin: Mapping[str, Passage]) -> Passage | None:
    """The passage that is cited, its address leading to the quoted words; None: no such passage is in the trace."""
    passage = origin.get(citation.strip.passage_id) if citation.strip else None
    return replace(passage, url=citation.url or passage.url) if passage else None


def confidence(answer: Answer) -> list[RenderableType]:
    """The line of `confidence_text`, if there is one."""
    text = confidence_text(answer)
    return [line("Confidence", text)] if text else []


def confidence_text(answer: Answer) -> Text | None:
    """The confidence in a word and a number, with the facts that speak most for and against it; or why nobody
    can say. None for a refusal without an answer, and for older traces."""
    if answer.unjudged and answer.unjudged != answer.because:
        known = f"{answer.certainty}; no percentage" if answer.certainty else "none"
        return Text(plain(f"{known}: {answer.unjudged}"), style="dim")
    if answer.confidence is None:
        return None
    unsure = answer.hedged or answer.refused or answer.certainty == "unsure"
    text = Text(answer.certainty or ("unsure" if unsure else "sure"), style="yellow" if unsure else "green")
    text.append(f" · {answer.confidence:.0%}".replace("%", " %"), style="default")
    if most := max((one for one in answer.factors if one.adds > 0), key=lambda one: one.adds, default=None):
        text.append(f"; most for it: {plain(most.name)}", style="dim")
    if least := min((one for one in answer.factors if one.adds < 0), key=lambda one: one.adds, default=None):
        text.append(f"; most against it: {plain(least.name)}", style="dim")
    return text


def factors(answer: Answer) -> list[RenderableType]:
    """Why so sure: what each fact adds to the log-odds that the answer is right, the strongest first."""
    if not answer.factors:
        return []
    ranked = sorted(answer.factors, key=lambda one: -abs(one.adds))
    rows = ((plain(one.name), f"{one.value:.2f}", f"{one.adds:+.2f}") for one in ranked)
    return [Padding(tabled(["Why so sure"], ["value", "adds"], rows), (1, 0, 0, 2))]


def citation_texts(answer: Answer, trace: Trace | None) -> Iterator[Text]:
    """A line a source that is cited: its marker, the words that are quoted, and where it is, by the citation itself
    where there is no `trace`."""
    origin = by_id(trace) if trace else {}
    alone = _alone(trace.grades) if trace else set()
    for marker, cited in _by_marker(answer).items():
        first = cited[0]
        known = Passage(first.strip.passage_id, "", first.title, url=first.url) if first.strip else None
        passage = _cited(first, origin) or known
        yield Text(f"[{marker}] ").append_text(_citation_text(cited, passage, unopened, alone))


def _alone(grades: Sequence[Grade]) -> set[str]:
    """Ids of the passages that no other source backs."""
    return {grade.passage_id for grade in grades if grade.cap is Action.AMBIGUOUS}


def _citation(cited: Sequence[Citation], passage: Passage | None, opens: Open, alone: set[str]) -> RenderableType:
    return _indented(_beside(Text(f"[{cited[0].marker}]"), _citation_text(cited, passage, opens, alone)))


def _citation_text(cited: Sequence[Citation], passage: Passage | None, opens: Open, alone: set[str]) -> Text:
    """The words of a source that are quoted, and where it is; or why they are none."""
    text, backed = Text(), {one.supported for one in cited} - {None}
    supported = all(backed) if backed else None
    carried = sum(bool(one.quoted or one.supported) for one in cited)
    missing = next((one for one in cited if not one.quoted), None)
    if 0 < carried < len(cited):
        text.append(f"carries {carried} of {len(cited)} statements", style="red")
        supported = None
    elif missing and not carried:
        text.append(plain(f"not quoted: {missing.reason}"), style="red")
    else:
        text.append("in other words" if missing else "quoted", style="green")
    if supported is not None:
        text.append(" · supported" if supported else " · not supported", "green" if supported else "red")
    if content := " … ".join(dict.fromkeys(plain(citation.quote) for citation in cited if citation.quote)):
        text.append(f" “{cut(content, QUOTED)}”", style="italic")
    if passage:
        text.append(" · ", style="dim")
        text.append_text(whence(passage, opens))
        text.append(f" · {ALONE}" if passage.id in alone else "", style="yellow")
    return text


def whence(passage: Passage, opens: Open) -> Text:
    """The title path of a passage, its address, which is a link where it opens, and its document's date."""
    outside = "outside: " if passage.source == "external" else ""
    text = Text.assemble((outside, "italic"), f"{path(passage.title)} · " if passage.title else "", style="dim")
    address = opens(passage)
    text.append(place(passage), style=f"link {address}" if address else "")
    return text.append(f" · {plain(day_of(passage.meta))}" if day_of(passage.meta) else "", "dim")


def path(title: str) -> str:
    """The title with the headings; of many only the first and the last, which says what the passage is about."""
    names = plain(title).split(" › ")
    if len(names) > 2 and len(plain(title)) > QUOTED:
        names = [names[0], "…", names[-1]]
    return " › ".join(cut(name, QUOTED * 2 // 3) for name in names)


def passages(
    heading: str, trace: Trace, opens: Open = unopened, shown: int | None = None, short: bool = False
) -> list[RenderableType]:
    """The best passages of a trace under a heading: `shown` of them, whole unless `short`; None: three in short.

    Beside an answer that cites, the only numbers are its markers, each before the passage that it cites.
    """
    every, grades = with_grades(trace)
    cited = {one.strip.passage_id for one in trace.answer.citations if one.strip} if trace.answer else set()
    found = best(every, grades, SHORT if shown is None else shown, cited)
    if not found:
        return []
    labels = _labels(trace.answer, [passage.id for passage, _ in found])
    listed = (_passage(label, *pair, opens, short or shown is None) for label, pair in zip(labels, found, strict=True))
    return [Text(heading, style="cyan"), *listed]


def with_grades(trace: Trace) -> tuple[Sequence[Passage], Sequence[Grade]]:
    """All passages of a trace, and a grade for each; of a question that ended before, some are not graded."""
    every = *trace.passages, *trace.external
    return every, (*trace.grades, *(Grade(passage.id, None) for passage in every[len(trace.grades) :]))


def _labels(answer: Answer | None, ids: Sequence[str]) -> list[str]:
    cited = {(one.strip.passage_id, one.marker) for one in answer.citations if one.strip} if answer else set()
    if not cited:
        return [str(number) for number in range(1, len(ids) + 1)]
    return [" ".join(f"[{marker}]" for of, marker in sorted(cited) if of == id) or UNCITED for id in ids]


def _passage(label: str, passage: Passage, grade: Grade, opens: Open, short: bool) -> RenderableType:
    source = located(passage, grade.span[0]) if grade.span else passage
    head = _beside(Text(label, "cyan"), Text(chance(grade), COLOUR[grade.label]), whence(source, opens))
    part = excerpt(passage.text, grade.span) if short else None
    marks = [(*grade.span, MARKED)] if grade.span else []
    return _indented(Group(head, Padding(readable(passage.text, marks, part), (0, 0, 0, 2))))


def _beside(*columns: RenderableType, width: int | None = None) -> RenderableType:
    """Columns side by side, of which the last one folds, and the others have this width."""
    table = Table.grid(padding=(0, 1, 0, 0))
    for _ in columns[1:]:
        table.add_column(no_wrap=True, width=width)
    table.add_column(ratio=1)
    table.add_row(*columns)
    return table


def place(passage: Passage) -> str:
    """Its place: its file, and the address that its row claims, which comes first only where it is of the web."""
    claimed = plain(passage.url or passage.title or passage.id)
    if not passage.file or passage.url == passage.file or (passage.url or "").startswith(f"{passage.file}#"):
        return claimed
    file = plain(passage.file)
    return f"{claimed} (from {file})" if _is_web(claimed) else f"{file} (as “{claimed}”)"


def line(label: str, content: RenderableType) -> RenderableType:
    """The content, to the right of its label."""
    return _beside(Text(label, "cyan"), content, width=10)


def chance(grade: Grade) -> str:
    """The probability, which means the same for every evaluator that has one; else the score."""
    return share(grade.score, 2) if grade.probability is None else f"{grade.probability:.0%}".replace("%", " %")


def troubles(trace: Trace, *names: str) -> list[RenderableType]:
    """The errors and fallbacks of the steps of these names, each once. Passages are named by their place, and several
    by how many they are."""
    origin = by_id(trace)

    def named(ids: re.Match[str]) -> str:
        known = [origin[id] for id in ids[0].split(", ") if id in origin]
        return place(known[0]) if len(known) == 1 else f"{len(known)} passages" if known else ids[0]

    lines = [line for step in trace.steps if step.name in names for line in (step.error, step.degraded) if line]
    notes = dict.fromkeys(_IDS.sub(named, line) for line in lines)
    return [note for line in notes for note in _note(f"! {line}", "yellow")]


def by_id(trace: Trace) -> dict[str, Passage]:
    """All passages of a trace."""
    return {passage.id: passage for passage in (*trace.passages, *trace.external)}


def _indented(content: RenderableType) -> RenderableType:
    return Padding(content, (0, 0, 0, 2))
