"""Figures as text, for reports and pictures. Formats are those of Python's `format`; the minus is a real one."""

NONE = "–"
"""Stands in place of an unknown figure."""


def number(value: float | None, form: str) -> str:
    """The number in this format, such as "+.3g"."""
    return NONE if value is None else f"{value:{form}}".replace("-", "−")


def percent(share: float | None, places: int | None = None) -> str:
    """A share of 1 in per cent: to three digits, such as "12.5 %", or to so many places behind the point."""
    return NONE if share is None else f"{number(share * 100, '.3g' if places is None else f'.{places}f')} %"


def interval(low: float | None, high: float | None, form: str) -> str:
    """Both ends, such as "1.5 to 2.5"; NONE where either is None."""
    return NONE if low is None or high is None else f"{number(low, form)} to {number(high, form)}"
