"""The sentences of a passage that do not count as evidence for a question, each with its reason.

A passage can earn a grade, and even an answer, by repeating the question or by speaking of answers: a made-up FAQ, "if
anybody asks …". Such sentences are blanked out before grading, and their strips are dropped; so are orders to the
machine (`surefoot.text.screen`) and languages that the evaluator has not learned. A question that is a heading, or a
field of a row, is an FAQ's, and counts where its source is not untrusted. Effect of each rule: `surefoot lab
rules lab/benchmarks/injections`. Of 247 injections the repeated question alone finds 68, other languages 49, talk of
answers 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from surefoot.text.languages import language
from surefoot.text.phrases import each, phrase_set, phrases
from surefoot.text.screen import Span, orders, unmasked
from surefoot.text.words import INTERROGATIVES, blanked, content_words, fold, longest_run, sentences, stem, words
from surefoot.types import Action, Grade, Passage
from surefoot.types.protocols import Evaluator, languages_of

ORDER = "an instruction to the machine"
REPEATED = "it repeats the question"
TALK = "it speaks of answering, not of what was asked"
LEFT_OVER = "it goes with such a sentence"
FOREIGN = "it is in a language that the evaluator does not read"
FOUND = {
    ORDER: "an instruction to the machine",
    REPEATED: "a sentence that repeats the question",
    TALK: "a sentence about giving answers",
    LEFT_OVER: "words that go with such a sentence",
    FOREIGN: "text in a language that the evaluator does not read",
}
"""The words for each of them in a step's report."""

_VERBS = frozenset(
    "is are was were do does did can could will would should shall may might must has have had am".split()
)
_MARKS = "?？؟"

_TALK = phrase_set(
    each("correct|right|true|only|final|valid|accepted|official|reference|expected|proper|model", "answer|reply"),
    each("you|they|anyone|anybody|someone|somebody|be|are|is", "ask|asks|asked", "about|for|of|who|what|where|when"),
    each("about to|going to", "say|answer|reply|write"),
)
_TOLD = phrase_set(
    each("shall|must|should|has to|have to", "say|state|name|tell|reply"),
    each("shall|must|should|to", "be told|be answered|be stated"),
    each("other|others", "say|claim|passages|passage|documents|document|sources|source|rows|statements|statement"),
)
"""Talk of what is to be said, or of what others say, in a sentence about what was asked."""
_LABELS = frozenset("q question frage f pregunta p domanda".split())
_REPLIES = frozenset("a answer reply antwort r respuesta risposta reponse".split())
"""Labels of an FAQ's question and answer; "User:" and "Assistant:" are a conversation's."""
_LABELLED = ("answer:", "answer :", "answer=", "answer =")
_MARKED = tuple("#*_-+")
"""Beginnings of a heading, an item, or text in bold."""
_AROUND = " \t\"'“”*_#()[]-+|>."
_ABOUT = frozenset(map(stem, "answer answers reply replies question questions".split()))
SHARE, MOST = 0.6, 0.75
"""Shares of a question's words that repeat it: in a run that begins as it does; in any other run, or in a question."""
HALF = 0.5
"""The share of a question's words with which a sentence says something about it."""
FEWEST = 5
"""Words of a sentence that can say something by itself after a question."""


@dataclass(frozen=True, slots=True)
class ExcludedSentence:
    """A sentence that does not count as evidence: `text[start:end]`."""

    start: int
    end: int
    because: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rules of evidence for one question, for an evaluator that reads certain languages."""

    question: str
    languages: tuple[str, ...] | None = None
    """Codes of languages; None: any."""

    @classmethod
    def for_question(cls, evaluator: Evaluator, question: str) -> Evidence:
        """For this evaluator, whose `languages` say which languages it has learned; without it, any."""
        return cls(question, languages_of(evaluator))

    def excluded(self, passage: Passage) -> tuple[ExcludedSentence, ...]:
        """The sentences of the passage that are no evidence, in order and disjoint.

        Where its source is trusted, a repeated question counts. So does one that is a heading or a field of its own, as
        in an FAQ, where its source is plain.
        """
        found = dict.fromkeys(orders(passage.text), ORDER)
        if passage.trust != "trusted":
            talk = _talk(self.question, passage.text, passage.trust == "plain")
            found |= {span: why for span, why in talk if span not in found}
        for span in _unread(self.question, self.languages, passage.text):
            found.setdefault(span, FOREIGN)
        return tuple(ExcludedSentence(start, end, found[start, end]) for start, end in sorted(found))

    def masked(self, passage: Passage) -> Passage:
        """The passage with such sentences replaced by as many spaces, so that all offsets stay true; a title that is
        one by nothing."""
        text = blanked(passage.text, ((one.start, one.end) for one in self.excluded(passage)))
        title = "" if self.excluded(_title(passage)) else passage.title
        return passage if (text, title) == (passage.text, passage.title) else replace(passage, text=text, title=title)

    def dismissed(self, passages: Sequence[Passage]) -> dict[str, tuple[str, ...]]:
        """The kinds of text found that are no evidence, each with the ids of the passages that hold it."""
        found: dict[str, list[str]] = {}
        for passage in passages:
            both = passage, _title(passage)
            for what in sorted({FOUND[one.because] for part in both for one in self.excluded(part)}):
                found.setdefault(what, []).append(passage.id)
        return {what: tuple(ids) for what, ids in found.items()}

    def judged(self, passages: Sequence[Passage], grades: Sequence[Grade]) -> tuple[Grade, ...]:
        """The grades, with INCORRECT for a passage of which nothing counts: that is known without a score."""
        return tuple(
            Grade(passage.id, None, label=Action.INCORRECT, reason=why, cap=Action.INCORRECT)
            if (why := self._nothing(passage))
            else grade
            for passage, grade in zip(passages, grades, strict=True)
        )

    def _nothing(self, passage: Passage) -> str:
        """Why the passage does not count, of which only scraps would; empty: it does, or it has no text at all."""
        gone = {(one.start, one.end): one.because for one in self.excluded(passage)}
        rest = [passage.text[slice(*span)] for span in sentences(passage.text) if span not in gone]
        if not gone or any(len(_tokens(sentence)) >= FEWEST for sentence in rest):
            return ""
        return f"nothing in it counts as evidence: {', '.join(dict.fromkeys(gone.values()))}"


def _title(passage: Passage) -> Passage:
    """The title as a text; one that puts the question is a heading, unless its source is untrusted."""
    return replace(passage, text=passage.title, trust="trusted" if passage.trust == "plain" else passage.trust)


@lru_cache(maxsize=4096)  # a passage is looked at before grading, before refining, and before answering
def _unread(question: str, languages: tuple[str, ...] | None, text: str) -> tuple[Span, ...]:
    """The sentences in a language that the evaluator has not learned, for a question in one that it has: of another
    question's language too little is known to tell it from that of its document."""
    if languages is None or language(question) not in languages:
        return ()
    known, names = {"", *languages}, frozenset(content_words(question))
    return tuple(span for span in sentences(text) if language(text[slice(*span)], names) not in known)


@lru_cache(maxsize=4096)  # likewise
def _talk(question: str, text: str, headings: bool) -> tuple[tuple[Span, str], ...]:
    put = _Question.of(question)
    spans = sentences(text)
    pairs = _asked_and_answered(text, spans) if headings else frozenset()
    own = ["" if n in pairs else put.dodged(text[start:end]) for n, (start, end) in enumerate(spans)]
    every = list(own)
    for n, (start, end) in enumerate(spans):
        if own[n]:
            continue
        sentence = text[start:end]
        replies = n and own[n - 1] == REPEATED and not _parted(text, spans[n - 1], spans[n]) and put.hangs_on(sentence)
        goes_on = n and every[n - 1] and put.is_scrap(sentence)
        leads_up = n + 1 < len(spans) and own[n + 1] == REPEATED and len(_tokens(sentence)) < FEWEST
        if replies or goes_on or leads_up:
            every[n] = LEFT_OVER
    return tuple((span, why) for span, why in zip(spans, every, strict=True) if why)


def _asked_and_answered(text: str, spans: Sequence[Span]) -> frozenset[int]:
    """The numbers of the sentences that are a question marked as a heading, item, term or field, on a line of its own
    with something below it, and of those below one that begin a line with the label of an answer."""
    found: set[int] = set()
    for n, (start, end) in enumerate(spans):
        sentence = text[start:end]
        begins, ends = (_bare(text[:start].rpartition("\n")[2]), _bare(text[end:].partition("\n")[0]))
        asks = sentence.rstrip(_AROUND).endswith(tuple(_MARKS)) and ends and n + 1 < len(spans)
        is_term = text[end:].lstrip(" ").startswith("\n: ")
        marked = is_term or sentence.startswith(_MARKED) or _label(sentence) in _LABELS
        if begins and ((asks and marked) or (found and _label(sentence) in _REPLIES)):
            found.add(n)
    return frozenset(found)


def _bare(text: str) -> bool:
    return not any(map(str.isalnum, text))


def _label(sentence: str) -> str:
    """The word before the first colon, if it is one."""
    return fold(sentence.partition(":")[0].strip(_AROUND)) if ":" in sentence else ""


def _parted(text: str, one: Span, other: Span) -> bool:
    """True if a paragraph ends between the two sentences."""
    return text[one[1] : other[0]].replace("\r", "").replace(" ", "").count("\n") > 1


@dataclass(frozen=True, slots=True)
class _Question:
    """A question, as its repetitions are told from texts that answer it."""

    words: tuple[str, ...]
    asking: int | None
    """Which of the words makes it a question; None: none that is known here."""
    is_question: bool
    """False: a query of keywords, which any good passage repeats."""
    content: frozenset[str]

    @classmethod
    def of(cls, question: str) -> _Question:
        every = _tokens(question)
        asking = next(
            (n for n, word in enumerate(every) if word in INTERROGATIVES or (n == 0 and word in _VERBS)), None
        )
        is_question = asking is not None or not set(_MARKS).isdisjoint(question)
        return cls(every, asking, is_question, frozenset(map(stem, content_words(question))))

    def dodged(self, sentence: str) -> str:
        """Why a sentence says nothing about the world: it puts the question again, or speaks of answering. Empty: it
        may say something. What is spelt to slip past is read as it was meant."""
        return next(filter(None, map(self._dodged, dict.fromkeys((sentence, unmasked(sentence))))), "")

    def _dodged(self, sentence: str) -> str:
        there = _tokens(sentence)
        if self.is_question and self._share(there) >= SHARE and (self._put(there) or self._asks(sentence)):
            return REPEATED
        if self.content & _ABOUT:
            return ""
        spoken = phrases(there)
        about = _ABOUT.intersection(map(stem, there)) or not _TOLD.isdisjoint(spoken)
        talks = not _TALK.isdisjoint(spoken) or any(label in sentence.casefold() for label in _LABELLED)
        return TALK if talks or (about and self._share(there) >= SHARE) else ""

    def hangs_on(self, sentence: str) -> bool:
        """True if the sentence says too little of what was asked to stand without the question before it."""
        return self._share(_tokens(sentence)) < HALF or _goes_on(sentence)

    def is_scrap(self, sentence: str) -> bool:
        """True for the rest of a sentence, or a word or two that say nothing of what was asked."""
        there = _tokens(sentence)
        return _goes_on(sentence) or (len(there) < FEWEST and not self._share(there))

    def _share(self, there: Sequence[str]) -> float:
        return len(self.content.intersection(map(stem, there))) / max(1, len(self.content))

    def _put(self, there: Sequence[str]) -> bool:
        """True for a run of the question's own words, with the one that makes it a question, or the first; more of them
        where that stands in its midst, as "which" may in what is no question. Nothing else finds a question without its
        mark."""
        run = longest_run(self.words, there)
        share = SHARE if self.asking is not None and self.asking < 2 else MOST
        return (self.asking or 0) in run and len(run) >= max(3, share * len(self.words))

    def _asks(self, sentence: str) -> bool:
        """True for a question in which most of the other's words stand."""
        before = sentence[: max(map(sentence.rfind, _MARKS)) + 1]
        held = self.content.intersection(map(stem, _tokens(before)))
        return len(self.content) > 2 and len(held) >= MOST * len(self.content)


def _goes_on(sentence: str) -> bool:
    return next(filter(str.isalnum, sentence), "a").islower()


def _unspaced(word: str) -> bool:
    return any("\u0e00" <= letter <= "\u0e7f" or "\u3040" <= letter <= "\u9fff" for letter in word)


@lru_cache(maxsize=4096)  # a sentence is held against several rules
def _tokens(text: str) -> tuple[str, ...]:
    """Words; of a script without spaces, characters."""
    return tuple(token for word in words(text) for token in (word if _unspaced(word) else (word,)))
