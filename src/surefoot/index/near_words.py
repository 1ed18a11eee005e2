"""Words of an index near one that it lacks, for the search alone: the question stays as it was asked."""

from collections.abc import Iterable, Iterator

from surefoot.index.connection import Connection
from surefoot.text.words import fold, nearest

SHORTEST = 5
"""Letters from which a word may be misspelt; a shorter one is near too many."""
MOST = 2
"""Near words of one that is lacking."""


def near_words(db: Connection, lacking: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each of these terms, which no passage of the collection holds, with the words near it that begin with its letter,
    where there are some."""
    db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(main, {db.lexicon}, row)")  # nosec B608 # a word of ours
    for term in map(fold, lacking):
        if len(term) < SHORTEST or not term.isalpha():
            continue
        within = term[0], chr(ord(term[0]) + 1), len(term) - MOST, len(term) + MOST
        found = db.execute(
            "SELECT term FROM temp.words WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?", within
        )
        if near := nearest(term, (word for (word,) in found), MOST):
            yield term, tuple(near)
