"""What each phase did: phases by name, attempts, changed files, and MANIFEST.yaml in every shape it ever had."""
