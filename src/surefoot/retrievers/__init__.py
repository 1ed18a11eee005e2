"""Retrievers: a question in, passages of the corpus out, best first. One method a file."""
