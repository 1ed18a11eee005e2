"""Evaluators: how well does a passage answer a question? One method a file."""
