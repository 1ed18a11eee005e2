"""`surefoot store check`: whether the configured store holds and finds what the index does."""

from pathlib import Path
from typing import Annotated

from typer import Exit, Option

from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import number, out, pulling, share
from surefoot.config.builder import Builder
from surefoot.evaluate.ask import questions as labelled
from surefoot.index.store_check import check as compared, sampled
from surefoot.retrievers.bm25 import Bm25
from surefoot.retrievers.dense import Dense
from surefoot.retrievers.hybrid import Hybrid

QUESTIONS, FOUND = 100, 10
"""Questions that are asked, at most, and passages that each finds."""


def check(
    questions: Annotated[
        Path | None, Option("--questions", metavar="FILE", help="Ask these; else titles of the index's own passages.")
    ] = None,
    index: IndexFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Hold the configured store against the index: the passages by their hashes, what is found by an exact search.

    Ends with 1 where the passages differ; surefoot index PATH… --push mends that.
    """
    builder = Builder(configured(config, settings, index))
    with pulling():
        embedder = builder.embedder
    hybrid = Hybrid([Bm25(builder.index), Dense(builder.index, embedder)])
    if questions:
        texts = [one.question for one in labelled.load(questions, limit=QUESTIONS).examples]
    else:
        texts = sampled(builder.index, QUESTIONS)
    found = compared(builder.store, builder.index, embedder, hybrid.retrieve, texts, FOUND)
    counts = {"missing": found.missing, "changed": found.changed, "surplus": found.surplus}
    named = ", ".join(f"{number(count)} {what}" for what, count in counts.items())
    out.print(f"Passages  {number(found.equal)} equal, {named}", soft_wrap=True)
    out.print(f"By vector {share(found.nearest)} of the {FOUND} nearest, over {found.questions} questions")
    out.print(f"By both   {share(found.fused)} of the {FOUND} that the index finds")
    if not found.same:
        raise Exit(1)
