"""Labelled statements made by rules from questions with answers and passages.

A change that only the claim went through would show in the claim itself: an odd name, a "not". So each change is made
to the claim, or to the evidence, or to both, and only where the two then differ is the claim unsupported: neither the
claim alone nor the evidence alone tells which.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.evaluate.ask.questions import hashed
from surefoot.text.words import fold, names, sentences, words
from surefoot_lab.train.sources import Spans

Passage = tuple[str, str, int | None]
"""Title, text, and label: 1 where it answers the question."""
Asked = tuple[str, list[str], list[Passage]]
"""Question, answers and passages."""

JOINED = 0.3
"""Share of statements whose evidence is several passages."""
_LEAST, _MOST = 30, 320
"""Characters of a sentence that a statement is made of."""
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_AUXILIARY = re.compile(
    r"\b(is|was|are|were|can|will|has|have|had|did|does|do|could|should|would|may|must)( not)?\b(?!n't)"
)
_OPPOSITES = dict(
    pair
    for both in (
        "increased decreased,increase decrease,increases decreases,more less,most least,before after,first last,"
        "north south,northern southern,east west,eastern western,higher lower,highest lowest,high low,"
        "larger smaller,largest smallest,large small,male female,men women,always never,all some,older younger,"
        "early late,earlier later,won lost,win lose,above below,inside outside,internal external,left right,"
        "positive negative,public private,long short,longer shorter,strong weak,better worse,best worst,"
        "begins ends,began ended,start end,open closed,old new,upper lower,major minor,rise fall,rose fell,"
        "hot cold,warm cool,add remove,allowed forbidden,many few,often rarely,same different,son daughter,"
        "father mother,brother sister,husband wife,king queen,winter summer,spring autumn,day night"
    ).split(",")
    for pair in (both.split(), both.split()[::-1])
)
_SUBJECT = re.compile(r"^(?:who|what|which(?: \w+){1,3}?)\s+(?!do\b|does\b|did\b|can\b|will\b|are\b|if\b)(?=\w)", re.I)
_WH = re.compile(r"\b(who|whom|whose|when|where|which|what|why|how (?:many|much|long|old|far|often)|how)\b", re.I)


@dataclass(frozen=True, slots=True)
class MadeStatement:
    """A claim made by rules."""

    text: str
    question: str
    """The question that it answers; empty for a sentence that answers none."""
    evidence: str
    label: int
    spans: Spans | None
    """The changed words; empty for label 1; None: unknown."""
    kind: str
    """The rule that made it."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A passage that statements are made of, and what stands beside it."""

    title: str
    text: str
    others: tuple[str, ...]
    """Texts of the same question's other passages."""


def statements(queries: Iterable[Asked], name: str, answered: bool = True) -> Iterator[MadeStatement]:
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
            source = _Source(passage[0], passage[1], tuple(p[1] for p in passages if p[1] != passage[1]))
            yield from _answers(question, answers, source, kinds, chance)
        for passage in passages if good else ():
            if passage[1] not in seen:
                seen.add(passage[1])
                source = _Source(passage[0], passage[1], tuple(p[1] for p in passages if p[1] != passage[1]))
                yield from _sentences(source, chance)


def _sentences(source: _Source, chance: random.Random) -> Iterator[MadeStatement]:
    """Statements of one sentence of the passage, at most: two that look alike and are labelled otherwise."""
    whole = [source.text[a:b] for a, b in sentences(source.text)]
    fit = [one for one in whole if _LEAST <= len(one) <= _MOST and "\n" not in one]
    if not fit:
        return
    evidence = _evidence(source, chance)
    carrying = chance.choice(fit)
    claim = _reworded(carrying, fit, chance)
    rules: list[Callable[[], Iterator[MadeStatement]]] = [
        lambda: _changed(claim, "", evidence, carrying, chance, "changed"),
        lambda: _changed(claim, "", evidence, carrying, chance, "changed"),
        lambda: _removed(claim, source, carrying, evidence),
        lambda: _joined(carrying, fit, source, evidence, chance),
        lambda: _foreign(claim, source, evidence, chance),
    ]
    yield from chance.choice(rules)()


def _answers(
    question: str, answers: Sequence[str], source: _Source, kinds: dict[str, list[str]], chance: random.Random
) -> Iterator[MadeStatement]:
    """The question with its answer as a statement, and with another answer of the same kind or other evidence."""
    there = [
        a for a in answers if a.strip() and len(a) < 100 and re.search(rf"(?<!\w){re.escape(a)}(?!\w)", source.text)
    ]
    long = [a for a in answers if len(a) >= 100]
    evidence = _evidence(source, chance)
    if long:
        reply = [long[0][a:b] for a, b in sentences(long[0])]
        claim = chance.choice([one for one in reply if len(one) >= _LEAST] or [long[0]])
        yield MadeStatement(claim, question, evidence, 1, (), "worded answer")
        if source.others:
            yield MadeStatement(claim, question, chance.choice(source.others), 0, None, "worded answer")
        return
    if not there:
        return
    answer = chance.choice(there)
    other = _other(answer, question, source.text, kinds, chance)
    if not other:
        return
    form = chance.choice((_bare, _stated))
    right, wrong = form(question, answer), form(question, other)
    swapped = _swap(evidence, answer, other)
    at = wrong.index(other)
    span = ((at, at + len(other)),)
    yield from _two(
        (
            MadeStatement(right, question, evidence, 1, (), "answer"),
            MadeStatement(wrong, question, swapped, 1, (), "answer"),
        ),
        (
            MadeStatement(wrong, question, evidence, 0, span, "answer"),
            MadeStatement(
                right, question, swapped, 0, ((right.index(answer), right.index(answer) + len(answer)),), "answer"
            ),
        ),
        chance,
    )


def _bare(question: str, answer: str) -> str:
    return answer


def _stated(question: str, answer: str) -> str:
    """The question with the answer in the place of who, what or which; the bare answer where that is no sentence."""
    if not _SUBJECT.match(question):
        return answer
    rest = _SUBJECT.sub("", question).rstrip("? ")
    return (
        f"{answer[0].upper()}{answer[1:]} {rest}." if answer[:1].upper() + answer[1:] == answer else f"{answer} {rest}."
    )


def _two(good: Sequence[MadeStatement], bad: Sequence[MadeStatement], chance: random.Random) -> Iterator[MadeStatement]:
    yield chance.choice(good)
    yield chance.choice(bad)


def _changed(
    claim: str, question: str, evidence: str, carrying: str, chance: random.Random, kind: str
) -> Iterator[MadeStatement]:
    """The claim with one thing changed, and the same change in the evidence: two of the four pairs that this makes."""
    change = _change(claim, evidence, carrying, chance)
    if change is None:
        return
    before, after, changed_evidence, place = change
    changed = before[: place[0]] + after + before[place[1] :]
    new = ((place[0], place[0] + max(1, len(after))),)
    yield from _two(
        (
            MadeStatement(before, question, evidence, 1, (), kind),
            MadeStatement(changed, question, changed_evidence, 1, (), kind),
        ),
        (
            MadeStatement(changed, question, evidence, 0, new, kind),
            MadeStatement(before, question, changed_evidence, 0, (place,), kind),
        ),
        chance,
    )


def _change(
    claim: str, evidence: str, carrying: str, chance: random.Random
) -> tuple[str, str, str, tuple[int, int]] | None:
    """The claim, what stands in it instead of a place, the evidence changed alike, and the place."""
    ways = [_number_change, _name_change, _opposite_change, _negation_change]
    for way in chance.sample(ways, len(ways)):
        found = way(claim, evidence, carrying, chance)
        if found and found[1] != evidence:
            after, changed, place = found
            return claim, after, changed, place
    return None


_Found = tuple[str, str, tuple[int, int]]
"""The new words, the evidence with them, and their place in the claim."""


def _number_change(claim: str, evidence: str, carrying: str, chance: random.Random) -> _Found | None:
    mine = [m for m in _NUMBER.finditer(claim) if _occurs(m[0], evidence)]
    if not mine:
        return None
    old = chance.choice(mine)
    rivals = [m[0] for m in _NUMBER.finditer(evidence) if len(m[0]) == len(old[0]) and m[0] not in claim]
    new = chance.choice(rivals) if rivals and chance.random() < 0.5 else _near(old[0], chance)
    return (new, _swap(evidence, old[0], new), old.span()) if new != old[0] else None


def _near(number: str, chance: random.Random) -> str:
    """Another number of the same form."""
    digits = [i for i, c in enumerate(number) if c.isdigit()]
    at = chance.choice(digits[len(digits) // 2 :])
    return number[:at] + chance.choice([d for d in "123456789" if d != number[at]]) + number[at + 1 :]


def _name_change(claim: str, evidence: str, carrying: str, chance: random.Random) -> _Found | None:
    mine = [n for n in names(claim) if not n[0].isdigit() and _occurs(n, evidence) and claim.count(n) == 1]
    if not mine:
        return None
    old = chance.choice(mine)
    rivals = [
        n for n in names(evidence) if not n[0].isdigit() and n not in claim and old not in n and fold(n) != fold(old)
    ]
    similar = [n for n in rivals if len(n.split()) == len(old.split())] or rivals
    if not similar:
        return None
    new, at = chance.choice(similar), claim.index(old)
    return new, _swap(evidence, old, new), (at, at + len(old))


def _opposite_change(claim: str, evidence: str, carrying: str, chance: random.Random) -> _Found | None:
    mine = [m for m in re.finditer(r"(?<![\w-])[a-z]+(?![\w-])", claim) if m[0] in _OPPOSITES]
    if not mine:
        return None
    old = chance.choice(mine)
    new = _OPPOSITES[old[0]]
    return new, evidence.replace(carrying, _swap(carrying, old[0], new)), old.span()


def _negation_change(claim: str, evidence: str, carrying: str, chance: random.Random) -> _Found | None:
    mine = [m for m in _AUXILIARY.finditer(claim) if m[0] in carrying]
    if not mine:
        return None
    old = chance.choice(mine)
    new = old[1] if old[2] else f"{old[1]} not"
    pattern = rf"(?<!\w){re.escape(old[0])}(?!\w)(?! not\b)"
    return new, evidence.replace(carrying, re.sub(pattern, new, carrying, count=1)), old.span()


def _removed(claim: str, source: _Source, carrying: str, evidence: str) -> Iterator[MadeStatement]:
    """The claim with its evidence, and with the evidence without its sentence."""
    rest = evidence.replace(carrying, "").replace("  ", " ")
    if len(rest) >= 2 * _LEAST:
        yield MadeStatement(claim, "", evidence, 1, (), "removed")
        yield MadeStatement(claim, "", rest, 0, None, "removed")


def _joined(
    carrying: str, fit: Sequence[str], source: _Source, evidence: str, chance: random.Random
) -> Iterator[MadeStatement]:
    """Two sentences in one: both from the passage, and the second from elsewhere."""
    own = [one for one in fit if one != carrying]
    elsewhere = [
        other[a:b]
        for other in source.others
        for a, b in sentences(other)
        if _LEAST <= b - a <= _MOST and other not in evidence
    ]
    if not own or not elsewhere:
        return
    start = carrying.rstrip(".") + ", and "
    foreign = chance.choice(elsewhere)
    yield MadeStatement(start + chance.choice(own), "", evidence, 1, (), "joined")
    yield MadeStatement(start + foreign, "", evidence, 0, ((len(start), len(start) + len(foreign)),), "joined")


def _foreign(claim: str, source: _Source, evidence: str, chance: random.Random) -> Iterator[MadeStatement]:
    """The claim with its own evidence, and with a passage near to it."""
    others = [one for one in source.others if one not in evidence and not _held(claim, one)]
    if others:
        yield MadeStatement(claim, "", evidence, 1, (), "foreign")
        yield MadeStatement(claim, "", chance.choice(others), 0, None, "foreign")


def _held(claim: str, text: str) -> bool:
    """True if the text holds nearly all words of the claim."""
    mine = set(words(claim))
    return len(mine & set(words(text))) > 0.8 * len(mine)


def _reworded(sentence: str, fit: Sequence[str], chance: random.Random) -> str:
    """The sentence as it is, or without its brackets, its opening phrase or its last clause; or with another one."""
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


def _kinds(rows: Sequence[Asked]) -> dict[str, list[str]]:
    """The answers of all questions, by their kind."""
    found = defaultdict[str, list[str]](list)
    for question, answers, _ in rows:
        for answer in answers[:1]:
            if 0 < len(answer) < 100:
                found[_kind(answer, question)].append(answer)
    return found


def _kind(answer: str, question: str) -> str:
    """Its form and the question's word; a likely answer to such a question is of the same kind."""
    queries = _WH.search(question)
    form = "number" if re.fullmatch(r"[\d.,%$€£ -]+", answer) else "name" if answer[:1].isupper() else "phrase"
    if re.search(r"\b[12]\d{3}\b", answer):
        form = "date"
    return f"{queries[0].lower() if queries else ''} {form} {min(len(answer.split()), 4)}"


def _other(answer: str, question: str, text: str, kinds: dict[str, list[str]], chance: random.Random) -> str | None:
    """An answer of the same kind: from the passage where that holds one, else another question's."""

    def differs(one: str) -> bool:
        mine, yours = set(words(answer)), set(words(one))
        return bool(yours) and not mine & yours and not yours <= set(words(question))

    near: list[str] = []
    if _NUMBER.fullmatch(answer):
        near = [m[0] for m in _NUMBER.finditer(text) if abs(len(m[0]) - len(answer)) <= 1]
    elif answer[:1].isupper():
        near = [n for n in names(text) if not n[0].isdigit()]
    near = [one for one in near if differs(one)]
    if near and chance.random() < 0.6:
        return chance.choice(near)
    far = kinds.get(_kind(answer, question), [])
    some = [one for one in chance.sample(far, min(12, len(far))) if differs(one)]
    return some[0] if some else chance.choice(near) if near else None


def _occurs(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _swap(text: str, one: str, other: str) -> str:
    """The text with each of the two in the other's place."""
    pattern = rf"(?<!\w)(?:{re.escape(one)}|{re.escape(other)})(?!\w)"
    return re.sub(pattern, lambda found: other if found[0] == one else one, text)
