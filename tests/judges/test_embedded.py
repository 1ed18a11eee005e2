"""The judges that need no language model: what they have in common, and each by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from surefoot.config.builder import Builder
from surefoot.config.options import build
from surefoot.config.settings import read
from surefoot.embedders.hashing import Hashing
from surefoot.evaluators.lexical import Lexical
from surefoot.judges.answer_relevancy import REFUSED
from surefoot.judges.context_adherence import ContextAdherence
from surefoot.judges.context_relevancy import SPLIT, ContextRelevancy, split
from surefoot.judges.factuality import Factuality
from surefoot.text.follow_up import standing_alone
from surefoot.text.words import STOP_WORDS, words
from surefoot.types import Assertion, Grade, Passage, Record, Score, Support
from surefoot.types.errors import ModelError
from surefoot.types.protocols import Matrix, Pair
from surefoot.verifiers._evidence import text_of, unjudged
from surefoot.verifiers.lexical import LexicalVerifier

WHO = "Who built the Ruvel Bridge?"
BRIDGE = Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron.", "Ruvel Bridge")
CHEESE = Passage("c", "Grate the cheese, add flour and eggs, and boil the dumplings.", "Cheese dumplings")
METRICS = "context_relevancy context_recall context_adherence factuality answer_relevancy grading_note".split()
RECORD = Record(
    "r1",
    WHO,
    (BRIDGE,),
    "Tomas Aldwin built the Ruvel Bridge in 1911 [1].",
    ("Tomas Aldwin", "Aldwin"),
    "The response should give the name of the builder.",
)
SEES = {
    "context_relevancy": {"contexts"},
    "context_recall": {"contexts", "truths"},
    "context_adherence": {"contexts", "answer"},
    "factuality": {"answer", "truths"},
    "answer_relevancy": {"answer"},
    "grading_note": {"answer", "note"},
}
NONE: dict[str, Any] = {"contexts": None, "answer": None, "truths": (), "note": ""}
HOSTILE = ["", "?", "a" * 4000, "ünïcödé 桥", "\x00\x01", "\ud800", "[1]", "**", "...\n\n- \n1."]


class Shares:
    """A verifier whose chance is the share of a claim's telling words that stand in the evidence."""

    name = "shares"

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        return tuple(unjudged(one, self.name) or Support(self._share(one), None) for one in assertions)

    def _share(self, one: Assertion) -> float:
        there, mine = set(words(text_of(one))), [word for word in words(one.text) if word not in STOP_WORDS]
        return sum(word in there for word in mine) / max(1, len(mine))


def judge(metric: str) -> Any:
    parts = {"evaluator": lambda: Lexical(), "embedder": lambda: Hashing(), "verifier": lambda: Shares()}
    return build("judge", metric, {}, parts)


def judged(metric: str, answer: str | None, contexts: Any = None, truths: Any = (), question: str = WHO) -> Score:
    found: Score = judge(metric).judge(Record("r", question, contexts, answer, tuple(truths)))
    return found


def value(metric: str, answer: str | None, contexts: Any = None, truths: Any = (), question: str = WHO) -> float:
    found = judged(metric, answer, contexts, truths, question).value
    assert found is not None
    return found


@pytest.mark.parametrize("metric", METRICS)
def test_a_good_record_gets_a_value_and_a_reason(metric: str) -> None:
    """In [0, 1], without a rating, the same each time, and above the middle."""
    score = judge(metric).judge(RECORD)
    assert score == judge(metric).judge(RECORD)
    assert 0.5 < score.value <= 1
    assert (score.record_id, score.metric, score.judge, score.rating) == ("r1", metric, metric, None)
    assert score.reason
    assert score.applies


@pytest.mark.parametrize("missing", NONE)
@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_applies_where_its_inputs_are(metric: str, missing: str) -> None:
    """What is missing makes it not applicable, with the reason and never a number; what it does not see changes
    nothing."""
    whole, lacking = judge(metric).judge(RECORD), judge(metric).judge(replace(RECORD, **{missing: NONE[missing]}))
    if missing in SEES[metric]:
        assert (lacking.applies, lacking.value) == (False, None)
        assert lacking.unscored_because.startswith("the record has no ")
    else:
        assert lacking == whole


@pytest.mark.parametrize("metric", METRICS)
def test_quotes_stand_where_they_are_said_to(metric: str) -> None:
    """Each, word for word."""
    texts = {"answer": RECORD.answer or "", "truth": "\n".join(RECORD.truths), "b": "Ruvel Bridge\n"}
    texts["b"] += (RECORD.contexts or ())[0].text
    for quote in judge(metric).judge(RECORD).quotes:
        assert quote.text in texts[quote.where]
        assert quote.verified


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_is_judged(metric: str, text: str) -> None:
    """Or unscored with why, or not applicable; never an exception."""
    score = judge(metric).judge(Record("r", text, (Passage("p", text, text),), text, (text,), text))
    assert (score.value is None) == (not score.applies or bool(score.unscored_because))
    assert score.value is None or 0 <= score.value <= 1
    assert score.reason or score.unscored_because


# Answer relevancy


def test_an_answer_is_for_its_question() -> None:
    """Right or wrong, and of a few words too, which are read behind the question; not for another one, and neither a
    refusal nor the question said again meets the need."""
    assert value("answer_relevancy", "Anna Tresk built the great Ruvel Bridge in 1911.") == 1.0
    assert value("answer_relevancy", "Anna Tresk") == 1.0
    assert value("answer_relevancy", "Grate the cheese, add Flour and boil Dumplings.") < 0.2
    assert value("answer_relevancy", "I don't know.") == value("answer_relevancy", "") == REFUSED
    which = "Which engineer built the Ruvel Bridge in the county?"
    assert value("answer_relevancy", which.replace("Which", "An"), question=which) == REFUSED


# Context adherence


def test_every_claim_of_the_answer_is_checked() -> None:
    """One that nothing carries lowers the value, and is the one that the reason names."""
    good = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
    bad = "It was painted green by sailors of the northern fleet."
    values = [value("context_adherence", answer, (BRIDGE,)) for answer in (good, f"{good} {bad}", bad)]
    assert values[0] > values[1] > values[2]
    score = judged("context_adherence", f"{good} {bad}", (BRIDGE,))
    assert all(part in score.reason for part in ("1 of 2 claims of the answer", f"“{bad}”"))
    assert score.quotes[0].text == bad
    assert [claim.text for claim in score.claims] == [good, bad]
    assert sum(claim.chance for claim in score.claims) / 2 == score.value


def test_a_refusal_claims_nothing() -> None:
    """So there is nothing to carry, and no value; nor of talk. Nothing carries an answer without context: that is 0."""
    assert value("context_adherence", "Tomas Aldwin built it.", ()) == 0.0
    for text in ("The context does not say who built it.", "I don't know.", "I hope this helps!"):
        score = judged("context_adherence", text, (BRIDGE,))
        assert (score.value, score.applies) == (None, False)


# Context recall


def test_the_contexts_hold_the_reference_or_not() -> None:
    """Whatever else they hold, in any order; the reason names the context that does. A name in a context that does not
    answer may stand there by chance. No context is retrieval's failure, and so 0; a bare yes cannot be looked up."""
    truth, bees = ["Tomas Aldwin"], Passage("a", "Tomas Aldwin kept bees.", "Bees")
    both = judged("context_recall", None, (CHEESE, BRIDGE), truth)
    assert both.value == value("context_recall", None, (BRIDGE,), truth) == 1.0
    assert both.reason.startswith("b, which answers the question")
    assert value("context_recall", None, (CHEESE,), truth) == value("context_recall", None, (), truth) == 0.0
    assert 0.0 < value("context_recall", None, (bees,), truth) < 0.75
    yes = judged("context_recall", None, (BRIDGE,), ["Yes."])
    assert yes.value is None
    assert "yes or no" in yes.unscored_because


def test_a_long_reference_is_broken_into_facts() -> None:
    """Each is looked for by itself, in the contexts and in the answer; the reason says how many are there."""
    fact = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
    other = "Before the war the northern fleet painted its railings green every spring with great care."
    both = f"{fact} {other}"
    values = [value("context_recall", None, (BRIDGE,), [truth]) for truth in (fact, both, other)]
    assert values[0] > values[1] > values[2]
    values = [value("factuality", answer, None, [both]) for answer in (both, fact, CHEESE.text)]
    assert values[0] > values[1] > values[2]
    assert "1 of 2 claims of the truth" in judged("context_recall", None, (BRIDGE,), [both]).reason
    assert "1 of 2 claims of the truth" in judged("factuality", fact, None, [both]).reason


# Context relevancy


def test_the_best_context_counts() -> None:
    """What else was retrieved does not lower it; text cut off does, by a step of the rubric, and is said."""
    cut = Passage("d", "The Ruvel Bridge was built in 1911 by Tomas Aldwin, who had already", "Ruvel Bridge")
    assert value("context_relevancy", None, (cut,)) == SPLIT
    assert "ends inside a sentence" in judged("context_relevancy", None, (cut,)).reason
    assert value("context_relevancy", None, (BRIDGE,)) == value("context_relevancy", None, (CHEESE, BRIDGE)) == 1.0
    assert value("context_relevancy", None, (CHEESE,)) == value("context_relevancy", None, ()) == 0.0


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It is of iron.", []),
        ("Bridges of the county\n- Ruvel Bridge", []),
        ("it is not possible, he said.", []),
        ("was built in 1911 by Tomas Aldwin.", ["begins inside a sentence"]),
        (", and of iron. It has One arch.", ["begins inside a sentence"]),
        ("The bridge was built in the year of ...", ["ends inside a sentence"]),
        ("He said: “It is of iron.” [3]", []),
    ],
)
def test_a_cut_is_seen_at_either_end(text: str, ends: list[str]) -> None:
    """Not in a heading, an entry of a list, nor in text that is all lower case."""
    assert split(text) == ends


def test_what_cannot_be_graded_is_unscored() -> None:
    """With the evaluator's reason."""

    class Broken(Lexical):
        def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
            return tuple(Grade(passage.id, None, reason="it broke") for _, passage in pairs)

    score = ContextRelevancy(Broken()).judge(RECORD)
    assert score.value is None
    assert "it broke" in score.unscored_because


# Factuality


@pytest.mark.parametrize("answer", ["Tomas Aldwin", "It was Tomas Aldwin, an engineer.", "TOMAS ALDWIN!"])
def test_an_answer_that_says_the_reference_is_right(answer: str) -> None:
    """However much it says beside it. A refusal is not right, since the question had an answer; blank references are
    none."""
    truth = ["Tomas Aldwin"]
    assert value("factuality", "I don't know.", truths=truth) == value("factuality", "", truths=truth) < 0.1
    assert not judged("factuality", "Tomas Aldwin", truths=[" ", ""]).applies
    assert value("factuality", answer, truths=truth) > 0.8
    assert value("factuality", "Anna Tresk", truths=truth) < 0.2


def test_the_likest_reference_counts() -> None:
    """And the reason names it; another number is wrong, where the number is the answer."""
    score = judged("factuality", "Aldwin", truths=["the chief engineer", "Aldwin"])
    assert score.value == value("factuality", "Aldwin", truths=["Aldwin"])
    assert "“Aldwin”" in score.reason
    when = "When was it built?"
    assert value("factuality", "in 1911", truths=["1911"], question=when) > 0.8
    assert value("factuality", "in 1918", truths=["1911"], question=when) < 0.2


# What the verifier says of claims


def says(verdict: Callable[[str], Support]) -> ContextAdherence:
    """By a verifier with this verdict for each sentence."""

    class Says:
        name = "says"

        def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
            return tuple(verdict(one.text) for one in assertions)

    return ContextAdherence(Says())


TWO_CLAIMS = replace(RECORD, answer="Tomas Aldwin built it. It is red [1].")


def test_the_value_is_the_mean_chance_of_the_claims() -> None:
    """Marks of citations are not read."""
    seen: list[str] = []

    def verdict(text: str) -> Support:
        seen.append(text)
        return Support(0.9 if "Aldwin" in text else 0.2, None, reason="it decides nothing")

    score = says(verdict).judge(TWO_CLAIMS)
    assert seen == ["Tomas Aldwin built it.", "It is red ."]
    assert score.value == pytest.approx(0.55)
    assert "1 of 2 claims" in score.reason
    assert "It is red" in score.reason


def test_a_word_counts_where_there_is_no_chance() -> None:
    """Supported 1, not supported 0; with an open one there is no value, but a reason, nor where the verifier fails,
    which may pass."""

    def fails(text: str) -> Support:
        raise ModelError("out of order")

    assert "out of order" in says(fails).judge(TWO_CLAIMS).unscored_because
    assert says(fails).judge(TWO_CLAIMS).passing
    assert says(lambda text: Support(None, "Aldwin" in text)).judge(TWO_CLAIMS).value == 0.5
    score = says(lambda text: Support(None, None, reason="other words")).judge(TWO_CLAIMS)
    assert score.value is None
    assert "2 of 2 claims are left open: other words" in score.unscored_because


def test_claims_are_for_the_configured_verifier() -> None:
    """Of a configuration, that of its section."""
    builder = Builder(read({"verifier": {"use": "lexical"}}))
    found: Any = builder.judges(["context_adherence", "context_recall", "factuality"])
    assert [type(one.verifier) for one in found] == [LexicalVerifier] * 3


@pytest.mark.parametrize(
    ("metric", "earlier", "question", "answer"),
    [
        ("context_relevancy", WHO, "When was it built?", "In 1911."),
        ("context_recall", WHO, "When was it built?", "In 1911."),
        ("factuality", "Who built the hut?", "And the bridge?", "Built in 1911."),
        (
            "answer_relevancy",
            "Who built the iron bridge of Ruvel?",
            "And the hut?",
            "The hut that the iron bridge of Ruvel built.",
        ),
    ],
)
def test_a_question_that_goes_on_is_judged_as_it_stands_alone(
    metric: str, earlier: str, question: str, answer: str
) -> None:
    """By the turns before it: the same value as of the whole question, and another than of its own words alone."""
    contexts = (Passage("a", "Aldwin built it in 1911."), Passage("b", "The hut stands by the bridge."))
    record = Record("r", question, contexts, answer, ("In 1911",), history=((earlier, "Aldwin."),))
    alone = replace(record, question=standing_alone(question, [earlier]), history=())
    value = judge(metric).judge(record).value
    assert value == judge(metric).judge(alone).value != judge(metric).judge(replace(record, history=())).value


def test_a_long_reference_is_held_against_facts_meaning_and_words() -> None:
    """Each a third; of two answers that carry as much and mean as much, one in the reference's words is likelier."""

    class Alike(Hashing):
        def embed(self, texts: Sequence[str]) -> Matrix:
            return np.ones((len(texts), 1), np.float32)

    class Even:
        name = "even"

        def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
            return tuple(Support(0.4, None) for _ in assertions)

    truth = (
        "The hut was built in 1927 by Josef Keller, who had been the guide of the valley for thirty years before that. "
        "It stands on a ledge above the lake, and thirty guests sleep in its two rooms."
    )
    own, other = (
        Factuality(Alike(), Even()).judge(Record("r", "Tell me of it.", None, answer, (truth,))).value
        for answer in (truth, "Someone put up a shelter there; people may stay overnight.")
    )
    assert own == pytest.approx((0.4 + 1 + 1) / 3)
    assert other == pytest.approx((0.4 + 1 + 0) / 3)
