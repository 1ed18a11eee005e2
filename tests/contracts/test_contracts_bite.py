"""Every promise of `surefoot.contracts` is broken here once, on purpose, by a component that keeps all the others."""

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from surefoot import contracts
from surefoot.contracts import CONTRACTS, verify
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.evidence.policies import Threshold
from surefoot.llms.scripted import Scripted
from surefoot.refiners.strips import Strips
from surefoot.run import meter
from surefoot.types import (
    Action,
    Answer,
    Assertion,
    Block,
    Citation,
    Completion,
    Document,
    Grade,
    Metric,
    Passage,
    Record,
    Score,
    Strip,
    Support,
    Thresholds,
)
from surefoot.types.errors import ConfigError, EndpointError, UsageError
from surefoot.types.metadata import NO_FILTER, Meta
from surefoot.verifiers.lexical import LexicalVerifier

OWN = Thresholds(0.5, -0.5, 0.0, "broken")
NUMBERS = count()
FOUND = (Passage("a", "x", score=2.0), Passage("b", "y", score=1.0))


def component(verb: str, does: Callable[..., Any], **names: Any) -> Any:
    """An object with this one verb and these names."""
    return type("Broken", (), {verb: staticmethod(does), **names})()


@dataclass
class Turns:
    """Gives one thing the first time and another ever after."""

    first: Any
    later: Any

    def __call__(self, *_: Any, **__: Any) -> Any:
        now, self.first = self.first, self.later
        return now


def but(**changes: Any) -> Callable[..., Any]:
    """Gives a value with these changes."""
    return lambda value, *_: replace(value, **changes)


def each(**changes: Any) -> Callable[..., Any]:
    """Gives each of some values with these changes."""
    return lambda values, *_: tuple(replace(value, **changes) for value in values)


def retrieving(*found: Passage) -> Any:
    return component("retrieve", lambda question, k: found[:k])


def grading(change: Callable[[list[Grade]], Any], **names: Any) -> Any:
    def grade(pairs: Sequence[Any]) -> Any:
        return change([Grade(passage.id, float(len(passage.text))) for _, passage in pairs])

    return component("grade", grade, **{"name": "broken", "thresholds": OWN, **names})


def by_place(grades: list[Grade]) -> tuple[Grade, ...]:
    return tuple(replace(grade, score=float(place)) for place, grade in enumerate(grades))


def by_company(grades: list[Grade]) -> tuple[Grade, ...]:
    """Right alone and in this order, wrong in another."""
    first = [grade.passage_id for grade in grades][:1]
    return tuple(replace(grade, score=0.0 if len(grades) > 1 and first == ["empty"] else 1.0) for grade in grades)


def deciding(change: Callable[[Any, Sequence[Grade], int], Any]) -> Any:
    real = Threshold(OWN)

    def decide(grades: Any, rewrites: int = 0) -> Any:
        return change(real.decide(grades), grades, rewrites)

    return component("decide", decide, name="threshold", thresholds=OWN)


def by_the_first(decision: Any, grades: Sequence[Grade], _: int) -> Any:
    return replace(decision, best=grades[0].score if grades else None)


def refining(change: Callable[[tuple[Strip, ...]], Any]) -> Any:
    real = Strips(Lexical(), Lexical.thresholds)
    return component("refine", lambda question, passages: change(real.refine(question, passages)))


def saying(text: str = "red", model: str = "m", calls: int = 1, tokens: int = 1, pieces: str | None = None) -> Any:
    def complete(messages: Any, *, on_text: Any = None, **_: Any) -> Any:
        meter.count(calls=calls)
        if on_text:
            on_text(text if pieces is None else pieces)
        return Completion(text, model, 1, tokens)

    return component("complete", complete, name="m")


def embedding(change: Callable[[Any, Sequence[str]], Any]) -> Any:
    return component("embed", lambda texts: change(Hashing().embed(texts), texts), name="h", dimensions=256)


def searching(*found: Passage) -> Any:
    return component("search", lambda query, k: found, name="s")


def hostile(good: Any, bad: Any) -> Callable[..., Any]:
    """Right for plain text, wrong for a text that is made to break things."""
    return lambda text, k: bad if text in contracts.HOSTILE else good[:k]


def filtering(finds: Callable[[Any], Any]) -> Any:
    """Right without a filter; with one it finds what this gives for it."""

    def retrieve(question: str, k: int, filter: Any = NO_FILTER) -> Any:
        return (finds(filter) if filter else LABELLED)[:k]

    return component("retrieve", retrieve)


def unlabelled(filter: Any) -> Any:
    """Right for a field that no document has, and for another as if it were none."""
    absent = any(condition.key == contracts.ABSENT for condition in filter.conditions)
    return tuple(p for p in LABELLED if filter.matches(p.meta)) if absent else LABELLED


LABELLED = (Passage("a", "x", score=2.0, meta=Meta({"year": 2024})), Passage("b", "y", score=1.0))
EXTERNAL = Passage("a", "x", source="external")
VERB = "has the verb of its role, and the names that go with it"


def verifying(change: Callable[[tuple[Support, ...], Sequence[Assertion]], Any]) -> Any:
    """The lexical verifier, whose verdicts are changed."""
    own = LexicalVerifier()
    return component("support", lambda asked: change(own.support(asked), asked), name=own.name)


BROKEN: dict[str, list[tuple[str, Callable[[], Any]]]] = {
    "retriever": [
        ("returns a tuple of passages", lambda: component("retrieve", lambda question, k: list(FOUND))),
        ("returns at most k passages", lambda: component("retrieve", lambda question, k: FOUND * 3)),
        ("returns each passage once", lambda: retrieving(FOUND[0], FOUND[0])),
        ("finds nothing where no document fulfils the filter", lambda: filtering(lambda filter: LABELLED)),
        ("finds all where every document fulfils it", lambda: filtering(lambda filter: ())),
        ("finds what fulfils it, and nothing else", lambda: filtering(unlabelled)),
        ("gives each passage a score", lambda: retrieving(Passage("a", "x"))),
        ("gives each passage a score", lambda: retrieving(Passage("a", "x", score=float("nan")))),
        ("returns the best first", lambda: retrieving(*FOUND[::-1])),
        ("is deterministic", lambda: component("retrieve", Turns(FOUND, FOUND[:1]))),
        ("k only cuts the list", lambda: component("retrieve", lambda question, k: FOUND[: k + 1])),
        ("survives any text as a query", lambda: component("retrieve", hostile(FOUND, None))),
    ],
    "evaluator": [
        (VERB, lambda: component("grade", lambda pairs: ())),
        ("returns a tuple of grades", lambda: grading(list)),
        ("grades each pair, in order", lambda: grading(lambda grades: tuple(grades[::-1]))),
        ("says why it cannot grade", lambda: grading(each(score=None))),
        ("a score is a number; a failure is None", lambda: grading(each(score=float("nan")))),
        ("a probability lies in [0, 1]", lambda: grading(each(probability=1.2))),
        ("says so (returns_spans = True) if it points", lambda: grading(each(span=(0, 1)))),
        ("grades nothing for no pairs", lambda: grading(lambda gs: tuple(gs) or (Grade("x", 0.0),))),
        ("a grade does not depend on the other pairs", lambda: grading(by_place)),
        ("nor on their order", lambda: grading(by_company)),
        ("has thresholds of its own", lambda: grading(tuple, thresholds=replace(OWN, evaluator="t5"))),
        ("lower is not above upper", lambda: grading(tuple, thresholds=replace(OWN, lower=0.6))),
        ("grades any text", lambda: grading(lambda gs: tuple(gs) if [g.passage_id for g in gs] != ["x"] else ())),
    ],
    "policy": [
        ("decides, and says why", lambda: deciding(but(because=""))),
        ("is deterministic", lambda: deciding(lambda decision, *_: replace(decision, because=str(next(NUMBERS))))),
        ("records what it decided by", lambda: deciding(but(upper=0.6))),
        ("does not mind the order", lambda: deciding(by_the_first)),
        (
            "nothing retrieved is INCORRECT",
            lambda: deciding(
                lambda decision, grades, _: decision if grades else replace(decision, action=Action.AMBIGUOUS)
            ),
        ),
        (
            "does not rewrite for ever",
            lambda: deciding(lambda decision, grades, _: replace(decision, again=len(grades) == 3)),
        ),
    ],
    "refiner": [
        ("returns a tuple of strips", lambda: refining(list)),
        ("cuts the passages that it was given", lambda: refining(each(passage_id="other"))),
        (
            "a strip is a slice of its passage",
            lambda: refining(lambda strips: tuple(replace(s, start=s.start + 1) for s in strips)),
        ),
        (
            "a strip is a slice of its passage",
            lambda: refining(lambda strips: tuple(replace(s, end=s.start, text="") for s in strips)),
        ),
        ("says why it dropped a strip, and only then", lambda: refining(each(reason=""))),
        ("says why it dropped a strip, and only then", lambda: refining(each(reason="because"))),
        ("keeps the order of passages and text", lambda: refining(lambda strips: strips[::-1])),
        (
            "makes nothing of nothing",
            lambda: refining(lambda strips: strips or (Strip("bridge", 0, 3, "The", 1.0, kept=True),)),
        ),
        ("is deterministic", lambda: component("refine", first_strips_then_none())),
    ],
    "rewriter": [
        ("returns at least one query", lambda: component("rewrite", lambda question, seen: ())),
        ("returns at least one query", lambda: component("rewrite", lambda question, seen: [question])),
        ("returns texts, or rewritten queries", lambda: component("rewrite", lambda question, seen: (1,))),
        ("returns no empty query", lambda: component("rewrite", lambda question, seen: (question, " "))),
        ("returns each query once", lambda: component("rewrite", lambda question, seen: (question, question))),
    ],
    "searcher": [
        ("returns at most k passages", lambda: searching(*[replace(EXTERNAL, id=str(n)) for n in range(4)])),
        ("returns at most k passages", lambda: component("search", lambda query, k: [], name="s")),
        ("marks what it finds as external", lambda: searching(replace(EXTERNAL, source="corpus"))),
        ("returns each passage once", lambda: searching(EXTERNAL, EXTERNAL)),
    ],
    "llm": [
        ("returns a completion", lambda: component("complete", lambda *_, **__: "red", name="m")),
        ("its pieces joined are its text", lambda: saying(pieces="green")),
        ("says which model spoke", lambda: saying(model="")),
        ("stops at the token limit", lambda: saying(tokens=9)),
        ("counts itself as one call", lambda: saying(calls=0)),
        ("is greedy: the same again", lambda: Scripted(lambda messages: str(next(NUMBERS)))),
    ],
    "generator": [
        ("answers or refuses", lambda: component("generate", lambda *_: Answer(""))),
        (
            "cites slices of its sources, or leaves the citations to be checked",
            lambda: component("generate", lambda *_: Answer("Tom", (Citation(1, None, "", quoted=True),))),
        ),
        (
            "cites slices of its sources, or leaves the citations to be checked",
            lambda: component(
                "generate", lambda _, known: Answer("Tom", (Citation(1, known[0][0], "Tim", quoted=True),))
            ),
        ),
    ],
    "embedder": [
        ("one row a text", lambda: embedding(lambda rows, _: rows[:, :10])),
        ("rows have length 1", lambda: embedding(lambda rows, _: rows * 2)),
        ("rows have length 1", lambda: embedding(lambda rows, _: rows * float("nan"))),
        ("a row depends on its text only", lambda: embedding(lambda rows, _: np.roll(rows, len(rows), axis=1))),
        ("no texts, no rows", lambda: embedding(lambda rows, texts: rows if texts else np.zeros((1, 256)))),
        ("embeds any text", lambda: embedding(lambda rows, texts: rows[:0] if texts == [""] else rows)),
    ],
    "judge": [
        ("returns a score", lambda: judging(lambda score: None)),
        ("says whose score it is, and by whom", lambda: judging(but(judge="other"))),
        ("has a value, or says why not", lambda: judging(but(unscored_because="x"))),
        ("gives no value where it does not apply", lambda: judging(but(applies=False))),
        ("a value lies in [0, 1]", lambda: judging(but(value=1.2, rating=None))),
        ("a value is a fifth of its rating", lambda: judging(but(rating=4))),
        ("explains a value", lambda: judging(but(reason=""))),
        (
            "applies to a record that lacks nothing",
            lambda: judging(but(value=None, rating=None, unscored_because="no", applies=False)),
        ),
        ("is deterministic", lambda: judging(lambda score: replace(score, reason=str(next(NUMBERS))))),
        ("does not apply where there is but a question", lambda: judging(but(), lacks=False)),
        ("declares the metric that it judges", lambda: declaring(name="luck")),
        ("its metric is an edge of the diamond", lambda: declaring(edge=("question", "moon"))),
        ("sees fields of a record", lambda: declaring(sees=("question", "moon"))),
        ("has five levels to be rated by, or none", lambda: declaring(levels=("good", "bad"))),
    ],
    "verifier": [
        ("gives one verdict for each assertion", lambda: verifying(lambda found, _: found[:1])),
        ("signs its verdicts", lambda: verifying(each(name=""))),
        ("says why it cannot tell", lambda: verifying(each(supported=None, reason=""))),
        ("a probability lies in [0, 1]", lambda: verifying(each(probability=1.2))),
        (
            "points at places of the assertion, in order and disjoint",
            lambda: verifying(each(unsupported=((0, 9_999),))),
        ),
        ("supports nothing without evidence", lambda: verifying(each(supported=True))),
        ("says nothing of nothing", lambda: verifying(lambda found, _: found or (Support(None, True),))),
        (
            "does not mind the order",
            lambda: verifying(lambda found, _: tuple(replace(one, probability=n / 10) for n, one in enumerate(found))),
        ),
        (
            "a verdict does not depend on the other assertions",
            lambda: verifying(lambda found, _: tuple(replace(one, probability=len(found) / 10) for one in found)),
        ),
        (
            "judges any text",
            lambda: verifying(lambda found, asked: () if [one.text for one in asked] == ["?"] else found),
        ),
    ],
    "loader": [
        ("says why it cannot read a file", lambda: component("read", refusing)),
        ("gives documents and problems", lambda: component("read", lambda stream, name: ["a text"])),
        (
            "gives no document without a text",
            lambda: component("read", lambda stream, name: [Document("", name, (Block(" "),))]),
        ),
    ],
}


def declaring(**changes: Any) -> Any:
    """A judge whose metric is declared wrongly."""
    about = Metric("charm", ("question", "answer"), ("question", "answer"), "Is it charming?", levels=("so",) * 5)
    return component("judge", judging(but()).judge, name="broken", metric="charm", about=replace(about, **changes))


def refusing(stream: Any, name: str) -> Any:
    raise UsageError("")


def judging(change: Callable[[Score], Any], lacks: bool = True) -> Any:
    """A judge that gives every record the highest score, but for what is changed in it."""

    def judge(record: Record) -> Any:
        if lacks and record.contexts is None:
            return Score(record.id, "charm", None, unscored_because="no context", applies=False, judge="broken")
        return change(Score(record.id, "charm", 1.0, 5, "so", judge="broken"))

    return component("judge", judge, name="broken", metric="charm")


def first_strips_then_none() -> Callable[..., Any]:
    """Strips the first time that there are passages, none later."""
    given = Turns(Strips(Lexical(), Lexical.thresholds).refine(contracts.QUESTION, contracts.PASSAGES), ())
    return lambda question, passages: given() if passages else ()


EACH = [(role, *broken) for role, several in BROKEN.items() for broken in several]
EACH += [(role, VERB, object) for role in CONTRACTS]


@pytest.mark.parametrize(("role", "promise", "build"), EACH, ids=[f"{role}: {why}" for role, why, _ in EACH])
def test_a_broken_promise_is_named(role: str, promise: str, build: Callable[[], Any]) -> None:
    """The check fails with the very promise that is broken, and says what came instead."""
    with pytest.raises(AssertionError) as caught:
        verify(role, build())
    assert str(caught.value).startswith(f"{promise}; instead: ")


def test_every_promise_is_broken_once() -> None:
    """A new line of the contracts needs a component here that breaks it."""
    promised = {(role, promise) for role, check in CONTRACTS.items() for promise in promises(check)}
    assert promised == {(role, promise) for role, promise, _ in EACH if promise != VERB}


def promises(check: Callable[..., Any]) -> list[str]:
    """The second argument of each `_holds` in a check, and in the part of it that checks filters."""
    parts = [check, contracts._filters] if check is contracts.retriever else [check]
    trees = [ast.parse(inspect.getsource(part)) for part in parts]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "_holds"]
    return [ast.literal_eval(call.args[1]) for call in named]


def test_a_searcher_may_fail_with_a_search_error_only() -> None:
    """Another failure comes out as it is."""

    def search(query: str, k: int) -> tuple[Passage, ...]:
        raise EndpointError("down")

    with pytest.raises(EndpointError):
        verify("searcher", component("search", search, name="s"))


def test_a_wrong_role_is_named() -> None:
    with pytest.raises(ConfigError, match="no role called 'umpire'; there are: retriever, evaluator, refiner"):
        verify("umpire", object())


def test_a_long_value_does_not_flood_the_screen() -> None:
    with pytest.raises(AssertionError) as caught:
        verify("llm", saying(text="x" * 10_000, pieces=""))
    assert len(str(caught.value)) == 500
