"""What the attacks are played on, and what every one of them is measured by.

`expect_named` holds that an attack is told by `audit`, by `ledger show` and by the next mark of a process that
opens the store afterwards, and that nothing it claims is counted. `expect_quiet` is its honest twin: no word of alarm.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick import canonical
from tallystick.canonical import Json
from tests.desk import FEATURE, Desk, Said

LOOK = 8
GRAVE = {"journal.damaged", "anchor.rolled_back", "anchor.fork", "view.damaged"}


class Scene(Desk):
    """AC1 passes by citing proof.txt, AC2 failed once, AC3 is untouched."""

    def __init__(self, base: Path, git: bool = True) -> None:
        super().__init__(base, git)
        self.own: Path | None = None
        self.freeze()
        self.cite("AC1")
        self.ok("ledger", "fail", FEATURE, "AC2", "--error", "assert 2 == 1")
        self.own = self.journal

    @property
    def journal(self) -> Path:
        """The journal file of this place's writer, whatever lies beside it or took its place."""
        return self.own or super().journal

    # -- forging ------------------------------------------------------------------------------------------------

    def lines(self, path: Path | None = None) -> list[bytes]:
        """The lines of a journal file, without their ends."""
        return (path or self.journal).read_bytes().splitlines()

    def write(self, lines: list[bytes], path: Path | None = None) -> None:
        """Replace a journal file in place."""
        (path or self.journal).write_bytes(b"".join(line + b"\n" for line in lines))

    def edit_view(self, name: str, fields: Mapping[str, Json]) -> None:
        """Change one row of the view by hand."""
        document = json.loads(self.view.read_bytes())
        for row in document["features"]:
            if row["id"] == name:
                row.update(fields)
        self.view.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def forged(self, type_: str, data: dict[str, Json], key: bytes = bytes(32), **fields: Any) -> bytes:
        """A record with a right digest behind the last one, sealed with a key that the attacker made up."""
        last = json.loads(self.lines()[-1])
        body = {**last, "i": last["i"] + 1, "n": last["n"] + 1, "prev": last["id"], "c": [1, 1], "type": type_}
        return reseal({**body, "data": data, "seen": {}, **fields}, key)

    def passes(self, name: str) -> dict[str, Json]:
        """The payload of a pass of `name` that nobody earned."""
        frozen = json.loads(self.lines()[0])["data"]["criteria"]
        digest = next(canonical.sha256(canonical.encode(one)) for one in frozen if one["id"] == name)
        cited = {"kind": "file", "ref": "proof.txt", "target": "proof.txt", "size": 10, "text": "12 passed\n"}
        evidence = [{**cited, "digest": canonical.sha256(b"12 passed\n")}]
        return {
            "criterion": name,
            "digest": digest,
            "level": "cited",
            "evidence_ref": "proof.txt",
            "evidence": evidence,
        }

    def of_another_writer(self, *records: bytes, writer: str = "b" * 32) -> Path:
        """A journal file of a writer nobody knows."""
        path = self.journal.with_name(f"{writer}.jsonl")
        path.write_bytes(b"".join(one + b"\n" for one in records))
        return path

    def copy_aside(self, path: Path) -> Path:
        """A copy of a file or folder, beside everything."""
        aside = self.base / "aside" / path.name
        if path.is_dir():
            shutil.copytree(path, aside)
        else:
            aside.parent.mkdir(exist_ok=True)
            shutil.copy2(path, aside)
        return aside

    # -- measuring ----------------------------------------------------------------------------------------------

    def expect_named(self, code: str, holding: list[str], mark: str = "AC3") -> None:
        """The attack is named by every reading command and stops the next mark; `holding` alone is counted."""
        shown = self.run("ledger", "show", FEATURE, "--json")
        assert (shown.status, self.counted()) == (LOOK, holding), shown
        assert code in [finding["code"] for finding in shown.document["findings"]]
        assert f"{code}: " in self.run("ledger", "show", FEATURE).err
        for words in (("status",), ("ledger", "failing", FEATURE), ("ledger", "get", FEATURE, "AC1")):
            assert self.run(*words).status == LOOK
        audit = self.run("audit", "--json")
        assert (audit.status, audit.document["holds"], code in self.findings()) == (LOOK, False, True), audit
        error = self.refused("ledger", "pass", FEATURE, mark, "--evidence", "proof.txt")
        assert error.code in GRAVE
        self.ok("ledger", "fail", FEATURE, mark, "--error", "a way out")
        assert self.counted() == holding

    def expect_edited(self, says: str, holding: list[str]) -> Said:
        """A view edited by hand is named, is not counted, and is written anew by the next mark, which is told so."""
        shown = self.run("ledger", "show", FEATURE)
        assert (shown.status, self.counted()) == (0, holding)
        assert f"view.edited: .agent/tasks/{FEATURE}/feature_list.json was edited by hand" in shown.err
        assert says in shown.err
        audit = self.run("audit", "--json")
        assert (audit.status, audit.document["holds"]) == (LOOK, False)
        assert says in audit.out
        return self.ok("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt")

    def expect_quiet(self, holding: list[str]) -> None:
        """Nothing is wrong, and nobody says so."""
        for words in (("ledger", "show", FEATURE), ("status",), ("ledger", "failing", FEATURE)):
            said = self.run(*words)
            assert (said.status, said.err) == (0, "")
        audit = self.run("audit", "--json")
        assert (audit.status, audit.document["findings"], audit.document["anchored"]) == (0, [], True)
        assert self.counted() == holding
        self.cite("AC3")
        assert self.counted() == [*holding, "AC3"]


def reseal(value: dict[str, Json], key: bytes) -> bytes:
    """A record with the digest and the MAC that belong to what it says now, by `key`."""
    rest = {name: item for name, item in value.items() if name not in ("id", "mac")}
    digest = canonical.sha256(canonical.encode(rest))
    return canonical.encode({**rest, "id": digest, "mac": canonical.mac(key, "tallystick/record/1", digest)})
