"""The study: which words an evaluator's grades depend on, tested against hypotheses registered beforehand."""
