"""Searchers: knowledge from outside the corpus. One source a file."""
