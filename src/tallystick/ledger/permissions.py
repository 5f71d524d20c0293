"""Who may do what to a ledger: one table (surface: tools by role, D9, promise P12). Pure.

A role is fixed where a connection begins. `user` is a person at a terminal, `shell` any other command line: it may
what `solo` may, except what only a person decides.
"""

from __future__ import annotations

from tallystick.errors import Refusal

#: Every role a connection can be opened for (`solo` is the one of a connection that names none).
ROLES = frozenset(
    (
        "solo", "main", "orchestrator", "spec-freezer", "test-author", "implementer", "verifier", "fixer",
        "lead", "developer", "reviewer", "designer", "test-lead", "tester",
    )
)  # fmt: skip

_PERSON = frozenset(("user",))
_SHELL = _PERSON | {"shell"}

ACTS: dict[str, frozenset[str]] = {
    "freeze": _SHELL | {"solo", "main", "spec-freezer"},
    "add": _SHELL | {"solo", "main", "spec-freezer"},
    "amend": _PERSON | {"solo", "spec-freezer"},
    "pass": _SHELL | {"solo", "verifier"},
    "fail": _SHELL | {"solo", "main", "verifier", "fixer"},
    "check": _SHELL | {"solo", "main", "test-author", "implementer", "developer", "tester", "fixer", "verifier"},
    "red": _SHELL | {"solo", "main", "test-author"},
    "note": _SHELL | ROLES,
    "output": _SHELL | ROLES,
    "phase": _SHELL | {"solo", "main", "lead", "orchestrator"},
    "plan": _SHELL | {"solo", "main", "lead", "orchestrator"},
    "task": _SHELL | {"solo", "main", "developer", "implementer", "fixer", "lead", "orchestrator"},
    "import": _SHELL,
    "override": _PERSON,
    "accept": _PERSON,
    "trust": _PERSON,
    "abandon": _SHELL | {"solo", "main", "orchestrator"},
}

_HINTS = {
    "pass": "say in your report which criteria are ready; the verifier marks them",
    "amend": "ask your user, or the spec role, for an amendment",
    "red": "the test author sees the tests red, before anything is built",
    "override": "ask your user: only a person at a terminal overrides",
    "accept": "ask your user: only a person at a terminal accepts",
    "trust": "ask your user: only a person at a terminal trusts commands (`tallystick trust`)",
}


def denied(act: str, role: str) -> Refusal | None:
    """Why `role` may not do `act`, None when it may."""
    if role in ACTS[act]:
        return None
    return Refusal("role.denied", f"{act} is not for the role {role}", _HINTS.get(act, "ask your user"))
