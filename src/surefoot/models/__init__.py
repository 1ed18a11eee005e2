"""Model files: the list of them, their sources, their checks and their readers."""
