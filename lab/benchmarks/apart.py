"""A corpus that lacks the pages its questions ask about, so that looking elsewhere is what answers them.

    python benchmarks/apart.py popqa/crag_refs.jsonl miniwiki/pages.jsonl corpus/wikipedia.jsonl --out apart
    surefoot index apart/corpus.jsonl --index apart/index.db

Writes `apart/questions.jsonl`, the questions whose page (`s_wiki_title`) is in the wiki, and `apart/corpus.jsonl`, the
corpus without any passage whose title is that of such a page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from surefoot.run.store import write_text
from surefoot.text.words import fold


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def written(path: Path, kept: Iterable[dict[str, Any]]) -> int:
    lines = [json.dumps(row, ensure_ascii=False) for row in kept]
    write_text(path, "\n".join(lines) + "\n")
    return len(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("pages", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    there = {row["title"] for row in rows(given.pages)}
    asked = [row for row in rows(given.questions) if row["s_wiki_title"] in there]
    gone = {fold(row["s_wiki_title"]) for row in asked}
    left = (row for row in rows(given.corpus) if fold(row["title"]) not in gone)
    questions, passages = written(given.out / "questions.jsonl", asked), written(given.out / "corpus.jsonl", left)
    print(f"{questions} questions; {passages} passages, none of which is of a page that is asked about")


if __name__ == "__main__":
    main()
