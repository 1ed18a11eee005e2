"""Answered questions are scored, scores diagnosed, and changes proven on held-out questions."""
