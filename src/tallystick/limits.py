"""The one table of limits (promise P15). Everything that comes from outside is measured here before it is parsed.

Sizes are bytes unless the name says characters, times are seconds. A test compares this table with `docs/formats.md`.
"""

from __future__ import annotations

MB = 1_000_000

INPUT_FILE = 16 * MB
RECORD_LINE = 16 * MB
NESTING = 64
MCP_LINE = 8 * MB
DESCRIPTION_CHARACTERS = 8_000
ERROR_CHARACTERS = 2_000
REASON_CHARACTERS = 2_000
REFERENCE_CHARACTERS = 2_000
NOTE_CHARACTERS = 2_000
ID_CHARACTERS = 64
CRITERIA = 10_000
REQUIREMENTS = 100
TASKS = 10_000
TASK_ENTRIES = 1_000
TITLE_CHARACTERS = 500
LEASE_S = 1_800.0
LEASE_MOST_S = 86_400.0
CITED_FILE = 64 * MB
IMPORT_FILES = 10_000
IMPORT_BYTES = 256 * MB
INLINE_EVIDENCE = 16 * 1024
SEGMENT_FILE = 64 * MB
SEGMENT_HEAD = 1 * MB
SEGMENTS = 10_000
SHARED_BLOB = 64 * 1024
JOURNAL_FILE = 1_000 * MB
LOCK_WAIT_S = 60.0
ANSWER_S = 45.0
PAGE_ROWS = 20
COUNTER = 2**53 - 1
COUNTER_JUMP = 1_000_000
