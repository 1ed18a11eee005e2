"""Addresses in an answer: only those that a source was fetched from, or that the user's own documents hold."""

import re
from collections.abc import Set

from surefoot.types.protocols import Knowledge

_LINK = re.compile(
    r"""
      [a-z][a-z0-9+.-]{1,20}:[/\\]{2,}(?=[^\s/\\])[^\s<>"]+          # with its scheme
    | \b(?:https?|ftp|wss?):(?=[/\\]*\w[^\s/\\]{0,60}\.\w)[^\s<>"]+  # with fewer slashes, which browsers mend
    | (?<![\w:/\\])[/\\]{2,}(?=[^\s/\\])[^\s<>"]+                    # with the scheme of the page that it stands in
    | \bwww\.(?=[^\s/\\])[^\s<>"]+
    | (?<=\]\()\s*<?[^\s)>]+                                         # whatever a Markdown link or image leads to
    | !(?=\[[^\]]{0,500}\][(\[])                                     # of an image, which a chat client loads
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Text that a browser or a Markdown renderer may take for an address; not a bare domain."""
_AROUND = ".,;:!?*_'’”»)]}/"
"""Characters that may follow an address in running text, or end it, without changing it."""
NO_LINK = "(link removed)"
"""The stand-in for an address that is no source's."""
UNVISITED = frozenset({"snippet", "title", "infobox", "answer box", "knowledge graph"})
"""`Passage.via` of addresses that a search engine only named, and that nobody fetched."""


def addresses(knowledge: Knowledge) -> set[str]:
    """The addresses that an answer may name."""
    own = [p for _, p in knowledge if p.source == "corpus" and p.trust != "untrusted"]
    held = {
        match[0].strip().rstrip(_AROUND) or match[0] for p in own for match in _LINK.finditer(f"{p.title}\n{p.text}")
    }
    visited = {passage.file or passage.url or "" for _, passage in knowledge if passage.via not in UNVISITED}
    return held | {url.rstrip(_AROUND) for url in visited if url}


def linked(text: str, known: Set[str]) -> str:
    """The text with every address replaced that is none of the known ones, and links for images; what ends an address
    makes no other."""

    def checked(match: re.Match[str]) -> str:
        if match[0] == "!":
            return ""
        bare = match[0].lstrip().removeprefix("<")
        address = bare.rstrip(_AROUND)
        return match[0] if address in known else match[0].removesuffix(bare) + NO_LINK + bare[len(address) :]

    return _LINK.sub(checked, text)


def without_links(text: str) -> str:
    """The text without addresses and what stands for them."""
    return _LINK.sub("", text.replace(NO_LINK, ""))
