"""Templates where they know what is asked about, then a language model's keywords, and the question itself last."""

from collections.abc import Sequence

from surefoot.rewriters.keywords import Keywords
from surefoot.rewriters.templates import Templates
from surefoot.text.subject import subject_of
from surefoot.text.words import names
from surefoot.types import Passage, protocols


class Stepwise:
    """Templates where a form or a name tells what is asked about, else a model's keywords; the question itself last.

    The model is asked for a question that has neither, and for any once a search outside has not helped: it sees what
    that one found. Where it fails, `templates` take its place, and the step says so. Cost: no call where the first
    search finds what answers.
    """

    def __init__(self, llm: protocols.LLM, max_tokens: int = 100) -> None:
        self._templates = Templates()
        self._keywords = Keywords(llm, max_tokens)

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str, ...]:
        """Queries, best first: those of the templates or of the model, the question."""
        known = subject_of(question).form or names(question)
        searched = any(passage.source == "external" for passage in seen)
        method = self._templates if known and not searched else self._keywords
        return tuple(dict.fromkeys((*method.rewrite(question, seen), question.strip())))
