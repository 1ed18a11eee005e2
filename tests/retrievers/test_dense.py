"""Retrieval by vectors."""

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.retrievers.dense import Dense
from surefoot.types.errors import IndexFault


class Other(Hashing):
    name = "other"


@pytest.fixture
def index(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nhut,The hut has beds\nice,A glacier\n")
    build([tmp_path / "a.csv"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        yield index


def test_an_index_rebuilt_with_another_embedder_is_refused(index, tmp_path):
    """Also when that happens while the retriever is in use."""
    retriever = Dense(index, Hashing())
    build([tmp_path / "a.csv"], tmp_path / "index.db", Other(), rebuild=True)
    with pytest.raises(IndexFault, match="other"):
        retriever.retrieve("the glacier", 1)


def test_a_question_is_embedded_as_one(index):
    """Where the embedder reads questions otherwise than passages."""

    class Asked(Hashing):
        def embed_questions(self, texts):
            return self.embed([text.replace("mountain", "glacier") for text in texts])

    (found,) = Dense(index, Asked()).retrieve("mountain", 1)
    assert found.id.endswith("ice")
