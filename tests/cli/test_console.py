"""What the commands print on."""

from __future__ import annotations

import pytest

from surefoot.cli.console import WIDE, out


def test_a_table_in_a_file_has_room(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No terminal there is too narrow for it; COLUMNS says how wide it may be after all."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert out.width == WIDE
    monkeypatch.setenv("COLUMNS", "70")
    assert out.width == 70
