"""The form of a report: what breaks it, and that the rules' own words never do."""

from __future__ import annotations

from typing import Any

import pytest

from surefoot.evaluate.report.form import bullets, count_sentences, count_words, unsupported, violations

GIST = "word " * 15
LINE = (GIST + "end.").strip()


def item(**other: Any) -> dict[str, Any]:
    """An item as it should be, but for what is given."""
    return {
        "title": "Answers stand on sources",
        "priority": "high",
        "problem_detection": "It is wrong.",
        "problem_detection_gist": LINE,
        "root_cause_analysis": "It may be so.",
        "root_cause_analysis_gist": LINE,
        "evidence_trace": "Recall is low.\n\n- “Who?”: nobody.\n- “When?”: never. Not once.",
        "evidence_trace_gist": "word " * 25 + "end.",
        "recommended_protocol": "Change it.",
        "recommended_protocol_gist": "- Raise k.\n- Watch the time.",
        **other,
    }


def report(*items: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {
        "executive_summary": "One. Two. Three.",
        "executive_summary_gist": "word " * 25 + "end. " + "word " * 15 + "end.",
        "insights": list(items or [item()]),
        "strategic_conclusion": "It will be better.",
        **other,
    }


def test_a_report_as_it_should_be_breaks_nothing() -> None:
    """Every length lies within its rule. Dashes are no words, sentences of a quotation do not count, and bullets are
    taken without their marks."""
    assert violations(report()) == ()
    assert count_sentences("- “Who was it? Tell me. Now.”: it was refused.") == 1
    assert count_words("one — two, 3 & four") == 4
    assert bullets("First:\n- Raise k.\n* Watch\n  it.\n3. Keep it.") == ["Raise k.", "Watch\n  it.", "Keep it."]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (report(executive_summary="One. Two."), "executive_summary has 2 sentences and must have 3 to 5"),
        (report(executive_summary_gist=LINE), "executive_summary_gist has 1 sentences and must have exactly 2"),
        (report(executive_summary_gist="A b. C d."), "executive_summary_gist has 4 words and must have 40 to 50"),
        (report(strategic_conclusion=" "), "strategic_conclusion must be a text"),
        (report(insights={}), "insights must be a list of objects"),
        (report(*[item()] * 5), "insights has 5 items and may have at most 4"),
        (report(item(priority="low")), "insights[0].priority must be one of critical, high, medium"),
        (report(item(title="")), "insights[0].title must be a text"),
        (
            report(item(problem_detection_gist="Too short.")),
            "problem_detection_gist has 2 words and must have 15 to 30",
        ),
        (report(item(root_cause_analysis_gist=LINE + " More.")), "root_cause_analysis_gist has 2 sentences"),
        (report(item(evidence_trace_gist=LINE)), "evidence_trace_gist has 16 words and must have 25 to 40"),
        (report(item(evidence_trace="Low.\n- “Who?”: me.")), "evidence_trace has 1 cases and must have 2 to 4"),
        (
            report(item(evidence_trace="Low. Bad. Poor. Sad.\n- “a”: me.\n- “c”: you.")),
            "the metric pattern has 4 sentences",
        ),
        (
            report(item(evidence_trace="Low.\n- “a”: Me. You. Them.\n- “c”: you.")),
            "has 3 sentences and must have 1 to 2",
        ),
        (report(item(evidence_trace="Low.\n- record 7 is bad.\n- “c”: you.")), "must quote its question"),
        (report(item(recommended_protocol_gist="- Raise k.")), "recommended_protocol_gist has 1 bullets"),
        (report(item(recommended_protocol_gist="- Raise k.\n- The time matters.")), "must start with a verb"),
    ],
)
def test_what_breaks_a_rule_is_named(broken: dict[str, Any], said: str) -> None:
    """With the field, what it has and what it must have, so that a model can be asked again."""
    assert any(said in violation for violation in violations(broken)), violations(broken)


@pytest.mark.parametrize("said", [None, 3, True, "", "\n- “", [], ["x"], {}, {"a": [None]}])
def test_whatever_a_model_says_is_checked_and_not_believed(said: Any) -> None:
    """A field of any type is a violation at worst, never an exception."""
    assert violations({"insights": [{"title": said, "evidence_trace": said}], "executive_summary": said})
    assert violations({"insights": said})


# Numbers and quotations of a narrative against what the model was shown.


SHOWN = {"avg_score": 0.312, "records": 40, "lost": 12, "question": "Who “built” the Ruvel Bridge in 1911?", "k": 2500}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It averages 0.31, or 31 %, or 31.2%, of 40 records; 12 are lost.", ()),
        ("It is below 0.5, in two of 3 stages (95 % interval).", ()),
        ("1. First.\n12. Then.", ()),
        ("The T-34 and 2,500 passages.", ()),
        ("“who BUILT   … Ruvel Bridge” was asked in 1911.", ()),
        ("It averages 0.35, and 0.313.", ("0.35", "0.313")),
        ("45 % are lost; 13 of them twice.", ("45 %", "13")),
        ("“Who built the Torvath Bridge?” was asked.", ("“Who built the Torvath Bridge?”",)),
    ],
)
def test_what_was_not_shown_is_named(text: str, wrong: tuple[str, ...]) -> None:
    """To the digits written; small numbers and the bands are a way of speaking."""
    assert unsupported(text, SHOWN) == wrong
