"""Answer, show the passages first, or refuse: by the answer's confidence and the risk that the user accepts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from surefoot.evidence import confidence
from surefoot.evidence.differences import newer
from surefoot.evidence.exact import codes, exact, lacking, misread
from surefoot.text.follow_up import follows
from surefoot.text.languages import OTHER, language
from surefoot.text.words import content_words, inner_names, nearest, stem, words
from surefoot.types import Action, Answer, Grade, Passage, Trace
from surefoot.types.protocols import Evaluator, languages_of

ALONE = "it goes on from an earlier question; ask it whole, or ask both in `surefoot chat`"
UNSURE = "no passage is graded CORRECT"
WEAK = "what was found fits the question too loosely"
MARKED = "some of it stands in no source, as marked"
HOPELESS = 0.1
"""Below this confidence an answer is refused, not hedged: nine of ten such answers are wrong."""
NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese"}
NAMES |= {"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "cjk": "Chinese or Japanese", OTHER: "another language"}


def hedged(answer: Answer, trace: Trace, evaluator: Evaluator, risk: float) -> Answer:
    """The answer to a trace's question with its confidence and certainty, hedged where that does not keep the risk, the
    accepted share of wrong answers among those that are given plainly, and where what it quotes lacks an exact thing of
    the question.

    The text of a hedged answer begins with the hedge. Words of a model are also hedged where a sentence stands in no
    source, or a newer document says otherwise; a quotation without a confidence, where no passage is graded CORRECT. A
    generator may have hedged its answer for a reason of its own. A refusal stays one, and is given the reason that the
    question itself gives.
    """
    question, passages = trace.standalone_question, trace.passages + trace.external
    if unread := _unread(question, evaluator):
        return _marked(answer if answer.refused else replace(answer, unjudged=unread), unread, unread)
    answer = confidence.judged(question, answer, passages, trace.grades, evaluator.name)
    unsure = answer.because or _unmentioned(question, passages) or _elsewhere(question, answer)
    unsure = unsure or _near(question, answer, passages)
    if answer.worded:
        unsure = unsure or (MARKED if answer.uncited else _contradicted(answer, trace)) or _misread(question, answer)
    if not answer.worded or answer.confidence is not None:
        unsure = unsure or _unsure(answer, trace.grades, risk)
    if not (answer.hedged or unsure):
        return replace(answer, certainty=confidence.certainty(answer))
    if follows(question):
        return _marked(answer, ALONE, ALONE)
    return _marked(answer, unsure, answer.because)


def _marked(answer: Answer, because: str, refused_because: str) -> Answer:
    """The answer with its hedge in front, or the refusal with its reason."""
    if answer.refused:
        return replace(answer, because=refused_because, certainty="not found")
    hedge = f"I am not sure of this: {because}."
    text = f"{hedge}\n\n{answer.text}"
    return replace(answer, text=text, hedge=hedge, hedged=True, because=because, certainty="unsure")


def hopeless(answer: Answer) -> bool:
    """True if the hedged answer is so surely wrong that a refusal takes its place."""
    return answer.hedged and answer.confidence is not None and answer.confidence < HOPELESS


def given_up(answer: Answer, words: str) -> Answer:
    """A refusal in these words, which withholds the answer, and tells how unsure that was."""
    bare = replace(answer, text=words, hedge="", hedged=False, refused=True, citations=(), uncited=())
    return replace(bare, withheld=answer.body, certainty="not found")


def absent(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """The identifiers and versions of the question that no passage mentions."""
    things = codes(question)
    return lacking("\n".join(f"{p.title}\n{p.text}" for p in passages), things) if things and passages else ()


def _unmentioned(question: str, passages: Sequence[Passage]) -> str:
    """The names of the question of which no passage holds a word; empty: all are mentioned. Without it 2 of 278
    questions about manuals get a wrong answer plainly. The opening word of a sentence is no name."""
    there = {word for passage in passages for word in words(f"{passage.title} {passage.text}")}
    missing = [name for name in inner_names(question) if there.isdisjoint(words(name))]
    return f"no passage mentions {' or '.join(missing)}" if missing and passages else ""


def _near(question: str, answer: Answer, passages: Sequence[Passage]) -> str:
    """The word of the question that no passage holds, where the answer has another of nearly the same letters. Letters
    that are missing, doubled or exchanged are the same word misspelt, and "normalise" is "normalize"."""
    there = {stem(word) for passage in passages for word in words(f"{passage.title} {passage.text}")}
    quoted = {word for citation in answer.citations if citation.strip for word in words(citation.strip.text)}
    for word in content_words(question):
        near = nearest(word, quoted) if word.isalpha() and stem(word) not in there else []
        if near and not _one_word(word, near[0]):
            return f"no passage mentions “{word}”; the nearest word is “{near[0]}”"
    return ""


def _one_word(word: str, other: str) -> bool:
    one, two = (Counter(each.replace("z", "s")) for each in (word, other))
    return one <= two or one >= two


def _elsewhere(question: str, answer: Answer) -> str:
    """The exact things of the question that stand nowhere in the sources of the answer; empty: all do."""
    sources = [f"{one.title}\n{one.strip.text}" for one in answer.citations if one.strip]
    missing = lacking("\n".join([*sources, answer.text]), exact(question)) if sources else ()
    return f"the place that it comes from does not mention {' or '.join(missing)}" if missing else ""


def _misread(question: str, answer: Answer) -> str:
    """The column that a number of the answer comes from, where the question names another; empty: there is none."""
    tables = (misread(question, answer.body, one.strip.text) for one in answer.citations if one.strip)
    found = next(filter(None, tables), None)
    return f"its number stands under “{found[0]}”, and you asked for “{found[1]}”" if found else ""


def _contradicted(answer: Answer, trace: Trace) -> str:
    """What another document says where the answer comes from one that is not newer; empty: nothing. The web says
    nothing against the corpus."""
    cited = {citation.strip.passage_id for citation in answer.citations if citation.strip}
    every = {passage.id: passage for passage in trace.passages + trace.external}
    for one in trace.conflicts:
        local, external = every[one.local], every[one.external]
        first = external.source == "external" or newer(local, external)
        sides = ((external, local, one.local_says), (local, external, one.external_says))
        for mine, other, says in sides[: 1 if first else 2]:
            if mine.id in cited and other.id not in cited:
                return f"“{other.title}” says otherwise: “{says}”"
    return ""


def _unsure(answer: Answer, grades: Sequence[Grade], risk: float) -> str:
    """Why the answer may be wrong; empty: it is sure enough."""
    if answer.confidence is None:
        return "" if any(grade.label is Action.CORRECT for grade in grades) else UNSURE
    return "" if answer.confidence >= confidence.shipped(answer.worded).least(risk) else WEAK


def _unread(question: str, evaluator: Evaluator) -> str:
    """Why grades say little of this question; empty: the evaluator reads its language, or any."""
    spoken = language(question)
    reads = languages_of(evaluator)
    if not reads or not spoken or spoken in reads:
        return ""
    own, known = NAMES.get(spoken, spoken.capitalize()), " and ".join(NAMES.get(each, each) for each in reads)
    return (
        f"the question seems to be in {own}, and the evaluator reads {known}: only names and numbers count; "
        f"ask in {known}, or configure another evaluator"
    )
