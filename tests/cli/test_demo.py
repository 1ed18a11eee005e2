"""`surefoot demo`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from surefoot.errors import ModelError
from surefoot.models import registry


@pytest.mark.slow
def test_the_demo_shows_each_action_once(surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of its questions, with the real embedder and the real model."""
    monkeypatch.delenv("SUREFOOT_MODELS")
    try:
        registry.path("smollm2-135m-instruct-q4_1")
    except ModelError as error:
        pytest.skip(str(error))
    done = surefoot("demo")
    assert done.code == 0
    decisions = [line.split()[1] for line in done.out.splitlines() if line.startswith("Decision ")]
    assert decisions == ["CORRECT", "AMBIGUOUS", "INCORRECT"]
    assert done.out.count("nothing left this machine") == 3
