"""Advice that is given once to a user, not after every question."""

from __future__ import annotations

from contextlib import suppress

from platformdirs import user_state_path


def once(name: str) -> bool:
    """True where the advice of this name is to be given: the first time, and wherever that cannot be remembered."""
    place = user_state_path("surefoot") / "hints" / name
    if place.exists():
        return False
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch()
    return True
