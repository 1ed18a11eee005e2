"""Embedders: texts in, unit vectors out. One method a file."""
