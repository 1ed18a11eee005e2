"""Benchmarks: labelled questions in, figures with intervals out, every outcome kept."""
