-- There are no triggers, which may not write to the lexicon of an untrusted file: `build` keeps it up to date.

CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- Each collection has a lexicon of its own, `lexicon_<rowid>`, and each row below the number of its collection; a
-- connection sees the rows of one collection (`storage.confine`). `generation` changes with every change to it.
CREATE TABLE collections (rowid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL) STRICT;

-- `location` is relative to the index's folder, so that both can move together, and null for what was never a file;
-- `space` is the name space of the ids of its passages; `stamp` is the stamp of the `FoundFile` that was read, ""
-- or "… again" to read it again; `complete` is 0 while the file is being read; `meta` are fields that whoever indexed
-- it gave it.
CREATE TABLE files (
    rowid INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    location TEXT,
    path TEXT NOT NULL,
    space TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '',
    hash BLOB,
    complete INTEGER NOT NULL,
    problems TEXT NOT NULL DEFAULT '[]',
    meta TEXT NOT NULL DEFAULT '{}',
    UNIQUE (collection, location),
    UNIQUE (collection, space)
) STRICT;

CREATE TABLE documents (
    rowid INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    file INTEGER NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    added TEXT NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (collection, file, key),
    UNIQUE (collection, id)
) STRICT;

-- The fields of documents; a truth value is a blob of one byte, so that it is neither a number nor a text.
CREATE TABLE fields (
    collection INTEGER NOT NULL,
    document INTEGER NOT NULL,
    key TEXT NOT NULL,
    value ANY NOT NULL,
    PRIMARY KEY (collection, document, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX fields_by_value ON fields (collection, key, value);

-- `places` is the JSON of `Passage.places`, "" where there are none.
CREATE TABLE passages (
    rowid INTEGER PRIMARY KEY,
    collection INTEGER NOT NULL,
    id TEXT NOT NULL,
    document INTEGER NOT NULL,
    start INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    url TEXT,
    places TEXT NOT NULL,
    UNIQUE (collection, id)
) STRICT;
CREATE INDEX passages_of_documents ON passages (collection, document);

CREATE TABLE vectors (rowid INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
