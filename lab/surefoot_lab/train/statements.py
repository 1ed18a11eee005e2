"""Labelled statements made by rules from questions with answers and passages.

A change that only the claim went through would show in the claim itself: an odd name, a "not". So each change is made
to the claim, or to the evidence, or to both, and only where the two then differ is the claim unsupported: neither the
claim alone nor the evidence alone tells which.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.evaluate.ask.questions import hashed
from surefoot.text.words import fold, names, sentences, words
from surefoot_lab.train.examples import TrainingExample

Passage = tuple[str, str, int | None]
"""Title, text, and label: 1 where it answers the question."""
Asked = tuple[str, list[str], list[Passage]]
"""Question, answers and passages."""
Place = tuple[int, int]
Change = tuple[str, str, Place]
"""New words, the evidence with them in it, and the place in the claim that they take."""
Kinds = dict[str, list[str]]
"""Answers by their kind."""

JOINED = 0.3
"""Share of statements whose evidence is several passages."""
_LEAST, _MOST = 30, 320
"""Characters of a sentence that a statement is made of."""
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_AUXILIARY = re.compile(
    r"\b(is|was|are|were|can|will|has|have|had|did|does|do|could|should|would|may|must)( not)?\b(?!n't)"
)
_PAIRS = (
    "increased decreased,increase decrease,increases decreases,more less,most least,before after,first last,"
    "north south,northern southern,east west,eastern western,higher lower,highest lowest,high low,"
    "larger smaller,largest smallest,large small,male female,men women,always never,all some,older younger,"
    "early late,earlier later,won lost,win lose,above below,inside outside,internal external,left right,"
    "positive negative,public private,long short,longer shorter,strong weak,better worse,best worst,"
    "begins ends,began ended,start end,open closed,old new,upper lower,major minor,rise fall,rose fell,"
    "hot cold,warm cool,add remove,allowed forbidden,many few,often rarely,same different,son daughter,"
    "father mother,brother sister,husband wife,king queen,winter summer,spring autumn,day night"
)
_OPPOSITES = dict(pair for both in _PAIRS.split(",") for pair in (both.split(), both.split()[::-1]))
_SUBJECT = re.compile(r"^(?:who|what|which(?: \w+){1,3}?)\s+(?!do\b|does\b|did\b|can\b|will\b|are\b|if\b)(?=\w)", re.I)
_WH = re.compile(r"\b(who|whom|whose|when|where|which|what|why|how (?:many|much|long|old|far|often)|how)\b", re.I)


@dataclass(frozen=True, slots=True)
class _Source:
    """A passage that statements are made of."""

    title: str
    text: str
    others: tuple[str, ...]
    """Texts of the same question's other passages."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence of a passage that statements are made of."""

    text: str
    claim: str
    """The sentence, perhaps in other words."""
    fit: tuple[str, ...]
    """Sentences of the passage that statements can be made of."""
    others: tuple[str, ...]
    """As in `_Source`."""
    evidence: str


def statements(queries: Iterable[Asked], name: str, answered: bool = True) -> Iterator[TrainingExample]:
    """Statements of each question and of each passage, labelled; the same for the same questions and name.

    `answered` False: none of the answers, for questions that take several passages.
    """
    chance = random.Random(int.from_bytes(hashed(name, 8), "big"))  # noqa: S311
    rows = list(queries)
    kinds = _kinds(rows)
    seen: set[str] = set()
    for question, answers, passages in rows:
        good = [p for p in passages if p[2] == 1]
        for passage in good if answered else ():
            yield from _answers(question, answers, _source(passage, passages), kinds, chance)
        for passage in passages if good else ():
            if passage[1] not in seen:
                seen.add(passage[1])
                yield from _sentences(_source(passage, passages), chance)


def _source(passage: Passage, passages: Sequence[Passage]) -> _Source:
    return _Source(passage[0], passage[1], tuple(p[1] for p in passages if p[1] != passage[1]))


def _sentences(source: _Source, chance: random.Random) -> Iterator[TrainingExample]:
    """Statements of one sentence of the passage, at most: two that look alike and are labelled otherwise."""
    whole = [source.text[a:b] for a, b in sentences(source.text)]
    fit = tuple(one for one in whole if _LEAST <= len(one) <= _MOST and "\n" not in one)
    if fit:
        evidence = _evidence(source, chance)
        text = chance.choice(fit)
        sentence = _Statement(text, _reworded(text, chance), fit, source.others, evidence)
        yield from chance.choice((_changed, _changed, _removed, _joined, _foreign))(sentence, chance)


def _answers(
    question: str, answers: Sequence[str], source: _Source, kinds: Kinds, chance: random.Random
) -> Iterator[TrainingExample]:
    """The question with its answer as a statement, and with another answer of the same kind or other evidence."""
    evidence = _evidence(source, chance)
    if long := [a for a in answers if len(a) >= 100]:
        reply = [long[0][a:b] for a, b in sentences(long[0])]
        claim = chance.choice([one for one in reply if len(one) >= _LEAST] or [long[0]])
        other = chance.choice(source.others) if source.others else ""
        yield from _with_and_without(claim, question, evidence, other, "worded answer", alone=True)
        return
    there = [a for a in answers if a.strip() and len(a) < 100 and _occurs(a, source.text)]
    answer = chance.choice(there) if there else ""
    rival = _other(answer, question, source.text, kinds, chance) if answer else None
    if rival:
        form = chance.choice((_bare, _stated))
        claims = [(form(question, one), one) for one in (answer, rival)]
        right, wrong = ((text, (at := text.index(one), at + len(one))) for text, one in claims)
        yield from _crossed(right, wrong, evidence, _swap(evidence, answer, rival), question, "answer", chance)


def _bare(question: str, answer: str) -> str:
    return answer


def _stated(question: str, answer: str) -> str:
    """The question with the answer in the place of who, what or which; the bare answer where that is no sentence."""
    return f"{answer} {_SUBJECT.sub('', question).rstrip('? ')}." if _SUBJECT.match(question) else answer


def _crossed(
    one: tuple[str, Place],
    other: tuple[str, Place],
    evidence: str,
    changed: str,
    question: str,
    kind: str,
    chance: random.Random,
) -> Iterator[TrainingExample]:
    """Two of the four pairs of a claim or its changed form with the evidence or its changed form: one that is supported
    and one that is not. Each claim comes with the place of what was changed."""
    pairs = {1: ((one, evidence), (other, changed)), 0: ((other, evidence), (one, changed))}
    for label, both in pairs.items():
        (text, place), beside = chance.choice(both)
        yield TrainingExample(text, question, beside, label, () if label else (place,), kind=kind)


def _with_and_without(
    claim: str, question: str, evidence: str, other: str, kind: str, alone: bool = False
) -> Iterator[TrainingExample]:
    """The claim with its evidence, and with other evidence that does not carry it. Without such evidence, the first
    stands `alone` or not at all."""
    if other or alone:
        yield TrainingExample(claim, question, evidence, 1, (), kind=kind)
    if other:
        yield TrainingExample(claim, question, other, 0, None, kind=kind)


def _changed(one: _Statement, chance: random.Random) -> Iterator[TrainingExample]:
    """The claim with one thing changed, and the same change in the evidence."""
    ways = (_number_change, _name_change, _opposite_change, _negation_change)
    for way in chance.sample(ways, len(ways)):
        change = way(one, chance)
        if change and change[1] != one.evidence:
            after, evidence, (start, end) = change
            other = one.claim[:start] + after + one.claim[end:], (start, start + max(1, len(after)))
            yield from _crossed((one.claim, (start, end)), other, one.evidence, evidence, "", "changed", chance)
            return


def _number_change(one: _Statement, chance: random.Random) -> Change | None:
    mine = [m for m in _NUMBER.finditer(one.claim) if _occurs(m[0], one.evidence)]
    if not mine:
        return None
    old = chance.choice(mine)
    rivals = [m[0] for m in _NUMBER.finditer(one.evidence) if len(m[0]) == len(old[0]) and m[0] not in one.claim]
    new = chance.choice(rivals) if rivals and chance.random() < 0.5 else _near(old[0], chance)
    return (new, _swap(one.evidence, old[0], new), old.span()) if new != old[0] else None


def _near(number: str, chance: random.Random) -> str:
    """Another number of the same form."""
    digits = [i for i, c in enumerate(number) if c.isdigit()]
    at = chance.choice(digits[len(digits) // 2 :])
    return number[:at] + chance.choice([d for d in "123456789" if d != number[at]]) + number[at + 1 :]


def _name_change(one: _Statement, chance: random.Random) -> Change | None:
    mine = [n for n in _names(one.claim) if _occurs(n, one.evidence) and one.claim.count(n) == 1]
    if not mine:
        return None
    old = chance.choice(mine)
    rivals = [n for n in _names(one.evidence) if n not in one.claim and old not in n and fold(n) != fold(old)]
    similar = [n for n in rivals if len(n.split()) == len(old.split())] or rivals
    if not similar:
        return None
    new, at = chance.choice(similar), one.claim.index(old)
    return new, _swap(one.evidence, old, new), (at, at + len(old))


def _opposite_change(one: _Statement, chance: random.Random) -> Change | None:
    mine = [m for m in re.finditer(r"(?<![\w-])[a-z]+(?![\w-])", one.claim) if m[0] in _OPPOSITES]
    if not mine:
        return None
    old = chance.choice(mine)
    new = _OPPOSITES[old[0]]
    return new, one.evidence.replace(one.text, _swap(one.text, old[0], new)), old.span()


def _negation_change(one: _Statement, chance: random.Random) -> Change | None:
    mine = [m for m in _AUXILIARY.finditer(one.claim) if m[0] in one.text]
    if not mine:
        return None
    old = chance.choice(mine)
    new = old[1] if old[2] else f"{old[1]} not"
    pattern = rf"(?<!\w){re.escape(old[0])}(?!\w)(?! not\b)"
    return new, one.evidence.replace(one.text, re.sub(pattern, new, one.text, count=1)), old.span()


def _removed(one: _Statement, chance: random.Random) -> Iterator[TrainingExample]:
    """The claim with its evidence, and with the evidence without its sentence."""
    rest = one.evidence.replace(one.text, "").replace("  ", " ")
    yield from _with_and_without(one.claim, "", one.evidence, rest if len(rest) >= 2 * _LEAST else "", "removed")


def _joined(one: _Statement, chance: random.Random) -> Iterator[TrainingExample]:
    """Two sentences in one: both from the passage, and the second from elsewhere."""
    own = [other for other in one.fit if other != one.text]
    elsewhere = [
        other[a:b]
        for other in one.others
        for a, b in sentences(other)
        if _LEAST <= b - a <= _MOST and other not in one.evidence
    ]
    if own and elsewhere:
        start = one.text.rstrip(".") + ", and "
        foreign = chance.choice(elsewhere)
        place = (len(start), len(start) + len(foreign))
        yield TrainingExample(start + chance.choice(own), "", one.evidence, 1, (), kind="joined")
        yield TrainingExample(start + foreign, "", one.evidence, 0, (place,), kind="joined")


def _foreign(one: _Statement, chance: random.Random) -> Iterator[TrainingExample]:
    """The claim with its own evidence, and with a passage near to it that lacks some of its words."""
    mine = set(words(one.claim))
    others = [
        text for text in one.others if text not in one.evidence and len(mine & set(words(text))) <= 0.8 * len(mine)
    ]
    yield from _with_and_without(one.claim, "", one.evidence, chance.choice(others) if others else "", "foreign")


def _reworded(sentence: str, chance: random.Random) -> str:
    """The sentence as it is, or without its brackets, its opening phrase or its last clause."""
    shorter = [
        re.sub(r"\s*\([^()]{1,80}\)", "", sentence),
        re.sub(r"^(?:In|On|At|By|During|After|Before|Since|From|For|With) [^,]{3,40}, (\w)", r"\1", sentence),
        re.sub(r",? (?:which|who|where|when|while|although|because|and|but) [^,]{10,120}([.!?])$", r"\1", sentence),
        re.sub(r", [^,]{10,120}([.!?])$", r"\1", sentence),
    ]
    ways = [one[0].upper() + one[1:] for one in shorter if _LEAST <= len(one) < len(sentence)]
    if chance.random() < 0.35 or not ways:
        return sentence
    return chance.choice(ways)


def _evidence(source: _Source, chance: random.Random) -> str:
    """The passage with its title, or among others that were found for the same question."""
    own = f"{source.title}\n{source.text}" if source.title and chance.random() < 0.7 else source.text
    if not source.others or chance.random() >= JOINED:
        return own
    texts = [own, *chance.sample(source.others, min(len(source.others), chance.randint(1, 2)))]
    chance.shuffle(texts)
    return "\n\n".join(f"passage {i}:{text}" for i, text in enumerate(texts, start=1))


def _kinds(rows: Sequence[Asked]) -> Kinds:
    """The first answers of all questions, by their kind."""
    found = defaultdict[str, list[str]](list)
    for question, answers, _ in rows:
        for answer in answers[:1]:
            if 0 < len(answer) < 100:
                found[_kind(answer, question)].append(answer)
    return found


def _kind(answer: str, question: str) -> str:
    """Its form and the question's word; a likely answer to such a question is of the same kind."""
    word = _WH.search(question)
    form = "number" if re.fullmatch(r"[\d.,%$€£ -]+", answer) else "name" if answer[:1].isupper() else "phrase"
    if re.search(r"\b[12]\d{3}\b", answer):
        form = "date"
    return f"{word[0].lower() if word else ''} {form} {min(len(answer.split()), 4)}"


def _other(answer: str, question: str, text: str, kinds: Kinds, chance: random.Random) -> str | None:
    """An answer of the same kind: from the passage where that holds one, else another question's."""

    def differs(one: str) -> bool:
        mine, yours = set(words(answer)), set(words(one))
        return bool(yours) and not mine & yours and not yours <= set(words(question))

    near: list[str] = []
    if _NUMBER.fullmatch(answer):
        near = [m[0] for m in _NUMBER.finditer(text) if abs(len(m[0]) - len(answer)) <= 1]
    elif answer[:1].isupper():
        near = _names(text)
    near = [one for one in near if differs(one)]
    if near and chance.random() < 0.6:
        return chance.choice(near)
    far = kinds.get(_kind(answer, question), [])
    some = [one for one in chance.sample(far, min(12, len(far))) if differs(one)]
    return some[0] if some else chance.choice(near) if near else None


def _names(text: str) -> list[str]:
    """Names in the text, without numbers."""
    return [name for name in names(text) if not name[0].isdigit()]


def _occurs(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _swap(text: str, one: str, other: str) -> str:
    """The text with each of the two in the other's place."""
    pattern = rf"(?<!\w)(?:{re.escape(one)}|{re.escape(other)})(?!\w)"
    return re.sub(pattern, lambda found: other if found[0] == one else one, text)
