"""The loop that tries what a diagnosis proposes, and keeps what is proven to help."""
