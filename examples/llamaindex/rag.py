"""A RAG system of LlamaIndex's parts, which finds by words and quotes: improve --system "python rag.py FOLDER"."""

import json
import re
import sys
from functools import cache
from pathlib import Path

from llama_index.core import Document, QueryBundle
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

TEXTS = [re.sub("<[^>]+>", " ", file.read_text(errors="replace")) for file in Path(sys.argv[1]).rglob("*.html")]
COMMON = {*"a an and are can do does for how i if in is it of on or the to what when where which who why with".split()}


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - COMMON


class ByWords(BaseRetriever):
    def __init__(self, size: int, k: int, rare_first: bool) -> None:
        self.nodes, self.k, self.rare_first = nodes(size), k, rare_first
        super().__init__()

    def _retrieve(self, query: QueryBundle) -> list[NodeWithScore]:
        seen = {word: sum(word in there for _, there in self.nodes) for word in words(query.query_str)}
        worth = {word: 1 / (1 + times) if self.rare_first else 1 for word, times in seen.items()}
        scored = [
            NodeWithScore(node=node, score=sum(worth[w] for w in worth if w in there)) for node, there in self.nodes
        ]
        return sorted(scored, key=lambda one: -one.score)[: self.k]


@cache
def nodes(size: int) -> list:
    made = SentenceSplitter(chunk_size=size, chunk_overlap=0).get_nodes_from_documents(
        [Document(text=t) for t in TEXTS]
    )
    return [(node, words(node.text)) for node in made]


def answer(question: str, k: int, chunk_size: int, rank_rare_words_first: bool, prompt: str) -> dict:
    found = [one.node.text for one in ByWords(chunk_size, k, rank_rare_words_first).retrieve(question)]
    sentences = [" ".join(one.split()) for text in found for one in re.split(r"(?<=[.!?])\s", text)]
    best = sorted(sentences, key=lambda one: -len(words(question) & words(one)))
    return {"answer": " ".join(best[: 1 if prompt == "Quote one sentence." else 3]), "contexts": found}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(answer(request["question"], **request["config"])), flush=True)
