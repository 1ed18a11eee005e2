"""Questions that the opening of an encyclopedia's article answers, found by how such openings are worded.

    Landresse is a commune in the Doubs department in eastern France.  →  In what country is Landresse?  France

Labelled sets ask some relations often and others hardly ever, and what an evaluator was never asked it grades by the
likeness of words. These are the relations of PopQA and some beside them, each asked in several ways. What a wording
finds is the answer; that it is one was not judged by people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from surefoot.datasets.questions import hashed
from surefoot.text.words import bare, fold

_COUNTRIES = (
    "Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan|Bahrain|Bangladesh|"
    "Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia|Bosnia and Herzegovina|Botswana|Brazil|Brunei|Bulgaria|"
    "Burkina Faso|Burundi|Cambodia|Cameroon|Canada|Cape Verde|Central African Republic|Chad|Chile|China|Colombia|"
    "Congo|Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Czechia|Denmark|Djibouti|Dominican Republic|East Timor|"
    "Ecuador|Egypt|El Salvador|England|Equatorial Guinea|Eritrea|Estonia|Eswatini|Ethiopia|Fiji|Finland|France|Gabon|"
    "Gambia|Georgia|Germany|Ghana|Greece|Greenland|Grenada|Guatemala|Guinea|Guyana|Haiti|Honduras|Hungary|Iceland|"
    "India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Ivory Coast|Jamaica|Japan|Jordan|Kazakhstan|Kenya|Kosovo|Kuwait|"
    "Kyrgyzstan|Laos|Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg|Madagascar|Malawi|"
    "Malaysia|Maldives|Mali|Malta|Mauritania|Mauritius|Mexico|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|"
    "Myanmar|Namibia|Nepal|Netherlands|New Zealand|Nicaragua|Nigeria|Niger|North Korea|North Macedonia|"
    "Northern Ireland|Norway|Oman|Pakistan|Palestine|Panama|Papua New Guinea|Paraguay|Peru|Philippines|Poland|"
    "Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Saint Lucia|Samoa|San Marino|Saudi Arabia|Scotland|Senegal|"
    "Serbia|Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia|Solomon Islands|Somalia|South Africa|South Korea|"
    "South Sudan|Spain|Sri Lanka|Sudan|Suriname|Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Togo|"
    "Tonga|Trinidad and Tobago|Tunisia|Turkey|Turkmenistan|Uganda|Ukraine|United Arab Emirates|United Kingdom|"
    "United States|Uruguay|Uzbekistan|Vanuatu|Venezuela|Vietnam|Wales|Yemen|Zambia|Zimbabwe"
)
_PLACE = (
    "village|town|city|municipality|commune|river|stream|settlement|hamlet|district|mountain|hill|lake|township|suburb|"
    "neighbou?rhood|station|community|island|parish|locality|school|stadium|airport|university|college|church|bridge|"
    "museum|hospital|newspaper|company|football club|castle|building|park|valley|tributary|province|county|region"
)
_SPORT = (
    "footballer|football|soccer|basketball|cricketer|cricket|baseball|ice hockey|field hockey|rugby union|rugby league|"
    "tennis|cyclist|swimmer|boxer|golfer|handball|volleyball|wrestler|sprinter|rower|judoka|badminton|softball|"
    "water polo|chess|snooker|table tennis|curler|skier|gymnast|fencer"
)
_FAITH = (
    "Roman Catholic|Catholic|Lutheran|Anglican|Methodist|Presbyterian|Baptist|Episcopal|Protestant|Quaker|Mormon|"
    "Calvinist|Jesuit|Orthodox|Jewish|Muslim|Islamic|Sunni|Shia|Buddhist|Hindu|Sikh|Jain"
)
_WORK = "film|novel|album|song|book|series|play|opera|musical|single|EP|episode|game|anime|manga|magazine"
_W = r"(?:(?:[A-Z]\.)+|[A-Z][\w'’-]+)"
_NAME = rf"{_W}(?: (?:(?:de|da|di|du|van|von|der|den|la|le|of|the|bin|al|y) )*{_W}){{0,4}}"
_BY = rf"(?:(?:the )?(?:[A-Z][\w-]+,? )?(?:[a-z][\w-]+,? )+)?(?P<a>{_NAME})"
"""A person, behind what one is: "the American gospel singer CeCe Winans"."""
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} (?:{_MONTHS}) \d{{4}}|(?:{_MONTHS}) \d{{1,2}}, \d{{4}})"
_A = r"\b(?:is|was|are|were) (?:an?|the|one of the) "
MOST = 500
"""Questions of one wording: an encyclopedia tells when everyone was born."""
_OPENING = 600
"""Characters of an opening that are read."""

PERSON = re.compile(r"^[^.]{0,100}?\([^)]*(?:\bborn\b|\d{4})[^)]*\)|^[^.(]{0,60}\bwas born\b")
_MAKER = r"(?! (?:and|or|director|producer|maker|actor|actress|critic|editor|composer|writer|star|player|artist)\b)"
WORK = re.compile(rf"^.{{0,120}}?{_A}[^.]{{0,60}}?\b(?:{_WORK})\b{_MAKER}", re.DOTALL)
PLACE = re.compile(rf"^.{{0,160}}?{_A}[^.]{{0,80}}?\b(?:{_PLACE})\b", re.DOTALL)
"""How an article begins that is about a person, about a work, or about a place or an organisation."""


@dataclass(frozen=True, slots=True)
class OpeningForm:
    """How an opening tells something, and how one asks for it."""

    about: re.Pattern[str]
    """What the opening must be about."""
    told: re.Pattern[str]
    """Its group `a` is the answer."""
    asked: tuple[str, ...]
    """With {x} where the thing is named."""


def _wording(about: re.Pattern[str], told: str, *asked: str) -> OpeningForm:
    return OpeningForm(about, re.compile(told, re.DOTALL), asked)


WORDINGS = (
    _wording(
        PLACE,
        rf"^.{{0,160}}?{_A}[^.]{{0,80}}?\b(?:{_PLACE})\b[^.]{{0,150}}?\b(?P<a>{_COUNTRIES})\b",
        "In what country is {x}?",
        "What country is {x} in?",
        "Which country is {x} located in?",
        "Where is {x}?",
    ),
    _wording(
        PERSON,
        rf"^.{{0,200}}?{_A}[^.]{{0,60}}?\b(?P<a>{_SPORT})\b",
        "What sport does {x} play?",
        "Which sport did {x} play?",
        "What sport is {x} known for?",
    ),
    _wording(
        re.compile(rf"^.{{0,100}}?{_A}[^.]{{0,60}}?\b(?:team|club|league|season|tournament|championship|cup)\b", re.I),
        rf"^.{{0,100}}?{_A}[^.]{{0,60}}?\b(?P<a>{_SPORT})\b",
        "What sport does {x} play?",
        "What sport is {x} about?",
    ),
    _wording(
        PERSON,
        r"^[^.]{0,160}?\b(?:is|was) (?:an? |the )(?P<a>[a-zA-Z][^.;()]{4,60}?)"
        r"(?=[.;,(]| who\b| from\b| known\b| best\b| born\b| in\b| of\b| and the\b)",
        "What is {x}'s occupation?",
        "What was {x}'s occupation?",
        "What does {x} do for a living?",
        "What is {x}'s profession?",
    ),
    _wording(
        PERSON,
        rf"\b[Bb]orn (?:and raised )?(?:on {_DATE},? )?(?:in|at|near) (?P<a>(?!{_MONTHS}){_NAME}(?:, {_NAME})?)",
        "In what city was {x} born?",
        "Where was {x} born?",
        "What is {x}'s place of birth?",
        "What is {x}'s birthplace?",
    ),
    _wording(PERSON, rf"^[^.]{{0,80}}\([^)]*?(?P<a>{_DATE})", "When was {x} born?", "What is {x}'s date of birth?"),
    _wording(
        PERSON,
        rf"^[^.]{{0,80}}\([^)]*?{_DATE} ?[–-] ?(?P<a>{_DATE})\)",
        "When did {x} die?",
        "What is {x}'s date of death?",
    ),
    _wording(
        PERSON,
        rf"^.{{0,300}}?\b(?:son|daughter) of {_BY}",
        "Who is the father of {x}?",
        "Who are the parents of {x}?",
        "Whose child is {x}?",
    ),
    _wording(
        PERSON,
        rf"^[^.]{{0,160}}?{_A}[^.]{{0,60}}?\b(?P<a>{_FAITH})\b",
        "What is the religion of {x}?",
        "What religion does {x} follow?",
        "What is {x}'s faith?",
    ),
    _wording(
        WORK,
        rf"^.{{0,120}}?\b(?:is|was) an? (?:(?:\d{{4}}|{_NAME}) )*(?P<a>[a-z][a-z -]{{3,40}}?) (?:{_WORK})\b{_MAKER}",
        "What genre is {x}?",
        "What is the genre of {x}?",
        "What kind of work is {x}?",
    ),
    _wording(
        WORK,
        rf"\bdirected(?: and \w+)? by {_BY}",
        "Who was the director of {x}?",
        "Who directed {x}?",
        "Who is the director of {x}?",
    ),
    _wording(
        WORK,
        rf"\bproduced(?: and \w+)? by {_BY}",
        "Who was the producer of {x}?",
        "Who produced {x}?",
    ),
    _wording(
        WORK,
        rf"\b(?:screenplay by|written(?: and directed)? by) {_BY}",
        "Who was the screenwriter for {x}?",
        "Who wrote {x}?",
        "Who was {x} written by?",
    ),
    _wording(
        WORK,
        rf"{_A}[^.]{{0,60}}?\b(?:novel|book|play|story|poem|memoir|comic)s? (?:written )?by {_BY}",
        "Who is the author of {x}?",
        "Who wrote {x}?",
        "By whom was {x} written?",
    ),
    _wording(
        WORK,
        rf"\b(?:composed|music|score|scored) by {_BY}",
        "Who was the composer of {x}?",
        "Who composed {x}?",
        "Who wrote the music of {x}?",
    ),
    _wording(
        WORK,
        rf"{_A}[^.]{{0,60}}?\b(?:song|album|single|EP)s? (?:recorded |released )?by {_BY}",
        "Who recorded {x}?",
        "Who is the artist of {x}?",
        "Which artist released {x}?",
    ),
    _wording(WORK, rf"\b[Ss]tarring {_BY}", "Who starred in {x}?", "Who plays in {x}?"),
    _wording(
        WORK,
        rf"\b(?:released|published|premiered|aired)\b[^.]{{0,30}}? (?:in|on) (?P<a>{_DATE}|(?:(?:{_MONTHS}) )?\d{{4}})",
        "When was {x} released?",
        "When did {x} come out?",
    ),
    _wording(
        PLACE,
        rf"\b(?:capital|administrative cent(?:er|re)|county seat|seat)(?: city| town)? (?:is|was) "
        rf"(?:located in |in )?(?:the (?:city|town|village) of )?(?P<a>{_NAME})",
        "What is the capital of {x}?",
        "What is {x}'s capital?",
    ),
    _wording(
        PLACE,
        r"\b(?:founded|established|formed|created) (?:[a-z]+ ){0,2}in (?:[A-Z][a-z]+ )?(?P<a>\d{4})",
        "When was {x} founded?",
        "In what year was {x} founded?",
    ),
    _wording(
        PLACE,
        r"\bpopulation (?:of|was|is)(?: about| around| approximately)? (?P<a>\d(?:[\d,]*\d)?)",
        "What is the population of {x}?",
        "How many people live in {x}?",
    ),
)


def told(text: str) -> Iterator[tuple[OpeningForm, str]]:
    """What an opening tells, each with the words that say it; nothing of a text that opens no article."""
    opening = text[:_OPENING]
    holds = {about for about in {wording.about for wording in WORDINGS} if about.search(opening)}
    for wording in WORDINGS:
        if wording.about in holds and (match := wording.told.search(opening)):
            yield wording, match["a"].strip()


def questions(passages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Questions in the format of labelled data, each with the one passage that opens its article and answers it.

    Of each wording at most MOST, drawn by a hash, as is which way of asking is taken.
    """
    found: dict[OpeningForm, list[tuple[bytes, dict[str, Any]]]] = {wording: [] for wording in WORDINGS}
    for passage in passages:
        thing = bare(passage["title"])
        if thing and fold(thing.split()[-1]) in fold(passage["text"][: len(thing) + 40]):
            for wording, answer in told(passage["text"]):
                drawn = hashed(f"{passage['id']} {wording.asked[0]}")
                found[wording].append((drawn, _question(passage, thing, wording, answer, drawn[0])))
    return [row for rows in found.values() for _, row in sorted(rows, key=lambda pair: pair[0])[:MOST]]


def _question(passage: dict[str, Any], thing: str, wording: OpeningForm, answer: str, drawn: int) -> dict[str, Any]:
    asked = wording.asked[drawn % len(wording.asked)].format(x=thing)
    return {
        "id": f"{passage['id']}: {asked}",
        "question": asked,
        "answers": [answer],
        "prop": wording.asked[0],
        "s_wiki_title": passage["title"],
        "passages": [{**passage, "label": 1}],
    }
