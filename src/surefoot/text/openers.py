"""Sentences around an answer that claim nothing: openers, and offers of more help."""

from __future__ import annotations

import re

_LONGEST = 200
"""Characters; a longer sentence says something."""
_OPENS = re.compile(
    r"""
    (?:(?:sure|certainly|of\ course|absolutely|okay|ok|hello|hi|yes,\ of\ course
      |(?:i(?:['’]d|\ would)\ be\ )?happy\ to\ help
      |(?:that['’]s\ an?\ |what\ an?\ )?(?:great|good|interesting|excellent)\ question
      |thank\ you\ for\ [^,.!:]{1,40})
      (?:\ thing|\ there)?[\s,.!–—-]*)?
    (?:
      (?:(?:based\ on|according\ to|from|using)\ [^,.!:]{1,60},\ )?
      (?:here(?:['’]s|\ is|\ are)|below\ (?:is|are)|the\ following\ (?:is|are)
        |(?:i|let\ me)(?:['’]ll|\ will|\ can)?\ (?:try\ to\ )?(?:help|explain|answer))\b
      (?!\ [^.!:]*\b\d)[^.!:]{0,110}?
      \b(?:answers?|steps?|summary|summaries|lists?|overview|information|explanations?|guide|response|instructions?
        |ways?|tips|points|details|breakdown|question|you|help|explain|that|this|found)\b[^.!:\d]{0,60}
    )?
    [\s.!:]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OFFERS = re.compile(
    r"""
      (?:please\s+)?(?:let\ me\ know\b|feel\ free\ to\ (?:ask|reach|let|contact)\b|don['’]t\ hesitate\ to\b).*
    | (?:i\s+)?hope\ (?:this|that|it)\ (?:helps?|answers|is\ helpful|was\ helpful|clarifies).*
    | if\ you\ (?:have|need|want|would\ like)\ (?:any\ )?(?:more|other|further|additional)
      \ (?:questions|information|help|details|assistance)\b[^.!]*\b(?:ask|let\ me\ know|hesitate|contact\ me|here)\b.*
    | (?:is\ there\ anything\ else|would\ you\ like\ (?:me|to\ know)|do\ you\ (?:want|need)\ (?:me|any|more)
      |can\ i\ help\ you)\b.*\?
    | (?:i(?:['’]m|\ am)\ )?(?:glad|happy)\ to\ help\b.*
    | (?:you(?:['’]re|\ are)\ welcome|good\ luck|enjoy|thank\ you|thanks)\b[^.!]{0,30}[.!]*
    """,
    re.IGNORECASE | re.VERBOSE,
)


def claiming(sentence: str) -> str:
    """The sentence without what claims nothing: empty for an opener ("Sure, here are the steps:") or an offer ("Let me
    know if …"), and what follows the colon of an opener that goes on.

    By the commonest English phrases. A sentence that says something besides, or holds a number, is no opener. Judges of
    faithfulness with and without them, by AUC: QAGS 0.803 and 0.800, BEGIN 0.936 and 0.945.
    """
    opener, colon, rest = sentence.partition(":")
    if colon and rest.strip("*_ ") and _silent(f"{opener}:"):
        return rest.strip()
    return "" if _silent(sentence) else sentence


def _silent(sentence: str) -> bool:
    bare = " ".join(sentence.split()).strip("*_# ")
    return bool(bare) and len(bare) <= _LONGEST and bool(_OPENS.fullmatch(bare) or _OFFERS.fullmatch(bare))
