"""Questions that quoting cannot answer: the parts of the answer stand in the documents, and nobody has put them
together there."""

from collections.abc import Sequence

from surefoot.evidence.exact import DAYS, number
from surefoot.text.words import content_words, fold, names, stem, words

_ASKING = frozenset("which what who whose where when".split())
_SUPERLATIVES = frozenset(
    "most least largest smallest biggest highest lowest longest shortest oldest newest youngest fewest greatest best "
    "worst cheapest fastest slowest heaviest lightest latest earliest strongest nearest".split()
)
_COMPARATIVES = frozenset(
    "better worse more less faster slower larger smaller higher lower older newer cheaper".split()
)
_DIFFERENCE = frozenset("differ differs different compare compared compares vs versus".split())
_COMPARES = _DIFFERENCE | frozenset(
    "difference differences unlike whereas while comparison instead both contrast but than".split()
)
_LIMITS = frozenset("maximum minimum max min limit limits".split())
"""Words of a text that states which one is the largest, or smallest, in its own way."""
_TIMES = frozenset(
    "after before until till during while once when whenever if as since upon then every daily weekly monthly yearly "
    "annually always never now today tomorrow yesterday morning evening night noon midnight spring summer autumn fall "
    "winter year years month months week weeks day days hour hours minute minutes century era decade may date time "
    "soon immediately later ago early late first".split()
)
"""Words that tell when, beside numbers and the names of days and months."""
WHEN = "it asks when, and what was found tells no time"

COMPARE, COUNT, JOIN, CHOOSE, JUDGE = (
    f"it asks {what}, and I only quote; these places may hold the parts"
    for what in (
        "for a comparison",
        "to count",
        "what one place says of what another one names",
        "to choose among options",
        "whether a claim is true",
    )
)


def beyond(question: str, quoted: str, task: str = "qa") -> str:
    """Why the quoted text can only hold parts of the answer; empty: it may hold it. A text that compares by itself
    ("the largest", "unlike") may, and so may one that speaks of both things, or gives a number of its own.

    Of questions of SQuAD 2.0 and NQ 0.5 and 0.2 % seem to join two facts over the passage that answers them, of those
    of HotpotQA, 2Wiki and MuSiQue 16, 16 and 31 % over one of theirs.
    """
    tokens, there = words(question), frozenset(words(quoted))
    if task == "choice" or _offers(question):
        return CHOOSE
    if task == "claim" or "true or false" in " ".join(tokens):
        return JUDGE
    if tokens[:1] == ["when"] and not any(map(_tells_when, there.difference(tokens))):
        return WHEN
    behind = next((tokens[n:] for n, word in enumerate(tokens) if word in _ASKING), [])
    if most := _SUPERLATIVES.intersection(behind):
        return COMPARE if there.isdisjoint(most | _LIMITS) else ""
    if _compares(tokens):
        stems = set(map(stem, there))
        spoken_of = all(stem(word) in stems for word in content_words(question) if word not in _COMPARES)
        return "" if spoken_of or not there.isdisjoint(_COMPARES) else COMPARE
    if "how many" in " ".join(tokens) and not any(number(word)[0].isdigit() for word in there.difference(tokens)):
        return COUNT
    links = tokens.count("of") + tokens.count("for") + question.count("'s ") + question.count("’s ")
    return JOIN if links > 1 and any(there.isdisjoint(words(name)) for name in names(question)) else ""


def _tells_when(word: str) -> bool:
    """Of 600 sentences of SQuAD 2.0 and NQ that answer such a question, 9 have no such word; of others, a third."""
    return word in _TIMES or number(word)[:1].isdigit() or fold(word) in DAYS


def _offers(question: str) -> bool:
    """True if lines of it begin with the letters of choices."""
    begun = {line.lstrip(" (")[:1] for line in question.splitlines() if line.lstrip(" (")[1:2] in tuple(":.)")}
    return {"A", "B"} <= begun


def _compares(tokens: Sequence[str]) -> bool:
    paired = any(word in _COMPARATIVES and "or" in tokens[n:] for n, word in enumerate(tokens))
    between = any(word.startswith("difference") and "between" in tokens[n : n + 2] for n, word in enumerate(tokens))
    return paired or between or not _DIFFERENCE.isdisjoint(tokens)
