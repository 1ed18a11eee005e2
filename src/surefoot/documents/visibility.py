"""Removes from a page all text that a browser would not show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lxml.html import HtmlElement
from tinycss2 import parse_component_value_list

from surefoot.documents.style import PROPERTIES, Style, styled
from surefoot.documents.stylesheet import ANIMATED, Declared, Node, Rule, Stylesheet, hold

_NEVER = frozenset(
    "script style template noscript noembed noframes iframe object embed applet datalist select audio video canvas"
    " meter progress param source track base link meta rp annotation annotation-xml desc metadata defs symbol"
    " basefont bgsound portal fencedframe".split()
)
"""Elements whose text a browser with scripts does not show, or shows only as a choice."""
_KEPT = (
    *"name class id role lang href src rel type itemprop itemtype itemscope colspan rowspan start datetime".split(),
    "data-component",
)
"""Attributes by which blocks, places and the main text are found; others may hold text that trafilatura would read."""
_LEGACY = {"font": {"color": "color"}, "body": {"text": "color"}}
_LEGACY |= {tag: {**_LEGACY.get(tag, {}), "bgcolor": "background-color"} for tag in "body table tr td th".split()}
_DEFAULTS = {
    "a": "color:#0000ee",
    "mark": "background-color:yellow;color:black",
    "button": "background-color:#efefef;color:black",
    "textarea": "background-color:white;color:black",
}
_STYLING = frozenset("style hidden popover open color bgcolor text href".split())
"""Attributes that an element's style depends on, apart from those that selectors look at."""
_LOWEST = (-1.0, 0, False, (0, 0, 0), 0)
_UNSEEN = re.compile(
    "[\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e0fff]"
    "|(?<=[\u0000-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\u0000-\u024f])"
)
"""Invisible characters. Joiners matter in Persian, in Indic scripts and between emoji."""
_NOT_XML = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff]")
_NOT_PLAIN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that references such as `&#27;` bring into a tree, and that lxml refuses to write."""


def prune(page: HtmlElement) -> None:
    """Remove from a page, in place, all that a person who opens it on a wide screen does not see.

    Linked style sheets and the effects of scripts are not known; text on a picture counts as seen. Raises Unreadable
    for a page whose own style sheets are too large to decide.
    """
    for verdict in list(_Reader(page).verdicts()):
        _apply(verdict)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What to remove of an element."""

    node: Node
    readable: bool
    """Whether its own text can be read."""
    gone: frozenset[HtmlElement]
    """Its children that are not shown."""


class _Reader:
    """Judges the elements of a page from the outside in."""

    def __init__(self, page: HtmlElement) -> None:
        self._page = page
        self._sheet = Stylesheet(PROPERTIES, sum(1 for _ in page.iter("*")))
        self._has_scripts = page.find(".//script") is not None
        self._styles: dict[tuple[Any, ...], tuple[Style, Style]] = {}
        """The style outside and that of an element, by all that decides it. Most elements of a page are alike."""
        self._readable: dict[int, bool] = {}
        """By the identity of a style, which `_styles` holds."""
        for element in page.iter("style"):
            if element.get("type", "").strip().lower() in ("", "text/css"):
                self._sheet.add(element.text_content(), element.get("media", ""))

    def verdicts(self) -> Iterator[_Verdict]:
        """One for each element that is shown. Changes nothing yet, since selectors look at the whole page."""
        waiting = [(root := Node(self._page, None, None), self._style(root, Style()))]
        while waiting:
            node, style = waiting.pop()
            shown, gone = [], []
            for child in node.children():
                seen = self._style(child, style)
                if style.gone or self._hides(child, seen):
                    gone.append(child.element)
                else:
                    shown.append((child, seen))
            yield _Verdict(node, self._is_readable(node, style), frozenset(gone))
            waiting += shown

    def _is_readable(self, node: Node, style: Style) -> bool:
        if id(style) not in self._readable:
            self._readable[id(style)] = style.readable and not style.gone
        return node.tag == "title" or self._readable[id(style)]

    def _hides(self, node: Node, style: Style) -> bool:
        is_title, is_in_head = node.tag == "title", node.parent is not None and node.parent.tag == "head"
        if is_title or is_in_head:
            return is_title != is_in_head
        return node.tag in _NEVER or style.gone

    def _style(self, node: Node, outer: Style) -> Style:
        rules = self._sheet.matching(node)
        own = [(name, name != "href" and value) for name, value in node.attributes.items() if name in _STYLING]
        key = (id(outer), node.tag, *map(id, rules), *own)
        if key not in self._styles:
            self._styles[key] = outer, self._styled(node, rules, outer)
        return self._styles[key][1]

    def _styled(self, node: Node, rules: Iterable[Rule], outer: Style) -> Style:
        declared = self._declared(node, rules)
        style = styled(node, declared, outer)
        if node.tag not in ("html", "body", "head"):
            return style
        if self._has_scripts:  # a script that hides the whole page shows it when done
            style = replace(style, gone=False, visible=True, opacity=1.0)
        is_dark = any(getattr(token, "value", "") == "dark" for token in declared.get("color-scheme", (0, ()))[1])
        if is_dark or (style.behind == outer.behind and not replace(style, size=16.0, visible=True).readable):
            return replace(style, behind=None)  # a linked sheet, which we do not have, makes it dark
        return style

    def _declared(self, node: Node, rules: Iterable[Rule]) -> Declared:
        declared = self._sheet.declared(rules, node.attributes.get("style", ""))
        for key, name in _LEGACY.get(node.tag, {}).items():
            if value := node.attributes.get(key):
                declared.setdefault(name, (_LOWEST, parse_component_value_list(_legacy(value))))
        if node.tag in _DEFAULTS and (node.tag != "a" or "href" in node.attributes):
            for name, tokens, _ in self._sheet.declarations(_DEFAULTS[node.tag]):
                declared.setdefault(name, (_LOWEST, tokens))
        if self._sheet.keyframes:
            self._animate(declared)
        return declared

    def _animate(self, declared: Declared) -> None:
        """Apply the last frame of an animation that keeps it."""
        names = [name for name in declared if "animation" in name]
        words = [token.value for name in names for token in declared[name][1] if token.type in ("ident", "string")]
        if {"forwards", "both"}.isdisjoint(words):
            return
        for word in words:
            for name, value, _ in self._sheet.keyframes.get(word, ()):
                hold(declared, name, value, (ANIMATED, 0, False, (0, 0, 0), 0))


def _legacy(colour: str) -> str:
    """The value of a `color` or `bgcolor` attribute, which may lack its "#"."""
    said = colour.strip()
    return f"#{said}" if re.fullmatch("[0-9a-fA-F]{6}", said) else said


def _apply(verdict: _Verdict) -> None:
    """Remove what is not shown, and join the text around it without joining two words."""
    element, anchor = verdict.node.element, None
    pieces = [element.text] if element.text else []
    for child in list(element):
        if isinstance(child.tag, str) and child not in verdict.gone:
            _say(element, anchor, pieces, verdict.readable)
            anchor, pieces = child, [child.tail] if child.tail else []
            continue
        if child in verdict.gone and pieces and pieces[-1][-1:].isalnum() and (child.tail or "")[:1].isalnum():
            pieces.append(" ")
        pieces += [child.tail] if child.tail else []
        element.remove(child)
    _say(element, anchor, pieces, verdict.readable)
    attributes = verdict.node.attributes
    kept = {name: _writable(attributes[name]) for name in _KEPT if name in attributes} if attributes else {}
    if kept != attributes:
        element.attrib.clear()
        element.attrib.update(kept)


def _say(element: HtmlElement, after: HtmlElement | None, pieces: list[str], is_readable: bool) -> None:
    was = (element.text if after is None else after.tail) or ""
    said = "".join(pieces) if is_readable or not pieces else " "
    if not said.isascii() or _NOT_PLAIN.search(said):
        said = _UNSEEN.sub("", _writable(said))
    if said == was:
        return
    if after is None:
        element.text = said
    else:
        after.tail = said


def _writable(text: str) -> str:
    return _NOT_XML.sub("", text.replace("\f", " ")) if _NOT_PLAIN.search(text) else text
