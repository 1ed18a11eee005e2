"""Lexical retrieval."""

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.retrievers.bm25 import Bm25
from surefoot.types.protocols import Retriever


def test_it_retrieves_what_shares_words_with_the_question(tmp_path):
    """Best first, at most k, and nothing else."""
    (tmp_path / "a.csv").write_text("id,text\nhut,The hut has beds\nice,A glacier\nold,The old hut hut\n")
    build([tmp_path / "a.csv"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        retriever = Bm25(index)
        assert isinstance(retriever, Retriever)
        assert {passage.id.partition(":")[2] for passage in retriever.retrieve("Which hut?", 5)} == {"hut", "old"}
        assert len(retriever.retrieve("Which hut?", 1)) == 1
        assert retriever.retrieve("Which marmot?", 5) == ()
