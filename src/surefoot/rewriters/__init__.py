"""Rewriters: a question in, search queries out. One method a file."""
