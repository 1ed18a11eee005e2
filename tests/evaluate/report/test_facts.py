"""What a text says of a run, looked up: what is borne out passes, and what is not is named."""

from __future__ import annotations

import pytest

from surefoot.evaluate.report.facts import Facts, checked, checked_insight, unsupported
from surefoot.types import ActionItem, Diagnosis, Insight, Passage, Record, Score, Summary

RECORDS = [
    Record(
        "r1",
        "Who built the Ruvel Bridge in 1911?",
        (Passage("p", "It was built by Tomas Aldwin.", "Bridges"),),
        "Josef Keld, in 1951.",
        ("Tomas Aldwin",),
    ),
    Record("r2", "When did the ‘old’ Hut burn?", (), "I do not know.", ("1867",)),
]
SCORES = [
    Score("r1", "context_recall", 0.4, 2, "The judge finds half of it."),
    Score("r2", "context_recall", 0.2, 1),
    Score("r1", "factuality", 0.8, 4),
    Score("r2", "factuality", 1.0, 5),
]
SUMMARIES = [
    Summary("context_recall", 0.3123, 0.25, 0.371, 0.2, 0.4, 2, 1, 0, 0.2, 0.5, "low", {"timeout": 1}),
    Summary("factuality", 0.9, None, None, 0.8, 1.0, 2, 0, 0, 0.9, 0.9, "high"),
]
CONFIG = {
    "retriever": {"use": "bm25"},
    "pipeline": {"k": 5},
    "thresholds": {"upper": 1.71, "lower": -1.33},
    "generator": {"use": "extractive"},
}
FACTS = Facts(RECORDS, SCORES, SUMMARIES, CONFIG, also=(12.0, 40.0, 0.3))


@pytest.mark.parametrize(
    "text",
    [
        "Context Recall averages 0.31 over 2 records.",
        "Context Recall is 0.3123, between 0.25 and 0.37 (95 % interval).",
        "Context recall averages 31 %, or 31.2% to be exact.",
        "context_recall ranges 0.2–0.4, and 1 record is unscored.",
        "Factuality is 0.90, which is 0.59 above Context Recall.",
        "12 of 40 records (30 %) are lost.",
        "Half of the 2 scores of Context Recall lie below 0.5; 100 % do.",
        "The 3rd item, top-5 retrieval, 2 changes, T-34, and GPT-4 say nothing of the run.",
        "1. First this.\n2. Then that.",
        "“Who built the Ruvel Bridge in 1911?” was answered with 1951.",
        "The question “who BUILT the   ruvel bridge” was answered “Josef Keld, in 1951.”",
        '“It was … Tomas Aldwin” stands in the context, "The judge finds half" in the reason.',
        "“When did the 'old' Hut burn?” was rated 1 out of 5.",
        '`pipeline.k` (now 5) and `retriever.use` is bm25, with `generator.use = "extractive"`.',
        "Raise `pipeline.k` from 5 to 12.",
        "Set `pipeline.k` to 12.",
        "`thresholds.lower` is -1.33, `thresholds.upper` is 1.71.",
        "The retriever is “bm25”, and “Context Recall” is low.",
        "`refiner.size` (now 3) and `pipeline.rounds` (now 2) are defaults.",
        "Read surefoot.toml and `records.jsonl`, e.g. the first.",
        "Ratings of 4 and 5 abound.",
    ],
)
def test_what_the_run_bears_out_passes(text: str) -> None:
    """To the digits that are written, as a fraction or in percent; of records that are quoted, settings that hold."""
    assert unsupported(text, FACTS) == ()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Context Recall averages 0.35.", ("0.35",)),
        ("Context Recall averages 0.9.", ("0.9",)),
        ("Recall averages 0.9.", ("0.9",)),
        ("Context Recall averages 0.312 and then 0.313.", ("0.313",)),
        ("Context Recall is at 45 %.", ("45 %",)),
        ("It is lost in 13 of 40 records.", ("13",)),
        ("Seven records are lost.", ("Seven",)),
        ("The answer says 1951.", ("1951",)),
        ("“Who built the Ruvel Bridge in 1911?” was answered with 1867.", ("1867",)),
        ("“Who built the Torvath Bridge?” was refused.", ("“Who built the Torvath Bridge?”",)),
        ("“Tomas … Josef … Tomas Aldwin Keld” was said.", ("“Tomas … Josef … Tomas Aldwin Keld”",)),
        ("`pipeline.k` is 7 now.", ("`pipeline.k` 7",)),
        ("`pipeline.k` (now 10) should go to 12.", ("`pipeline.k` 10",)),
        ("`retriever.rerank` is off.", ("`retriever.rerank`",)),
        ("`retriever.use = hybrid` holds.", ("`retriever.use = hybrid`",)),
        ("The top-8 passages are read.", ("top-8",)),
        ("It takes 2,500 passages.", ("2,500",)),
    ],
)
def test_what_the_run_does_not_bear_out_is_named(text: str, wrong: tuple[str, ...]) -> None:
    """As it stands in the text: a number of another metric, a quotation of nobody, a setting with another value."""
    assert unsupported(text, FACTS) == wrong


def test_what_is_proposed_need_not_be_so_now() -> None:
    """But what is said to be so now must."""
    text = "Use the top-20 with `refiner.size = 8`, from 5 today, for a gain of 0.07 in Context Recall."
    assert unsupported(text, FACTS, proposes=True) == ()
    assert unsupported("Raise it from 6 to 20; recall is now 0.75.", FACTS, proposes=True) == ("6", "0.75")
    assert unsupported("Context Recall, 0.55, will rise.", FACTS, proposes=True) == ("0.55",)


def test_settings_of_another_system_are_looked_up_as_they_are_called() -> None:
    """By their last name too; what is no setting of it is none."""
    facts = Facts(RECORDS, SCORES, SUMMARIES, {"search": {"top_k": 3}, "chunk_size": 512})
    assert unsupported("`top_k` is 3, `search.top_k` = 3 and `chunk_size` is 512; the top-3 is read.", facts) == ()
    assert unsupported("`top_k` is 4 and `search.fusion` is on.", facts) == ("`top_k` 4", "`search.fusion`")


def test_a_quotation_that_many_records_hold_lends_no_numbers() -> None:
    """Else any number that stands anywhere would pass beside it."""
    many = [Record(f"r{n}", f"Who was it, {n + 5000}?", (), "") for n in range(9)]
    assert unsupported("“Who was it” of 5003.", Facts(many, [], [], {})) == ("5003",)


def test_a_number_that_is_too_large_for_any_is_found_nowhere() -> None:
    """A model may write a line of digits."""
    assert unsupported("It is " + "9" * 400 + ".", FACTS)


def test_an_insight_speaks_of_its_own_metric() -> None:
    """A number of another one passes only where that one is named."""
    said = Insight("context_recall", "low", "The mean is 0.95. Factuality is 0.90.", "model")
    assert checked_insight(said, FACTS).unsupported == ("0.95",)


def test_every_part_of_a_diagnosis_is_checked() -> None:
    """The summary and the outlook, each insight, each text of an item, whose protocol may propose."""
    item = ActionItem(
        "Recall", "high", "It is 0.77.", "g", "c", "c", "e", "It is in “nothing of it”.", "Take 70.", "- Take 80."
    )
    insight = Insight("factuality", "high", "It is 0.33.", "model")
    told = checked(Diagnosis("It is 0.11.", "It is 0.12.", (insight,), (item,), "Up to 0.99.", "model"), FACTS)
    assert told.unsupported == ("0.11", "0.12")
    assert told.insights[0].unsupported == ("0.33",)
    assert told.items[0].unsupported == ("0.77", "“nothing of it”")
