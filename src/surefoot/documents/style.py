"""The style of an element, as far as it decides whether a person sees the element's text."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, TypeVar

import tinycss2
from tinycss2.ast import FunctionBlock
from tinycss2.color5 import D50, D65, parse_color

from surefoot.documents.stylesheet import Declared, Node, Tokens, parted

_T = TypeVar("_T")

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""

UNLIKE = 0.1
"""A letter is seen if one of its channels differs by more than this share of the range from the colour behind it."""
FAINTEST = 0.1
"""Least opacity at which text is seen."""
SMALLEST = 4.0
"""Least size of type, in pixels, at which text is read."""
FAR = 900.0
"""Pixels: nobody scrolls so far to the left or up; authors who hide text write -999px or more."""
WIDTH, HEIGHT = 1280.0, 800.0
_ENDLESS = 5 * FAR
"""Pixels: more than any box has."""

PROPERTIES = frozenset(
    "display visibility opacity filter color -webkit-text-fill-color background background-color background-image"
    " background-clip -webkit-background-clip font font-size line-height zoom text-indent text-shadow white-space"
    " -webkit-text-stroke -webkit-text-stroke-color position float left top right bottom inset"
    " margin margin-left margin-top padding padding-left padding-right padding-top padding-bottom overflow overflow-x"
    " overflow-y width height max-width max-height min-width min-height transform scale translate clip clip-path"
    " content-visibility animation animation-name animation-fill-mode color-scheme -webkit-transform -webkit-filter"
    " inline-size block-size max-inline-size max-block-size inset-inline-start margin-inline-start inset-block-start"
    " -webkit-clip-path -webkit-animation -webkit-opacity".split()
)
"""The CSS properties that are considered."""

_ALIASES = {
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "inset-inline-start": "left",
    "inset-block-start": "top",
    "margin-inline-start": "margin-left",
    "-webkit-background-clip": "background-clip",
    **{f"-webkit-{name}": name for name in ("transform", "filter", "clip-path", "animation", "opacity")},
}
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike"
    " strong sub sup time tt u var wbr".split()
)
_TABLES = {"table": "table", "tr": "table-row", "td": "table-cell", "th": "table-cell", "tbody": "table-row-group"}
_PIXELS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
_PIXELS |= {"vw": WIDTH / 100, "vh": HEIGHT / 100, "vmin": HEIGHT / 100, "vmax": WIDTH / 100, "rem": 16.0}
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}
_SIZES |= {"xx-large": 32.0, "xxx-large": 48.0}
_SYSTEM = {"canvas": "white", "field": "white", "canvastext": "black", "fieldtext": "black", "buttontext": "black"}
_SYSTEM |= {"buttonface": "#efefef", "linktext": "#0000ee", "mark": "yellow", "marktext": "black"}
_SIDES = ("top", "right", "bottom", "left")
_BLANK = ("whitespace", "comment")
_WIDE = ("inherit", "initial", "unset", "revert", "revert-layer")

BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
WHITE: Colour = (1.0, 1.0, 1.0, 1.0)


Scope = ChainMap[str, Tokens]
"""Custom properties of an element, then those of the elements around it."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style that an element passes on to its text and its children, and whether it is shown at all."""

    gone: bool = False
    """Neither the element nor anything in it is shown."""
    visible: bool = True
    colour: Colour | None = BLACK
    """None: unknown."""
    fill: Colour | None = None
    """Colour of the letters' inside, if it differs from `colour`."""
    outline: tuple[Colour, ...] = ()
    """Colours of the letters' shadows and strokes."""
    behind: tuple[Colour, ...] | None = (WHITE,)
    """Colours that may be behind the text; None: unknown, such as a picture."""
    painted: bool = False
    """The letters are cut out of the background."""
    size: float = 16.0
    indent: float = 0.0
    opacity: float = 1.0
    scale: float = 1.0
    line: float | None = None
    """Height of a line in pixels; None: as the letters need."""
    unwrapped: bool = False
    arranges: bool = False
    """Its children are boxes of any kind, since it is a flex or grid container."""
    scope: Scope = field(default_factory=ChainMap)

    @property
    def readable(self) -> bool:
        """Whether a person can read the text, provided that the element is shown."""
        return (
            self.visible
            and self.size * self.scale >= SMALLEST
            and self.indent > -FAR
            and (self.painted or any(self._stands_out(one) for one in (self.fill or self.colour, *self.outline)))
        )

    def _stands_out(self, colour: Colour | None) -> bool:
        if colour is None:
            return True
        if self.behind is None:
            return colour[3] >= FAINTEST
        seen = ((_over(colour, behind), behind) for behind in self.behind)
        return any(abs(a - b) > UNLIKE for pair in seen for a, b in zip(*pair, strict=True))


@dataclass(frozen=True, slots=True)
class _Values:
    """The declarations that hold for an element, with variables filled in."""

    declared: Declared
    scope: Scope

    def get(self, name: str) -> list[Any]:
        """The tokens of a property, without white space; empty where it is not declared or has no value."""
        if name not in self.declared:
            return []
        return [token for token in _filled(self.declared[name][1], self.scope) if token.type not in _BLANK]

    def word(self, name: str) -> str:
        """The first keyword of a property, in lower case."""
        return next((token.lower_value for token in self.get(name) if token.type == "ident"), "")

    def later(self, *names: str) -> list[Any]:
        """The tokens of the one of these properties with the greatest priority."""
        there = [name for name in names if name in self.declared]
        return self.get(max(there, key=lambda name: self.declared[name][0])) if there else []

    def length(self, name: str, size: float, whole: float) -> float | None:
        """A property's length in pixels; None where it has none."""
        return length(self.get(name)[:1], size, whole)

    def side(self, name: str, side: str, size: float, whole: float) -> float | None:
        """One side of `margin`, `padding` or `inset`, declared by itself or with the other sides."""
        own = side if name == "inset" else f"{name}-{side}"
        if name in self.declared and (own not in self.declared or self.declared[own][0] < self.declared[name][0]):
            return length(_four(self.get(name))[_SIDES.index(side) :], size, whole)
        return self.length(own, size, whole)


def styled(node: Node, declared: Declared, parent: Style) -> Style:
    """The style of an element inside its parent, from its declarations and its tag."""
    for alias, name in _ALIASES.items():
        if alias in declared and (name not in declared or declared[name][0] < declared[alias][0]):
            declared[name] = declared[alias]
    if not declared and not _starts_hidden(node):  # as most elements are
        return replace(parent, arranges=False) if parent.arranges else parent
    custom = {name: value for name, (_, value) in declared.items() if name.startswith("--")}
    scope = parent.scope.new_child(custom) if custom else parent.scope
    values = _Values(declared, scope)
    size = _size(values, parent)
    display = _display(node, values)
    is_box = (
        parent.arranges
        or display not in ("inline", "contents")
        or values.word("float") in ("left", "right")
        or values.word("position") in ("absolute", "fixed")
    )
    zoomed, moved = _transformed(values, size) if is_box else (1.0, False)
    style = replace(
        parent,
        size=size,
        scope=scope,
        opacity=parent.opacity * _opacity(values),
        scale=parent.scale * zoomed * (values.length("zoom", 1.0, 1.0) or 1.0),
        visible=_visible(values, parent),
        line=_line(values, size, parent),
        unwrapped=values.word("white-space") in ("nowrap", "pre") if values.get("white-space") else parent.unwrapped,
        indent=_indent(values, size, parent) if is_box else parent.indent,
        arranges=display in ("flex", "grid", "inline-flex", "inline-grid"),
        **_colours(values, parent),
    )
    gone = (
        display == "none"
        or style.opacity < FAINTEST
        or style.scale <= 0.01
        or moved
        or _outside(values, size, is_box)
        or _clipped(values, size)
        or (is_box and not display.startswith("table") and _shut(values, style, size))
        or (is_box and values.word("content-visibility") == "hidden")
    )
    return replace(style, gone=gone)


def length(tokens: Sequence[Any], size: float, whole: float) -> float | None:
    """The first value in pixels, with `size` for 1 em and `whole` for 100 %; None: it is no length."""
    if not tokens:
        return None
    token = tokens[0]
    match token.type:
        case "number":
            return float(token.value)
        case "percentage":
            return float(token.value) / 100 * whole
        case "dimension":
            unit = token.lower_unit
            return float(token.value) * (
                size if unit in ("em", "lh") else size / 2 if unit in ("ch", "ex") else _PIXELS.get(unit, _PIXELS["px"])
            )
        case "function":
            return _sum(token, size, whole)
    return None


def _four(said: list[_T]) -> list[_T]:
    """Top, right, bottom and left, from one to four values as in `margin`."""
    return (said * 4 if len(said) < 3 else [*said, said[1]])[:4]


def _sum(token: Any, size: float, whole: float) -> float | None:
    """calc(), min(), max() and clamp(), as far as they add, subtract and multiply."""
    parts = [part for part in token.arguments if part.type not in _BLANK]
    name = token.lower_name
    if name in ("min", "max", "clamp"):
        values = [_added(part, size, whole) for part in parted(parts)]
        known = [value for value in values if value is not None]
        if len(known) != len(values) or not known:
            return None
        return min(known) if name == "min" else max(known) if name == "max" else sorted(known)[len(known) // 2]
    return _added(parts, size, whole) if name == "calc" else None


def _added(parts: Sequence[Any], size: float, whole: float) -> float | None:
    if not parts:
        return None
    total, sign, held = 0.0, 1.0, None
    times: Any = None
    for part in parts:
        if part in ("+", "-"):
            total, held, sign = total + sign * (held or 0.0), None, -1.0 if part == "-" else 1.0
        elif part in ("*", "/"):
            times = part.value
        elif (value := length([part], size, whole)) is None:
            return None
        elif times:
            held = (held or 0.0) * value if times == "*" else (held or 0.0) / (value or 1.0)
            times = None
        else:
            held = value
    return total + sign * (held or 0.0)


def _filled(tokens: Tokens, scope: Scope, depth: int = 0) -> list[Any]:
    """The tokens with each var() replaced, cut at 200."""
    filled: list[Any] = []
    for token in tokens[:200]:
        if token.type == "function" and token.lower_name == "var" and depth < 8:
            name, *other = parted(token.arguments)
            value = scope.get("".join(part.value for part in name if part.type == "ident"))
            if value is None:
                value = [part for piece in other for part in piece]
            filled += _filled(value, scope, depth + 1)
        elif token.type in ("function", "() block"):
            inner = token.arguments if token.type == "function" else token.content
            called = token.name if token.type == "function" else "calc"
            if depth < 8:  # nobody writes deeper ones, and this is recursive
                parts = _filled(inner, scope, depth + 1)
                filled.append(FunctionBlock(token.source_line, token.source_column, called, parts))
        else:
            filled.append(token)
        if len(filled) > 200:
            break
    return filled[:200]


def _display(node: Node, values: _Values) -> str:
    said = values.word("display")
    if said and said not in _WIDE:
        return said
    if _starts_hidden(node):
        return "none"
    return "inline" if node.tag in _INLINE else _TABLES.get(node.tag, "block")


def _starts_hidden(node: Node) -> bool:
    """Whether a browser hides it unless a rule shows it."""
    attributes = node.attributes
    return "hidden" in attributes or "popover" in attributes or (node.tag == "dialog" and "open" not in attributes)


def _visible(values: _Values, parent: Style) -> bool:
    said = values.word("visibility")
    return parent.visible if said in ("", "inherit", "unset", "revert") else said not in ("hidden", "collapse")


def _opacity(values: _Values) -> float:
    shown = 1.0
    if (said := values.get("opacity")) and said[0].type in ("number", "percentage", "function"):
        value = length(said, 1.0, 1.0)
        shown = 1.0 if value is None else min(max(value, 0.0), 1.0)
    for token in values.get("filter"):
        if token.type == "function" and token.lower_name == "opacity":
            value = length([part for part in token.arguments if part.type not in _BLANK], 1.0, 1.0)
            shown *= 1.0 if value is None else value
    return shown


def _size(values: _Values, parent: Style) -> float:
    tokens = values.later("font", "font-size")
    if tokens and tokens == values.get("font"):
        tokens = [token for token in tokens if _is_size(token)]
    if not tokens:
        return parent.size
    if tokens[0].type == "ident":
        relative = {"smaller": parent.size / 1.2, "larger": parent.size * 1.2, "initial": 16.0}
        return _SIZES.get(tokens[0].lower_value) or relative.get(tokens[0].lower_value, parent.size)
    said = length(tokens, parent.size, parent.size)
    return parent.size if said is None or said < 0 else said


def _is_size(token: Any) -> bool:
    """Whether a token of `font` is its size, rather than its style, weight or family."""
    if token.type == "number":
        return bool(token.value == 0)
    return token.type in ("dimension", "percentage", "function") or getattr(token, "lower_value", "") in _SIZES


def _line(values: _Values, size: float, parent: Style) -> float | None:
    tokens = values.get("line-height")
    if not tokens:
        return parent.line
    return length(tokens, size, size) if tokens[0].type != "number" else float(tokens[0].value) * size


def _indent(values: _Values, size: float, parent: Style) -> float:
    said = values.length("text-indent", size, WIDTH)
    return parent.indent if said is None else said + (values.side("padding", "left", size, WIDTH) or 0.0)


def _transformed(values: _Values, size: float) -> tuple[float, bool]:
    """The factor by which it is scaled, and whether it is moved off the page."""
    factor, moved = 1.0, False
    for token in values.get("transform"):
        if token.type != "function":
            continue
        name = token.lower_name
        said = [length(part, size, 0.0) for part in parted(t for t in token.arguments if t.type not in _BLANK)]
        numbers = [0.0 if number is None else number for number in said]
        if name in ("scale", "scalex", "scaley", "scale3d") and None not in said[:2]:
            factor *= min(map(abs, numbers[:2]))
        elif name == "matrix" and len(numbers) == 6:
            factor *= abs(numbers[0] * numbers[3] - numbers[1] * numbers[2]) ** 0.5
            moved |= min(numbers[4:]) <= -FAR
        elif name.startswith("translate"):
            moved |= bool(numbers) and min(numbers[:2]) <= -FAR
        elif name in ("rotatex", "rotatey") and token.arguments and token.arguments[0].type == "dimension":
            moved |= token.arguments[0].lower_unit == "deg" and token.arguments[0].value % 180 == 90
    if (own := values.get("scale")) and own[0].type in ("number", "percentage"):
        factor *= min(abs(length([token], 1.0, 1.0) or 0.0) for token in own[:2])
    moved |= any((length([token], size, 0.0) or 0.0) <= -FAR for token in values.get("translate")[:2])
    return factor, moved


def _outside(values: _Values, size: float, is_box: bool) -> bool:
    """Whether it is positioned where nobody scrolls to."""
    if values.word("position") in ("absolute", "fixed", "relative"):
        for side in _SIDES:
            at = values.side("inset", side, size, WIDTH)
            if at is not None and (at <= -FAR or (side in ("left", "right") and at >= _ENDLESS)):
                return True
    sides = ("left", "top") if is_box else ("left",)
    return any(
        (values.side("margin", side, size, WIDTH) or 0.0) + (values.side("padding", side, size, WIDTH) or 0.0) <= -FAR
        for side in sides
    )


def _clipped(values: _Values, size: float) -> bool:
    """Whether clipping leaves nothing of it."""
    said = next((token for token in values.get("clip") if token.type == "function"), None)
    if said and said.lower_name == "rect" and values.word("position") in ("absolute", "fixed"):
        edges = [length([t], size, 0.0) for t in said.arguments if t.type not in _BLANK and t != ","]
        top, right, bottom, left = (*edges, None, None, None, None)[:4]
        if any(None not in (a, b) and (b or 0) - (a or 0) <= 1 for a, b in ((top, bottom), (left, right))):
            return True
    shape = next((token for token in values.get("clip-path") if token.type == "function"), None)
    return shape is not None and _nothing(shape, size)


def _nothing(shape: Any, size: float) -> bool:
    """Whether a basic shape has no area."""
    parts = [part for part in shape.arguments if part.type not in _BLANK]
    match shape.lower_name:
        case "inset":
            edges = takewhile(lambda part: part.type != "ident", parts)  # "round" is of corners
            cut = [length([part], size, _ENDLESS) or 0.0 for part in edges]
            top, right, bottom, left = _four(cut) or [0.0] * 4
            return max(top + bottom, left + right) >= _ENDLESS
        case "circle" | "ellipse":
            radii = [length([part], size, 100.0) for part in parts[:2]]  # of a circle the second is "at"
            return any(radius is not None and radius <= 0 for radius in radii)
        case "polygon":
            points = [[length([t], size, 100.0) for t in part if t.type != "ident"] for part in parted(parts)]
            return bool(points) and (len({p[0] for p in points if p}) == 1 or len({p[-1] for p in points if p}) == 1)
    return False


def _shut(values: _Values, style: Style, size: float) -> bool:
    """Whether it is a box of no height or width that hides its overflow."""
    cut = ("hidden", "clip", "scroll", "auto")
    if not any(
        token.type == "ident" and token.lower_value in cut
        for name in ("overflow", "overflow-x", "overflow-y")
        for token in values.get(name)
    ):
        return False
    for name, sides in (("height", ("top", "bottom")), ("width", ("left", "right"))):
        said = [values.length(bound, size, WIDTH if name == "width" else HEIGHT) for bound in (name, f"max-{name}")]
        if name == "height" and said == [None, None] and style.line == 0:
            said = [0.0]
        least = values.length(f"min-{name}", size, 0.0) or 0.0
        padding = sum(values.side("padding", side, size, WIDTH) or 0.0 for side in sides)
        if least <= 1 and padding <= 1 and any(value is not None and value <= 1 for value in said):
            return True
    return style.unwrapped and (values.length("text-indent", size, WIDTH) or 0.0) >= WIDTH


def _colours(values: _Values, parent: Style) -> dict[str, Any]:
    """Colours of the letters, and behind them, as fields of `Style`."""
    colour = _colour(values.get("color"), parent.colour)
    fill = _colour(values.get("-webkit-text-fill-color"), parent.fill, colour)
    outline = parent.outline
    if shadows := values.get("text-shadow"):
        outline = tuple(_all(shadows))
    if strokes := [*values.get("-webkit-text-stroke"), *values.get("-webkit-text-stroke-color")]:
        outline = (*outline, *_all(strokes))
    behind, image = _behind(values, parent, colour)
    words = [token.lower_value for token in values.get("background") if token.type == "ident"]
    cut = "text" in (values.word("background-clip"), *words)
    return {
        "colour": colour,
        "fill": fill,
        "outline": outline,
        "behind": behind,
        "painted": parent.painted or (cut and image),
    }


def _behind(values: _Values, parent: Style, colour: Colour | None) -> tuple[tuple[Colour, ...] | None, bool]:
    """Colours that may be behind the text, and whether there is an image of any kind."""
    behind = parent.behind
    said = [one for one in (_whole(token, colour) for token in values.later("background", "background-color")) if one]
    if said and said[0][3] > 0:
        under = behind or (WHITE,)
        known = behind is not None or said[0][3] == 1
        behind = tuple(_over(said[0], below) for below in under) if known else None
    for token in values.later("background", "background-image"):
        if token.type == "url" or (token.type == "function" and token.lower_name in ("url", "image-set", "image")):
            return None, True
        if token.type == "function" and "gradient" in token.lower_name:
            lowest = (behind or (WHITE,))[0]
            return (tuple(_over(stop, lowest) for stop in _all(token.arguments)) or None), True
    return behind, False


def _colour(tokens: Sequence[Any], inherited: Colour | None, current: Colour | None = None) -> Colour | None:
    if not tokens:
        return inherited
    if tokens[0].type == "ident" and tokens[0].lower_value in _WIDE:
        return BLACK if tokens[0].lower_value == "initial" and current is None else inherited
    return _whole(tokens[0], current or inherited)


def _whole(token: Any, current: Colour | None = None) -> Colour | None:
    """The colour that a token names; for a mix of several, their mean."""
    if token.type == "ident" and token.lower_value in _SYSTEM:
        return _whole(tinycss2.parse_one_component_value(_SYSTEM[token.lower_value]))
    parts = [part for part in getattr(token, "arguments", ()) if part.type not in _BLANK]
    if parts[-2:-1] == ["/"] and getattr(parts[-1], "lower_value", "") == "none":  # which tinycss2 does not know
        return (0.0, 0.0, 0.0, 0.0)
    try:
        said = parse_color(token)
        if said == "currentcolor":
            return current
        if said is not None:
            return (*_rgb(said), float(said.alpha))
    except (ArithmeticError, TypeError, ValueError):
        pass  # raised by tinycss2 where a function has wrong arguments
    if token.type == "function" and token.lower_name not in ("url", "var"):
        mixed = list(_all(token.arguments))
        if mixed:
            red, green, blue, alpha = (sum(channel) / len(mixed) for channel in zip(*mixed, strict=True))
            return (red, green, blue, alpha)
    return None


def _rgb(colour: Any) -> tuple[float, float, float]:
    """In sRGB. Wider colour spaces are taken for it, since black, white and greys are the same in all."""
    space = colour.space
    if space in ("hsl", "hwb"):
        colour = colour.to("srgb")
    elif space in ("lab", "lch", "oklab", "oklch") or space.startswith("xyz"):
        white = D50 if space in ("lab", "lch", "xyz-d50") else D65
        seen = colour if space.startswith("xyz") else colour.to("xyz-d50" if white is D50 else "xyz-d65")
        x, y, z = (of * to / by for of, to, by in zip(seen.coordinates, D65, white, strict=True))
        linear = (
            3.2406 * x - 1.5372 * y - 0.4986 * z,
            -0.9689 * x + 1.8758 * y + 0.0415 * z,
            0.0557 * x - 0.204 * y + 1.057 * z,
        )
        red, green, blue = (1.055 * min(max(one, 0.0), 1.0) ** (1 / 2.4) - 0.055 for one in linear)
        return red, green, blue
    red, green, blue = (min(max(one or 0.0, 0.0), 1.0) for one in colour.coordinates)
    return red, green, blue


def _all(tokens: Iterable[Any]) -> Iterator[Colour]:
    """Each colour among the tokens."""
    for token in tokens:
        if found := _whole(token):
            yield found


def _over(colour: Colour, behind: Colour) -> Colour:
    """The colour that is seen where one lies on the other."""
    alpha = colour[3]
    red, green, blue = (
        alpha * above + (1 - alpha) * below for above, below in zip(colour[:3], behind[:3], strict=True)
    )
    return (red, green, blue, 1.0)
