"""The feature ledger: frozen criteria, what was tried, what passed, and on what evidence."""
