"""How figures of an evaluation are written: shares of 1 without their nought, and a dash for what is not known."""

from __future__ import annotations

NONE = "–"


def share(number: float | None) -> str:
    """To three decimals: ".612", "1.000"."""
    return (
        NONE if number is None else f"{number:.3f}".replace("0.", ".", 1) if abs(number) < 0.9995 else f"{number:.3f}"
    )


def signed(number: float | None) -> str:
    """The same with its sign; what rounds to 0 has none."""
    if number is None:
        return NONE
    size = share(abs(number))
    return size if size == ".000" else f"{'−' if number < 0 else '+'}{size}"


def between(low: float | None, high: float | None, sign: bool = False) -> str:
    """An interval; empty where there is none."""
    written = signed if sign else share
    return "" if low is None or high is None else f"[{written(low)}, {written(high)}]"


def chance(p: float | None) -> str:
    """A p-value, to three decimals."""
    return NONE if p is None else "<.001" if p < 0.001 else share(p)


def number(count: int | None) -> str:
    """A count, with commas."""
    return NONE if count is None else f"{count:,}"
