"""Surefoot's steps as nodes of a graph: grade, decide, rewrite, search, generate, over a state of plain values.

Needs the extra `langchain` (documents are LangChain's) and no LangGraph: a node is a function from the state to what
changes in it, and the graph is yours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from surefoot.evidence.exclusions import Evidence
from surefoot.evidence.merge import fresh
from surefoot.integrations._passages import corrected, sound
from surefoot.integrations.langchain import Document, document, graded, kept_documents, passages
from surefoot.network.pace import left, within
from surefoot.pipeline import Pipeline
from surefoot.run.recorder import Recorder
from surefoot.types import Action, Answer, Passage, Strip, Trace
from surefoot.types.metadata import searched

Route = Literal["correct", "ambiguous", "incorrect"]

REFUSAL = "Nothing that was found answers this question."


class CitedSource(TypedDict):
    """The source of a [n] of the answer."""

    marker: int
    quote: str
    """The source's own words that carry the sentence; empty: there are none."""
    title: str
    url: str | None


class Corrected(TypedDict, total=False):
    """The values that the nodes write; a key is missing until a node has written it."""

    documents: list[Document]
    """Retrieved documents; after `grade` with its grades."""
    web: list[Document]
    """Documents that `search` found, with their grades."""
    kept: list[Document]
    """The helpful parts of both, cut to their strips: the sources of the answer."""
    action: Route
    """The action of corrective RAG on `documents`."""
    because: str
    """The reason of the action."""
    queries: list[str]
    """The searches to make next."""
    searched: list[str]
    """Those that were made, in order."""
    answer: str
    """The checked answer, or the refusal."""
    refused: bool
    citations: list[CitedSource]


class CorrectiveState(Corrected):
    """The state of a corrective graph. All of it is plain values and documents, so any checkpointer keeps it."""

    question: str


@dataclass(frozen=True, slots=True)
class CorrectiveNodes:
    """The nodes, over the parts of a pipeline; its retriever is not used.

    A part that fails raises ComponentError, for the graph's own retries: nothing found and not looked for differ.
    """

    pipeline: Pipeline

    def grade(self, state: CorrectiveState) -> Corrected:
        """Grade `documents`, decide, and keep what helps. Reads `question` and `documents`."""
        documents = state.get("documents", [])
        trace = self._corrected(state, passages(documents))
        decision = trace.decision
        assert decision  # a trace without an error has one  # noqa: S101  # nosec B101
        return {
            "documents": graded(documents, trace.grades),
            "kept": kept_documents(documents, trace),
            "action": decision.action.value,
            "because": decision.because,
        }

    def decide(self, state: CorrectiveState) -> Route:
        """For a conditional edge: "correct" answers from `kept`, "ambiguous" searches beside it, "incorrect" instead of
        it."""
        return state["action"]

    def rewrite(self, state: CorrectiveState) -> Corrected:
        """Queries for the search, seeing all that was found so far; none that was made before. No query is left where
        the rewriter knows no other."""
        seen = (*passages(state.get("documents", [])), *passages(state.get("web", []), "external"))
        rewritten = self.pipeline.rewriter.rewrite(state["question"], seen)
        queries = [one if isinstance(one, str) else one.query for one in rewritten]
        made = state.get("searched", [])
        return {"queries": [query for query in dict.fromkeys(queries) if query not in made]}

    def search(self, state: CorrectiveState) -> Corrected:
        """Search outside query by query until a passage is graded CORRECT, and keep what helps beside what is kept.

        Takes at most the pipeline's `seconds`, between two queries.
        """
        find = searched(self.pipeline.searcher.search, self.pipeline.filter, self.pipeline.searcher.name)
        made, web, useful = [*state.get("searched", [])], [*state.get("web", [])], [*state.get("kept", [])]
        with within(float(self.pipeline.seconds)):
            for query in state.get("queries", []):
                hits = find(query, self.pipeline.external_k)
                made.append(query)
                known = [*state.get("documents", []), *web]
                own = [replace(one, id=of.id or "") for one, of in zip(passages(known), known, strict=True)]
                new = fresh(hits, own)
                trace = self._corrected(state, [replace(hit, id=str(n)) for n, hit in enumerate(new, start=1)])
                found = [document(hit, grade) for hit, grade in zip(new, trace.grades, strict=True)]
                web += found
                useful += kept_documents(found, trace)
                if any(grade.label is Action.CORRECT for grade in trace.grades) or left() <= 0:
                    break
        return {"web": web, "kept": useful, "queries": [], "searched": made}

    def generate(self, state: CorrectiveState) -> Corrected:
        """The answer from `kept`, each sentence checked against it as `[answer] check` says, or a refusal."""
        evidence = Evidence.for_question(self.pipeline.evaluator, state["question"])
        sources = [evidence.masked(one) for one in passages(state.get("kept", []))]
        knowledge = [(Strip(one.id, 0, len(one.text), one.text, None, kept=True), one) for one in sources]
        run = Recorder(state["question"], self.pipeline.config)
        drafted = self.pipeline.drafted(self.pipeline.checking(run, knowledge)) if knowledge else None
        answer = drafted or Answer("", refused=True)
        sound(run.finish())
        return {
            "answer": REFUSAL if answer.refused else answer.text,
            "refused": answer.refused,
            "citations": [
                {"marker": one.marker, "quote": one.quote, "title": one.title, "url": one.url}
                for one in answer.citations
                if one.strip
            ],
        }

    def _corrected(self, state: CorrectiveState, found: Sequence[Passage]) -> Trace:
        return corrected(self.pipeline, state["question"], found)
