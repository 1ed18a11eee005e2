"""Reciprocal rank fusion."""

from threading import Barrier

import pytest
from hypothesis import given, strategies as st

from surefoot.retrievers.hybrid import Hybrid
from surefoot.run import meter
from surefoot.types import Passage
from surefoot.types.errors import ConfigError
from surefoot.types.metadata import NO_FILTER, Filter, Meta
from surefoot.types.protocols import Retriever

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4)


class Listed:
    """Retrieves these ids, whatever the question."""

    def __init__(self, ids):
        self.ids = ids

    def retrieve(self, question, k):
        return tuple(Passage(id, id.upper(), score=9.0) for id in self.ids[:k])


class Labelled:
    """Retrieves the ids that have a field of their own name, and can filter."""

    name = "labelled"

    def __init__(self, ids):
        self.ids = ids

    def retrieve(self, question, k, filter=NO_FILTER):
        every = (Passage(id, id.upper(), score=9.0, meta=Meta({id: True})) for id in self.ids)
        return tuple(passage for passage in every if filter.matches(passage.meta))[:k]


def fused(*rankings, k=10, **options):
    return Hybrid([Listed(ranking) for ranking in rankings], **options).retrieve("?", k)


def test_scores_are_those_of_the_formula():
    """The sum of 1 / (constant + rank)."""
    assert [(p.id, p.score) for p in fused("ab", "b", constant=60)] == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]
    assert isinstance(Hybrid([]), Retriever)


def test_a_retriever_weighs_what_its_name_does():
    """Named ones are weighted, others weigh 1."""
    light = Listed("b")
    light.name = "light"
    found = Hybrid([Listed("a"), light], weights={"light": 0.5}, constant=9).retrieve("?", 2)
    assert [(passage.id, passage.score) for passage in found] == [("a", 0.1), ("b", 0.05)]


def test_each_retriever_is_asked_for_depth_passages_or_more():
    """A passage that both know, far down, can win; no fewer are asked for than are wanted."""
    assert fused("abx", "cdx", depth=3)[0].id == "x"
    assert "x" not in [passage.id for passage in fused("abx", "cdx", k=2, depth=2)]
    assert len(fused("abc", k=3, depth=1)) == 3


@given(RANKINGS)
def test_the_order_of_the_retrievers_does_not_matter_to_the_order_of_passages(rankings):
    """Every passage found is there once, best first, the same way round."""
    found = fused(*rankings)
    assert {passage.id for passage in found} == set().union(*rankings)
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    if len(rankings) < 3:  # a sum of three depends on its order in the last bit
        assert [passage.id for passage in found] == [passage.id for passage in fused(*reversed(rankings))]


def test_a_filter_reaches_each_retriever():
    """Ranks are those among what fulfils it, however deep that lies in the lists without it."""
    one = Filter.of({"h": True})
    found = Hybrid([Labelled("abcdefgh"), Labelled("hgfedcba")], depth=2, constant=60).retrieve("?", 5, one)
    assert [(p.id, p.score) for p in found] == [("h", 1 / 61 + 1 / 61)]


def test_a_retriever_that_cannot_filter_is_refused_by_name():
    """Its passages would come unfiltered; without a filter it is as good as any."""
    both = Hybrid([Labelled("ab"), Listed("ab")])
    assert len(both.retrieve("?", 5)) == 2
    with pytest.raises(ConfigError, match="retriever 'Listed' cannot filter; use one whose verb takes a filter"):
        both.retrieve("?", 5, Filter.of({"a": True}))


class Telling:
    """Retrieves these texts, in order."""

    def __init__(self, *texts):
        self.texts = texts

    def retrieve(self, question, k):
        return tuple(Passage(f"p{n}", text, "Huts") for n, text in enumerate(self.texts))[:k]


def test_what_repeats_a_passage_before_it_makes_room_for_another():
    """There are as many as were asked for, while there are others."""
    one, two, three = "The hut has forty beds and a stove.", "It is open in winter.", "The path is steep."
    found = Hybrid([Telling(one, one, "forty beds and a stove", two, three)]).retrieve("?", 3)
    assert [passage.text for passage in found] == [one, two, three]


def test_retrievers_search_side_by_side():
    """Each waits for the other here; a step says what one of them did without."""
    meeting = Barrier(2, timeout=30)

    class Waiting(Listed):
        def retrieve(self, question, k):
            meeting.wait()
            meter.degrade(f"no {self.ids}")
            return super().retrieve(question, k)

    with meter.metered() as spent:
        found = Hybrid([Waiting("a"), Waiting("b")]).retrieve("?", 2)
    assert [passage.id for passage in found] == ["a", "b"]
    assert sorted(spent.degraded) == ["no a", "no b"]
