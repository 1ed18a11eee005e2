"""The corrective graph that LangGraph's tutorial builds of model calls, with Surefoot's steps in their places: offline,
and without a language model. Needs: pip install 'surefoot[langchain]' langgraph"""

from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory

from langgraph.graph import END, START, StateGraph

import surefoot
from surefoot.embedders.static import Static
from surefoot.index.build import build
from surefoot.integrations.langchain import SurefootRetriever
from surefoot.integrations.langgraph import Corrected, CorrectiveNodes, CorrectiveState

QUESTIONS = (
    "In which village was the guide Anna Tresk born?",
    "Who built the Sorvay Lighthouse?",
    "How many moons has Jupiter?",
)


def graph(pipeline: surefoot.Pipeline, checkpointer=None):
    """retrieve → grade → generate where the documents answer, else rewrite → search → generate."""
    nodes, retriever = CorrectiveNodes(pipeline), SurefootRetriever(pipeline=pipeline, k=10)

    def retrieve(state: CorrectiveState) -> Corrected:
        return {"documents": retriever.invoke(state["question"])}

    built = StateGraph(CorrectiveState)
    built.add_node("retrieve", retrieve)  # any retriever of LangChain's does
    built.add_node("grade_documents", nodes.grade)
    built.add_node("transform_query", nodes.rewrite)
    built.add_node("web_search_node", nodes.search)
    built.add_node("generate", nodes.generate)  # or a chain of your own that reads state["kept"]
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "grade_documents")
    elsewhere = {"ambiguous": "transform_query", "incorrect": "transform_query"}
    built.add_conditional_edges("grade_documents", nodes.decide, {"correct": "generate", **elsewhere})
    built.add_edge("transform_query", "web_search_node")
    built.add_edge("web_search_node", "generate")
    built.add_edge("generate", END)
    return built.compile(checkpointer)


if __name__ == "__main__":
    with as_file(files("surefoot") / "demo") as folder, TemporaryDirectory() as place:
        library, outside = Path(place) / "library.db", Path(place) / "outside.db"
        build([folder / "library"], library, Static())
        build([folder / "outside"], outside, Static())
        searcher = {"use": "folder", "path": str(outside)}
        app = graph(surefoot.load({}, index={"path": str(library)}, searcher=searcher))
        for question in QUESTIONS:
            done = app.invoke({"question": question})
            print(f"{question}\n  {done['action']}: {done['answer']}")
            for one in done["citations"]:
                print(f"  [{one['marker']}] {one['title']}: {one['quote']}")
