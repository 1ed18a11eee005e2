"""Files and folders in, passages out: `loaders` read, `splitter` cuts, `build` indexes and `index` searches them."""
