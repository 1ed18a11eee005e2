"""Does LangGraph's corrective graph, with our nodes in it, come to what `Pipeline.run` comes to?

    python benchmarks/graph.py QUESTIONS.jsonl --index wiki.db [--number 50]

The graph is that of examples/langchain/agentic_crag.py, with nowhere to search. Lines have question and answers; an
answer is right if it holds one of these, in lower case. Both are asked every question, with ten passages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

import surefoot
from surefoot.stats.figures import match_lower

sys.path.append(str(Path(__file__).parents[2] / "examples" / "langchain"))
import agentic_crag


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--index", required=True)
    parser.add_argument("--number", type=int, default=50)
    given = parser.parse_args()
    pipeline = surefoot.load({}, index={"path": given.index}, pipeline={"k": 10})
    app = agentic_crag.graph(pipeline)
    rows = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()][: given.number]
    counts = {"graph": 0, "run": 0}
    alike, same_action, seconds = 0, 0, []
    for row in rows:
        start = time.perf_counter()
        state = app.invoke({"question": row["question"]})
        seconds.append(time.perf_counter() - start)
        trace = pipeline.run(row["question"])
        answer = trace.answer
        said = {
            "graph": "" if state["refused"] else state["answer"],
            "run": answer.text if answer and not answer.refused else "",
        }
        for name, text in said.items():
            counts[name] += match_lower(text, row["answers"])
        alike += said["graph"] == said["run"]
        same_action += trace.decision is not None and state["action"] == trace.decision.action.value
    print(f"{len(rows)} questions: right {counts['graph']} by the graph, {counts['run']} by Pipeline.run")
    print(f"the same answer for {alike}, the same action for {same_action}")
    print(f"a question takes the graph {median(seconds):.2f} s at the median")


if __name__ == "__main__":
    main()
