"""Labelled questions with their evidence, made from one's own documents."""
