"""A pipeline that finds and grades passages, and answers nothing."""

from surefoot.pipeline import Pipeline
from surefoot.rewriters.verbatim import Verbatim
from surefoot.searchers.nowhere import Nowhere
from surefoot.types import Passage, Strip


class KeepNone:
    """A refiner that keeps nothing, so that nothing is left to answer from."""

    def refine(self, question: str, passages: tuple[Passage, ...]) -> tuple[Strip, ...]:
        """No strips."""
        return ()


def searching(pipeline: Pipeline, k: int) -> Pipeline:
    """The pipeline up to its grades, over at least `k` passages; nothing is asked outside."""
    return pipeline.but(k=max(k, pipeline.k), searcher=Nowhere(), rewriter=Verbatim(), refiner=KeepNone())
