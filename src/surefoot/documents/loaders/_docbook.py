"""DocBook on its way into pandoc, which leaves out captions, keys of menus, leads of lists, and who wrote a chapter."""

import re
from collections.abc import Callable
from html.entities import entitydefs, html5

from lxml.etree import QName, XMLParser, XMLSyntaxError, _Element, fromstring, tostring

_DECLARED = re.compile(r"<!ENTITY\s+([\w.-]{1,100})\s+[\"']([^\"'&%<>]{0,200})[\"']")
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([\w.-]{1,100});(?=(&?))")
_SIGNS = {
    name[:-1]: sign
    for name, sign in html5.items()
    if name.endswith(";") and (" " < sign < "\u2200" or name[:-1] in entitydefs)
}
"""By the names of entities; without those of mathematics, whose names manuals give to words: &eg;, &Tab;, &Del;."""
_ITEMS = frozenset("listitem varlistentry step stepalternatives callout".split())
_PICTURES = frozenset("mediaobject screenshot figure informalfigure".split())
_CREDITS = frozenset("author corpauthor editor othercredit copyright date pubdate releaseinfo".split())


def docbook(text: str) -> str:
    """The text with a name for each entity that another file declares, and with what pandoc would leave out written so
    that it is read; where it is not well-formed, with the names only: pandoc then says so."""
    entities = _SIGNS | dict(_DECLARED.findall(text))

    def written(found: re.Match[str]) -> str:
        return entities.get(found[1]) or f"{found[1]} "[: len(found[1] + found[2])]  # the names of two keys stay apart

    text = _NAMED.sub(written, text)
    parser = XMLParser(encoding="utf-8", huge_tree=True, resolve_entities=False)
    try:
        root = fromstring(text.encode("utf-8", "replace"), parser)
    except XMLSyntaxError:
        return text
    for element in [*root.iterdescendants("{*}*")]:
        name = _name(element)
        if change := _credits if name.endswith("info") else _CHANGES.get(name):
            change(element)
    return str(tostring(root, encoding="unicode"))


def _name(element: _Element | None) -> str:
    return "" if element is None else str(QName(element).localname)


def _beside(element: _Element, name: str) -> str:
    """The name in the namespace of the element."""
    return str(QName(QName(element).namespace, name))


def _follow(element: _Element, following: _Element) -> None:
    following.tail, element.tail = element.tail, None
    element.addnext(following)


def _credits(element: _Element) -> None:
    """Its people, dates and releases as a paragraph below the heading."""
    parts = [each for each in element.xpath("* | *[local-name()='authorgroup']/*") if _name(each) in _CREDITS]
    line = ", ".join(filter(None, (" ".join(" ".join(each.itertext()).split()) for each in parts)))
    above = element.getparent()
    if not line or above is None:
        return
    for each in parts:
        each.getparent().remove(each)
    paragraph = element.makeelement(_beside(element, "para"))
    paragraph.text = line
    title = above.find("{*}title")
    _follow(element if title is None else title, paragraph)


def _caption(element: _Element) -> None:
    """Behind its picture."""
    pictures = [above for above in element.iterancestors() if _name(above) in _PICTURES]
    if _name(element.getparent()) == "mediaobject" and pictures[-1].getparent() is not None:
        blocks = [*element.iterchildren("{*}*")]
        element.tag = _beside(element, "para")
        for block in reversed(blocks or [element]):
            _follow(pictures[-1], block)


def _shortcut(element: _Element) -> None:
    """In parentheses behind the item of a menu, as it is printed."""
    menu = element.getparent()
    if _name(menu) == "menuchoice" and menu.getparent() is not None:
        keys = "+".join(filter(None, map(str.strip, element.itertext())))
        element.clear()
        element.tag, element.text = _beside(element, "phrase"), f" ({keys})"
        _follow(menu, element)


def _synopsis(element: _Element) -> None:
    """A command and its arguments on one line."""
    for part in element.iter(_beside(element, "command"), _beside(element, "arg")):
        part.text = f" {part.text or ''}"
    line = " ".join("".join(element.itertext()).split())
    element.clear(keep_tail=True)
    element.tag = _beside(element, "command" if _name(element.getparent()) == "term" else "para")
    element.text = line


def _list(element: _Element) -> None:
    """With what stands above its first item, as a paragraph with a title."""
    children = [*element.iterchildren("{*}*")]
    first = next((at for at, child in enumerate(children) if _name(child) in _ITEMS), 0)
    if first:
        formal = element.makeelement(_beside(element, "formalpara"))
        element.addprevious(formal)
        formal.tail, element.tail = element.tail, None
        formal.extend((*children[:first], element))


def _step(element: _Element) -> None:
    """With its title."""
    if element.find("{*}title") is not None:
        formal = element.makeelement(_beside(element, "formalpara"))
        formal.extend([*element])
        element.append(formal)


_CHANGES: dict[str, Callable[[_Element], None]] = {
    **dict.fromkeys("itemizedlist orderedlist variablelist procedure calloutlist".split(), _list),
    "indexterm": lambda element: element.clear(keep_tail=True),
    "step": _step,
    "caption": _caption,
    "shortcut": _shortcut,
    "cmdsynopsis": _synopsis,
}
