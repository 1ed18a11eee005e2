"""How often an encyclopedia searcher finds the page of the thing that is asked about, and by which stage.

    python benchmarks/wikipedia.py popqa/crag_refs.jsonl miniwiki/pages.jsonl --option base_url=http://127.0.0.1:8099/api.php
    python benchmarks/wikipedia.py popqa/crag_refs.jsonl miniwiki/pages.jsonl --searcher zim --option path=mini.zim

Asked are the questions whose page (`s_wiki_title`) is in the wiki. Each is turned into queries by `templates` and
searched for until the page is among what comes back. Strict: a paragraph of that very page came. Useful: a gold alias
stands in a paragraph that came, by words, without case and accents. Beside it: how often one stands in the same
question's `external` text, which is what CRAG's own web search brought.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import components
from surefoot.asked import asked
from surefoot.bench.metrics import wilson
from surefoot.errors import ComponentError
from surefoot.network import Network
from surefoot.protocols import Searcher
from surefoot.rewriters.templates import Templates
from surefoot.types import Passage
from surefoot.words import bare, fold, words


@dataclass
class Counted:
    """A network, and how much was asked of it."""

    network: Network
    requests: int = 0

    def get(self, *args: Any, **options: Any) -> Any:
        self.requests += 1
        return self.network.get(*args, **options)


@dataclass(frozen=True)
class Outcome:
    """What came of one question."""

    row: dict[str, Any]
    query: int
    """Which query brought the page, from 1; 0: none."""
    stage: str
    """How the page was found; empty: it was not."""
    first: bool
    """Whether it was the first page of its query."""
    passages: tuple[Passage, ...]
    """What the first query brought, and that which brought the page."""
    seconds: float
    error: str = ""
    """Why there is no outcome; such a question counts as missed, and is listed."""

    @property
    def useful(self) -> bool:
        return holds((passage.text for passage in self.passages), self.row["answers"])


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def page(passage: Passage) -> str:
    """The title of its page, without the section."""
    return passage.title.partition(" › ")[0]


def holds(texts: Iterable[str], answers: list[str]) -> bool:
    said = [f" {' '.join(words(text))} " for text in texts]
    return any(f" {' '.join(words(answer))} " in text for text in said for answer in answers if words(answer))


def ask(row: dict[str, Any], searcher: Searcher, k: int) -> Outcome:
    """Query by query until the page is there."""
    began = time.perf_counter()
    came: tuple[Passage, ...] = ()
    for number, query in enumerate(Templates().rewrite(row["question"], ()), 1):
        try:
            found = searcher.search(query, k)
        except ComponentError as error:
            return Outcome(row, 0, "", False, came, time.perf_counter() - began, str(error))
        came = came or found
        mine = [passage for passage in found if page(passage) == row["s_wiki_title"]]
        if mine:
            first = page(found[0]) == page(mine[0])
            return Outcome(row, number, mine[0].via or "found", first, found, time.perf_counter() - began)
    return Outcome(row, 0, "", False, came, time.perf_counter() - began)


def cause(outcome: Outcome, pages: dict[str, list[str]]) -> str:
    """Why nothing useful, or not the page, came."""
    row = outcome.row
    if outcome.error:
        return f"failed ({outcome.error})"
    if not outcome.passages:
        return "nothing found"
    if not outcome.stage:
        entity = fold(asked(row["question"]).entity)
        same = any(fold(bare(page(passage))) == entity for passage in outcome.passages)
        return "another page of that name" if same else "a page of another name"
    return "page found, paragraph left out" if holds(pages[row["s_wiki_title"]], row["answers"]) else "not on its page"


def share(n: int, of: int) -> str:
    low, high = wilson(n, of) or (0.0, 1.0)
    return f"{n}/{of} = {n / of:.1%} [{low:.1%}, {high:.1%}]"


def report(outcomes: list[Outcome], pages: dict[str, list[str]]) -> None:
    total = len(outcomes)
    strict = [outcome for outcome in outcomes if outcome.stage]
    print(f"page found (strict)      {share(len(strict), total)}")
    print(f"  as the first page      {share(sum(outcome.first for outcome in strict), total)}")
    print(f"gold alias (useful)      {share(sum(outcome.useful for outcome in outcomes), total)}")
    on_page = sum(holds(pages[o.row["s_wiki_title"]], o.row["answers"]) for o in outcomes)
    print(f"on the page itself       {share(on_page, total)}")
    print(
        f"CRAG's external text     {share(sum(holds([o.row['external']], o.row['answers']) for o in outcomes), total)}"
    )
    for (stage, query), n in sorted(Counter((o.stage, o.query) for o in outcomes).items(), key=lambda item: -item[1]):
        useful = sum(o.useful for o in outcomes if (o.stage, o.query) == (stage, query))
        print(f"  {stage or 'not found':18} query {query or '-'}  {n:4}  of these useful {useful}")
    for title, missed in (
        ("pages missed", [o for o in outcomes if not o.stage]),
        ("no alias", [o for o in outcomes if not o.useful]),
    ):
        print(f"\n{title}: {dict(Counter(cause(o, pages) for o in missed).most_common())}")
        for o in missed:
            got = " / ".join(dict.fromkeys(f"{page(passage)} ({passage.via})" for passage in o.passages)) or "nothing"
            print(f"  {cause(o, pages)}: {o.row['question']} wants {o.row['s_wiki_title']!r}, got {got[:160]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("questions", type=Path, help="JSON lines with question, answers, s_wiki_title, external")
    parser.add_argument("pages", type=Path, help="JSON lines with title and paragraphs: what the wiki holds")
    parser.add_argument("--searcher", default="wikipedia")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the searcher")
    parser.add_argument("--k", type=int, default=30, help="paragraphs a query (default: 30)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--spacing", type=float, default=0.0, help="seconds between two requests (default: 0)")
    parser.add_argument("--cache", help="a file that keeps the replies, so that a run that broke off goes on")
    given = parser.parse_args()
    pages = {row["title"]: row["paragraphs"] for row in rows(given.pages)}
    chosen = [row for row in rows(given.questions) if row["s_wiki_title"] in pages]
    network = Counted(Network(["*", "127.0.0.1"], spacing=given.spacing, seconds=120, cache=given.cache))
    options = dict(pair.split("=", 1) for pair in given.option)
    searcher = components.build("searcher", given.searcher, options, {"network": lambda: network})
    began = time.perf_counter()
    with ThreadPoolExecutor(given.threads) as pool:
        outcomes = list(pool.map(lambda row: ask(row, searcher, given.k), chosen))
    print(
        f"{len(chosen)} questions whose page is among {len(pages)}, k = {given.k}; {network.requests} requests, "
        f"{time.perf_counter() - began:.0f} s"
    )
    report(outcomes, pages)


if __name__ == "__main__":
    main()
