"""What one session hands to the next: notes, and the brief that names what matters first."""
