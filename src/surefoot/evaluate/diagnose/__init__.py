"""Where records were lost, why, and what to change first."""
