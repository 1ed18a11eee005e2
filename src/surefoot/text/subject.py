"""What a single-fact question, or a short query, asks about: a thing, something about it, and what it may be.

    What is Henry Feilden's occupation?  →  entity "Henry Feilden", relation "occupation", kinds "politician", …

The forms are those of PopQA's sixteen relations and the commonest beside them, in English. The one list of relations
is here; templates and encyclopedia searchers share it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from surefoot.text.words import bare, content_words, fold, names, words

_PERSON = (
    "politician actor actress singer musician footballer writer author artist painter composer poet journalist bishop "
    "historian scientist engineer businessman lawyer judge priest soldier diplomat director producer photographer"
)
_OTHERS = (
    "player coach economist mathematician philosopher physicist chemist botanist geologist officer model dancer "
    "teacher architect activist professor explorer missionary nobleman chef"
)
_ATHLETE = (
    "footballer|soccer|basketball|cricketer|baseball|ice hockey|rugby union|rugby league|American football|tennis|"
    "cyclist|swimmer|athlete|boxer|golfer|handball|volleyball|wrestler|runner|sprinter|skier|rower|judoka"
)
_SCREEN = "film|TV series|miniseries|TV film|series|play|episode|musical"
_BOOK = "novel|book|play|short story|poem|memoir|anthology|novella|comics|series|trilogy|short story collection"
_MUSIC = "song|album|opera|musical|film|EP|single|ballet|symphony|hymn|soundtrack|TV series"
_PLACE = (
    "village|town|city|river|mountain|station|railway station|lake|island|district|municipality|community|school|"
    "building|church|bridge|company|newspaper|magazine|band|football club"
)
_REGION = "province|state|district|canton|department|region|county|country|emirate|arrondissement|municipality|kingdom"


@dataclass(frozen=True, slots=True)
class Relation:
    """Something that can be asked of a thing."""

    words: tuple[str, ...]
    """What it is called in questions and queries."""
    kinds: tuple[str, ...]
    """What may have it, as encyclopedias put it in brackets behind a title; the commonest first."""
    cues: frozenset[str]
    """Folded words of which one stands in most paragraphs that tell it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question or a query asks about."""

    entity: str
    """The thing, as it was written, without quotation marks; empty only where there is no word at all."""
    relation: str = ""
    """What is asked of it, as it was written; empty: nothing particular."""
    kinds: tuple[str, ...] = ()
    """What the thing may be, likeliest first; empty: anything."""
    cues: frozenset[str] = frozenset()
    """Folded words that speak of the relation."""
    form: bool = True
    """Whether a form fits; without one the entity is the longest name, or else the content words."""


def _relation(called: str, kinds: str, cues: str = "") -> Relation:
    every = tuple(called.split("|"))
    return Relation(every, tuple(dict.fromkeys(kinds.split("|"))), frozenset(content_words(" ".join((*every, cues)))))


_PEOPLE = _PERSON.replace(" ", "|")
RELATIONS = (
    _relation("occupation|profession|job|career", _PEOPLE, f"{_PERSON} {_OTHERS} worked"),
    _relation("born|place of birth|date of birth|birthplace|birthday|birth", f"{_PEOPLE}|{_ATHLETE}", "native grew"),
    _relation("died|die|death|place of death|date of death|cause of death|buried|killed", _PEOPLE, "grave"),
    _relation(
        "father|mother|parents|parent|spouse|wife|husband|married|son|daughter|child|children|brother|sister|sibling",
        f"king|queen|prince|princess|duke|emperor|{_PEOPLE}",
        "family marry eldest younger",
    ),
    _relation(
        "religion|faith|denomination",
        f"bishop|priest|saint|pope|cardinal|{_PEOPLE}",
        "catholic church christian islam muslim jewish buddhist hindu lutheran anglican orthodox sikh bishop ordained",
    ),
    _relation("nationality|citizenship", _PEOPLE, "citizen"),
    _relation("sport|team|position|league", _ATHLETE, "football player plays played club championship cup olympics"),
    _relation(
        "genre|style",
        "band|album|song|film|novel|musician|singer|book|TV series|video game|EP|single|rapper|play|magazine",
        "rock pop metal jazz hip music novel fiction film comedy drama thriller game fantasy horror",
    ),
    _relation(
        "country|city|continent|located|location|situated|lie|state", _PLACE, "village town province county near"
    ),
    _relation("capital|capital city|seat|largest city", _REGION, "town administrative centre"),
    _relation("color|colour|colors|colours", "football club|school|team|bridge", "white black red blue green yellow"),
    _relation(
        "author|authors|wrote|writer|writers|written|novelist|poet|playwright", _BOOK, "novel book published story"
    ),
    _relation("director|directed|filmmaker", _SCREEN, "starring"),
    _relation("producer|produced|producers|record label|label", f"{_SCREEN}|album|song|single", "recorded released"),
    _relation("screenwriter|screenplay|script|scriptwriter", _SCREEN, "written wrote directed starring"),
    _relation("composer|composed|music|lyrics|lyricist|songwriter|singer|sang|sung", _MUSIC, "soundtrack score"),
    _relation("starring|cast|stars|starred|plays|played", _SCREEN, "role actor actress"),
    _relation("painted|painter|sculptor|sculpted|artist", "painting|sculpture|album|song|statue"),
    _relation("architect|designed|designer|built|builder", "building|church|bridge|house|ship", "construction"),
    _relation("founder|founded|founders|established|formed", "company|organization|band|newspaper|city", "created"),
    _relation("invented|inventor|discovered|discoverer|developer|developed|created|creator", "video game|software"),
    _relation(
        "published|publisher|released|release date|come out|aired|premiered|opened", f"{_BOOK}|{_SCREEN}|album|song"
    ),
    _relation("begin|began|start|started|end|ended|happen|happened|fought|held", "battle|war|event", "year"),
    _relation("population|area|height|elevation|length|depth|tall|high|long|deep|big|large|old|age", _PLACE, "people"),
    _relation(
        "president|mayor|prime minister|king|queen|leader|governor|head|ceo|chairman|owner|owned|manager|coach",
        "country|city|state|company|football club",
    ),
    _relation("currency|language|official language|official languages|languages|anthem|flag", "country|region", "used"),
)
KINDS = tuple(dict.fromkeys(kind for relation in RELATIONS for kind in relation.kinds))
"""All kinds of thing that any relation names."""

OPENING = 60
"""Words of a page that are read to see what it is."""
_BY_WORD = {word: relation for relation in reversed(RELATIONS) for word in relation.words}
_WORDS = "|".join(sorted(map(re.escape, _BY_WORD), key=len, reverse=True))
_R = f"(?-i:{_WORDS})"  # "Western Hockey League" ends in a name's word, not in a relation
_QUOTED = re.compile(r"[\"“”‘'](.*)[\"“”’']", re.DOTALL)
_BE = "(?:is|was|are|were)"
_ASKS = re.compile(
    r"(?:who|whom|whose|what|which|where|when|why|how|in|on|at|from|by|is|are|was|were|do|does|did|can|could|name|tell"
    r"|give|list(?! of)|describe|explain)\b",
    re.IGNORECASE,
)
_FORMS = [
    re.compile(form, re.IGNORECASE | re.DOTALL)
    for form in (
        rf"(?:what|which|who|where) {_BE} the (?:name of the )?(?P<r>{_R}) (?:of|for|in|behind) (?P<x>.+)",
        rf"(?:what|which|who|where) {_BE} (?P<x>.+?)['’]s? (?P<r>{_R})",
        rf"what {_BE} (?P<x>.+) the (?P<r>capital) (?:city )?of",
        r"(?:what|which)(?: kind of| type of)? (?P<r>genre|religion|sport|colou?r|style|faith|position|nationality) "
        r"(?:is|was|does|did|do|are) (?P<x>.+?)(?-i: (?:play|practi[sc]e|follow|belong to))?",
        r"(?:what|which) (?P<r>country|city|state|continent|team|league) (?:is|was|does|did) (?P<x>.+?) "
        r"(?:located in|situated in|in|from|on|play for|play in)",
        rf"(?:what|which) \w+ (?:is|was|were|did|does) (?P<x>.+?) (?P<r>{_R})(?: in| on)?",
        rf"(?:in|on|at|to|from) (?:what|which) \w+ (?:is|was|were|did|does) (?P<x>.+?) (?P<r>{_R})",
        r"(?:in|on|at|to|from) (?:what|which) (?P<r>\w+) (?:is|was|were|did|does) (?P<x>.+)",
        rf"(?:where|when|how) (?:is|was|were|did|does|do) (?P<x>.+?) (?P<r>{_R})",
        rf"how (?P<r>tall|old|high|long|deep|big|large) {_BE} (?P<x>.+)",
        rf"(?:who|which \w+|what \w+|by whom) (?:{_BE} )?(?P<r>{_R}) "
        r"(?:the (?:tune|music|lyrics|words|score|script|screenplay|text) (?:of|to|for) )?(?P<x>.+)",
        rf"by whom {_BE} (?P<x>.+?) (?P<r>{_R})",
        rf"who {_BE} (?P<x>.+?) (?P<r>{_R}) by",
        rf"(?:name|tell me|give|give me) the (?P<r>{_R}) (?:of|for) (?P<x>.+)",
        rf"(?:who|what|where|when) {_BE} (?P<x>.+)(?<! for)(?<! in)(?<! of)(?<! to)(?<! by)(?<! with)(?<! on)",
        r"tell me about (?P<x>.+)",
    )
]
_INTRODUCED = re.compile(r"(?:the|a|an) (?:(?:\d{4}|[a-z]+(?:ed|sh|an)) )?(?P<kind>[a-z]+) (?=[\"“'‘]?[^\W\d_a-z])")
_QUERIES = (re.compile(rf"(?P<x>.+?),? (?P<r>{_R})"), re.compile(rf"(?:the )?(?P<r>{_R}) of (?P<x>.+)"))


def subject_of(text: str) -> Subject:
    """What a question or query asks about; always something, if only its words. No model call."""
    said = " ".join(text.split())
    asks = said.rstrip("? ") if said.endswith("?") else said.rstrip(". ")  # "Oklahoma!" and "F.C." keep their marks
    if found := _by_form(asks):
        return found
    if said.endswith("?"):
        return _by_names(asks)
    return _query(said) or (_by_names(asks) if _ASKS.match(said) and not _titled(said) else Subject(_unquoted(said)))


def introduced(entity: str) -> tuple[str, str]:
    """The entity without a lower-case article, and the noun between the two: "the guide Anna Tresk" is a guide.

    A capital article belongs to the name, as in "The Hobbit".
    """
    entity = entity.strip()
    if match := _INTRODUCED.match(entity):
        return _unquoted(entity[match.end() :]), match["kind"]
    return _unquoted(re.sub(r"^(?:the|a|an)\s+", "", entity)), ""


def _by_form(question: str) -> Subject | None:
    for form in _FORMS:
        if match := form.fullmatch(question):
            entity, kind = introduced(match["x"])
            if entity:
                return _about(entity, match.groupdict().get("r") or "", kind)
    return None


def _about(entity: str, relation: str, kind: str = "") -> Subject:
    known = _BY_WORD.get(relation.casefold())
    kinds = ((kind,) if kind else ()) + (known.kinds if known else ())
    cues = known.cues if known else frozenset(content_words(relation) if relation else ())
    return Subject(entity, relation, tuple(dict.fromkeys(kinds)), cues)


def _by_names(question: str) -> Subject:
    found = names(question)
    entity = max(found, key=len) if found else " ".join(content_words(question)) or question.strip()
    return Subject(entity, cues=frozenset(content_words(question)) - set(content_words(entity)), form=False)


def _query(said: str) -> Subject | None:
    """A name with a lower-case relation beside it; "Father of the Bride" is a name, "father of Ada" is not."""
    for form in _QUERIES:
        match = form.fullmatch(said)
        if match and (match["x"] != match["x"].lower() or said == said.lower()):
            return _about(_unquoted(match["x"]), match["r"])
    return None


def _titled(said: str) -> bool:
    """Whether it is written as a title is: "When in Rome", "Who Framed Roger Rabbit"."""
    return all(word[0].isupper() or len(word) < 4 for word in said.split())


def _unquoted(text: str) -> str:
    match = _QUOTED.fullmatch(text.strip())
    return match[1].strip() if match else text.strip()


_SMALL = "a an the of by in on at to for from and or but nor as with into over de la le di du van von".split()
_GENERIC = re.compile(
    r"(?:(?:lists?|outline|index|timeline|glossary) of .*|\d{1,4}s?(?: (?:bc|ad))?|\d{4} in .*|.* \(disambiguation\)"
    r"|.* \((?:(?:sur|given |first |last |family )?name)\))",
    re.IGNORECASE | re.DOTALL,
)


def spellings(about: Subject) -> tuple[str, ...]:
    """Titles that the entity may have in an encyclopedia, as written first; people also without their middle names."""
    entity = about.entity
    more = [entity, _capitals(entity)]
    more += [re.sub(r",? (Jr|Sr)\b\.?$", r" \1.", one) for one in more]
    more += [one.replace("’", "'") for one in more]
    more += [one.replace(" & ", " and ") if " & " in one else one.replace(" and ", " & ") for one in more]
    more += [one[4:] if one[:4] in ("The ", "the ") else f"The {one}" for one in more[:2]]
    if "politician" in about.kinds and len(parts := entity.split()) > 2 and "," not in entity:
        more.append(f"{parts[0]} {parts[-1]}")
    return tuple(dict.fromkeys(more))


def bears(title: str, text: str, about: Subject) -> bool:
    """Whether a page's title, or title and text, hold the entity's name, or the title is part of it."""
    name, called = set(content_words(about.entity)), set(content_words(bare(title)))
    return name <= called | set(words(text)) | set(words(title)) or (len(called) > 1 and called < name)


def fit(title: str, text: str, about: Subject) -> int:
    """How well a page's title and opening suit what is asked, from 0: not at all; 1 where anything does."""
    if not about.kinds and not about.cues:
        return 1
    bracket = " ".join(words(title.removeprefix(bare(title))))
    opening = words(text)[:OPENING]
    told = f" {' '.join(opening)} "
    kinds = [" ".join(words(kind)) for kind in about.kinds]
    in_title = any(f" {kind} " in f" {bracket} " for kind in kinds)
    return 4 * in_title + 2 * any(f" {kind} " in told for kind in kinds) + (not about.cues.isdisjoint(opening))


def generic(title: str, about: Subject) -> bool:
    """Whether a page is about no one thing (a list, a year, a name), unless it is what was asked for."""
    return bool(_GENERIC.fullmatch(title)) and fold(title) != fold(about.entity)


def _capitals(entity: str) -> str:
    """As English titles are written: small words small, and in a text without capitals the others with one."""
    every = entity.split()
    first = [word if entity != entity.lower() else word[:1].upper() + word[1:] for word in every]
    return " ".join(word.lower() if place and word.lower() in _SMALL else word for place, word in enumerate(first))
