"""What a question may choose: the searcher, and the certainty from which on an answer is given plainly. No choice
reaches anybody whom the configuration does not name, or gives an answer that it has refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from surefoot.config.settings import Config
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.evidence.confidence import LIKELY_RISK, SURE_RISK
from surefoot.pipeline import Pipeline
from surefoot.searchers.chain import Chain
from surefoot.searchers.nowhere import Nowhere
from surefoot.types.protocols import Searcher

UNSURE_RISK = 0.33
"""Of the answers that are given plainly where unsure ones are wanted too, one in three may be wrong; what is less sure
than that still comes behind its passages."""
_RISKS: dict[str, float] = {"sure": SURE_RISK, "likely": LIKELY_RISK, "unsure": UNSURE_RISK}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the questions to a server may choose from, by name, the usual choice first."""

    searchers: Mapping[str, tuple[Searcher, Mapping[str, Any]]]
    """Each with its section of a configuration."""
    certainties: Mapping[str, float]
    """Each with the accepted share of wrong answers among those that are given plainly."""

    def applied(self, pipeline: Pipeline, searcher: str, certainty: str) -> Pipeline:
        """The pipeline with what a question chose, which its traces record; "": the usual."""
        config, parts = dict(pipeline.config), dict[str, Any]()
        if searcher:
            parts["searcher"], config["searcher"] = self.searchers[searcher]
        if certainty:
            risk = self.certainties[certainty]
            parts["answering"] = replace(pipeline.answering, risk=risk)
            config["answer"] = config["answer"] | {"risk": risk}
        return replace(pipeline, **parts, config=config) if parts else pipeline


def choices(searcher: Searcher, config: Config) -> Choices:
    """The choices over this configuration, whose searcher is built. Of a chain each part may be chosen, and "nowhere"
    always. A `risk` that the configuration names is the highest; without one, unsure answers may be wanted too."""
    whole, own = config["searcher"], AnswerPolicy(**config["answer"]).risk
    parts = searcher.searchers if isinstance(searcher, Chain) else ()
    sections = [{"use": part} if isinstance(part, str) else part for part in whole["searchers"]] if parts else []
    built = zip((searcher, *parts, Nowhere()), (whole, *sections, {"use": Nowhere.name}), strict=True)
    usual, free = plain_from(own), "risk" not in config["answer"]
    others = {name: risk for name, risk in _RISKS.items() if name != usual and (free or risk < own)}
    return Choices({part.name: (part, section) for part, section in built}, {usual: own} | others)


def plain_from(risk: float) -> str:
    """The certainty from which on answers are given plainly at this accepted share of wrong ones."""
    return "sure" if risk <= SURE_RISK else "likely" if risk < UNSURE_RISK else "unsure"


def public_choices(config: Config) -> Config:
    """What of a trace's configuration a client may see: the kind of its searcher, unless that is a class of the
    operator's own, and the accepted share of wrong answers."""
    if not config:
        return {}
    use, risk = config["searcher"]["use"], config["answer"].get("risk", LIKELY_RISK)
    return ({"searcher": {"use": use}} if use.isidentifier() else {}) | {"answer": {"risk": risk}}
