"""Context adherence (faithfulness, groundedness): the share of the answer that the contexts carry, by claims."""

from __future__ import annotations

from typing import ClassVar

from surefoot.judges._scores import lacks, scored, unscored
from surefoot.judges._support import SourceTexts, claims
from surefoot.types import Metric, Record, Score
from surefoot.types.protocols import Embedder


class ContextAdherence:
    """Faithfulness (groundedness): the mean chance that the contexts carry a claim of the answer; no language model.

    A claim is a sentence, or a line of a list. It is held against the contexts by the word triples, the numbers and the
    meaning (`embedder`) that it shares with them; `surefoot.judges._support` says how, and what that misses. A refusal
    claims nothing, and what claims nothing is carried: 1. Without any context, 0. Some milliseconds a record.
    """

    about: ClassVar[Metric] = Metric(
        name="context_adherence",
        edge=("context", "answer"),
        sees=("contexts", "answer"),
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
        remedy=("grounding", "invented"),
    )
    name = metric = about.name

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are an answer and contexts."""
        if record.contexts is None or not record.answer or not record.answer.strip():
            return lacks(self, record, "contexts" if record.contexts is None else "answer")
        if not (stated := claims(record.answer)):
            return scored(self, record, 1.0, "the answer claims nothing that a context would have to carry")
        if not record.contexts:
            return scored(self, record, 0.0, "there was no context, so that nothing carries the answer")
        evidence = SourceTexts(record.contexts, self.embedder)
        if evidence.empty:
            return unscored(self, record, "the contexts hold no words to hold the answer against")
        found = evidence.carry(stated)
        reason = (
            f"{found.carried} of {len(stated)} claims are likely carried by the contexts. The least: {found.weakest}."
        )
        return scored(self, record, found.mean, reason, *found.quotes("answer"))
