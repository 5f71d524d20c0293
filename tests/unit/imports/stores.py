"""Three foreign stores in the shapes that are found in the wild, built by code: another server's ledgers with evidence
beside them, a harness's array of features, and a jonggrang project without a journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

AUTH = "auth-feature-abc123"


def put(path: Path, value: object) -> Path:
    """Write a file: text and bytes as they are, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else None
    path.write_bytes(json.dumps(value, indent=2).encode() if data is None else data)
    return path


def criterion(number: int, **fields: Any) -> dict[str, Any]:
    """One criterion with the seed's keys."""
    return {
        "id": f"AC{number}",
        "description": f"criterion {number} is met",
        "passes": False,
        "passed_at": None,
        "evidence_ref": None,
        "last_attempt_error": None,
        **fields,
    }


def passed(number: int, **fields: Any) -> dict[str, Any]:
    """One that the store says passed."""
    at = "2026-03-01T10:00:00.000Z"
    return criterion(number, passes=True, passed_at=at, evidence_ref=f"reports/{number}.txt", **fields)


def ledger(*criteria: dict[str, Any], feature: str = "checkout") -> dict[str, Any]:
    """A ledger with the seed's keys."""
    return {
        "task_id": feature,
        "created_at": "2026-02-01T00:00:00.000Z",
        "schema_version": 1,
        "features": list(criteria),
    }


def of_another_server(folder: Path) -> Path:
    """Forty criteria: 31 ticked, two failed with a reason, the rest open; 12 name a check. Evidence speaks of three
    more: one passing that the ledger has open, one failing, one of which nobody knows."""
    checks = {"evidence_required": ["run: python -m pytest -q", "a look at the page"]}
    rows = [passed(number, **(checks if number <= 12 else {})) for number in range(1, 32)]
    rows += [criterion(number, last_attempt_error=f"{number} is red") for number in (32, 33)]
    rows += [criterion(number) for number in range(34, 41)]
    put(folder / ".agent/tasks/checkout/feature_list.json", ledger(*rows))
    put(folder / ".agent/tasks/checkout/spec.md", "# Checkout\n")
    proof = [{"type": "command", "path": "raw/34.txt", "command": "npm test", "exit_code": 0, "summary": "all green"}]
    evidence = {
        "task_id": "checkout",
        "overall_status": "UNKNOWN",
        "acceptance_criteria": [
            {"id": "AC34", "text": "criterion 34 is met", "status": "PASS", "proof": proof, "gaps": []},
            {"id": "AC35", "text": "criterion 35 is met", "status": "FAIL", "proof": [], "gaps": ["no test for it"]},
            {"id": "AC36", "text": "criterion 36 is met", "status": "UNKNOWN", "proof": [], "gaps": []},
        ],
        "changed_files": ["src/cart.py"],
    }
    put(folder / ".agent/tasks/checkout/evidence.json", evidence)
    return folder


def of_a_harness(folder: Path) -> Path:
    """The array form at a project's top: three features with steps, two of them ticked."""
    rows = [
        {
            "category": "functional",
            "description": "New chat button creates a fresh conversation",
            "steps": ["Go to the main page", "Click 'New Chat'", "See an empty conversation"],
            "passes": True,
        },
        {"category": "style", "description": "The sidebar is readable", "steps": [], "passes": False},
        {"description": "Messages are kept over a reload", "steps": ["Write one", "Reload"], "passes": True},
    ]
    put(folder / "feature_list.json", rows)
    put(folder / "claude-progress.txt", "session 3: sidebar\n")
    return folder


def output(role: str = "developer", phase: float = 8, feature: str = AUTH, **payload: Any) -> dict[str, Any]:
    """An output with the seed's header."""
    developer = {"task_id": "task-001", "files_modified": ["src/auth.ts"], "files_created": [], "summary": "JWT",
                 "notes": "bcrypt"}  # fmt: skip
    return {
        "jonggrang-output": True,
        "feature_id": feature,
        "phase": phase,
        "role": role,
        "task_id": "task-001",
        "agent_id": f"{role}-auth-001",
        "timestamp": "2024-01-01T00:00:00Z",
        "status": "completed",
        "output": payload or developer,
    }


def of_jonggrang(folder: Path) -> Path:
    """Outputs of two phases, one that breaks its role's rules, a manifest with integer keys, an old board at the root,
    and what else lies about."""
    feature = folder / ".jonggrang/.output/features" / AUTH
    put(feature / "08-developer-task-001.json", output())
    counts: dict[str, Any] = {"total": 24, "passed": 24, "failed": 0}
    tests = {"tests_passed": True, **counts, "coverage": 87.3, "failed_tests": []}
    put(feature / "13-tester-results.json", output("tester", 13, **tests))
    put(feature / "14-tester-broken.json", output("tester", 14, **{**tests, "coverage": 180}))
    manifest = (
        f"feature_id: {AUTH}\nstatus: in_progress\nphases:\n  8:\n    name: implementation\n    status: completed\n"
    )
    put(feature / "MANIFEST.yaml", manifest)
    put(feature / "notes.txt", "mind the cookies\n")
    tasks = [
        {"id": "task-001", "title": "Add JWT", "priority": 1, "status": "completed", "passes": True},
        {"id": "task-002", "title": "Refresh tokens", "priority": 2, "blocked_by": ["task-001"], "passes": False},
    ]
    put(folder / ".jonggrang/jonggrang-tasks.json", {"feature": AUTH, "branch": "main", "tasks": tasks})
    return folder
