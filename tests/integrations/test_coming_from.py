"""Every block of docs/coming-from.md as it stands."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs the block below a heading in an empty folder, and gives what it prints."""

    def run(heading: str) -> str:
        section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        [code] = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        monkeypatch.chdir(tmp_path)
        exec(compile(code, heading, "exec"), {"__name__": heading})
        return capsys.readouterr().out

    return run


def test_langchain(printed: Callable[[str], str]) -> None:
    pytest.importorskip("langchain_core", reason="needs the extra langchain")
    assert printed("LangChain") == "correct The bridge was built in 1911 by Tomas Aldwin.\n"


def test_llamaindex(printed: Callable[[str], str]) -> None:
    pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")
    [line] = printed("LlamaIndex").splitlines()
    assert line.endswith("% The bridge was built by Tomas Aldwin.")


def test_ragas(printed: Callable[[str], str]) -> None:
    assert printed("RAGAS") == "Who built it? Aldwin ('Aldwin',)\n"


def test_trulens(printed: Callable[[str], str]) -> None:
    scores = {line.split()[0]: float(line.split()[1]) for line in printed("TruLens").splitlines()}
    assert scores.keys() == {"context_relevancy", "context_adherence", "answer_relevancy"}
    assert min(scores.values()) > 0.7
