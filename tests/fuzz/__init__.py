"""Strangers' files of every kind, damaged in every way: nothing may end otherwise than in a SurefootError."""
