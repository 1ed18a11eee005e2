"""Judges of answered questions: one metric a file, and `llm` for any of them."""
