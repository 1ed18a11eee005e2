"""Labelled questions, from our own format and from the official files of the papers' data sets."""
