"""What a passage may count for: what is planted, repeated or doubted decides nothing."""
