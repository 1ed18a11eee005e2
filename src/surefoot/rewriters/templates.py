"""The thing that a question asks about, found by the forms that single-fact questions take."""

import re
from collections.abc import Iterator, Sequence

from surefoot.run import meter
from surefoot.text.screen import screened
from surefoot.text.subject import KINDS, Subject, subject_of
from surefoot.text.words import bare, content_words, fold, names, words
from surefoot.types import Passage


class Templates:
    """The entity that is asked about, with the relation and alone: What is X's occupation? → X occupation; X.

    It is found by the forms of `surefoot.text.subject`. Without a form that fits: the names in the question, then its
    content words. What was retrieved before may say what the entity is; then "X (politician)" is a query too. The
    reproduction of CRAG replaces the paper's keyword prompt with patterns like these (section 3.2), without the form
    "screenwriter for X" and without the article and quotation marks that go. No model call.
    """

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str, ...]:
        """Queries, best first: entity with relation, entity with what it was seen to be, entity alone."""
        about = subject_of(question)
        if not about.form:
            found, keywords = " ".join(names(question)), " ".join(content_words(question)) or question.strip()
            return tuple(query for query in dict.fromkeys((found, keywords)) if query)
        first = f"{about.entity} {about.relation}".strip()
        return tuple(dict.fromkeys((first, *hints(about, seen), about.entity)))


def instead(what: str, question: str, seen: Sequence[Passage], why: str) -> tuple[str, ...]:
    """The queries of the templates where a model failed to give any; the step says so, and why."""
    meter.degrade(f"{what} by templates: {why}")
    return Templates().rewrite(question, seen)


def hints(about: Subject, seen: Sequence[Passage]) -> tuple[str, ...]:
    """The entity with what the passages say that it is, as an encyclopedia's title; at most one, the first found.

    It leaves the machine when it is searched for, so orders in the passages are not read.
    """
    for passage in map(screened, seen):
        if fold(bare(passage.title)) == fold(about.entity) and "(" in passage.title:
            return (passage.title,)
        for kind in _kinds(about, passage):
            return (f"{about.entity} ({kind})",)
    return ()


def _kinds(about: Subject, passage: Passage) -> Iterator[str]:
    """Kinds of thing that the words behind the entity's name give it: "Henry Feilden was an English politician"."""
    text, entity = " ".join(words(passage.text)), " ".join(words(about.entity))
    wanted = "|".join(map(re.escape, about.kinds or KINDS))
    pattern = rf"\b{re.escape(entity)}\b(?: \w+){{0,12}}? (?:is|was|are|were) (?:\w+ ){{0,6}}?({wanted})\b"
    yield from (match[1] for match in re.finditer(pattern, text) if entity)
