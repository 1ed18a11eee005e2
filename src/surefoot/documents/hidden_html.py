"""Removes from a page the text that a browser would not show: by element, attribute, inline style or <style> rule."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import cssselect2
import tinycss2
from lxml import etree
from lxml.html import HtmlElement
from tinycss2.color4 import parse_color

from surefoot.documents.loaders import Unreadable

_NEVER = frozenset(
    "script style template noscript noembed noframes iframe object embed applet datalist select audio video canvas"
    " meter progress param source track base link meta rp annotation annotation-xml desc metadata defs symbol"
    " basefont bgsound portal fencedframe".split()
)
"""Elements whose text a browser with scripts does not show, or shows only as a choice."""
_KEPT = frozenset(
    "name class id role lang href src rel type itemprop itemtype itemscope colspan rowspan start datetime"
    " data-component aria-controls aria-expanded aria-labelledby data-toggle data-bs-toggle".split()
)
"""Attributes by which blocks, places and the main text are found; others may hold text that trafilatura would read."""
_CONSIDERED = frozenset(
    "display visibility opacity font-size color background background-color background-image color-scheme position"
    " left top text-indent margin-left width height max-height max-width overflow padding padding-left padding-bottom"
    " content-visibility text-shadow -webkit-text-stroke animation".split()
)
_PAINT = ("background", "color-scheme", "text-shadow", "-webkit-text-stroke")
"""Beginnings of the properties that may make light letters stand out."""
_ELSEWHERE = re.compile(r"print|speech|max-(?:width|height|device)|prefers-|orientation|hover|\bnot\b", re.IGNORECASE)
"""Media queries of rules for another screen than the wide one of a person who reads."""
_FAINTEST, _SMALLEST, _LIGHT, _FAR = 0.1, 4.0, 0.95, -900.0
"""Least opacity and size of letters in pixels at which text is seen; channels that are near white; pixels that nobody
scrolls to the left or up."""
_UNITS = {"px": 1.0, "%": 0.01, "pt": 4 / 3, "ex": 8.0, "vw": 12.8, "in": 96.0, "cm": 37.8, "mm": 3.78}
"""In pixels; any other is taken for an em."""
_NOT_XML = dict.fromkeys({*range(32), 0xFFFE, 0xFFFF} - {9, 10, 13})
"""Characters that references such as `&#27;` bring into a tree, and that lxml refuses to write."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\u00ad\u115f\u1160\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufffe\uffff"
    "\U000e0000-\U000e0fff]|(?<=[\u0000-\u024f])[\u200c\u200d]|[\u200c\u200d](?=[\u0000-\u024f])"
)
"""These, but for page breaks, and invisible ones. Joiners matter in Persian, in Indic scripts and between emoji."""


class _Style(NamedTuple):
    """The style that decides whether an element's text is seen; all but `gone` is inherited."""

    gone: bool = False
    visible: bool = True
    size: float = 16.0
    ink: tuple[float, ...] = (0, 0, 0, 1)
    """Red, green, blue and opacity of the letters."""
    painted: bool = False
    """A background was declared, so that light letters may stand on dark."""

    @property
    def readable(self) -> bool:
        blank = not self.painted and (self.ink[3] < _FAINTEST or min(self.ink) > _LIGHT)
        return self.visible and self.size >= _SMALLEST and not blank


_MODES = ("open", "closed")
_HIDDEN = _Style(gone=True, visible=False)


def prune(page: HtmlElement) -> None:
    """Remove from a page, in place, the text that a person who opens it on a wide screen does not see.

    A panel that a tab opens counts as seen. Not known are style sheets of other addresses, scripts, nested rules,
    variables, animations, transforms, boxes that overlap, and colours other than light letters where no background is
    declared. Text on a picture counts as seen.
    """
    matched = _matched(page)
    scripted = page.find(".//script") is not None
    linked = any(_is_sheet(link) and "data:" not in link.get("href", "").lower() for link in page.iter("link"))
    panels = set(tab_labels(page))
    waiting = [(page, _styled(page, matched.get(page, ()), _Style(painted=linked), scripted))]
    while waiting:
        element, style = waiting.pop()
        slots = _slots(element, style, scripted)
        words = style if slots is None else slots.get("", _HIDDEN)
        readable, in_head = words.readable or element.tag == "title", element.tag == "head"
        if (text := _seen(element.text, readable)) != element.text:
            element.text = text
        for child in [*element]:
            if (tail := _seen(child.tail, readable)) != child.tail:
                child.tail = tail
            outer = style if slots is None else slots.get(child.get("slot") or "", _HIDDEN)
            below = _styled(child, matched.get(child, ()), outer, scripted) if isinstance(child.tag, str) else None
            if below and child.get("id") in panels and child.tag not in ("nav", "dialog"):
                below = outer
            if below is None or style.gone or outer.gone or below.gone or in_head != (child.tag == "title"):
                _drop(child)
            else:
                waiting.append((child, below))
        for name, value in element.items():
            if name not in _KEPT:
                del element.attrib[name]
            elif not value.isprintable():
                element.set(name, value.translate(_NOT_XML))


def tab_labels(page: HtmlElement) -> dict[str, str]:
    """By the id of each panel that a tab, or a button that says whether it is open, opens, the words of these."""
    found, named = dict[str, str](), dict[str, str]()
    for tab in page.xpath("//*[@role='tab' or @aria-expanded or @data-toggle='tab' or @data-bs-toggle='tab']"):
        words = " ".join(tab.text_content().split())
        opened = tab.get("aria-controls") or tab.get("href", "").removeprefix("#")
        found[opened] = named[tab.get("id", "")] = words
    for panel in page.xpath("//*[@role='tabpanel'][@id][@aria-labelledby]"):
        found.setdefault(panel.get("id"), named.get(panel.get("aria-labelledby"), ""))
    return {id: words for id, words in found.items() if id and words}


def _matched(page: HtmlElement) -> dict[HtmlElement, list[Any]]:
    """By element, the matches of the rules that may decide whether it is seen."""
    matcher = cssselect2.Matcher()
    sheets = (sheet for sheet in page.iter("style", "link") if not _ELSEWHERE.search(sheet.get("media", "")))
    sheets = (sheet for sheet in sheets if next(sheet.iterancestors("template", "noscript"), page) is page)
    try:
        rules = [rule for sheet in sheets for rule in _rules(tinycss2.parse_stylesheet(_sheet(sheet)))]
        decides = [_add(matcher, rule) for rule in rules]
        wrapped = cssselect2.ElementWrapper.from_html_root(page).iter_subtree() if any(decides) else ()
        return {each.etree_element: matcher.match(each) for each in wrapped}
    except RecursionError as error:
        raise Unreadable("has style sheets nested too deeply to decide; save it again, or as .txt") from error


def _is_sheet(link: HtmlElement) -> bool:
    words = link.get("rel", "").lower().split()
    return "stylesheet" in words and "alternate" not in words and "disabled" not in link.attrib


def _sheet(element: HtmlElement) -> str:
    """The text of a style sheet; "": it is at another address, or the link leads to something else."""
    if element.tag == "style":
        return str(element.text_content())
    return _inlined(element.get("href", "")) if _is_sheet(element) else ""


def _inlined(address: str) -> str:
    """The text that a `data:` address holds; "": it is another address, or holds none."""
    scheme, _, rest = address.strip().partition(":")
    kind, comma, data = rest.partition(",")
    if scheme.lower() != "data" or not comma:
        return ""
    content = unquote_to_bytes("".join(data.partition("#")[0].split()) if "base64" in kind.lower() else data)
    with suppress(ValueError):
        content = b64decode(content + b"==") if "base64" in kind.lower() else content
    return content.decode(errors="replace")


def _slots(host: HtmlElement, style: _Style, scripted: bool) -> dict[str, _Style] | None:
    """By its name, the style in which an element's shadow root shows each slot: nothing else of the element is seen,
    and the root's own words are not read. None: it has no shadow root."""
    root = next((one for one in host.iterchildren("template") if one.get("shadowrootmode", "").lower() in _MODES), None)
    if root is None:
        return None
    found, matched, waiting = dict[str, _Style](), _matched(root), [(root, style)]
    while waiting:
        element, outer = waiting.pop()
        for child in element.iterchildren(etree.Element):
            below = _styled(child, matched.get(child, ()), outer, scripted)
            if child.tag == "slot":
                found.setdefault(child.get("name") or "", _HIDDEN if below.gone else below)
            if not below.gone:
                waiting.append((child, below))
    return found


def _rules(nodes: list[Any]) -> Iterator[Any]:
    for node in nodes:
        if node.type == "qualified-rule":
            yield node
        elif node.type == "at-rule" and node.lower_at_keyword == "import":
            tokens = [token for token in node.prelude if token.type not in ("whitespace", "comment")]
            first = tokens[0].arguments if tokens and tokens[0].type == "function" else tokens
            address = next((token.value for token in first if token.type in ("string", "url")), "")
            if not _ELSEWHERE.search(tinycss2.serialize(tokens[1:])):
                yield from _rules(tinycss2.parse_stylesheet(_inlined(address)))
        elif node.type != "at-rule" or not node.content or _ELSEWHERE.search(tinycss2.serialize(node.prelude)):
            continue
        elif node.lower_at_keyword in ("media", "supports", "layer"):
            yield from _rules(tinycss2.parse_rule_list(node.content))


def _add(matcher: cssselect2.Matcher, rule: Any) -> bool:
    """Add a rule if it may decide whether text is seen; whether it may."""
    declarations = _parsed(tinycss2.serialize(rule.content))
    with suppress(cssselect2.SelectorError):  # no browser reads it either
        for selector in cssselect2.compile_selector_list(rule.prelude) if declarations else ():
            if selector.pseudo_element is None:
                matcher.add_selector(selector, declarations)
    return bool(declarations)


@lru_cache(maxsize=4096)
def _parsed(style: str) -> tuple[tuple[bool, str, tuple[Any, ...]], ...]:
    """Importance, name and value of each declaration that is considered."""
    return tuple(
        (each.important, each.lower_name, tuple(t for t in each.value if t.type not in ("whitespace", "comment")))
        for each in tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)
        if each.type == "declaration" and each.lower_name in _CONSIDERED
    )


def _styled(element: HtmlElement, matched: Sequence[Any], outer: _Style, scripted: bool) -> _Style:
    """The style of an element: important declarations come last, its own after those of rules."""
    if element.tag in _NEVER:
        return outer._replace(gone=True)
    attributes = element.attrib
    hidden = "hidden" in attributes or "popover" in attributes or (element.tag == "dialog" and "open" not in attributes)
    every = [each for match in matched for each in match[3]]
    every += _parsed(f"color:{attributes['color']}") if "color" in attributes else ()
    every += _parsed("background:0") if "bgcolor" in attributes or "background" in attributes else ()
    every += _parsed(attributes["style"]) if "style" in attributes else ()
    if not every:
        return outer._replace(gone=hidden) if hidden else outer
    held = {name: value for _, name, value in sorted(every, key=itemgetter(0))}
    word = {name: getattr(value[0], "lower_value", "") for name, value in held.items() if value}
    pixels = {name: length for name, value in held.items() if value and (length := _pixels(value[0])) is not None}
    gone = word.get("display", "none" if hidden else "") == "none" or word.get("content-visibility") == "hidden"
    gone |= pixels.get("opacity", 1.0) < _FAINTEST and "animation" not in held
    far = ("text-indent", "margin-left", *(("left", "top") if word.get("position") in ("absolute", "fixed") else ()))
    boxes = ("width", "height", "max-width", "max-height") if word.get("overflow") == "hidden" else ()
    away = any(pixels.get(name, 0.0) <= _FAR for name in far) or any(pixels.get(name, 9.0) <= 1.0 for name in boxes)
    gone |= away and not any(value > 0 for name, value in pixels.items() if name.startswith("padding"))
    seen = word.get("visibility", "inherit")
    colour = parse_color(held["color"][0]) if held.get("color") else None
    style = _Style(
        gone,
        outer.visible if seen == "inherit" else seen not in ("hidden", "collapse"),
        pixels.get("font-size", outer.size),
        outer.ink if colour is None or isinstance(colour, str) else tuple(colour),
        outer.painted or any(name.startswith(_PAINT) for name in held),
    )
    # A script that hides the whole page shows it when done.
    return style._replace(gone=False, visible=True) if scripted and element.tag in ("html", "body") else style


def _pixels(token: Any) -> float | None:
    if token.type not in ("number", "dimension", "percentage"):
        return None
    unit = "%" if token.type == "percentage" else getattr(token, "lower_unit", "px")
    return float(token.value) * _UNITS.get(unit, 16.0)


def _drop(element: HtmlElement) -> None:
    """Remove an element without joining the words around it."""
    before = element.getprevious()
    text = element.getparent().text if before is None else before.tail
    if isinstance(element.tag, str) and (text or "")[-1:].isalnum() and (element.tail or "")[:1].isalnum():
        element.tail = f" {element.tail}"
    element.drop_tree()


def _seen(text: str | None, readable: bool) -> str | None:
    if not text or not readable:
        return text and " "
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", text.replace("\f", " "))
