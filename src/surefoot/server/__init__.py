"""`surefoot serve`: the engine behind HTTP, for its own page, for programs and for chat clients (extra `server`)."""
