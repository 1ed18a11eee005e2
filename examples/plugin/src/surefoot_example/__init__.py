"""What another package can plug in, a file each: an evaluator, a metric, a loader, a store and a policy."""
