"""Makes `0.1.0.tar.gz` beside it: what version 0.1.0 left on disk, small and without a model or a network.

    git worktree add --detach /tmp/v010 2bc0f7d && PYTHONPATH=/tmp/v010/src python tests/former/make.py

It holds `surefoot.toml`, `six.jsonl`, both indexes, `trace.json` (of `ask`), `run` (of `bench qa`), `evaluation` (of
`evaluate`, one record of which `explain --run` explained) and `improved` (of `improve --apply`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NAMES = """Ruvel Hohrin Larrow Keddling Ambrel Torvath Sorvay Dorrick Vanmor Tresk Haddick Ordel Corvin Lannic Mirev
Pelgar Quint Rasko Selmar Turgo Ulvik Vorden Wesker Yarrow Zellin Brannoc Carvel Dunmar Elstow Farrin Gorlan
Helmic""".split()
BUILDERS = """Mira Aldwin Josef Ilse Anton Bertram Klara Dorit Emil Frida Gregor Hanna Igor Jutta Konrad Lena Magnus
Nadja Oskar Paula Quentin Rosa Stefan Tilda Ulrich Vera Walter Xenia Yvo Zita Albin Berta""".split()
KEPT = "surefoot.toml", "six.jsonl", ".surefoot/index.db", "outside.db", "trace.json", "run", "evaluation", "improved"
SETTINGS = """\
[searcher]
use = "folder"
path = "outside.db"
[retriever]
use = "bm25"
[evaluator]
use = "lexical"
[embedder]
use = "hashing"
[generator]
use = "extractive"
[pipeline]
k = 2
"""
# Nothing is good enough: every question is refused until this is mended.
STRICT = "[thresholds]\nupper = 1.5\nlower = 1.4\nstrip = 0.0\n"
MENDED = "[thresholds]\nupper = 0.6\nlower = 0.2\nstrip = 0.0\n"


def made(folder: Path) -> None:
    """Write the questions and documents, and let 0.1.0 work on them."""

    def surefoot(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "surefoot", *words], cwd=folder, check=True, timeout=300)

    (folder / "docs").mkdir()
    for name, builder in zip(NAMES, BUILDERS, strict=True):
        told = f"The {name} Hut stands on a ridge. The {name} Hut was built by {builder} Tolven."
        (folder / "docs" / f"{name.lower()}.txt").write_text(told + "\n")
    (folder / "outside").mkdir()
    (folder / "outside" / "tower.txt").write_text("The Ostel Tower was built by Udo Marek in 1874.\n")
    asked = [
        {"id": name.lower(), "question": f"Who built the {name} Hut?", "answers": [f"{builder} Tolven"]}
        for name, builder in zip(NAMES, BUILDERS, strict=True)
    ]
    outside = [
        {"id": "tower", "question": "Who built the Ostel Tower?", "answers": ["Udo Marek"]},
        {"id": "age", "question": "Who was the first keeper of the Ruvel Hut?", "answers": ["Nobody knows"]},
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    (folder / "six.jsonl").write_text("".join(json.dumps(one) + "\n" for one in [*asked[:4], *outside]))
    (folder / "surefoot.toml").write_text(SETTINGS)
    surefoot("index", "docs")
    surefoot("index", "outside", "--index", "outside.db")
    surefoot("ask", "Who built the Ostel Tower?", "--trace", "trace.json")
    surefoot("bench", "qa", "six.jsonl", "--run", "run")
    surefoot("evaluate", "run", "--run", "evaluation", "--judge", "embedded", "--metric", "factuality")
    surefoot("explain", "--run", "evaluation", "--record", "ruvel")
    (folder / "surefoot.toml").write_text(SETTINGS + STRICT)
    (folder / "mended.toml").write_text(MENDED)
    surefoot("improve", "questions.jsonl", "--try", "mended.toml", "--run", "improved", "--apply")


def main() -> None:
    """Make it, and pack what the tests open."""
    with tempfile.TemporaryDirectory() as place, tarfile.open(Path(__file__).with_name("0.1.0.tar.gz"), "w:gz") as tar:
        made(Path(place))
        for name in KEPT:
            tar.add(Path(place) / name, name)


if __name__ == "__main__":
    main()
