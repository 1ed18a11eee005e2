"""Does an answer show that documents differ, where five files give a false value and one the true one?

    python benchmarks/planted.py                      # beside the documents of planted.toml
    python benchmarks/planted.py RUN/indexes          # beside the manuals that `surefoot lab manuals --out RUN` indexed

Prints how each question was answered, and how many answers were hedged, refused, or showed the difference.
"""

import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from surefoot import load
from surefoot.embedders.static import Static
from surefoot.index.build import build

CASES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def plant(folder: Path, case: dict[str, str], number: int) -> None:
    """Write the five files about a case, and its true document where it has one."""
    for title, text in CASES["texts"]:
        body = text.format(s=case["statement"], q=case["question"])
        name = f"{title} {number}"
        (folder / f"{name}.md").write_text(f"# {name}\n\n{body[0].upper()}{body[1:]}\n", encoding="utf-8")
    if "text" in case:
        (folder / f"{case['title']}.md").write_text(f"# {case['title']}\n\n{case['text']}\n", encoding="utf-8")


def main(indexes: Path | None) -> None:
    """Ask all questions, each manual's of a copy of its index."""
    cases = list(enumerate(CASES["manuals" if indexes else "documents"], start=1))
    shown = 0
    with tempfile.TemporaryDirectory() as home:
        for name in sorted({case.get("index", "") for _, case in cases}):
            index, folder = Path(home, f"{name or 'documents'}.db"), Path(home, f"planted {name}")
            folder.mkdir()
            if indexes:
                shutil.copy(indexes / index.name, index)
            own = [(number, case) for number, case in cases if case.get("index", "") == name]
            for number, case in own:
                plant(folder, case, number)
            build([folder], index, Static())
            pipeline = load(index={"path": str(index)})
            for _, case in own:
                trace = pipeline.run(case["question"])
                differs = trace.answer.refused or trace.answer.hedged or bool(trace.conflicts)
                shown += differs
                print("shown " if differs else "plain ", trace.answer.certainty, case["question"], sep="\t", flush=True)
    print(f"{shown} of {len(cases)} hedged, refused or shown beside the other value")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
