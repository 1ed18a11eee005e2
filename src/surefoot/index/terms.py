"""The words that a query is searched by, and those of an index near one that it lacks; the question stays as it was
asked."""

import re
from collections.abc import Iterable, Iterator

from surefoot.index.connection import Connection
from surefoot.text.words import STOP_WORDS, fold, nearest

_TERM = re.compile(r"['’]s\b|([^\W_]+)")
"""A possessive ending, which is no term, or a term."""
_MOST_TERMS = 64

SHORTEST = 5
"""Letters from which a word may be misspelt; a shorter one is near too many."""
MOST = 2
"""Near words of one that is lacking."""
FEW = 200_000
"""Passages up to which a near word need only begin with the same letter, else with the same two: all such words are
read, with all their places."""


def query_terms(query: str) -> list[str]:
    """The query's words to search for, each once."""
    found = list(dict.fromkeys(filter(None, _TERM.findall(query.lower()))))
    telling = [term for term in found if term not in STOP_WORDS] or found
    return telling[:_MOST_TERMS]


def near_words(db: Connection, lacking: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each of these terms, which no passage of the collection holds, with the words near it that begin as it does."""
    db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(main, {db.lexicon}, row)")  # nosec B608 # a word of ours
    (rows,) = db.execute("SELECT ifnull(max(rowid), 0) FROM main.passages").fetchone()
    begin = 1 if rows <= FEW else 2
    for term in map(fold, lacking):
        if len(term) < SHORTEST or not term.isalpha():
            continue
        least, beyond = term[:begin], term[: begin - 1] + chr(ord(term[begin - 1]) + 1)
        within = least, beyond, len(term) - MOST, len(term) + MOST
        found = db.execute(
            "SELECT term FROM temp.words WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?", within
        )
        if near := nearest(term, (word for (word,) in found), MOST):
            yield term, tuple(near)
