-- There are no triggers, which may not write to the lexicon of an untrusted file: `build` keeps it up to date.

CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- `location` is relative to the index's folder, so that both can move together; `space` is the name space of the ids of
-- its passages; `stamp` is the stamp of the `FoundFile` that was read, "" to read it again; `complete` is 0 while the
-- file is being read.
CREATE TABLE files (
    rowid INTEGER PRIMARY KEY,
    location TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    space TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL DEFAULT '',
    hash BLOB,
    complete INTEGER NOT NULL,
    problems TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- `hash` is null while the document is being written.
CREATE TABLE documents (
    rowid INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    key TEXT NOT NULL,
    hash BLOB,
    UNIQUE (file, key)
) STRICT;

-- `places` is the JSON of `Passage.places`, "" where there are none.
CREATE TABLE passages (
    rowid INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL,
    start INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    url TEXT,
    places TEXT NOT NULL,
    checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX passages_of_documents ON passages (document);

CREATE TABLE vectors (rowid INTEGER PRIMARY KEY, vector BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;

CREATE VIRTUAL TABLE lexicon USING fts5 (
    title, text, content='passages', content_rowid='rowid', tokenize='unicode61 remove_diacritics 2'
);
