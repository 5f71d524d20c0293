"""The settings of a project, `.tallystick/config.toml`: parsed strictly, with a default for every key. Pure.

One table says which keys there are and what may stand there. Whatever is wrong is told at once, each mistake with its
key and with what would be right, since a misspelt key that is passed over would be a policy that nobody has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tallystick.errors import Refusal, Where
from tallystick.ids import is_feature_id, shown
from tallystick.limits import NESTING

#: From the project's top folder.
FILE = ".tallystick/config.toml"


class Policy(NamedTuple):
    """The least level that counts as done; `other_hand`: a pass by who wrote the code does not count."""

    checked: str = "auto"
    free_text: str = "cited"
    other_hand: bool = False


class ProjectTests(NamedTuple):
    """How the project's tests are run; () = found. `report` says where their results are read."""

    command: tuple[str, ...] = ()
    report: str = "auto"


class Verify(NamedTuple):
    """How a proof is run. Times are seconds, sizes megabytes of 10^6 bytes; each of `setup` is one argument list."""

    mode: str = "tree"
    link: tuple[str, ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    time_limit_s: int = 600
    output_limit_mb: int = 20
    memory_limit_mb: int = 4096
    file_limit_mb: int = 1024
    coverage: int = 80
    env: tuple[str, ...] = ("PATH", "LANG")
    set: Mapping[str, str] = {}
    network: str | tuple[str, ...] = "loopback"
    allow: tuple[str, ...] = ()
    irrelevant: tuple[str, ...] = ("*.md", "docs/**")


class Share(NamedTuple):
    """Whether every command that records also writes what other copies must know into the tree."""

    auto: bool = True


class ViewFiles(NamedTuple):
    """Whether views may be tracked by git."""

    tracked: bool = False


class Run(NamedTuple):
    """How work is driven where nobody sits beside it; "" = found, or without a limit."""

    agent: str = ""
    pipeline: str = "proof-loop"
    autonomy: str = "balanced"
    budget: str = ""


class Hooks(NamedTuple):
    """When an agent that stops is asked for what it claims."""

    stop: str = "claims"


class Settings(NamedTuple):
    """Everything that `config.toml` may say."""

    feature: str = ""
    policy: Policy = Policy()
    tests: ProjectTests = ProjectTests()
    verify: Verify = Verify()
    share: Share = Share()
    views: ViewFiles = ViewFiles()
    run: Run = Run()
    hooks: Hooks = Hooks()


class Kind(NamedTuple):
    """What may stand at a key: in words, and `kept`, which gives the value to keep or None for a wrong one."""

    right: str
    kept: Callable[[Any], Any]


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?\Z")
_BUDGET = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?[hm]|[0-9]+[kM]|\$[0-9]+(?:\.[0-9]+)?)?\Z")
_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Variables that a check gets from us, whatever the settings say.
_OURS = ("HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE")
#: A key cannot go over a line end, and tomllib takes quadratic time for one of many dots.
_DOTS = 2 * NESTING


def _is_text(value: Any) -> bool:
    return type(value) is str and not _CONTROL.search(value)


def _variable(name: Any) -> bool:
    return _is_text(name) and bool(_NAME.match(name)) and name not in _OURS and not name.startswith("TALLYSTICK")


def _inside(path: Any) -> bool:
    """Whether a path or a glob can only mean something inside the project."""
    return _is_text(path) and path != "" and not path.startswith(("/", "~")) and ".." not in path.split("/")


def _text(right: str, good: Callable[[str], object]) -> Kind:
    return Kind(right, lambda value: value if _is_text(value) and good(value) else None)


def _one_of(*words: str) -> Kind:
    return Kind(" or ".join(f'"{word}"' for word in words), lambda value: value if value in words else None)


def _number(least: int, most: int) -> Kind:
    right = f"a whole number from {least:,} to {most:,}"
    return Kind(right, lambda value: value if type(value) is int and least <= value <= most else None)


def _texts(right: str, good: Callable[[Any], object]) -> Kind:
    return Kind(right, lambda value: _all(value, good))


def _all(value: Any, good: Callable[[Any], object]) -> tuple[str, ...] | None:
    return tuple(value) if type(value) is list and all(_is_text(one) and good(one) for one in value) else None


def _argv(value: Any) -> tuple[str, ...] | None:
    words = _all(value, lambda word: True)
    return words if words is not None and (not words or words[0] != "") else None


def _commands(value: Any) -> tuple[tuple[str, ...], ...] | None:
    every = [_argv(one) for one in value] if type(value) is list else [None]
    return tuple(one for one in every if one) if all(every) else None


def _variables(value: Any) -> dict[str, str] | None:
    if type(value) is not dict or not all(_variable(name) and _is_text(text) for name, text in value.items()):
        return None
    return dict(value)


def _network(value: Any) -> str | tuple[str, ...] | None:
    return "loopback" if value == "loopback" else _all(value, _HOST.match)


_FLAG = Kind("true or false", lambda value: value if type(value) is bool else None)
_ARGV = Kind('an array of words, such as ["pytest", "-q"]', _argv)
_FEATURE = _text('"" or the id of a feature, such as "checkout"', lambda text: text == "" or is_feature_id(text))
_TIME, _SIZE, _PERCENT = _number(1, 86_400), _number(1, 1_000_000), _number(0, 100)
_PATHS = _texts("an array of paths inside the project", _inside)

#: Every key by its table; "" holds the keys that stand in none.
KEYS: dict[str, dict[str, Kind]] = {
    "": {"feature": _FEATURE},
    "policy": {
        "checked": _one_of("auto", "ran", "proven", "challenged"),
        "free_text": _one_of("claimed", "cited"),
        "other_hand": _FLAG,
    },
    "tests": {"command": _ARGV, "report": _one_of("auto", "junit", "exit")},
    "verify": {
        "mode": _one_of("tree", "in-place"),
        "link": _PATHS,
        "setup": Kind('an array of commands, each an array of words: [["npm", "ci"]]', _commands),
        "time_limit_s": _TIME,
        "output_limit_mb": _SIZE,
        "memory_limit_mb": _SIZE,
        "file_limit_mb": _SIZE,
        "coverage": _PERCENT,
        "env": _texts("an array of names of variables; a check has its own HOME and TMPDIR", _variable),
        "set": Kind("a table of variables and texts; a check has its own HOME and TMPDIR", _variables),
        "network": Kind('"loopback" or an array of hosts, such as ["example.org:443"]', _network),
        "allow": _texts(
            "an array of absolute paths", lambda path: path.startswith("/") and ".." not in path.split("/")
        ),
        "irrelevant": _PATHS,
    },
    "share": {"auto": _FLAG},
    "views": {"tracked": _FLAG},
    "run": {
        "agent": _text('"" or the name of a client', lambda text: text == "" or _WORD.match(text)),
        "pipeline": _text('the name of a pipeline, such as "proof-loop"', _WORD.match),
        "autonomy": _text('a word, such as "balanced"', _WORD.match),
        "budget": _text('"", "2h", "500k" (tokens) or "$5"', _BUDGET.match),
    },
    "hooks": {"stop": _one_of("claims", "always", "off")},
}

_TABLES: dict[str, Callable[..., Any]] = {
    "policy": Policy, "tests": ProjectTests, "verify": Verify, "share": Share, "views": ViewFiles, "run": Run,
    "hooks": Hooks,
}  # fmt: skip
#: So many mistakes stand in the message, and so many in the facts.
_NAMED, _ROWS = 5, 100


def parse(data: bytes, file: str) -> Settings:
    """The settings in `data`; `file` names it in messages.

    Raises `Refusal` "settings.invalid": with the line for what is no TOML, else with every mistake at once, in the
    fact `mistakes` as rows of `key`, `says`.
    """
    document = _document(data, file)
    mistakes: list[tuple[str, str]] = []
    top = {name: value for name, value in document.items() if name not in _TABLES}
    found = _read("", top, mistakes)
    for name, table in _TABLES.items():
        given = document.get(name, {})
        if type(given) is dict:
            found[name] = table(**_read(name, given, mistakes))
        else:
            mistakes.append((name, f"is a table: [{name}], with {_some(KEYS[name])}"))
    if mistakes:
        raise _invalid(mistakes, file)
    return Settings(**found)


def _document(data: bytes, file: str) -> dict[str, Any]:
    import tomllib

    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(file, "is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _DOTS:
            raise _unreadable(file, f"has more than {_DOTS} dots; write a long array in several lines", number)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _unreadable(file, f"nests deeper than {NESTING} levels", None) from None
    except ValueError as error:  # tomllib's own error is one, and so is that of a number with thousands of digits
        says, _, place = str(error).partition(" (at ")
        at = re.match(r"line (\d+)", place)
        raise _unreadable(file, f"is no TOML: {says[:200]}", int(at[1]) if at else None) from None


def _read(table: str, given: Mapping[str, Any], mistakes: list[tuple[str, str]]) -> dict[str, Any]:
    """The values to keep of one table; what is wrong with it is added to `mistakes`."""
    kinds, kept = KEYS[table], {}
    for name, value in given.items():
        key = f"{table}.{name}" if table else name
        if name not in kinds:
            mistakes.append((key, f"is no key; {_meant(table, name)}" if len(mistakes) < _ROWS else "is no key"))
            continue
        kept[name] = kinds[name].kept(value)
        if kept[name] is None:
            mistakes.append((key, f"is {shown(_told(value), 40)}; right would be {kinds[name].right}"))
    return kept


def _told(value: Any) -> str:
    """A value as it may have been written."""
    if type(value) is bool:
        return "true" if value else "false"
    return value if type(value) is str else repr(value)[:200]


def _meant(table: str, name: str) -> str:
    import difflib

    known = [*KEYS[table], *(() if table else _TABLES)]
    near = difflib.get_close_matches(name, known, 1, 0.6)
    if near:
        return f"did you mean {near[0]}?"
    elsewhere = [other for other, kinds in KEYS.items() if name in kinds and other != table]
    if elsewhere:
        return f"it stands in [{elsewhere[0]}]" if elsewhere[0] else "it stands before every table"
    return f"there are {_some(known)}"


def _some(names: Any) -> str:
    return ", ".join(names)


def _unreadable(file: str, reason: str, line: int | None) -> Refusal:
    where = Where(file, line)
    return Refusal("settings.invalid", f"{where} {reason}", f"mend {file}; every key in it is optional", where)


def _invalid(mistakes: list[tuple[str, str]], file: str) -> Refusal:
    told = "; ".join(f"{shown(key, 40)[1:-1]} {says}" for key, says in mistakes[:_NAMED])
    more = f"; … and {len(mistakes) - _NAMED} more" if len(mistakes) > _NAMED else ""
    count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    rows = [{"key": shown(key, 40)[1:-1], "says": says} for key, says in mistakes[:_ROWS]]
    return Refusal(
        "settings.invalid",
        f"{file} has {count}: {told}{more}",
        f"mend {file}; every key in it is optional",
        Where(file),
        {"mistakes": rows},
    )
