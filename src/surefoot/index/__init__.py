"""Blocks in, passages out: `splitter` cuts, `build` and `intake` write, `storage` keeps, `search` finds."""
