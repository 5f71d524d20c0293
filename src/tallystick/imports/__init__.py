"""Foreign stores, read and recorded as claims: what others say passed is kept, shown, and counts for nothing."""
