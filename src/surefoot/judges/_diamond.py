"""The metric diamond: question, context, answer and truth, and the six judgements between them. Data; nothing is asked.

What the metrics are is RAGXplain's (arXiv 2505.13538, section 3); the words of the rubrics are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.types import Record

HIGHEST = 5
"""Of a rating, which begins at 1; a score is a fifth of it, so 0 cannot occur."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One thing that can be good or bad about an answered question."""

    name: str
    edge: tuple[str, str]
    """From which corner of the diamond to which."""
    sees: tuple[str, ...]
    """Fields of the record that a judge of it may be shown, and no others."""
    key: str
    """Under which a reply holds the rating."""
    about: str
    """What it says, in one line."""
    levels: tuple[str, ...]
    """What each rating means, from 5 down to 1."""
    special: str = ""
    """What a judge must know beside the levels."""
    switch: str = ""
    """Another rule, which may be switched off; empty: there is none."""

    @property
    def title(self) -> str:
        """Its name as a text has it."""
        return self.name.replace("_", " ").title()


_ALL = (
    Metric(
        name="answer_relevancy",
        edge=("question", "answer"),
        sees=("question", "answer"),
        key="answer_relevancy_score",
        about="Does the answer address what was asked?",
        levels=(
            "It meets the whole need behind the question.",
            "It deals with the main points; something minor is left aside.",
            "It deals with some aspects and passes over others.",
            "It touches the subject, but the core of what is needed is not met.",
            "It is about something else.",
        ),
        special="Whether the answer is true is not your concern, only whether it answers this question.",
    ),
    Metric(
        name="context_relevancy",
        edge=("question", "context"),
        sees=("question", "contexts"),
        key="context_relevancy_score",
        about="Does the retrieved context hold what the question needs, whole and uncut?",
        levels=(
            "It holds all that is needed, and the passages that matter are whole.",
            "It holds most of what is needed, and the passages that matter are whole.",
            "It holds a part of what is needed, or some passages that matter are cut off.",
            "It is of marginal use, or the passages that matter are cut off.",
            "It holds nothing that is needed, or most of it is cut off.",
        ),
        special="A text that begins or ends in the middle of what matters lowers the rating; say so where it does. "
        "That something is not possible, or does not exist, is information as good as any.",
    ),
    Metric(
        name="context_adherence",
        edge=("context", "answer"),
        sees=("contexts", "answer"),
        key="context_adherence_score",
        about="Does all that the answer says come from the retrieved context?",
        levels=(
            "All of it is derived from the context.",
            "Nearly all of it is; there are only small assumptions beside.",
            "A part of it is, a part is not.",
            "Most of it comes from elsewhere.",
            "Almost nothing in it is borne out by the context.",
        ),
        special="Check every piece of information in the answer, one after the other, against the context. What is "
        "true but does not stand there is not derived from it.",
    ),
    Metric(
        name="factuality",
        edge=("truth", "answer"),
        sees=("question", "truths", "answer"),
        key="factuality_score",
        about="Does the answer say what the reference answer says?",
        levels=(
            "It has all that is essential in the reference.",
            "It has most of what is essential.",
            "It has the core, with gaps.",
            "It has little of what is essential.",
            "What is essential is missing, or the answer misleads.",
        ),
        special="Further text in the answer lowers the rating only where it keeps the user from what was asked for. "
        "Where there are several possible answers, agreeing with any one of them is enough.",
    ),
    Metric(
        name="context_recall",
        edge=("truth", "context"),
        sees=("question", "truths", "contexts"),
        key="context_recall_score",
        about="Does the retrieved context hold the facts of the reference answer?",
        levels=(
            "All essential facts are there.",
            "All but minor ones are there.",
            "Most are there.",
            "Only basic ones are there.",
            "They are missing, or the context has them wrong.",
        ),
        special="Break the reference answer into its facts and look for each of them in the context. What else the "
        "context holds does not matter. Where there are several possible answers, look for the one best covered.",
    ),
    Metric(
        name="grading_note",
        edge=("question", "answer"),
        sees=("question", "note", "answer"),
        key="grading_note_score",
        about="Does the answer have the structure that this question calls for?",
        levels=(
            "It has every aspect that the note asks for.",
            "It has most of them.",
            "It has some of them.",
            "It has few of them.",
            "It has none of them.",
        ),
        special="Judge by the note alone; whether the answer is true is not your concern.",
        switch="An answer that says that the context lacks the information gets 5.",
    ),
)

METRICS = {metric.name: metric for metric in _ALL}
"""By name, in the order in which they are told."""


def title(metric: str) -> str:
    """The metric's name as a text has it; of one that is none of the six, its name as it is."""
    return METRICS[metric].title if metric in METRICS else metric


def lacking(metric: Metric, record: Record) -> str:
    """Why the metric does not apply to this record; empty: it does. A missing note is no reason: it can be made."""
    reasons = {
        "answer": "the record has no answer" if record.answer is None else "",
        "contexts": "the record does not say what was retrieved" if record.contexts is None else "",
        "truths": "" if record.truths else "the record has no ground truth",
    }
    return next((reason for name, reason in reasons.items() if reason and name in metric.sees), "")
