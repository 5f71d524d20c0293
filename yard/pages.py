"""The parts of the documents that are generated from the code, so that no page can say what the code does not.

A page holds them between two comments, `<!-- generated: NAME -->` and `<!-- end of NAME -->`; `NAME` is a row of
`PARTS`. Everything outside the comments is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from yard.console import ROOT, Stop
from yard.groups import GROUPS

sys.path.insert(0, str(ROOT / "src"))

from tallystick import errors, limits  # the yard runs from the tree, nothing is installed
from tallystick.faces.cli.commands import COMMANDS, COMMON, EXIT_STATUSES
from tallystick.faces.cli.table import Argument, Command
from tallystick.mcp.catalogue import OFFERED, TOOLS

_MARKED = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end of (?P=name) -->)", re.S)
_OPENING = re.compile(r"<!-- generated: ([\w-]+) -->")

#: The limits that count things; every other one without a unit in its name is a number of bytes.
_COUNTS = {
    "NESTING": "levels",
    "IMPORT_FILES": "",
    "SEGMENTS": "",
    "CRITERIA": "",
    "REQUIREMENTS": "",
    "TASKS": "",
    "TASK_ENTRIES": "",
    "PAGE_ROWS": "rows",
    "COUNTER": "",
    "COUNTER_JUMP": "",
}


def stale(root: Path = ROOT) -> list[str]:
    """The pages whose generated parts differ from what the code says, as paths below `root`."""
    return [page.relative_to(root).as_posix() for page, old, new in _pages(root) if old != new]


def write(root: Path = ROOT) -> list[str]:
    """Brings every generated part up to date; returns the pages that changed."""
    changed = []
    for page, old, new in _pages(root):
        if old != new:
            page.write_text(new, encoding="utf-8")
            changed.append(page.relative_to(root).as_posix())
    return changed


def parts_shown(root: Path = ROOT) -> set[str]:
    """The names of the parts that some page of the tree holds."""
    return {match[1] for page in documents(root) for match in _OPENING.finditer(page.read_text(encoding="utf-8"))}


def documents(root: Path = ROOT) -> list[Path]:
    """Every hand-written document: the pages at the top of the tree and below docs."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]


def amount(name: str, value: float) -> str:
    """One row of the table of limits in words: 16 MB, 8,000 characters, 60 s."""
    if name == "COUNTER":
        return "2^53 - 1"
    if name in _COUNTS:
        return f"{value:,} {_COUNTS[name]}".strip()
    if name.endswith("_CHARACTERS"):
        return f"{value:,} characters"
    if name.endswith("_S"):
        return f"{value:g} s"
    return f"{value / limits.MB:,g} MB" if value >= limits.MB else f"{value:,} bytes"


def _pages(root: Path) -> Iterator[tuple[Path, str, str]]:
    for page in documents(root):
        old = page.read_text(encoding="utf-8")
        new = _MARKED.sub(_renewed, old)
        if len(_OPENING.findall(old)) != len(_MARKED.findall(old)):
            raise Stop(f"{page.relative_to(root)}: a generated part has no end; close it with <!-- end of NAME -->")
        yield page, old, new


def _renewed(match: re.Match[str]) -> str:
    if match["name"] not in PARTS:
        raise Stop(f"no such generated part: {match['name']}; there are {', '.join(PARTS)}")
    return f"{match[1]}{PARTS[match['name']]()}{match[3]}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _limits() -> str:
    named = {name: value for name, value in vars(limits).items() if name.isupper() and name != "MB"}
    return _table(("limit", "value"), [(f"`{name}`", amount(name, value)) for name, value in named.items()])


def _codes() -> str:
    rows = [(f"`{code}`", str(row.exit), str(row.http), row.says) for code, row in errors.CODES.items()]
    return _table(("code", "exit status", "HTTP status", "means"), rows)


def _groups() -> str:
    rows = [(f"`{group.name}`", group.says, ", ".join(group.needs)) for group in GROUPS]
    return _table(("group", "holds", "needs"), rows)


def _commands() -> str:
    return "\n".join(_command(command) for command in COMMANDS)


def _command(command: Command) -> str:
    rows = [(f"`{_typed(argument)}`", str(argument.options.get("help") or "")) for argument in command.arguments]
    about = f"### `tallystick {command.name}`\n\n{command.says[:1].upper()}{command.says[1:]}.\n"
    arguments = f"\n{_table(('argument', 'means'), rows)}" if rows else ""
    return f"{about}{arguments}\n```sh\n{command.example}\n```\n"


def _typed(argument: Argument) -> str:
    """An argument as a person types it: `--reason TEXT`, `FEATURE`, `bash|zsh|fish`."""
    options = argument.options
    value = options.get("metavar") or "|".join(options.get("choices", ()))
    return " ".join([*(flag for flag in argument.flags if flag.startswith("-")), *([value] if value else [])])


def _tools() -> str:
    rows = []
    for tool in TOOLS.values():
        wanted = tool.input_schema["required"]
        arguments = ", ".join(name if name in wanted else f"[{name}]" for name in tool.input_schema["properties"])
        roles = [role for role, offered in OFFERED.items() if tool.name in offered]
        who = "all" if len(roles) == len(OFFERED) else ", ".join(roles)
        rows.append((f"`{tool.name}`", arguments, tool.description, who))
    return _table(("tool", "arguments", "does", "roles"), rows)


def _common() -> str:
    return _table(("option", "means"), [(f"`{_typed(row)}`", str(row.options["help"])) for row in COMMON])


def _statuses() -> str:
    return f"```text\n{EXIT_STATUSES}\n```\n"


PARTS: dict[str, Callable[[], str]] = {
    "limits": _limits,
    "codes": _codes,
    "commands": _commands,
    "common-options": _common,
    "exit-statuses": _statuses,
    "test-groups": _groups,
    "tools": _tools,
}
