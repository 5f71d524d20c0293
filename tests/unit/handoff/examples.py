"""The first seed's own examples of outputs, as its two texts print them; both print the same bytes.

Three things in them are no JSON and are replaced, nothing else: the comment `// role-specific payload here` by the
payload of the role, `[...]` by `[]`, and `"..."` stays, since it is a text.
"""

from __future__ import annotations

import json
from typing import Any

HEADER = """\
{
  "jonggrang-output": true,
  "feature_id": "auth-feature-abc123",
  "phase": 8,
  "role": "developer",
  "task_id": "task-001",
  "agent_id": "developer-auth-001",
  "timestamp": "2024-01-01T00:00:00Z",
  "status": "completed",
  "output": {
    // role-specific payload here
  }
}
"""
COMMENT = "    // role-specific payload here\n"

LEAD = """\
{
  "output": {
    "work_type": "MEDIUM",
    "tasks": [
      { "id": "task-001", "title": "...", "description": "...", "files": [...], "blocked_by": [] },
      { "id": "task-002", "title": "...", "description": "...", "files": [...], "blocked_by": ["task-001"] }
    ],
    "tech_decisions": [...],
    "risk_factors": [...]
  }
}
"""

DEVELOPER = """\
{
  "output": {
    "task_id": "task-001",
    "files_modified": ["src/auth.ts"],
    "files_created": ["src/auth.test.ts"],
    "summary": "Implemented JWT auth with refresh tokens",
    "notes": "Used bcrypt for password hashing"
  }
}
"""

REVIEWER = """\
{
  "output": {
    "approved": true,
    "score": 8,
    "violations": [],
    "warnings": ["Consider adding rate limiting"],
    "required_fixes": []
  }
}
"""

TESTER = """\
{
  "output": {
    "tests_passed": true,
    "total": 24,
    "passed": 24,
    "failed": 0,
    "coverage": 87.3,
    "failed_tests": []
  }
}
"""

#: Role -> its example as printed.
PRINTED = {"lead": LEAD, "developer": DEVELOPER, "reviewer": REVIEWER, "tester": TESTER}

#: The file names that the seed gives as examples, with what the header of each would say.
NAMES = {
    "07-lead-architecture-plan.json": (7, "lead", "architecture-plan"),
    "08-developer-task-001.json": (8, "developer", "task-001"),
    "09-reviewer-design-check.json": (9, "reviewer", "design-check"),
    "11-reviewer-code-quality.json": (11, "reviewer", "code-quality"),
    "12-test-lead-test-plan.json": (12, "test-lead", "test-plan"),
    "13-tester-results.json": (13, "tester", "results"),
}


def payload(role: str) -> Any:
    """The example payload of a role."""
    return json.loads(PRINTED[role].replace("[...]", "[]"))["output"]


def printed_header() -> bytes:
    """The example of a whole file, the developer's payload in place of the comment."""
    inner = DEVELOPER.split('"output": {\n', 1)[1].split("  }\n}", 1)[0]
    return HEADER.replace(COMMENT, inner).encode()


def document(role: str = "developer", **changed: Any) -> dict[str, Any]:
    """A whole output of a role; `changed` are keys of the header, `output` among them."""
    whole: dict[str, Any] = {
        "jonggrang-output": True,
        "feature_id": "checkout",
        "phase": 8,
        "role": role,
        "task_id": "task-001" if role == "developer" else None,
        "agent_id": f"{role}-auth-001",
        "timestamp": "2024-01-01T00:00:00Z",
        "status": "completed",
        "output": payload(role) if role in PRINTED else {"says": "done"},
    }
    return {**whole, **changed}


TEST_PLAN = {
    "coverage_target": 80,
    "test_groups": [
        {
            "group_id": "g1",
            "module": "cart",
            "file": "cart.py",
            "test_file": "test_cart.py",
            "priority": 1,
            "cases": ["empty", {"name": "full"}],
        }
    ],
}
