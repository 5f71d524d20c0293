"""Every command with words that are right, so that only what a test spoils can be wrong."""

from __future__ import annotations

from tests.desk import FEATURE

Words = tuple[str, ...]

#: What only reads, and what only a person or a shell may do that counts.
READING: tuple[Words, ...] = (
    ("status",),
    ("status", "--check"),
    ("ledger", "show", FEATURE),
    ("ledger", "failing", FEATURE),
    ("ledger", "get", FEATURE, "AC1"),
    ("brief", FEATURE),
    ("output", "find", FEATURE),
    ("audit",),
)
COUNTING: tuple[Words, ...] = (
    ("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt"),
    ("ledger", "add", FEATURE, "more.md"),
)
WAYS_OUT: tuple[Words, ...] = (
    ("ledger", "fail", FEATURE, "AC2", "--error", "red again"),
    ("abandon", FEATURE, "--reason", "given up"),
)
PERSONS: tuple[Words, ...] = (
    ("ledger", "amend", FEATURE, "AC2", "--text", "another text", "--reason", "agreed"),
    ("ledger", "override", FEATURE, "AC2", "--reason", "seen by hand"),
)
WRITING = (*COUNTING, *WAYS_OUT)
MORE = "- [ ] AC9 one more\n"
