"""What a client gets to see of a trace."""

from __future__ import annotations

import pytest

from surefoot.server.asking import shown
from surefoot.types import Step, Trace


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("http://10.0.0.7:8080/v1 is down", "… is down"),
        ("10.0.0.7:8080 refused the connection", "… refused the connection"),
        ("/srv/models/minilm.onnx is missing", "… is missing"),
        (r"C:\\models\\x.gguf is missing", "… is missing"),
        ("the evaluator gave 3 grades for 4 passages", "the evaluator gave 3 grades for 4 passages"),
    ],
)
def test_a_client_with_a_key_is_told_no_address(error: str, said: str) -> None:
    """Whoever sits at the machine is; and nobody gets the configuration."""
    trace = Trace("1", "Who?", steps=(Step("search", 0.1, error=error, degraded=error),), config={"llm": {"use": "x"}})
    told = shown(trace, inside=False)
    assert (told.steps[0].error, told.steps[0].degraded) == (said, said)
    assert shown(trace, inside=True).steps == trace.steps
    assert told.config == shown(trace, inside=True).config == {}
