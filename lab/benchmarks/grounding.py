"""Does a quoted citation mean a faithful sentence? The citation check against people's labels.

    python benchmarks/grounding.py ANSWERS.jsonl...

Lines are {"context", "answer", "question"?, "human": {"faithful"}}: BEGIN (attribution of dialogue turns) and QAGS
(summaries). The context is the only strip, and the answer has no markers, so attribution is tested as well.
"""

import sys
from collections import Counter
from pathlib import Path

from surefoot import Answer, Passage, Strip
from surefoot.evaluate.ask.questions import rows
from surefoot.evidence.citations import grounded


def verdict(row: dict) -> str:
    """The verdict of the check on the whole answer."""
    passage = Passage("p", row["context"])
    strip = Strip("p", 0, len(passage.text), passage.text, 1.0, kept=True)
    answer = grounded(row.get("question") or "", Answer(row["answer"]), [(strip, passage)])
    if answer.refused:
        return "withheld"
    return "quoted" if all(citation.quoted for citation in answer.citations) else "not quoted"


for path in map(Path, sys.argv[1:]):
    labelled = [row for _, row in rows(path) if row["human"].get("faithful") is not None]
    counts = Counter((verdict(row), bool(row["human"]["faithful"])) for row in labelled)
    print(f"{path.stem}: {sum(n for (_, yes), n in counts.items() if yes)} of {len(labelled)} faithful")
    for reply in ("quoted", "not quoted", "withheld"):
        yes, no = counts[reply, True], counts[reply, False]
        print(f"  {reply}: {yes} of {yes + no} faithful")
