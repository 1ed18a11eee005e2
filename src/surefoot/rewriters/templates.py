"""The thing that a question asks about, found by the forms that single-fact questions take."""

from __future__ import annotations

import re
from collections.abc import Sequence

from surefoot.types import Passage
from surefoot.words import content_words, names

RELATIONS = (
    "occupation|profession|job|religion|nationality|citizenship|sport|genre|capital|birthplace|country|city|colou?r|"
    "father|mother|spouse|author|composer|director|producer|screenwriter|population|height|date of birth|birthday"
)
_TEMPLATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^what is (?P<x>.+?)['’]s? (?P<r>{RELATIONS})$",
        rf"^what is the (?P<r>{RELATIONS}) of (?P<x>.+)$",
        r"^what is (?P<x>.+) the (?P<r>capital) of$",
        r"^what (?P<r>genre|religion|sport|colou?r) (?:is|does|was|did) (?P<x>.+?)(?: play)?$",
        r"^in (?:what|which) (?P<r>\w+) (?:is|was|were|did|does) (?-i:the [a-z]+ (?=[A-Z]))?(?P<x>.+?)"
        r"(?: (?:born|die|died|located|built|founded|situated))?$",
        r"^where (?:is|was|did) (?P<x>.+?) (?P<r>born|die|died|located|built|founded|buried)$",
        r"^when (?:is|was|did) (?P<x>.+?) (?P<r>born|die|died|built|founded|opened|published|released|end|begin)$",
        rf"^who (?:was|is) the (?P<r>{RELATIONS}|writer|architect|founder) (?:of|for) (?P<x>.+)$",
        r"^(?:who|which \w+|what \w+) (?P<r>wrote|built|designed|founded|composed|directed|painted|invented|discovered)"
        r" (?:the (?:tune|music|lyrics|words|score|script|screenplay|text) (?:of|to|for) )?(?P<x>.+)$",
        r"^(?:who|what) (?:is|was|are|were) (?P<x>.+?)(?P<r>)$",
    )
]


class Templates:
    """The entity that is asked about, with the relation and alone: What is X's occupation? → X occupation; X.

    It is found by the forms above. Without a form that fits: the names in the question, then its content words. The
    reproduction of CRAG replaces the paper's keyword prompt with patterns like these (section 3.2); these patterns
    are our own. No model call.
    """

    def rewrite(self, question: str, seen: Sequence[Passage]) -> tuple[str, ...]:
        """Queries, best first: entity with relation, entity alone."""
        asked = " ".join(question.split()).rstrip("?!. ")
        for template in _TEMPLATES:
            if (match := template.match(asked)) and (entity := _bare(match["x"])):
                return tuple(dict.fromkeys((f"{entity} {match['r']}".strip(), entity)))
        found = names(question)
        keywords = " ".join(content_words(question)) or question.strip()
        return tuple(dict.fromkeys([*([" ".join(found)] if found else []), keywords]))


def _bare(entity: str) -> str:
    """Without quotation marks and a lower-case article; a capital one belongs to the name, as in "The Hobbit"."""
    return re.sub(r"^(?:the|a|an)\s+", "", entity.strip(" \"'“”"))
