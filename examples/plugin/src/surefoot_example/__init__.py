"""What another package can plug in, a file each: an evaluator, a metric, a loader, a vector database and a policy."""
