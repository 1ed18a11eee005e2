"""Which engine should hold the passages? SQLite, LanceDB, bm25s and PostgreSQL with pgvector, side by side in one run.

    python benchmarks/engines.py [--passages 50000] [--corpus CORPUS.jsonl --questions QUESTIONS.jsonl]

Speed, size and survival are measured on synthetic passages of 60 words from a Zipf vocabulary, with random unit
vectors; recall on the corpus, by words alone. Corpus lines have id, title and text; question lines have question and
passages with id and label. A question counts when a passage labelled 1 is in the corpus; recall@k is the share of
questions with one of them among the first k. Needs lancedb, bm25s, psycopg and pgserver; an engine is tuned no further
than is written here.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from surefoot.text.words import content_words
from surefoot.types import Passage

DIMENSIONS = 384
DEPTH = 50
"""Passages that each half brings to a fusion; 10 are asked for in the end."""
CONSTANT = 60
QUESTIONS = 40
FRESH = 100
"""Passages that are added, and removed, after the build."""
BATCH = 100
"""Passages a transaction, where a writer is killed."""
KILLS = 10
os.environ.setdefault("LANCEDB_LOG", "error")
LAUNCHER = Path(__file__).parents[2] / "tests" / "services" / "postgres.py"


class Row(NamedTuple):
    id: str
    title: str
    text: str
    vector: np.ndarray


class Engine(Protocol):
    name: str
    parts: tuple[str, ...]
    """Distributions that it needs, beyond numpy."""
    imports: str
    semantic: bool

    def build(self, rows: Sequence[Row]) -> None: ...
    def lexical(self, question: str, k: int) -> list[str]: ...
    def nearest(self, vector: np.ndarray, k: int) -> list[str]: ...
    def hybrid(self, question: str, vector: np.ndarray, k: int) -> list[str]: ...
    def replace(self, gone: Sequence[str], new: Sequence[Row]) -> None: ...
    def megabytes(self) -> float: ...
    def close(self) -> None: ...


def fuse(*rankings: Sequence[str], k: int) -> list[str]:
    """Reciprocal rank fusion."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, 0) + 1 / (CONSTANT + rank)
    return sorted(scores, key=lambda id: (-scores[id], id))[:k]


class SQLite:
    """One file: FTS5, vectors as float16 blobs that are multiplied in memory."""

    name = "SQLite FTS5 + numpy"
    parts = ()
    imports = "import sqlite3, numpy"
    semantic = True

    def __init__(self, folder: Path) -> None:
        self.path = folder / "index.db"
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.executescript("""
            PRAGMA journal_mode = WAL;
            CREATE TABLE IF NOT EXISTS passages (
                n INTEGER PRIMARY KEY, id TEXT UNIQUE, title TEXT, text TEXT, vector BLOB);
            CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
                title, text, content=passages, content_rowid=n, tokenize='unicode61 remove_diacritics 2');
            CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON passages BEGIN
                INSERT INTO words (rowid, title, text) VALUES (new.n, new.title, new.text); END;
            CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON passages BEGIN
                INSERT INTO words (words, rowid, title, text) VALUES ('delete', old.n, old.title, old.text); END;
        """)
        self.ids: list[str] = []

    def build(self, rows: Sequence[Row]) -> None:
        self.replace((), rows)
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def replace(self, gone: Sequence[str], new: Sequence[Row]) -> None:
        packed = ((row.id, row.title, row.text, row.vector.astype(np.float16).tobytes()) for row in new)
        self.db.execute("BEGIN")
        self.db.executemany("DELETE FROM passages WHERE id = ?", ((id,) for id in gone))
        self.db.executemany("INSERT INTO passages (id, title, text, vector) VALUES (?, ?, ?, ?)", packed)
        self.db.execute("COMMIT")
        self.ids = []

    def load(self) -> None:
        stored = self.db.execute("SELECT id, vector FROM passages").fetchall()
        self.ids = [id for id, _ in stored]
        flat = np.frombuffer(b"".join(vector for _, vector in stored), dtype=np.float16)
        self.matrix = flat.reshape(len(self.ids), -1).astype(np.float32)

    def lexical(self, question: str, k: int) -> list[str]:
        query = " OR ".join(f'"{word}"' for word in content_words(question) if re.search(r"\w", word))
        search = """SELECT id FROM passages JOIN
            (SELECT rowid AS n, bm25(words, 2.0, 1.0) AS cost FROM words WHERE words MATCH ? ORDER BY cost LIMIT ?)
            USING (n) ORDER BY cost"""
        return [id for (id,) in self.db.execute(search, (query, k))]

    def nearest(self, vector: np.ndarray, k: int) -> list[str]:
        if not self.ids:
            self.load()
        scores = self.matrix @ vector
        best = np.argpartition(-scores, k)[:k]
        return [self.ids[n] for n in best[np.argsort(-scores[best])]]

    def hybrid(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        return fuse(self.lexical(question, DEPTH), self.nearest(vector, DEPTH), k=k)

    def megabytes(self) -> float:
        return weigh(self.path.parent)

    def close(self) -> None:
        self.db.close()


class LanceDB:
    """A folder of columns: its own full-text index (English stems, no stop words), exact vectors, its own fusion."""

    name = "LanceDB"
    parts = ("lancedb",)
    imports = "import lancedb"
    semantic = True

    def __init__(self, folder: Path) -> None:
        import lancedb
        from lancedb.rerankers import RRFReranker

        self.folder = folder
        self.database = lancedb.connect(folder)
        self.reranker = RRFReranker(CONSTANT)
        self.table = self.database.open_table("passages") if list(folder.iterdir()) else None

    def build(self, rows: Sequence[Row]) -> None:
        from lancedb.index import FTS

        self.table = self.database.create_table("passages", arrow(rows))
        self.table.create_index("text", config=FTS())

    def replace(self, gone: Sequence[str], new: Sequence[Row]) -> None:
        if gone:
            self.table.delete(f"id IN ({', '.join(map(repr, gone))})")
        self.table.add(arrow(new))

    def lexical(self, question: str, k: int) -> list[str]:
        return self._ids(self.table.search(question, query_type="fts").limit(k))

    def nearest(self, vector: np.ndarray, k: int) -> list[str]:
        return self._ids(self.table.search(vector).distance_type("cosine").limit(k))

    def hybrid(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        search = self.table.search(query_type="hybrid").text(question).vector(vector).distance_type("cosine")
        return self._ids(search.rerank(self.reranker).limit(DEPTH))[:k]

    def _ids(self, search) -> list[str]:
        return search.select(["id"]).to_arrow()["id"].to_pylist()

    def megabytes(self) -> float:
        return weigh(self.folder)

    def close(self) -> None:
        self.table = None


class BM25S:
    """Sparse matrices for words alone; a change is a new build."""

    name = "bm25s (words only)"
    parts = ("bm25s",)
    imports = "import bm25s"
    semantic = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def build(self, rows: Sequence[Row]) -> None:
        import bm25s

        self.rows = rows
        self.index = bm25s.BM25()
        self.index.index(self._words([f"{row.title} {row.title} {row.text}" for row in rows]), show_progress=False)
        self.index.save(self.folder / "index")

    def replace(self, gone: Sequence[str], new: Sequence[Row]) -> None:
        dropped = set(gone)
        self.build([*(row for row in self.rows if row.id not in dropped), *new])

    def lexical(self, question: str, k: int) -> list[str]:
        found, _ = self.index.retrieve(self._words([question]), k=k, show_progress=False)
        return [self.rows[n].id for n in found[0]]

    def _words(self, texts: list[str]):
        import bm25s

        return bm25s.tokenize(texts, stopwords="en", show_progress=False)

    def megabytes(self) -> float:
        return weigh(self.folder)

    def close(self) -> None:
        pass


class Given:
    """An embedder that is told each vector beforehand."""

    def __init__(self, dimensions: int) -> None:
        self.name = "given"
        self.dimensions = dimensions
        self.vector = np.zeros(dimensions, dtype=np.float32)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(self.vector, (len(texts), 1))


class PostgreSQL:
    """Surefoot's own adapter over a real server: words and HNSW in one query; a change is a push of the whole set."""

    name = "PostgreSQL + pgvector"
    parts = ("psycopg", "psycopg-binary", "pgserver")
    imports = "import psycopg"
    semantic = True

    def __init__(self, folder: Path) -> None:
        # By default an index is built in 64 MB, which the graph of 50,000 vectors outgrows.
        command = [sys.executable, LAUNCHER, "maintenance_work_mem=512MB"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.environ["SUREFOOT_PG_DSN"] = self.server.stdout.readline().decode().strip()

    def build(self, rows: Sequence[Row]) -> None:
        from surefoot.retrievers.pgvector import Pgvector

        self.embedder = Given(len(rows[0].vector))
        self.retriever = Pgvector(self.embedder, depth=DEPTH, constant=CONSTANT, timeout=60)
        self.rows = list(rows)
        self._push()

    def replace(self, gone: Sequence[str], new: Sequence[Row]) -> None:
        dropped = set(gone)
        self.rows = [*(row for row in self.rows if row.id not in dropped), *new]
        self._push()

    def _push(self) -> None:
        self.retriever.push((Passage(row.id, row.text, row.title), row.vector) for row in self.rows)

    def lexical(self, question: str, k: int) -> list[str]:
        return self.hybrid(question, np.zeros(self.embedder.dimensions, dtype=np.float32), k)

    def nearest(self, vector: np.ndarray, k: int) -> list[str]:
        return self.hybrid("", vector, k)

    def hybrid(self, question: str, vector: np.ndarray, k: int) -> list[str]:
        self.embedder.vector = vector
        return [passage.id for passage in self.retriever.retrieve(question, k)]

    def megabytes(self) -> float:
        import psycopg

        with psycopg.connect(os.environ["SUREFOOT_PG_DSN"]) as connection:
            size = connection.execute("SELECT pg_total_relation_size('surefoot_passages')").fetchone()[0]
        return size / 1e6

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()


ENGINES: dict[str, type[Engine]] = {"sqlite": SQLite, "lancedb": LanceDB, "bm25s": BM25S, "postgresql": PostgreSQL}


def arrow(rows: Sequence[Row]):
    import pyarrow as pa

    flat = pa.array(np.concatenate([row.vector for row in rows]), pa.float32())
    vectors = pa.FixedSizeListArray.from_arrays(flat, len(rows[0].vector))
    texts = [f"{row.title} {row.title} {row.text}".strip() for row in rows]
    return pa.table({"id": [row.id for row in rows], "text": texts, "vector": vectors})


def weigh(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def synthetic(count: int, seed: int = 2026) -> list[Row]:
    """Passages of 60 words, the n-th most frequent of 30,000 words being drawn with weight 1/n."""
    dice = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = np.array(["".join(letters[dice.integers(26, size=dice.integers(4, 10))]) for _ in range(30_000)])
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    drawn = vocabulary[dice.choice(len(vocabulary), size=(count, 60), p=weights / weights.sum())]
    vectors = dice.normal(size=(count, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [Row(f"p{n}-{seed}", "", " ".join(drawn[n]), vectors[n]) for n in range(count)]


def asked(rows: Sequence[Row]) -> list[tuple[str, np.ndarray]]:
    """Questions of six words of one passage each, the hundred most frequent words left out, and its vector, blurred."""
    frequent = {word for word, _ in most_frequent(rows, 100)}
    dice = random.Random(7)
    noise = np.random.default_rng(7)
    questions = []
    for row in dice.sample(rows, QUESTIONS):
        telling = sorted(set(row.text.split()) - frequent)
        vector = row.vector + noise.normal(scale=0.05, size=DIMENSIONS).astype(np.float32)
        questions.append((" ".join(dice.sample(telling, 6)), vector / np.linalg.norm(vector)))
    return questions


def most_frequent(rows: Sequence[Row], count: int) -> list[tuple[str, int]]:
    from collections import Counter

    return Counter(word for row in rows for word in row.text.split()).most_common(count)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def milliseconds(engine: Engine, questions: Sequence[tuple[str, np.ndarray]]) -> dict[str, str]:
    """The medians over the questions; each question is asked in every way before the next, so that noise is shared."""
    ways = {"lexical, ms": lambda question, _: engine.lexical(question, DEPTH)}
    if engine.semantic:
        ways["vector, ms"] = lambda _, vector: engine.nearest(vector, DEPTH)
        ways["hybrid, ms"] = lambda question, vector: engine.hybrid(question, vector, 10)
    took: dict[str, list[float]] = {way: [] for way in ways}
    for question in (questions[0], *questions):
        for way, ask in ways.items():
            took[way].append(seconds(lambda ask=ask, question=question: ask(*question)))
    return {way: f"{1000 * statistics.median(times[1:]):.1f}" for way, times in took.items()}


def import_seconds(statement: str) -> float:
    """The median of five fresh processes."""
    timed = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    return statistics.median(float(subprocess.check_output([sys.executable, "-c", timed])) for _ in range(5))


def installed_megabytes(parts: Sequence[str]) -> float:
    """The distributions and all that they need, numpy left out."""
    waiting, seen, size = list(parts), {"numpy"}, 0
    while waiting:
        if (name := waiting.pop()) in seen:
            continue
        seen.add(name)
        found = distribution(name)
        size += sum(path.stat().st_size for file in found.files or () if (path := Path(file.locate())).is_file())
        needed = (each for each in found.requires or () if ";" not in each)
        waiting += [re.match(r"[\w.-]+", each)[0].lower() for each in needed]
    return size / 1e6


def measure(make: type[Engine], rows: Sequence[Row], fresh: Sequence[Row], exact: Sequence[set[str]]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        engine = make(Path(folder))
        told = {"insert, s": f"{seconds(lambda: engine.build(rows)):.1f}"}
        questions = asked(rows)
        told |= milliseconds(engine, questions)
        if engine.semantic:
            shares = [
                len(set(engine.nearest(vector, 10)) & best) / 10
                for (_, vector), best in zip(questions, exact, strict=True)
            ]
            told["nearest 10 that are the true ones"] = f"{statistics.mean(shares):.0%}"
        told["disk, MB"] = f"{engine.megabytes():.0f}"
        told["100 in, 100 out, next answer, s"] = f"{changed(engine, rows, fresh):.2f}"
        engine.close()
    told["import, s"] = f"{import_seconds(engine.imports):.2f}"
    told["installed beyond numpy, MB"] = f"{installed_megabytes(engine.parts):.0f}"
    return told


def changed(engine: Engine, rows: Sequence[Row], fresh: Sequence[Row]) -> float:
    """Seconds from a change of 100 passages each way until a question has been answered from the new state."""
    gone = [row.id for row in rows[:FRESH]]

    def work() -> list[str]:
        engine.replace(gone, fresh)
        if not engine.semantic:
            return engine.lexical(fresh[0].text, 10)
        return engine.hybrid(fresh[0].text, fresh[0].vector, 10)

    began = time.perf_counter()
    found = work()
    took = time.perf_counter() - began
    assert found[0] == fresh[0].id, f"{engine.name} does not find a passage that was added"
    assert not set(gone) & set(engine.lexical(rows[0].text, 10)), f"{engine.name} finds a passage that was removed"
    return took


def survival(name: str) -> str:
    """What a reader finds after its writer was killed (SIGKILL) at a random moment, several times over."""
    dice = random.Random(11)
    faults: list[str] = []
    lost = torn = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for _ in range(KILLS):
            shutil.rmtree(home)
            home.mkdir()
            acknowledged = killed_writer(name, home, 0.05 + 0.4 * dice.random())
            try:
                found = surviving(name, home)
            except Exception as error:  # noqa: BLE001 - whatever an engine raises over a damaged store is the finding
                faults.append(type(error).__name__)
                continue
            lost += found < acknowledged
            torn += found % BATCH != 0
    broken = f"; raised {', '.join(sorted(set(faults)))}" if faults else ""
    return f"{KILLS} kills: {len(faults)} stores unreadable, {lost} lost acknowledged rows, {torn} torn batches{broken}"


def killed_writer(name: str, home: Path, delay: float) -> int:
    """The rows whose writing a writer had reported when it was killed, `delay` seconds after its second report."""
    command = [sys.executable, __file__, "--victim", name, str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        reports = [writer.stdout.readline(), writer.stdout.readline()]
        time.sleep(delay)
        writer.kill()
        reports += [line for line in writer.stdout if line.endswith("\n")]
    return int(reports[-1])


def victim(name: str, home: Path) -> None:
    """Writes batch after batch, reporting the rows written so far, until it is killed."""
    rows = synthetic(5_000)
    engine = ENGINES[name](home)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        engine.build(batch) if start == 0 else engine.replace((), batch)
        print(start + BATCH, flush=True)


def surviving(name: str, home: Path) -> int:
    """The number of rows that a new process's reader finds, having searched them too. Raises what the engine raises."""
    engine = ENGINES[name](home)
    engine.lexical("probe", 10)
    if name == "sqlite":
        assert engine.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        engine.db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        return engine.db.execute("SELECT count(*) FROM passages").fetchone()[0]
    return engine.table.count_rows()


def lines(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def recalls(make: type[Engine], rows: Sequence[Row], questions: Sequence[tuple[str, set[str]]]) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        engine = make(Path(folder))
        engine.build(rows)
        found = [(engine.lexical(question, 10), gold) for question, gold in questions]
        engine.close()
    return {
        f"recall@{k}": f"{statistics.mean(bool(gold & set(ids[:k])) for ids, gold in found):.3f}" for k in (1, 5, 10)
    }


def table(columns: dict[str, dict[str, str]]) -> str:
    measures = dict.fromkeys(measure for column in columns.values() for measure in column)
    head = ["", *columns]
    body = [[measure, *(column.get(measure, "–") for column in columns.values())] for measure in measures]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--victim", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.victim:
        return victim(given.victim[0], Path(given.victim[1]))
    rows, fresh = synthetic(given.passages), synthetic(FRESH, seed=1)
    matrix = np.stack([row.vector for row in rows])
    exact = [{rows[n].id for n in np.argsort(-(matrix @ vector))[:10]} for _, vector in asked(rows)]
    print(table({make.name: measure(make, rows, fresh, exact) for make in ENGINES.values()}), end="\n\n", flush=True)
    for name in ("sqlite", "lancedb"):
        print(f"- {ENGINES[name].name}: {survival(name)}", flush=True)
    if given.corpus and given.questions:
        zero = np.zeros(1, dtype=np.float32)
        real = [Row(line["id"], line["title"], line["text"], zero) for line in lines(given.corpus)]
        known = {row.id for row in real}
        golds = [
            (q["question"], {p["id"] for p in q["passages"] if p["label"] == 1} & known) for q in lines(given.questions)
        ]
        golds = [(question, gold) for question, gold in golds if gold]
        print(f"\nRecall by words: {len(real)} passages, {len(golds)} questions.\n")
        print(table({make.name: recalls(make, real, golds) for make in ENGINES.values()}))
    return None


if __name__ == "__main__":
    main()
