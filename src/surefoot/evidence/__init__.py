"""The weight of a passage as evidence: planted, repeated or doubted text decides nothing."""
