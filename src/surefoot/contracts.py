"""The duties of each role, as checks that anyone can run over a component of their own.

    from surefoot.contracts import verify
    verify("evaluator", MyEvaluator())

A check raises AssertionError, saying what was promised and what came instead. The package's own tests run the same
checks over every built-in.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from io import BytesIO
from math import isfinite
from typing import Any

from surefoot.components import ROLES
from surefoot.run.meter import metered
from surefoot.types import (
    Action,
    Assertion,
    Completion,
    Decision,
    Document,
    DocumentProblem,
    Grade,
    Message,
    Passage,
    Record,
    RewrittenQuery,
    Score,
    Strip,
    Support,
    Thresholds,
    protocols,
)
from surefoot.types.errors import ConfigError, NetworkError, SearchError, UsageError
from surefoot.types.metadata import Filter, Meta, can_filter

PASSAGES = (
    Passage(
        "bridge", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron. It has one arch.", "Ruvel Bridge"
    ),
    Passage(
        "hut", "The hut stands at 2,214 metres. A path leads there. The keeper is called Josef.", "Upper Larrow Hut"
    ),
    Passage("cheese", "Grate the cheese, add flour and eggs, and boil the dumplings.", "Cheese dumplings"),
    Passage("empty", "", ""),
)
QUESTION = "Who built the Ruvel Bridge?"
ABSENT = "surefoot.of_no_document"
"""A field that no document has."""
HOSTILE = (
    "",
    "?",
    '"" OR NEAR(',
    "a" * 4000,
    "ünïcödé 桥",
    "'; DROP TABLE passages; --",
    "\0\1",
    "\ud800",
    "NOT AND OR *",
)


def retriever(component: protocols.Retriever) -> None:
    """Checks a retriever over any corpus of at least one passage."""
    found = component.retrieve(QUESTION, 5)
    _holds(_tuple_of(Passage, found), "returns a tuple of passages", found)
    _holds(len(found) <= 5, "returns at most k passages", len(found))
    _holds(len({p.id for p in found}) == len(found), "returns each passage once", [p.id for p in found])
    scores = [p.score for p in found]
    _holds(all(score is not None and isfinite(score) for score in scores), "gives each passage a score", scores)
    _holds(scores == sorted(scores, key=lambda score: -(score or 0.0)), "returns the best first", scores)
    _holds(component.retrieve(QUESTION, 5) == found, "is deterministic", "another result the second time")
    _holds(component.retrieve(QUESTION, 1) == found[:1], "k only cuts the list", component.retrieve(QUESTION, 1))
    for query in HOSTILE:
        _holds(isinstance(component.retrieve(query, 3), tuple), "survives any text as a query", repr(query[:20]))
    _filters(component.retrieve)


def _filters(find: Callable[..., tuple[Passage, ...]]) -> None:
    """Checks the filter of a verb that has one."""
    if not can_filter(find):
        return
    try:
        none = find(QUESTION, 5, filter=Filter.of({ABSENT: True}))
    except ConfigError:  # it is made of others, and one of them cannot
        return
    _holds(none == (), "finds nothing where no document fulfils the filter", none)
    every = find(QUESTION, 5, filter=Filter.of({ABSENT: {"!=": True}}))
    _holds(every == find(QUESTION, 5), "finds all where every document fulfils it", every)
    for key, value in {pair for passage in every for pair in passage.meta.items()}:
        one = Filter.of({key: value})
        some = find(QUESTION, 5, filter=one)
        _holds(some != () and all(one.matches(p.meta) for p in some), "finds what fulfils it, and nothing else", some)


def store(component: protocols.Store, embedder: protocols.Embedder) -> None:
    """Checks a store whose collection is empty, and leaves it so; `embedder` is its own."""
    passages = [replace(one, start=n, file=f"{one.id}.md", meta=Meta({"n": n})) for n, one in enumerate(PASSAGES)]
    vectors = embedder.embed([f"{one.title}\n{one.text}" for one in passages])
    rows = [protocols.StoreRow(one, f"hash of {one.id}", vector) for one, vector in zip(passages, vectors, strict=True)]
    _holds(component.hashes() == {}, "is empty", component.hashes())
    component.upsert(rows[:2])
    component.upsert(rows)
    component.upsert(rows[::-1])
    hashes = {row.passage.id: row.hash for row in rows}
    for verb in (component.finish, component.finish):
        _holds(component.hashes() == hashes, "has the hash of each passage, once", component.hashes())
        retriever(component)
        found = {one.id: replace(one, score=None) for one in component.retrieve(QUESTION, 9)}
        _holds(found["bridge"] == passages[0], "gives a passage back whole", found["bridge"])
        nearest = component.nearest(QUESTION, 1)
        _holds(nearest == ("bridge",), "finds the nearest by vector", nearest)
        verb()
    changed = protocols.StoreRow(replace(passages[0], text="A ferry crosses."), "another hash", rows[0].vector)
    component.upsert([changed])
    text = component.retrieve(QUESTION, 1)[0].text
    _holds(text == changed.passage.text, "puts a changed passage in place of the old one", text)
    _holds(component.hashes() == {**hashes, "bridge": "another hash"}, "and its hash", component.hashes())
    component.delete(["bridge", "nobody's"])
    left = {one.id for one in component.retrieve(QUESTION, 9)}
    _holds("bridge" not in left and "hut" in left, "finds what is deleted no more, and all else", left)
    component.delete([*hashes])
    component.finish()
    _holds(component.hashes() == {}, "holds nothing once all is deleted", component.hashes())


def evaluator(component: protocols.Evaluator) -> None:
    """Checks an evaluator."""
    pairs = [(QUESTION, passage) for passage in PASSAGES]
    grades = component.grade(pairs)
    _holds(_tuple_of(Grade, grades), "returns a tuple of grades", grades)
    _holds([g.passage_id for g in grades] == [p.id for p in PASSAGES], "grades each pair, in order", grades)
    _holds(all(g.score is not None or g.reason for g in grades), "says why it cannot grade", grades)
    scores = [g.score for g in grades if g.score is not None]
    _holds(all(map(isfinite, scores)), "a score is a number; a failure is None", scores)
    sure = [g.probability for g in grades if g.probability is not None]
    _holds(all(0 <= share <= 1 for share in sure), "a probability lies in [0, 1]", sure)
    pointing = [g.span for g in grades if g.span]
    _holds(not pointing or protocols.returns_spans(component), "says so (returns_spans = True) if it points", pointing)
    _holds(component.grade([]) == (), "grades nothing for no pairs", component.grade([]))
    alone = tuple(component.grade([pair])[0] for pair in pairs)
    _holds(alone == grades, "a grade does not depend on the other pairs", (alone, grades))
    _holds(component.grade(pairs[::-1]) == grades[::-1], "nor on their order", "other grades in reverse")
    own = component.thresholds
    _holds(isinstance(own, Thresholds) and own.evaluator == component.name, "has thresholds of its own", own)
    _holds(own.lower <= own.upper, "lower is not above upper", own)
    for text in HOSTILE:
        _holds(len(component.grade([(text, Passage("x", text))])) == 1, "grades any text", repr(text[:20]))


def policy(component: protocols.Policy) -> None:
    """Checks a policy."""
    own = component.thresholds
    high, low = Grade("a", own.upper + 1, label=Action.CORRECT), Grade("b", own.lower - 1, label=Action.INCORRECT)
    for grades in ((), (high,), (low,), (high, low), (Grade("c", None, reason="failed"),)):
        decision = component.decide(grades)
        _holds(isinstance(decision, Decision) and bool(decision.because), "decides, and says why", decision)
        _holds(component.decide(grades) == decision, "is deterministic", decision)
        by = decision.policy, decision.upper, decision.lower
        _holds(by == (component.name, own.upper, own.lower), "records what it decided by", decision)
    same = component.decide((low, high)) == component.decide((high, low))
    _holds(same, "does not mind the order", "another decision")
    _holds(component.decide(()).action is Action.INCORRECT, "nothing retrieved is INCORRECT", component.decide(()))
    ambiguous = [Grade(str(n), (own.upper + own.lower) / 2, label=Action.AMBIGUOUS) for n in range(3)]
    _holds(not component.decide(ambiguous, rewrites=99).again, "does not rewrite for ever", "again after 99 rewrites")


def refiner(component: protocols.Refiner) -> None:
    """Checks a refiner."""
    by_id = {passage.id: passage for passage in PASSAGES}
    strips = component.refine(QUESTION, PASSAGES)
    _holds(_tuple_of(Strip, strips), "returns a tuple of strips", strips)
    _holds({s.passage_id for s in strips} <= set(by_id), "cuts the passages that it was given", strips)
    for strip in strips:
        source = by_id[strip.passage_id].text[strip.start : strip.end]
        _holds(strip.text == source and strip.text != "", "a strip is a slice of its passage", (strip.text, source))
        _holds(strip.kept != bool(strip.reason), "says why it dropped a strip, and only then", strip)
    order = [([p.id for p in PASSAGES].index(s.passage_id), s.start) for s in strips]
    _holds(order == sorted(order), "keeps the order of passages and text", order)
    _holds(component.refine(QUESTION, ()) == (), "makes nothing of nothing", "strips without a passage")
    _holds(component.refine(QUESTION, PASSAGES) == strips, "is deterministic", "other strips the second time")


def rewriter(component: protocols.Rewriter) -> None:
    """Checks a rewriter."""
    for question in (QUESTION, "What is Henry Feilden's occupation?", "why", "a" * 4000, "桥是谁建的？"):
        result = component.rewrite(question, PASSAGES)
        _holds(isinstance(result, tuple) and len(result) >= 1, "returns at least one query", result)
        of_kind = all(isinstance(one, str | RewrittenQuery) for one in result)
        _holds(of_kind, "returns texts, or rewritten queries", result)
        queries = [one if isinstance(one, str) else one.query for one in result]
        _holds(all(query.strip() for query in queries), "returns no empty query", queries)
        _holds(len(set(queries)) == len(queries), "returns each query once", queries)


def searcher(component: protocols.Searcher) -> None:
    """Checks a searcher; one that reaches nothing may raise SearchError or NetworkError, and nothing else."""
    for query in ("Ruvel Bridge", *HOSTILE):
        try:
            found = component.search(query, 3)
        except (NetworkError, SearchError):
            continue
        _holds(isinstance(found, tuple) and len(found) <= 3, "returns at most k passages", found)
        _holds(all(p.source == "external" for p in found), "marks what it finds as external", found)
        _holds(len({p.id for p in found}) == len(found), "returns each passage once", found)
    try:
        _filters(component.search)
    except (NetworkError, SearchError):
        return


def llm(component: protocols.LLM) -> None:
    """Checks a language model; what it says does not matter."""
    pieces: list[str] = []
    messages = [Message("user", "Name a colour.")]
    with metered() as spent:
        result = component.complete(messages, max_tokens=8, on_text=pieces.append)
    _holds(isinstance(result, Completion), "returns a completion", result)
    _holds("".join(pieces) == result.text, "its pieces joined are its text", (pieces, result.text))
    _holds(bool(result.model), "says which model spoke", result)
    _holds(result.completion_tokens <= 8, "stops at the token limit", result)
    _holds(spent.calls == 1, "counts itself as one call", spent)
    _holds(component.complete(messages, max_tokens=8).text == result.text, "is greedy: the same again", "another text")


def generator(component: protocols.Generator) -> None:
    """Checks a generator."""
    passage = PASSAGES[0]
    strip = Strip(passage.id, 0, 51, passage.text[:51], 1.0, kept=True)
    answer = component.generate(QUESTION, [(strip, passage)])
    _holds(bool(answer.text) or answer.refused, "answers or refuses", answer)
    for cited in answer.citations:
        place = passage.text[cited.strip.start : cited.strip.end] if cited.strip else ""
        stands = cited.marker == 1 and bool(cited.quote) and cited.quote in place
        _holds(stands, "cites slices of its sources, or leaves the citations to be checked", cited)


def embedder(component: protocols.Embedder) -> None:
    """Checks an embedder."""
    texts = [f"{passage.title}\n{passage.text}" for passage in PASSAGES if passage.text]
    rows = component.embed(texts)
    _holds(rows.shape == (len(texts), component.dimensions), "one row a text", rows.shape)
    _holds(abs((rows**2).sum(axis=1) - 1).max() < 1e-3, "rows have length 1", rows)
    alone = all((component.embed([text])[0] == row).all() for text, row in zip(texts, rows, strict=True))
    _holds(alone, "a row depends on its text only", "other numbers alone")
    _holds(component.embed([]).shape == (0, component.dimensions), "no texts, no rows", component.embed([]).shape)
    for text in HOSTILE:
        _holds(component.embed([text]).shape == (1, component.dimensions), "embeds any text", repr(text[:20]))


ANSWER = "Tomas Aldwin built the Ruvel Bridge in 1911."
RECORD = Record(
    "bridge",
    QUESTION,
    PASSAGES,
    f"{ANSWER} [1]",
    ("Tomas Aldwin", "T. Aldwin"),
    "The response should be a name.",
    context_ids=("bridge", "hut"),
    reference_ids=("bridge",),
)
BARE = (
    Record("nothing known", QUESTION),
    replace(RECORD, id="no truth", truths=()),
    replace(RECORD, id="no answer", answer=None),
    replace(RECORD, id="no context", contexts=None),
    replace(RECORD, id="nothing retrieved", contexts=()),
    replace(RECORD, id="nothing answered", answer=""),
    replace(RECORD, id="no note", note=""),
)
CORNERS = ("question", "context", "answer", "truth")
"""Of the diamond, whose edges metrics are."""


def judge(component: protocols.Judge) -> None:
    """Checks a judge."""

    def scored(record: Record) -> Score:
        score = component.judge(record)
        _holds(isinstance(score, Score), "returns a score", score)
        names = score.record_id, score.metric, score.judge
        _holds(names == (record.id, component.metric, component.name), "says whose score it is, and by whom", score)
        known = score.value is not None
        _holds(known != bool(score.unscored_because), "has a value, or says why not", score)
        _holds(score.applies or not known, "gives no value where it does not apply", score)
        _holds(not known or 0 <= (score.value or 0.0) <= 1, "a value lies in [0, 1]", score)
        rated = score.rating is not None
        _holds(not rated or score.value == (score.rating or 0) / 5, "a value is a fifth of its rating", score)
        _holds(not known or bool(score.reason), "explains a value", score)
        return score

    if isinstance(component, protocols.MetricJudge):
        about = component.about
        _holds(about.name == component.metric, "declares the metric that it judges", about)
        _holds({*about.edge} <= {*CORNERS} and len(about.edge) == 2, "its metric is an edge of the diamond", about.edge)
        _holds({*about.sees} <= {field.name for field in fields(Record)}, "sees fields of a record", about.sees)
        _holds(len(about.levels) in (0, 5), "has five levels to be rated by, or none", about.levels)
    whole = scored(RECORD)
    _holds(whole.applies, "applies to a record that lacks nothing", whole)
    again = replace(component.judge(RECORD), calls=whole.calls, tokens=whole.tokens)  # it may be remembered
    _holds(again == whole, "is deterministic", again)
    for record in BARE:
        scored(record)
    bare = component.judge(BARE[0])
    _holds(not bare.applies, "does not apply where there is but a question", bare)
    for text in HOSTILE:
        scored(Record("hostile", text, (Passage("x", text, text),), text, (text,), text))


def verifier(component: protocols.Verifier) -> None:
    """Checks a verifier."""
    bridge = PASSAGES[:1]
    assertions = [
        Assertion("The Ruvel Bridge was built in 1911 by Tomas Aldwin.", bridge),
        Assertion("The Ruvel Bridge was built in 1874 by Anna Kreel.", bridge, QUESTION),
        Assertion("Grate the cheese.", ()),
        Assertion("", bridge),
    ]
    result = component.support(assertions)
    whole = _tuple_of(Support, result) and len(result) == len(assertions)
    _holds(whole, "gives one verdict for each assertion", result)
    _holds(all(one.name == component.name for one in result), "signs its verdicts", result)
    _holds(all(one.supported is not None or one.reason for one in result), "says why it cannot tell", result)
    sure = [one.probability for one in result if one.probability is not None]
    _holds(all(0 <= chance <= 1 for chance in sure), "a probability lies in [0, 1]", sure)
    for assertion, one in zip(assertions, result, strict=True):
        ends = [0, *(offset for span in one.unsupported for offset in span), len(assertion.text)]
        _holds(ends == sorted(ends), "points at places of the assertion, in order and disjoint", one.unsupported)
    _holds(not result[2].supported, "supports nothing without evidence", result[2])
    _holds(component.support([]) == (), "says nothing of nothing", component.support([]))
    _holds(component.support(assertions[::-1]) == result[::-1], "does not mind the order", "other verdicts in reverse")
    alone = tuple(component.support([assertion])[0] for assertion in assertions)
    _holds(alone == result, "a verdict does not depend on the other assertions", (alone, result))
    for text in HOSTILE:
        hostile = Assertion(text, (Passage("x", text, text),), text)
        _holds(len(component.support([hostile])) == 1, "judges any text", repr(text[:20]))


def loader(component: protocols.Loader) -> None:
    """Checks a loader with bytes that are a file of hardly any format."""
    for content in (b"", b"\0" * 64, *(text.encode("utf-8", "replace") for text in HOSTILE)):
        try:
            found = [*component.read(BytesIO(content), "a file.bin")]
        except UsageError as error:
            _holds(bool(str(error)), "says why it cannot read a file", error)
            continue
        of_kind = all(isinstance(one, Document | DocumentProblem) for one in found)
        _holds(of_kind, "gives documents and problems", found)
        empty = [one for one in found if isinstance(one, Document) and not one.text.strip()]
        _holds(not empty, "gives no document without a text", empty)


CONTRACTS: dict[str, Callable[[Any], None]] = {role: globals()[role] for role in ROLES}
"""The check of each role, which is named as it is."""


def verify(role: str, component: Any) -> None:
    """Run the role's check. Raises AssertionError with the broken promise, ConfigError for an unknown role."""
    if role not in CONTRACTS:
        raise ConfigError(f"no role called '{role}'; there are: {', '.join(CONTRACTS)}")
    fits = isinstance(component, ROLES[role][1])
    _holds(fits, "has the verb of its role, and the names that go with it", component)
    CONTRACTS[role](component)


def _tuple_of(kind: type, found: Any) -> bool:
    return isinstance(found, tuple) and all(isinstance(one, kind) for one in found)


def _holds(holds: bool, promise: str, instead: object) -> None:
    if not holds:
        raise AssertionError(f"{promise}; instead: {instead!r}"[:500])
