"""The study: which words an evaluator's grades hang on, tested by what was written down before."""
