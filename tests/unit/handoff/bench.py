"""A project whose agents hand over outputs, by the service and by writing the files themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tallystick.handoff.output.listing import Filters, Row
from tallystick.handoff.output.service import OutputService
from tallystick.wiring import App, outputs
from tests.desk import FEATURE, Desk
from tests.unit.handoff.examples import document

FILE = "08-developer-task-001.json"
#: A token of a known shape that belongs to nobody.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Bench:
    """A project and its outputs; each `app` is a process of its own."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.folder = desk.folder / ".jonggrang" / ".output" / "features" / FEATURE

    def put(self, name: str | bytes, given: Any) -> Path:
        """Write a file as an agent does."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / os.fsdecode(name)
        path.write_bytes(given if isinstance(given, bytes) else json.dumps(given).encode())
        return path

    def app(self, role: str = "solo") -> App:
        return self.desk.app(role)

    def service(self, role: str = "solo") -> OutputService:
        return outputs(self.app(role))

    def save(self, given: Any = None, role: str = "solo", name: str = "") -> Any:
        """Save and bring the tree up to date, as a command does."""
        app = self.app(role)
        saved = outputs(app).save(document() if given is None else given, name)
        app.due.finish()
        app.store.close()
        return saved

    def mark(self) -> tuple[str, ...]:
        """Any writing command; its notes."""
        app = self.app()
        app.ledger.mark_failure(FEATURE, "AC1", "x")
        notes = app.due.finish()
        app.store.close()
        return notes

    def rows(self, **filters: Any) -> dict[str, Row]:
        return {row.file: row for row in self.service().find(FEATURE, Filters(**filters)).rows}

    def read(self, file: str = FILE) -> bytes:
        return (self.folder / file).read_bytes()

    def on_disk(self) -> bytes:
        """Everything that the store holds."""
        return b"".join(path.read_bytes() for path in self.desk.store.rglob("*") if path.is_file())
