"""Refiners: passages in, strips out, kept and dropped. One method a file."""
