"""A RAG system of LangChain's parts, which finds by words and quotes: improve --system "python rag.py FOLDER"."""

import json
import math
import re
import sys
from functools import cache
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from surefoot.evaluators.lexical import Lexical
from surefoot.types import Passage

PAGES = [re.sub("<[^>]+>", " ", file.read_text(errors="replace")).split() for file in Path(sys.argv[1]).rglob("*.html")]
COMMON = {*"a an and are can do does for how i if in is it of on or the to what when where which who why with".split()}


class ByWords(BaseRetriever):
    chunks: dict[str, frozenset[str]]

    def _get_relevant_documents(self, query: str, *, run_manager: object, k: int) -> list[Document]:
        seen = {word: 1 + sum(word in there for there in self.chunks.values()) for word in words(query)}
        rare = {word: math.log(1 + len(self.chunks) / times) for word, times in seen.items()}
        best = sorted(self.chunks, key=lambda text: -sum(rare[word] for word in rare if word in self.chunks[text]))
        return [Document(text) for text in best[:k]]


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - COMMON


@cache
def retriever(size: int) -> ByWords:
    texts = (" ".join(page[start : start + size]) for page in PAGES for start in range(0, len(page), size))
    return ByWords(chunks={text: words(text) for text in texts})


def answer(question: str, k: int, chunk_words: int, rerank: bool, reader_sentences: int) -> dict:
    texts = [one.page_content for one in retriever(chunk_words).invoke(question, k=20 if rerank else k)]
    grades = Lexical().grade([(question, Passage("", text)) for text in texts]) if rerank else []
    contexts = sorted(texts, key=lambda text: -grades[texts.index(text)].score)[:k] if rerank else texts
    sentences = [one for text in contexts for one in re.split(r"(?<=[.!?])\s", text)]
    best = sorted(sentences, key=lambda one: -sum(len(word) for word in words(question) & words(one)))
    return {"answer": " ".join(best[:reader_sentences]), "contexts": contexts}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(answer(request["question"], **request["config"])), flush=True)
