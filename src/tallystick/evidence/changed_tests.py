"""How a locked test file differs from what was locked at red: laid out anew, added to, or changed. Pure.

Only what is proven to leave every test as it was is less than "changed". What is added may do nothing when the file
is loaded, and no name of it may be one that a locked file looks up. What a new test does when it *runs* is not judged:
whoever proves something leaves the tests out that were not there at red.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tallystick.evidence.additions import Additions, bound_by, imported_modules, is_case_name
from tallystick.evidence.fingerprints import docstring_and_rest, fingerprint, said_docstring, source_tree
from tallystick.evidence.used_names import OPEN, used_names

#: The answers of `kind_of`, from the least to the most.
KINDS: dict[str, str] = {
    "same": "not a byte differs",
    "formatted": "it does the same, laid out or commented in another way",
    "added": "all that was there is there, and what is new changes nothing of it",
    "changed": "anything else",
}
#: A file that uses one of these names may read its own text, lines or docstrings.
_READS_ITSELF = frozenset(
    ("__doc__", "getdoc", "getcomments", "getsource", "getsourcelines", "findsource", "linecache", "f_lineno",
     "co_firstlineno", "tb_lineno", "lineno")
)  # fmt: skip
#: A file that uses one of these may look up a name that stands nowhere in it.
_LOOKS_UP = frozenset(("globals", "locals", "vars", "dir", "eval", "exec", "__dict__", "getmembers", "modules"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def kind_of(path: str, before: bytes, after: bytes | None, used: frozenset[str]) -> str:
    """How `after` differs from `before`, the bytes of the locked file `path` at red: a key of `KINDS`.

    `used` is `used_names` of all locked Python files at red. `after` is None where the file is gone. Files that are
    no Python, too large or nested too deeply are "changed" when a byte differs.
    """
    if after == before:
        return "same"
    if after is None or not path.endswith(".py"):
        return "changed"
    old, new = source_tree(before), source_tree(after)
    if old is None or new is None or _module_says(old) != _module_says(new):
        return "changed"
    own = used_names((before,)) - {OPEN}  # one file alone does not tell what the conftests define
    if own & _READS_ITSELF:
        return "changed"
    taken = used | own
    prints = [_print(one, taken) for one in docstring_and_rest(old)[1]]
    new_prints = [_print(one, taken) for one in docstring_and_rest(new)[1]]
    if prints == new_prints:
        return "formatted"
    added = not own & _LOOKS_UP and _is_added_to((old, prints), (new, new_prints), taken)
    return "added" if added else "changed"


def _is_added_to(old: tuple[ast.Module, list[str]], new: tuple[ast.Module, list[str]], taken: frozenset[str]) -> bool:
    """Whether the statements of `old` are all in `new`, in their order, and each other one is a fair addition.

    Both are a tree and the fingerprints of its statements.
    """
    there, prints = docstring_and_rest(old[0])[1], old[1]
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(old[0])):
        return False
    additions = Additions(new[0], taken | frozenset(_bound(old[0])))
    last_test = max((at for at, one in enumerate(there) if isinstance(one, (*_FUNCTIONS, ast.ClassDef))), default=-1)
    at = 0
    for statement, its_print in zip(docstring_and_rest(new[0])[1], new[1], strict=True):
        if at < len(there) and prints[at] == its_print:
            additions.loaded.update(imported_modules(statement))
            at += 1
        elif at < len(there) and _has_grown(there[at], statement, additions, taken):
            at += 1
        elif not additions.takes(statement, at_end=at > last_test):
            return False
    return at == len(there)


def _has_grown(old: ast.stmt, new: ast.stmt, additions: Additions, taken: frozenset[str]) -> bool:
    """Whether `new` is the import `old` with more names, or the class `old` with more tests at its end."""
    if isinstance(old, ast.ImportFrom) and isinstance(new, ast.ImportFrom):
        if (old.module, old.level) != (new.module, new.level):
            return False
        additions.loaded.update(imported_modules(old))
        waiting = [(one.name, one.asname) for one in old.names][::-1]
        more: list[ast.alias] = []
        for one in new.names:
            if waiting and waiting[-1] == (one.name, one.asname):
                waiting.pop()
            else:
                more.append(one)
        return not waiting and additions.takes(ast.ImportFrom(new.module, more, new.level), at_end=False)
    if not isinstance(old, ast.ClassDef) or not isinstance(new, ast.ClassDef):
        return False
    if old.name != new.name or old.name in taken:
        return False
    inside = docstring_and_rest(old)[1]
    grown = docstring_and_rest(new)[1]
    members = set(_bound(old))
    return (
        _print(old, taken) == _print(_with_body(new, inside), taken)
        and [_print(one, taken) for one in inside] == [_print(one, taken) for one in grown[: len(inside)]]
        and additions.fair_bases(new)
        and all(additions.takes_method(one, members) for one in grown[len(inside) :])
    )


def _with_body(node: ast.ClassDef, body: list[ast.stmt]) -> ast.ClassDef:
    """A class as `node` is, with its docstring and another body."""
    docstring = node.body[: len(node.body) - len(docstring_and_rest(node)[1])]
    fields = {name: getattr(node, name) for name in node._fields}
    return ast.ClassDef(**{**fields, "body": [*docstring, *body]})


def _print(statement: ast.stmt, taken: frozenset[str]) -> str:
    """The fingerprint of a statement of a test file: what only the runner calls has no docstring that counts."""
    free = {id(one) for one in _run_by_name(statement, taken)}
    return fingerprint(statement, free=free)


def _run_by_name(statement: ast.stmt, taken: frozenset[str]) -> Iterator[ast.stmt]:
    """The tests and the class of tests that a statement defines and that no locked file uses."""
    if isinstance(statement, ast.ClassDef) and is_case_name(statement.name) and statement.name not in taken:
        yield statement
        members: list[ast.stmt] = statement.body
    else:
        members = [statement]
    for one in members:
        if isinstance(one, _FUNCTIONS) and one.name.startswith("test") and one.name not in taken:
            yield one


def _module_says(tree: ast.Module) -> str | None:
    docstring = docstring_and_rest(tree)[0]
    return None if docstring is None else said_docstring(docstring, free=True)


def _bound(tree: ast.AST) -> Iterator[str]:
    """Every name that is bound anywhere in `tree`."""
    for node in ast.walk(tree):
        yield from bound_by(node)
