"""What a proof is, and running it. Everything here is imported when a check runs, not at a start."""
