"""From answered questions to scores, from scores to a diagnosis, from that to a change that is proven."""
