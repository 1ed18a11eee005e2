"""The word rules that exclude sentences from the evidence, each with its effect: what is missed when it is off?"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

from typer import Argument, Option

from surefoot.cli._console import out, tabled
from surefoot.evaluators.minilm import MiniLM
from surefoot.evidence import exclusions
from surefoot.evidence.exclusions import Evidence
from surefoot.run.store import recorded
from surefoot.text import screen
from surefoot.text.words import places, sentences
from surefoot.types import Passage, Trace

NEVER = re.compile(r"(?!)")
FIELDS = ("question", "answer", "wrong", "subject", "claim")
"""The places that the text of an injection may have."""
CASES = 4
"""Cases in which each injection is planted. Every other one is asked as many people type: in lower case, unmarked."""
SETS = ("known", "held_out", "earlier")
"""Files of injections; of the held-out half only the count is printed."""
Off = tuple[Any, str, Any]
"""A module or class, the name of the rule in it, and the value that switches it off."""
RULES: Mapping[str, Sequence[Off]] = {
    "words of an order": [(screen, "_ORDERED", ())],
    "words of machines and conversations": [(screen, "_SPOKEN_OF", ())],
    "turns of a conversation": [(screen, "_TURN", NEVER)],
    "an order goes on": [(screen, "CARRIED", 0.0)],
    "disguised spelling": [(screen, "unmasked", str), (exclusions, "unmasked", str)],
    "the question's words in a run": [(exclusions._Question, "_put", lambda *_: False)],
    "a question of most of its words": [(exclusions._Question, "_asks", lambda *_: False)],
    "talk of answers": [(exclusions, "_TALK", frozenset())],
    "talk of saying": [(exclusions, "_TOLD", frozenset())],
    "talk about the question": [(exclusions, "_ABOUT", frozenset())],
    "the reply to a repeated question": [(exclusions._Question, "hangs_on", lambda *_: False)],
    "scraps": [(exclusions._Question, "is_scrap", lambda *_: False)],
    "other languages": [(exclusions, "_unread", lambda *_: ())],
}
"""The rules by name, each with its switches."""


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """Sentences that one rule alone excludes, counted."""

    rule: str
    """Empty: all rules are on."""
    caught: dict[str, int]
    """Injections of which the false answer, or what they say without one, is excluded, by set."""
    harmless: int
    """Sentences of harmless texts that are excluded."""
    questions: int
    """Questions of the run of which the answer's passages lose a sentence."""


def effects(folder: Path, traces: Sequence[Trace] = ()) -> Iterator[RuleEffect]:
    """The figures with all rules, then without each. `folder` holds `known.toml`, `cases.toml`, `harmless.toml` and so
    on, as `benchmarks/injections` does; `traces` are those of questions about manuals."""
    tables = {
        name: tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in (*SETS, "cases", "harmless")
    }
    yield _effect("", tables, traces)
    for rule in RULES:
        with switched_off(rule):
            yield _effect(rule, tables, traces)


@contextmanager
def switched_off(rule: str) -> Iterator[None]:
    """The product without one rule."""
    with ExitStack() as stack:
        stack.callback(_forget)
        for switch in RULES[rule]:
            stack.enter_context(patch.object(*switch))
        _forget()
        yield


def _forget() -> None:
    caches: tuple[Callable[..., Any], ...] = (screen._orders, exclusions._talk, exclusions._unread)
    for one in caches:
        getattr(one, "cache_clear", bool)()


def _effect(rule: str, tables: Mapping[str, Any], traces: Sequence[Trace]) -> RuleEffect:
    cases = [_typed(case) if n % 2 else case for n, case in enumerate(tables["cases"]["case"][:CASES])]
    caught = {name: sum(_caught(row["text"], cases) for row in tables[name]["injection"]) for name in SETS}
    harmless = sum(len(_excluded("", row["text"])) for row in tables["harmless"]["passage"])
    return RuleEffect(rule, caught, harmless, sum(map(_touched, traces)))


def _caught(text: str, cases: Sequence[Mapping[str, Any]]) -> bool:
    """True if in no case a sentence that counts holds the false answer; of what has none, if any is excluded."""
    return all(_harmless(_planted(text, case), case) for case in cases)


def _typed(case: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**case, "question": case["question"].rstrip("?").lower()}


def _harmless(text: str, case: Mapping[str, Any]) -> bool:
    passage = Passage("p", text)
    left = Evidence(case["question"], MiniLM.languages).masked(passage).text
    return not places(case["wrong"], left) if places(case["wrong"], text) else left != text


def _planted(text: str, case: Mapping[str, Any]) -> str:
    for name in FIELDS:
        text = text.replace(f"{{{name}}}", case[name])
    return text


def _excluded(question: str, text: str) -> Sequence[tuple[int, int]]:
    found = Evidence(question, MiniLM.languages).excluded(Passage("p", text)) if sentences(text) else ()
    return [(one.start, one.end) for one in found]


def _touched(trace: Trace) -> bool:
    cited = {one.strip.passage_id for one in trace.answer.citations if one.strip} if trace.answer else set()
    evidence = Evidence(trace.question, MiniLM.languages)
    return any(evidence.excluded(passage) for passage in trace.passages if passage.id in cited)


def rules(
    folder: Annotated[Path, Argument(metavar="INJECTIONS", help="The folder benchmarks/injections.")],
    run: Annotated[
        Path | None, Option("--run", help="A folder of `surefoot lab manuals`: count its questions, too.")
    ] = None,
) -> None:
    """Switch each rule that excludes sentences off, and count what is then missed."""
    traces = [*recorded(run / "surefoot")[1].values()] if run else []
    rows = (
        (one.rule or "none", *(str(one.caught[name]) for name in SETS), str(one.harmless), str(one.questions))
        for one in effects(folder, traces)
    )
    counted = [*(f"caught, {name}" for name in SETS), "harmless excluded", "questions touched"]
    out.print(tabled(["rule that is off"], counted, rows))
