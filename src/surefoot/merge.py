"""Local and external knowledge side by side, without saying the same thing twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from surefoot.types import Strip
from surefoot.words import words

ALIKE = 0.8
"""Jaccard similarity of word triples from which two strips count as the same text."""


def distinct(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """All strips, in order; of kept ones that say the same, only the first stays kept: local before external."""
    kept: list[tuple[Strip, set[tuple[str, ...]]]] = []
    merged = []
    for strip in strips:
        triples = _triples(strip.text) if strip.kept else set()
        twin = next((other for other, seen in kept if strip.kept and _jaccard(triples, seen) >= ALIKE), None)
        if twin:
            strip = replace(strip, kept=False, reason=f"says the same as a strip of {twin.passage_id}")
        elif strip.kept:
            kept.append((strip, triples))
        merged.append(strip)
    return tuple(merged)


def _triples(text: str) -> set[tuple[str, ...]]:
    every = words(text)
    return {tuple(every[i : i + 3]) for i in range(max(1, len(every) - 2))}


def _jaccard(a: set[tuple[str, ...]], b: set[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b)
