"""Generators: an answer from the kept strips. One method a file."""
