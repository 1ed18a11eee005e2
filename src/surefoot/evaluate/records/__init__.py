"""Answered questions of any RAG system as records: a format a file."""
