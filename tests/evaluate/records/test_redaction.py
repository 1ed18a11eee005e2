"""Records without personal data, and records without words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import effort
from surefoot.evaluate.records.redaction import Redactor, share_safe
from surefoot.run.store import to_json
from surefoot.types import (
    Action,
    Answer,
    Citation,
    Conflict,
    Decision,
    Grade,
    Passage,
    Quote,
    Record,
    Score,
    Step,
    Strip,
    Trace,
)
from surefoot.types.errors import UsageError

KEY = "sk-proj-" + "a1B2" * 6  # made up, as everything here is
TEXT = "Ask Anna at anna.tresk@example.org or +49 170 1234567. She was born in 1911."


def trace() -> Trace:
    passage = Passage("p1", TEXT, "Contact anna.tresk@example.org", url="https://a.b/c?token=abcdef")
    strips = (
        Strip("p1", 0, 37, TEXT[:37], 0.5, kept=True),
        Strip("p1", 37, len(TEXT), TEXT[37:], 0.5, kept=False, reason="says anna.tresk@example.org"),
    )
    half = TEXT[TEXT.index("+49") : TEXT.index("4567")]  # a quotation that ends within the number
    answer = Answer("Ask anna.tresk@example.org [1].", (Citation(1, strips[0], half, quoted=True),), model="m")
    return Trace(
        "t1",
        "Whom?",
        (passage,),
        grades=(Grade("p1", 0.9, label=Action.CORRECT, span=(12, 34)),),
        decision=Decision(Action.CORRECT, "threshold", 0.5, 0.1, "0.9 is above"),
        strips=strips,
        conflicts=(Conflict("p1", half, "gone", "call 0170 1234567"),),
        answer=answer,
        steps=(Step("generate", 0.5, tokens=7),),
        config={"llm": {"use": "local"}},
    )


RECORD = Record(
    "q1",
    "Is anna.tresk@example.org right?",
    (Passage("p1", TEXT),),
    "Yes, ANNA.TRESK@example.org",
    ("Otto", "otto@example.org"),
    group="g",
    tags={"domain": "huts", "user": "Anna"},
    trace=trace(),
)
SCORE = Score("q1", "factuality", 0.8, 4, "It says anna.tresk@example.org", (Quote("Ask Anna", "p1", verified=True),))


@pytest.mark.parametrize(
    "text",
    [
        "anna.tresk+x@mail.example.org",
        "+49 (0)170 1234567",
        "+1-202-555-0143",
        "(202) 555-0143",
        "0170 1234567",
        "4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "123456789012",
        KEY,
        "ghp_" + "x7" * 18,
        "AKIA" + "ABCDEFGH12345678",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_has_the_form_of_personal_data_is_masked(text: str) -> None:
    """Sign by sign; what stands around it stays, and a second time changes nothing."""
    masked = Redactor().text(f"So: {text}, he said.")
    assert masked == f"So: {'█' * len(text)}, he said."
    assert Redactor().text(masked) == masked


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: hunter2!", "hunter2!"),
        ("api_key=abc123def", "abc123def"),
        ("Authorization: Bearer abc123def456ghi", "abc123def456ghi"),
        ("https://a.example/b?id=1&access_token=abc123", "abc123"),
    ],
)
def test_a_secret_is_masked_and_its_name_stays(text: str, secret: str) -> None:
    """So that a reader knows what stood there."""
    assert Redactor().text(text) == text.replace(secret, "█" * len(secret))


@pytest.mark.parametrize(
    "text",
    [
        "Built 1939-1945, 2,214 m high; 3.14159265358979 is pi.",
        "On 2023-09-07 at 12:54:47, version 1.2.3, ISO 8601.",
        "12,345,678,901 people; https://example.org/a?page=2; the secret is safe with a password manager",
        "See @anna and e.g. a@b.",
    ],
)
def test_years_dates_quantities_and_plain_addresses_stay(text: str) -> None:
    """They are what answers are made of."""
    assert Redactor().text(text) == text


def test_patterns_of_ones_own_are_masked_too() -> None:
    """Of one with a group, what is in it; one that is none is an error."""
    assert Redactor([r"AZ-\d+", r"Dr\. (\w+)"]).text("Dr. Tresk, AZ-1") == "Dr. █████, ████"
    with pytest.raises(UsageError, match="no regular expression"):
        Redactor(["("])


def test_a_record_is_redacted_whole_and_can_still_be_found() -> None:
    """Question, contexts, answer, references and trace; id, group, tags and settings stay."""
    new = Redactor().record(RECORD)
    assert new.question == f"Is {'█' * 22} right?"
    assert (new.id, new.group, new.tags) == (RECORD.id, RECORD.group, RECORD.tags)
    assert not re.search(r"example\.org|170|abcdef", str(to_json(replace(new, tags={}))))
    assert Redactor().score(SCORE).reason == f"It says {'█' * 22}"
    assert new.trace
    assert (new.trace.steps, new.trace.config) == (trace().steps, trace().config)
    assert new.trace.answer
    assert set(new.trace.answer.citations[0].quote) == {"█"}


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
@settings(max_examples=60)
def test_any_slice_of_a_redacted_passage_is_one_of_the_redacted(first: int, second: int) -> None:
    """And holds nothing of what was replaced."""
    start, end = sorted((first, second))
    strip = Strip("p1", start, end, TEXT[start:end], None, kept=True)
    new = Redactor().record(replace(RECORD, trace=replace(trace(), strips=(strip,)))).trace
    assert new
    assert new.strips[0].text == new.passages[0].text[new.strips[0].start : new.strips[0].end]
    assert not re.search("tresk|example|170|4567", new.strips[0].text)


@pytest.mark.parametrize(
    "text", ["a-" * 40000, "https://" * 9000, "%" * 60000, "1 " * 40000, "sk-" * 20000, "a:b@" * 9000]
)
def test_no_text_takes_long(text: str) -> None:
    """Records come from anybody."""
    assert effort(lambda: Redactor().text(text), 5) < 5


def test_share_safe_keeps_every_figure_and_no_text() -> None:
    """Hashes with lengths, and nothing else; tags that are named stay."""
    (record,), (score,) = share_safe([RECORD], [SCORE])
    told = str(to_json(record)) + str(to_json(score))
    assert not re.search("anna|otto|tresk|above|Whom", told, re.IGNORECASE)
    assert (score.value, score.rating, score.metric) == (0.8, 4, "factuality")
    assert re.fullmatch(r"text:[0-9a-f]{16}:32", record.question)
    assert record.tags["domain"] == "huts"
    assert record.trace
    assert (record.trace.grades[0].score, record.trace.grades[0].label) == (0.9, Action.CORRECT)
    assert record.trace.steps == trace().steps
    assert record.trace.config == {}
    assert (record.note, record.trace.error) == ("", None)


def test_share_safe_keeps_what_belongs_together() -> None:
    """Scores find their records, quotes their contexts, the same text the same hash."""
    other = replace(RECORD, id="q2")
    records, (score,) = share_safe([RECORD, other], [SCORE])
    assert score.record_id == records[0].id != records[1].id
    assert records[0].question == records[1].question
    assert score.quotes[0].where == (records[0].contexts or ())[0].id
    answer = replace(SCORE, quotes=(Quote("x", "answer", verified=True),))
    assert share_safe([], [answer])[1][0].quotes[0].where == "answer"


def test_the_hashes_of_share_safe_cannot_be_guessed() -> None:
    """Each export has a secret of its own; with one that is given it can be made again."""
    assert share_safe([RECORD], [])[0] != share_safe([RECORD], [])[0]
    assert share_safe([RECORD], [], secret=b"k")[0] == share_safe([RECORD], [], secret=b"k")[0]
