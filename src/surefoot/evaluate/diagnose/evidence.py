"""The search for a reference answer's words: in what was read, in what was retrieved, anywhere in the corpus."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from surefoot.index.search import Index
from surefoot.text.refusals import refuses
from surefoot.text.words import STOP_WORDS, content_words, names, places, sentences, stem, words
from surefoot.types import Passage, Record

Corpus = Callable[[Record], bool | None]
"""True if the corpus holds the evidence for a record; None: unknown."""

SHORT = 6
"""A fact of so many words or fewer must stand word by word; of a longer one, `MOST` of its words must be there."""
MOST = 0.75
WHOLE = 0.6
"""Share of a reference answer's facts that make it a whole one."""
BRIEF = 30
"""Words: a longer answer may say in passing what its sources lack."""
ABOUT = 0.3
"""Share of a question's words that a passage has to share with it where no name of the question stands there."""
SEARCHED = 30
"""Passages of an index that are looked through for a reference answer."""

_VERDICTS = {"yes", "no", "true", "false", "none", "unknown"}
_ENDS = tuple('.!?…:;"”’)]|*`。！？')


def declines(text: str) -> bool:
    """True if an answer says that there is none; an empty one does, and a long one where it begins so."""
    first = text[slice(*next(iter(sentences(text)), (0, 0)))]
    return refuses(first if len(text.split()) > BRIEF else text)


def ended(text: str) -> bool:
    """True if a text ends where a sentence, or a heading, does."""
    whole = text.rstrip()
    return not whole or whole.endswith(_ENDS) or whole.rpartition("\n")[2].startswith("#")


@lru_cache(maxsize=4096)
def facts(truth: str) -> tuple[str, ...]:
    """The sentences of a reference answer, and of a sentence what semicolons part."""
    pieces = [piece for start, end in sentences(truth) for piece in truth[start:end].split(";")]
    return tuple(piece.strip() for piece in pieces if words(piece))


def locatable(truths: Iterable[str]) -> bool:
    """True if it can be looked up where they stand: a bare yes stands anywhere."""
    return any(set(words(truth)) - _VERDICTS - STOP_WORDS for truth in truths)


def states(text: str, fact: str) -> bool:
    """True if the text says the fact: word by word, or, of a long one, with most of its words and all its numbers."""
    sought = words(fact)
    if len(sought) <= SHORT:
        return bool(places(fact, text))
    there, stems = _bag(text)
    wanted = {stem(word) for word in content_words(fact)}
    numbers = {word for word in sought if word[:1].isdigit()}
    return numbers <= there and len(wanted & stems) >= MOST * len(wanted)


def holds(text: str, truths: Iterable[str]) -> bool:
    """True if one of the reference answers stands in the text with most of its facts."""
    return any(_share(text, truth) >= WHOLE for truth in truths if locatable((truth,)))


def bears(question: str, passage: Passage, truths: Sequence[str]) -> bool:
    """True if the passage holds a reference answer, and a name of the question or enough of its other words."""
    if not holds(f"{passage.title}. {passage.text}", truths):
        return False
    truth_stems = {stem(word) for truth in truths for word in words(truth)}
    there = _bag(f"{passage.title} {passage.text}")[1]
    if any(2 * len(name & there) > len(name) for name in (named - truth_stems for named in _named(question))):
        return True
    topic = {stem(word) for word in content_words(question)} - truth_stems
    return not topic or len(topic & there) >= max(min(2, len(topic)), ABOUT * len(topic))


def bears_out(question: str, passage: Passage, truths: Sequence[str]) -> bool:
    """The same, and one of the names in the question must be there: among all passages of a corpus, some hold any city.
    The last step of a question in several steps is missed so."""
    there = _bag(f"{passage.title} {passage.text}")[1]
    called = _named(question)
    found = not called or any(2 * len(name & there) > len(name) for name in called)
    return found and bears(question, passage, truths)


def _named(question: str) -> list[set[str]]:
    """The stems of each name in the question."""
    return [{stem(word) for word in words(name)} for name in names(question)]


def together(passages: Sequence[Passage], truths: Iterable[str]) -> bool:
    """True if several passages hold a reference answer of several facts among them."""
    text = "\n\n".join(f"{passage.title}. {passage.text}" for passage in passages)
    return any(len(facts(truth)) > 1 and _share(text, truth) >= WHOLE for truth in truths)


def torn(passages: Sequence[Passage], truths: Iterable[str]) -> bool:
    """True if a passage breaks off inside a reference answer: it ends with its first words, or begins with its last."""
    several = [truth for truth in truths if len(words(truth)) > 1 and locatable((truth,))]
    return any(_broken(passage, truth) for truth in several for passage in passages)


class Pool:
    """All passages of the corpus that a run ever saw, by their words: what one question missed another may have had."""

    def __init__(self, records: Iterable[Record]) -> None:
        seen = {p.text: p for record in records for p in seen_by(record) if p.source == "corpus"}
        self.passages = tuple(seen.values())
        self._by_word: dict[str, list[int]] = defaultdict(list)
        for number, passage in enumerate(self.passages):
            for word in set(words(f"{passage.title} {passage.text}")):
                self._by_word[word].append(number)

    def holds(self, record: Record) -> bool:
        """True if one of them bears a reference answer to the record's question."""
        for truth in record.truths:
            found = [self._by_word.get(word, []) for word in content_words(truth)]
            rarest = min(found if len(words(truth)) <= SHORT else filter(None, found), key=len, default=[])
            if any(bears_out(record.question, self.passages[number], (truth,)) for number in rarest):
                return True
        return False


def held_by(index: Index) -> Corpus:
    """Looks reference answers up in an index, among the passages that share most words with them and the question."""

    def found(record: Record) -> bool | None:
        if not locatable(record.truths):
            return None
        queries = [f"{record.question} {truth}" for truth in record.truths]
        near = (passage for query in queries for passage in index.lexical(query, SEARCHED))
        return any(bears_out(record.question, passage, record.truths) for passage in near)

    return found


def seen_by(record: Record) -> tuple[Passage, ...]:
    """All passages that the record's question met, whether they were read or not."""
    trace = record.trace
    return trace.passages + trace.external if trace else record.contexts or ()


def _broken(passage: Passage, truth: str) -> bool:
    """True if the passage ends with the first words of the truth, or begins with its last."""
    there, sought = words(passage.text), words(truth)
    parts = range(1, len(sought))
    after = any(there[-n:] == sought[:n] and set(sought[:n]) - STOP_WORDS for n in parts) and not ended(passage.text)
    return after or any(there[:n] == sought[-n:] and set(sought[-n:]) - STOP_WORDS for n in parts if passage.start)


@lru_cache(maxsize=8192)
def _share(text: str, truth: str) -> float:
    return sum(states(text, fact) for fact in facts(truth)) / max(1, len(facts(truth)))


@lru_cache(maxsize=4096)
def _bag(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a text, and their stems."""
    every = frozenset(words(text))
    return every, frozenset(map(stem, every))
