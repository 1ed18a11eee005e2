"""Applies the style sheets inside a page to its elements, in a bounded number of steps."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from operator import ge, gt, le, lt
from typing import Any

import tinycss2
from cssselect2 import SelectorError
from cssselect2 import parser as selectors
from lxml.html import HtmlElement
from tinycss2.ast import FunctionBlock, LiteralToken, WhitespaceToken
from tinycss2.nth import parse_nth

from surefoot.documents.loaders import Unreadable

LONGEST = 2_000_000
"""Characters of style sheets in a page; tinycss2 reads a quarter of a million a second where rules are short."""
LONGEST_KEPT = 50_000
"""Characters of a sheet that is parsed once for all pages that have it, as those of a manual do."""
MOST_PARTS, DEEPEST = 150, 20
"""Parts of a selector, with those that it is nested in, and depth of brackets: both are followed by recursion."""
STEPS, STEPS_AN_ELEMENT = 1_000_000, 20
"""Comparisons of an element with a part of a selector that a page may take."""

Tokens = Sequence[Any]
"""Component values of tinycss2."""
Priority = tuple[float, int, bool, tuple[int, int, int], int]
"""Importance, layer, whether from the `style` attribute, specificity, place: the greatest wins."""
Declared = dict[str, tuple[Priority, Tokens]]
"""Property to the value that wins."""

NORMAL, ANIMATED, IMPORTANT = 0.0, 0.5, 1.0

_TOO_MUCH = "has style sheets too large to tell what a reader of it sees; save its text as .txt"
_SCREEN = {"width": 1280.0, "device-width": 1280.0, "height": 800.0, "device-height": 800.0, "resolution": 1.0}
_SCREEN |= {"aspect-ratio": 1.6, "device-aspect-ratio": 1.6, "color": 8.0, "color-index": 0.0, "monochrome": 0.0}
_HABITS = {"orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine"}
_HABITS |= {"prefers-color-scheme": "light", "update": "fast", "scripting": "enabled", "display-mode": "browser"}
_UNITS = {"": 1.0, "px": 1.0, "em": 16.0, "rem": 16.0, "pt": 4 / 3, "cm": 96 / 2.54, "in": 96.0, "dppx": 1.0, "x": 1.0}
_UNITS |= {"dpi": 1 / 96, "vw": 12.8, "vh": 8.0}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "min-": ge, "max-": le}
_NUMBER = r"[+-]?[\d.]+[a-z]*(?:\s*/\s*[\d.]+)?"
_RANGE = re.compile(rf"(?:({_NUMBER})\s*([<>]=?)\s*)?([a-z-]+)(?:\s*([<>]=?)\s*({_NUMBER}))?")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMMA, _PARENT = ",", "&"
_KINDS = ("-child", "-of-type")
_COMPARED: Mapping[str | None, Callable[[str, str], bool]] = {
    None: lambda value, said: True,
    "=": str.__eq__,
    "~=": lambda value, said: said in value.split(),
    "|=": lambda value, said: f"{value}-".startswith(f"{said}-"),
    "^=": str.startswith,
    "$=": str.endswith,
    "*=": str.__contains__,
}
"""Tests of an attribute's value against a selector's, by operator."""
_TRANSPARENT = frozenset({"media", "supports", "layer", "container", "scope", "document"})


class Node:
    """An element, with the facts that selectors need again and again."""

    __slots__ = ("attributes", "classes", "element", "index", "numbered", "parent", "previous", "tag")

    def __init__(self, element: HtmlElement, parent: Node | None, previous: Node | None) -> None:
        self.element, self.parent, self.previous = element, parent, previous
        self.index: int = previous.index + 1 if previous else 0
        self.tag: str = element.tag.lower()
        self.attributes: dict[str, str] = dict(element.attrib.items())  # a mapping is copied in quadratic time
        self.classes = frozenset(self.attributes.get("class", "").split())
        self.numbered: tuple[list[int], Counter[str]] | None = None
        """Each child's place among those of its tag, and the count of each tag; None: not counted yet."""

    def children(self) -> Iterator[Node]:
        """Its child elements, in order, each linked to the one before."""
        return _row(self.element.iterchildren("*"), self, None)

    def following(self) -> Iterator[Node]:
        """Its later siblings, in order."""
        return _row(self.element.itersiblings("*"), self.parent, self)


def _row(elements: Iterable[HtmlElement], parent: Node | None, previous: Node | None) -> Iterator[Node]:
    for element in elements:
        previous = Node(element, parent, previous)
        yield previous


@dataclass(frozen=True, slots=True)
class Rule:
    """A selector, and what is declared for the elements that it matches."""

    selector: Any
    priority: tuple[int, tuple[int, int, int], int]
    """Layer, specificity, place."""
    declarations: Sequence[tuple[str, Tokens, bool]]


class Stylesheet:
    """All style sheets of a page together, for the `wanted` properties, as a browser on a wide screen applies them.

    Leaves out rules for print, for other screens, or for a hovering pointer. Does not fetch linked sheets. Raises
    Unreadable where the sheets are larger, or take more steps to match, than those of ordinary pages.
    """

    # Selectors are matched here and not by cssselect2, which compiles a stranger's selector to Python and runs it in
    # any number of steps.

    def __init__(self, wanted: Collection[str], elements: int) -> None:
        self.keyframes: dict[str, list[tuple[str, Tokens, bool]]] = {}
        """Name of an animation to the declarations of its last frame."""
        self._wanted_names = wanted
        self._left = STEPS + STEPS_AN_ELEMENT * elements
        self._rules: dict[str, list[Rule]] = defaultdict(list)
        self._followed: dict[tuple[int, Node | None], tuple[int, int | None]] = {}
        """By selector and parent: how many children have been tried, and the first that matches."""
        self._characters = 0
        self._places = count()

    def _spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise Unreadable(_TOO_MUCH)

    def add(self, css: str, media: str = "") -> None:
        """Add the rules of a sheet behind those added before."""
        if media.strip() and not holds(_shallow(tinycss2.parse_component_value_list(media))):
            return
        self._characters += len(css)
        if self._characters > LONGEST:
            raise Unreadable(_TOO_MUCH)
        self._read((_kept if len(css) <= LONGEST_KEPT else _parsed)(css), (), 0, 0)

    def matching(self, node: Node) -> tuple[Rule, ...]:
        """The rules that hold for an element."""
        if not self._rules:
            return ()
        return tuple(rule for rule in self._candidates(node) if self._matches(rule.selector, node))

    def declared(self, rules: Iterable[Rule], style: str) -> Declared:
        """The declarations of rules, and of an element's own `style` attribute."""
        held: Declared = {}
        for rule in rules:
            layer, specificity, place = rule.priority
            for name, value, important in rule.declarations:
                origin = (IMPORTANT, -layer, False) if important else (NORMAL, layer, False)
                hold(held, name, value, (*origin, specificity, place))
        for place, (name, value, important) in enumerate(self.declarations(style)):
            hold(held, name, value, (IMPORTANT if important else NORMAL, 1, True, (0, 0, 0), place))
        return held

    def declarations(self, style: str) -> list[tuple[str, Tokens, bool]]:
        """The wanted declarations of a `style` attribute, in order: name, value, whether it is important."""
        return self._wanted(tinycss2.parse_blocks_contents(style)) if style.strip() else []

    def _wanted(self, content: Iterable[Any]) -> list[tuple[str, Tokens, bool]]:
        return [
            (said.name if said.name.startswith("--") else said.lower_name, said.value, said.important)
            for said in content
            if said.type == "declaration" and (said.lower_name in self._wanted_names or said.name.startswith("--"))
        ]

    def _read(self, rules: Iterable[Any], within: Tokens, size: int, layer: int, depth: int = 0) -> None:
        """Add rules and those nested in them; "&" stands for `within`, of `size` tokens."""
        self._spend(depth)
        for rule in rules:
            self._spend()
            if rule.type == "qualified-rule":
                prelude, length = _nested(rule.prelude, within, size)
                if length > MOST_PARTS or depth > DEEPEST:
                    raise Unreadable(_TOO_MUCH)
                content = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
                self._keep(prelude, self._wanted(content), layer)
                inner = [part for part in content if part.type in ("qualified-rule", "at-rule")]
                self._read(inner, prelude, length, layer, depth + 1)
            elif rule.type == "at-rule" and rule.content is not None and depth <= DEEPEST:
                self._at(rule, within, size, layer, depth)

    def _at(self, rule: Any, within: Tokens, size: int, layer: int, depth: int) -> None:
        name, prelude = rule.lower_at_keyword, _shallow(rule.prelude)
        if name.endswith("keyframes"):
            self._animate(rule)
        elif name in _TRANSPARENT and _applies(name, prelude):
            content = tinycss2.parse_blocks_contents(rule.content, skip_comments=True, skip_whitespace=True)
            if within:
                self._keep(within, self._wanted(content), layer)
            self._read(content, within, size, -1 if name == "layer" else layer, depth + 1)

    def _animate(self, rule: Any) -> None:
        """Keep the declarations of the last frame."""
        name = tinycss2.serialize(rule.prelude).strip().strip("\"'")
        for frame in tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True):
            if frame.type == "qualified-rule":
                at = tinycss2.serialize(_shallow(frame.prelude)).lower()
                if "to" in at.replace(",", " ").split() or "100%" in at:
                    self.keyframes[name] = self._wanted(tinycss2.parse_blocks_contents(frame.content))

    def _keep(self, prelude: Tokens, declarations: list[tuple[str, Tokens, bool]], layer: int) -> None:
        if not declarations:
            return
        try:
            parsed = list(selectors.parse(prelude))
        except (SelectorError, AttributeError):  # AttributeError: cssselect2, on a selector that ends in "|"
            return  # as a browser does, which drops the whole rule
        for selector in parsed:
            if selector.pseudo_element is None:
                rule = Rule(selector.parsed_tree, (layer, selector.specificity, next(self._places)), declarations)
                self._rules[_key(selector.parsed_tree)].append(rule)

    def _candidates(self, node: Node) -> Iterator[Rule]:
        keys = (f"#{node.attributes.get('id', '')}", *(f".{name}" for name in node.classes), node.tag, "*")
        for key in keys:
            yield from self._rules.get(key, ())

    def _matches(self, selector: Any, node: Node) -> bool:
        self._spend()
        match selector:
            case selectors.CompoundSelector():
                return all(self._holds(simple, node) for simple in selector.simple_selectors)
            case selectors.CombinedSelector(combinator="~"):
                return self._matches(selector.right, node) and self._follows(selector.left, node)
            case selectors.CombinedSelector():
                return self._matches(selector.right, node) and any(
                    self._matches(selector.left, other) for other in _along(selector.combinator, node)
                )
        return False

    def _follows(self, left: Any, node: Node) -> bool:
        """Whether an earlier sibling matches; none is tried twice."""
        looked, first = self._followed.get((id(left), node.parent), (0, None))
        other = node.previous
        while other is not None and other.index >= looked and (first is None or first >= looked):
            first = other.index if self._matches(left, other) else first
            other = other.previous
        self._followed[id(left), node.parent] = (max(looked, node.index), first)
        return first is not None and first < node.index

    def _holds(self, simple: Any, node: Node) -> bool:
        match simple:
            case selectors.LocalNameSelector():
                return bool(simple.lower_local_name == node.tag)
            case selectors.IDSelector():
                return bool(simple.ident == node.attributes.get("id"))
            case selectors.ClassSelector():
                return bool(simple.class_name in node.classes)
            case selectors.AttributeSelector():
                value = node.attributes.get(simple.lower_name)
                self._spend(len(value or "") // 100)
                return value is not None and _compares(simple, value)
            case selectors.NegationSelector():
                return not self._any(simple, node)
            case selectors.MatchesAnySelector() | selectors.SpecificityAdjustmentSelector():
                return self._any(simple, node)
            case selectors.RelationalSelector():
                return any(self._has(relative, node) for relative in simple.selector_list)
            case selectors.PseudoClassSelector():
                return self._is(simple.name, node)
            case selectors.FunctionalPseudoClassSelector():
                return self._counts(simple, node)
        return isinstance(simple, selectors.NamespaceSelector)

    def _any(self, simple: Any, node: Node) -> bool:
        return any(self._matches(selector.parsed_tree, node) for selector in simple.selector_list)

    def _has(self, relative: Any, node: Node) -> bool:
        """Whether a descendant, or a later sibling, matches; elements around it are not tried."""
        found: Iterable[Node]
        if relative.combinator in "+~":
            found = islice(node.following(), 1 if relative.combinator == "+" else None)
        else:
            found = node.children() if relative.combinator == ">" else self._below(node)
        return any(self._matches(relative.selector.parsed_tree, other) for other in found)

    def _below(self, node: Node) -> Iterator[Node]:
        waiting = [node.children()]
        while waiting:
            if (child := next(waiting[-1], None)) is None:
                waiting.pop()
            else:
                self._spend(5)
                yield child
                waiting.append(child.children())

    def _is(self, name: str, node: Node) -> bool:
        if name.endswith(_KINDS):
            which, _, kind = name.partition("-")
            ends = ("first", "last") if which == "only" else (which,)
            return all(self._place(f"{end}-{kind}", node) == 1 for end in ends)
        match name:
            case "root" | "scope":
                return node.parent is None
            case "empty":
                return not len(node.element) and not node.element.text
            case "link" | "any-link":
                return node.tag in ("a", "area") and "href" in node.attributes
            case "checked":
                return "checked" in node.attributes or "selected" in node.attributes
            case "disabled":
                return "disabled" in node.attributes
            case "enabled":
                return node.tag in ("button", "input", "select", "textarea") and "disabled" not in node.attributes
        return name == "defined"  # and not :hover, :target and the like: nobody points at anything

    def _counts(self, simple: Any, node: Node) -> bool:
        """:nth-child() and its kin; others, such as :lang(), never match."""
        if not simple.name.endswith(_KINDS) or not (series := parse_nth(simple.arguments)):
            return False
        place = self._place(simple.name, node)
        step, first = series
        return bool(place == first if step == 0 else (place - first) % step == 0 and (place - first) // step >= 0)

    def _place(self, name: str, node: Node) -> int:
        """Its place, from 1, among all siblings or those of its tag, from either end, as the pseudo-class says."""
        if node.parent is None:
            return 1
        places, tags = self._numbered(node.parent)
        place, all_of_them = node.index + 1, len(places)
        if name.endswith("-of-type"):
            place, all_of_them = places[node.index], tags[node.element.tag]
        return all_of_them - place + 1 if "last-" in name else place

    def _numbered(self, parent: Node) -> tuple[list[int], Counter[str]]:
        if parent.numbered is None:
            self._spend(len(parent.element) // 10)
            places, tags = [], Counter[str]()
            for element in parent.element.iterchildren("*"):
                tags[element.tag] += 1
                places.append(tags[element.tag])
            parent.numbered = places, tags
        return parent.numbered


def _parsed(css: str) -> list[Any]:
    rules: list[Any] = tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    return rules


_kept = lru_cache(maxsize=4)(_parsed)


def holds(query: Tokens) -> bool:
    """Whether a list of media queries matches a colour screen of 1280 × 800 with a mouse."""
    return any(map(_query, parted(query)))


def _query(tokens: Tokens) -> bool:
    terms, words = [], []
    for token in tokens:
        if token.type == "ident":
            words.append(token.lower_value)
            if token.lower_value not in ("and", "or", "not", "only"):
                terms.append(token.lower_value in ("all", "screen"))
        elif token.type == "() block":
            inner = any(part.type in ("() block", "function") for part in token.content)
            terms.append(
                _query(token.content) if inner else _feature(tinycss2.serialize(token.content).strip().lower())
            )
    held = any(terms) if "or" in words else all(terms)
    return not held if "not" in words else held


def _feature(said: str) -> bool:
    name, colon, value = (part.strip() for part in said.partition(":"))
    if colon:
        bound = next((prefix for prefix in ("min-", "max-") if name.startswith(prefix)), "")
        name = name.removeprefix(bound)
        if name in _SCREEN and (number := _number(value)) is not None:
            return _ORDER[bound](_SCREEN[name], number) if bound else _SCREEN[name] == number
        return _HABITS.get(name) == value or (name not in _HABITS and value in ("no-preference", "none"))
    if not (found := _RANGE.fullmatch(said)):
        return False
    low, under, name, over, high = found.groups()
    if not (low or high):
        return bool(_SCREEN.get(name)) or name in _HABITS
    sides = ((_MIRRORED[under] if under else "", low), (over or "", high))
    bounds = [(sign, number) for sign, value in sides if value and (number := _number(value)) is not None]
    return name in _SCREEN and all(_ORDER[sign](_SCREEN[name], number) for sign, number in bounds)


def _number(said: str) -> float | None:
    """In pixels, or without a unit."""
    over = said.split("/")
    if not (found := re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)", over[0].strip())) or found[2] not in _UNITS:
        return None
    value = float(found[1]) * _UNITS[found[2]]
    below = _number(over[1].strip()) if len(over) > 1 else 1.0
    return value / below if below else None


def _applies(name: str, prelude: Tokens) -> bool:
    """Whether the rules inside an at-rule apply; a condition on support is taken to be met."""
    if name == "media":
        return holds(prelude)
    if name == "container":
        return holds([token for token in prelude if token.type != "ident" or token.lower_value in ("and", "or", "not")])
    first = next((token for token in prelude if token.type != "whitespace"), None)
    return not (name == "supports" and first is not None and first.type == "ident" and first.lower_value == "not")


def parted(tokens: Iterable[Any]) -> Iterator[list[Any]]:
    """The parts between the commas."""
    part: list[Any] = []
    for token in tokens:
        if token == _COMMA:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _nested(prelude: Tokens, within: Tokens, size: int) -> tuple[Tokens, int]:
    """A selector list with its "&" filled in, and the size of its largest selector."""
    if not within:
        return prelude, max(map(_size, parted(prelude)))
    parent = [LiteralToken(1, 1, ":"), FunctionBlock(1, 1, "is", within)]
    filled: list[Any] = []
    largest = 0
    for part in parted(prelude):
        uses = sum(token == _PARENT for token in part)
        filled += [LiteralToken(1, 1, ",")] if filled else []
        filled += [] if uses else [*parent, WhitespaceToken(1, 1, " ")]
        for token in part:
            filled += parent if token == _PARENT else [token]
        largest = max(largest, _size(part) + max(uses, 1) * (size + 1))
    return filled, largest


def _shallow(tokens: Tokens) -> Tokens:
    """The tokens. Raises Unreadable for more than recursion can follow."""
    if _size(tokens) > MOST_PARTS:
        raise Unreadable(_TOO_MUCH)
    return tokens


def _size(tokens: Tokens) -> int:
    """The number of combinators, including those in brackets; above MOST_PARTS where brackets are too deep."""
    total, waiting = 0, [(tokens, 0)]
    while waiting:
        level, depth = waiting.pop()
        for token in level:
            total += token.type == "whitespace" or token in (">", "+", "~")
            inner = getattr(token, "arguments", None) or getattr(token, "content", None)
            if inner and not isinstance(inner, str):
                total += MOST_PARTS * (depth > DEEPEST)
                waiting.append((inner, depth + 1))
    return total


def _key(selector: Any) -> str:
    """The key to find a rule by: the id, class or tag that the element itself must have."""
    own = selector.right if isinstance(selector, selectors.CombinedSelector) else selector
    keys = {type(simple): simple for simple in own.simple_selectors}
    if found := keys.get(selectors.IDSelector):
        return f"#{found.ident}"
    if found := keys.get(selectors.ClassSelector):
        return f".{found.class_name}"
    found = keys.get(selectors.LocalNameSelector)
    return str(found.lower_local_name) if found else "*"


def _along(combinator: str, node: Node) -> Iterator[Node]:
    """The elements that the left side of a combinator may match."""
    other = node.previous if combinator == "+" else node.parent
    while other is not None:
        yield other
        other = other.parent if combinator == " " else None


def _compares(simple: Any, value: str) -> bool:
    said = simple.value or ""
    if simple.case_sensitive is False or simple.lower_name in ("type", "align", "color", "bgcolor", "dir", "media"):
        said, value = said.lower(), value.lower()
    if not said and simple.operator in ("^=", "$=", "*="):
        return False
    return _COMPARED[simple.operator](value, said)


def hold(held: Declared, name: str, value: Tokens, priority: Priority) -> None:
    """Set the value unless one of a greater priority is set."""
    if name not in held or held[name][0] <= priority:
        held[name] = (priority, value)
