"""A file in, blocks out: `loaders` read each format, in a process that can be killed (`reader_pool`, `worker`)."""
