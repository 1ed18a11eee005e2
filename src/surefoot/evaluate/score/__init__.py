"""Judges over records, and what their scores come to."""
