"""A model of Self-RAG reads each passage by itself, and its own critique chooses among the answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from surefoot.generators._prompts import USUAL, Template, template
from surefoot.generators._reflection import (
    CLOSES,
    NO_RETRIEVAL,
    OPENS,
    RETRIEVE,
    RETRIEVES,
    critique,
    plain,
    reflected,
    unmarked,
    worth,
    written,
)
from surefoot.generators.llm import fitting
from surefoot.run import meter
from surefoot.text.screen import line as on_one_line
from surefoot.types import Answer, Completion, Critique, Draft, Message, protocols
from surefoot.types.protocols import Knowledge, OnText

Paragraphs = Literal["one", "each", "three"]
"""What a paragraph is: all that was kept, as in CRAG's script; each passage, as in Self-RAG's; or what the corpus has,
what came from outside, and both, as CRAG's script hands them to Self-RAG."""

CLOSED = ("choice", "claim")
"""Tasks whose answers are few, so that paragraphs which lead to the same one add up."""


@dataclass(frozen=True, slots=True)
class SelfRAG:
    """Answers in the form that Self-RAG was trained on, once for each paragraph, and takes the best by its critique.

    The `llm` is `openai` with `api = "completions"`, `template = "{user}"`, since the whole form is written here, and
    `logprobs`. An answer is worth its likelihood and the weighted sum of `relevance`, `support` and `utility` (Asai et
    al. 2024, section 3.3; the weights are those of its script). In a closed task, and where `closed` is true, worths of
    the same answer add up. Without log-probabilities the tokens as written decide, and without reflection tokens the
    first paragraph does; the step says so. Long answers are not searched segment by segment, as the paper does.

    `paragraphs`: "each" passage, "three" (the corpus, outside, both), or "one" of all, which compares nothing, and is
    how CRAG's script asks any model. `threshold`: where the chance that the model wants to retrieve does not exceed it,
    it answers from memory (the paper: 0.2), at one call more; None: it always reads. `prompt`, `max_tokens` and
    `max_characters` are those of `llm`, the latter for each paragraph; the {sources} of a template stay empty. Cost:
    one call a paragraph. Raises ConfigError.
    """

    llm: protocols.LLM
    prompt: str | None = None
    max_tokens: int | None = None
    max_characters: int = 8000
    paragraphs: Paragraphs = "each"
    threshold: float | None = None
    closed: bool = False
    relevance: float = 1.0
    support: float = 1.0
    utility: float = 0.5

    def __post_init__(self) -> None:
        template(self.prompt or USUAL)

    def with_task(self, task: str) -> SelfRAG:
        """The same for this task: in its words, unless the configuration has others."""
        return replace(self, prompt=self.prompt or task, closed=self.closed or task in CLOSED)

    def with_critique(self, paragraphs: Paragraphs) -> SelfRAG:
        """The same with these paragraphs."""
        return replace(self, paragraphs=paragraphs)

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The best answer, in one piece, without its reflection tokens; without knowledge, what the model remembers."""
        words = template(self.prompt or USUAL)
        begun = form(words, question)
        parts = self._parts(knowledge) if knowledge and self._wants(begun) else [()]
        room = self.max_tokens or words.max_tokens
        replies = [self.llm.complete([Message("user", self._prompt(begun, part))], max_tokens=room) for part in parts]
        drafts = self._drafts(parts, replies)
        best = replies[next((n for n, draft in enumerate(drafts) if draft.chosen), 0)]
        if best.truncated:
            meter.degrade(f"cut off after {room} tokens; raise generator.max_tokens")
        return Answer(plain(best.text), model=best.model, drafts=drafts)

    def _prompt(self, begun: str, part: Knowledge) -> str:
        """The form up to where the model goes on: behind its paragraph, or where it has none, from memory."""
        return (
            f"{begun}{RETRIEVE}{OPENS}{paragraph(part, self.max_characters)}{CLOSES}" if part else begun + NO_RETRIEVAL
        )

    def _wants(self, begun: str) -> bool:
        """True: read. Always without a threshold, and where the model does not say."""
        if self.threshold is None:
            return True
        reply = self.llm.complete([Message("user", begun)], max_tokens=1)
        chance = worth((reply.tokens or written(reply.text))[:1], RETRIEVES)
        return chance is None or chance > self.threshold

    def _parts(self, knowledge: Knowledge) -> list[Knowledge]:
        if self.paragraphs == "one":
            return [knowledge]
        if self.paragraphs == "each":
            ids = dict.fromkeys(strip.passage_id for strip, _ in knowledge)
            return [[known for known in knowledge if known[0].passage_id == id] for id in ids]
        sides = [[known for known in knowledge if known[1].source == source] for source in ("corpus", "external")]
        return [*sides, knowledge] if all(sides) else [knowledge]

    def _drafts(self, parts: Sequence[Knowledge], replies: Sequence[Completion]) -> tuple[Draft, ...]:
        """The answers with their critiques, one of them chosen; none where the model wrote no reflection tokens."""
        weighed = all(one.tokens for one in replies)
        critiques = [critique(one, weighed) for one in replies]
        if not any(map(reflected, critiques)):
            if len(replies) > 1:
                meter.degrade(
                    f"{replies[0].model} wrote no reflection tokens: answered from the first of {len(replies)} "
                    "paragraphs; is it a model of Self-RAG, and does its server show special tokens?"
                )
            return ()
        if not weighed and len(replies) > 1:
            meter.degrade("no log-probabilities came: reflection tokens count as they were written; set llm.logprobs")
        texts = [plain(one.text) for one in replies]
        answers = [text.casefold() if self.closed else str(n) for n, text in enumerate(texts)]
        votes: defaultdict[str, float] = defaultdict(float)
        for answer, one in zip(answers, critiques, strict=True):
            votes[answer] += self._worth(one)
        worths = [votes[answer] for answer in answers]
        best = worths.index(max(worths))
        return tuple(
            Draft(text, tuple(dict.fromkeys(strip.passage_id for strip, _ in part)), one, worth, n == best)
            for n, (text, part, one, worth) in enumerate(zip(texts, parts, critiques, worths, strict=True))
        )

    def _worth(self, one: Critique) -> float:
        weights = (self.relevance, self.support, self.utility, 1.0)
        parts = (one.relevance, one.support, one.utility, one.likelihood)
        return sum(weight * part for weight, part in zip(weights, parts, strict=True) if part is not None)


def form(words: Template, question: str) -> str:
    """The beginning of the model's form, up to where its response goes on; no token of its own is in the question."""
    return f"### Instruction:\n{words.filled('', unmarked(question))}\n\n### Response:\n"


def paragraph(knowledge: Knowledge, max_characters: int) -> str:
    """The passages one after the other: a line of title, where there is one, and a line of the strips. Nothing in them
    ends a line or the paragraph, or passes for the model's own word."""
    texts: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for strip, passage in fitting(knowledge, max_characters):
        texts.setdefault(strip.passage_id, []).append(strip.text)
        titles[strip.passage_id] = passage.title
    lines = [part for id, strips in texts.items() for part in (titles[id], " ".join(strips))]
    return "\n".join(clean for part in lines if (clean := unmarked(on_one_line(part))))
