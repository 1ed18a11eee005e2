"""The claims of a text, and how far evidence carries them, as the configured verifier finds."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from surefoot.judges._equivalence import telling
from surefoot.judges._scores import BaseJudge, Finding, Unscored, standalone
from surefoot.stats.text import percent
from surefoot.text.refusals import refuses
from surefoot.text.words import STOP_WORDS, sentences, words
from surefoot.types import Assertion, Claim, Passage, Quote, Record, Support
from surefoot.types.protocols import Verifier

SUPPORTED = 0.5
"""Probability from which a claim counts as carried in an explanation; values take the probabilities as they are."""
SHORT = 10
"""Telling words up to which a reference is one thing, looked up as a whole; a longer one is cut into its facts."""
_TALK = frozenset(
    "according additional answer answers anything ask asking assist assistance based certainly clarification context "
    "contexts details document documents feel free further given glad great happy help helpful helps hesitate hope "
    "information know let need needs note passage passages please provided question questions source sources sure text "
    "thank thanks welcome".split()
)
"""Words with which an answer speaks of itself, its sources or its reader."""
_PLAIN = STOP_WORDS - frozenset("no nor not before after over under until more most only".split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)*)\.\s")
_VERBS = frozenset("is are was were be that".split())
_LINKS = _VERBS | frozenset("it they this he she the".split())
_MARKS = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\*\*|https?://\S+|(?m:^)\s*(?:[-*•#]+|\d{1,2}[.)])\s+")


class VerifierJudge(BaseJudge):
    """A judge that goes by what the configured verifier says of sentences."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier


def verified(
    verifier: Verifier, record: Record, pairs: Sequence[tuple[str, Sequence[Passage]]]
) -> list[tuple[float, str]]:
    """The chance that its evidence carries each claim, and why. Raises Unscored where the verifier leaves one open."""
    context = standalone(record)
    found = verifier.support([Assertion(claimed(one) or plainly(one), tuple(by), context) for one, by in pairs])
    if left := [one.reason for one in found if _chance(one) is None]:
        raise Unscored(f"{len(left)} of {len(found)} claims are left open: {left[0]}")
    return [(chance, one.reason) for one in found if (chance := _chance(one)) is not None]


def carries(verifier: Verifier, record: Record, pairs: Sequence[tuple[str, Sequence[Passage]]]) -> list[bool]:
    """The same as yes or no."""
    return [chance >= SUPPORTED for chance, _ in verified(verifier, record, pairs)] if pairs else []


def carried(
    verifier: Verifier,
    record: Record,
    stated: Sequence[str],
    where: str,
    evidence: Sequence[Passage],
    counts: bool = False,
) -> Finding:
    """The mean chance that the evidence carries a claim, of which there is one at least, or the share of those that it
    likely does (`counts`); all stand in this corner of the record. Raises Unscored where the verifier leaves one
    open."""
    found = verified(verifier, record, [(one, evidence) for one in stated])
    known = [chance for chance, _ in found]
    least = known.index(min(known))
    why = f": {found[least][1]}" if found[least][1] else ""
    held = f"{sum(chance >= SUPPORTED for chance in known)} of {len(known)} claims of the {where} are likely carried"
    reason = f"{held}. The least: “{plainly(stated[least])}” ({percent(known[least], 0)}){why}."
    each = [float(chance >= SUPPORTED) for chance in known] if counts else known
    quotes = (Quote(stated[least], where, True),)
    return Finding(sum(each) / len(each), reason, quotes, tuple(map(Claim, stated, known)))


def best(
    truths: Sequence[str], short: Callable[[Sequence[str]], list[Finding]], long: Callable[[str], Finding]
) -> Finding:
    """The finding with the highest value: `short` looks up the short references together, `long` one that is cut into
    its facts. Raises Unscored only where there is no value beside any reference."""
    whole = [truth for truth in truths if len(telling(truth)) <= SHORT]
    found, missed = short(whole) if whole else [], list[Unscored]()
    for truth in (truth for truth in truths if truth not in whole):
        try:
            found.append(long(truth))
        except Unscored as why:
            missed.append(why)
    if not found:
        raise missed[0]
    return max(found, key=lambda one: one.value)


def _chance(verdict: Support) -> float | None:
    """The probability, or, of a verifier without one, its word as a number; None where it is open."""
    if verdict.probability is not None or verdict.supported is None:
        return verdict.probability
    return float(verdict.supported)


def claims(text: str) -> list[str]:
    """The sentences and lines of lists of an answer, but for those that lead to a list, ask, refuse, or only talk."""
    each = (one for one in _cut(text) if not refuses(plainly(one)) and not one.rstrip("* ").endswith((":", "?")))
    return [one for one in each if claimed(one)]


def claimed(text: str) -> str:
    """What a sentence claims: without markers, and without talk before it that ends in a mark or a verb, as "According
    to the context, the answer is"; empty where all of it is talk.

    In eleven wordings that this was not made from, 82 of 1,650 right answers count as lost with it, 106 without."""
    plain = plainly(text)
    if (number := _NUMBER.match(plain)) and _talk(plain[number.end() :]):
        return number[1]
    if _talk(plain):
        return ""
    each = [(match.end(), match[0].lower()) for match in _WORD.finditer(plain)]
    lead = [word for _, word in takewhile(lambda one: one[1] in _PLAIN | _TALK, each)]
    talked = max((place for place, word in enumerate(lead, start=1) if word in _TALK), default=0)
    links = [*takewhile(_LINKS.__contains__, lead[talked:])]
    if not talked or not ({*links[:1]} & _VERBS or plain[each[talked - 1][0] :].lstrip()[:1] in (",", ":", ";")):
        return plain
    return plain[each[talked + len(links) - 1][0] :].lstrip(",:; ")


def _talk(plain: str) -> bool:
    """True if an answer only speaks of itself, its sources or its reader here."""
    there = {match[0].lower() for match in _WORD.finditer(plain)}
    return bool(there & _TALK) and there <= _PLAIN | _TALK


def plainly(text: str) -> str:
    """Without markers of citations, addresses and signs of Markdown. A number before mere talk is an answer, and stays;
    else it is an item's."""
    plain = " ".join(_MARKS.sub(" ", text).split())
    return " ".join(text.split()) if _NUMBER.match(text) and _talk(plain) else plain


def _cut(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for start, end in sentences(line):
            if words(plainly(line[start:end])):
                yield line[start:end]
