"""Compares byte code with the sources beside it; run by `python -I -S -c` with the Python whose byte code it is.

One text, standard library alone, Python 3.8 upwards. The arguments are a folder and then pairs: a source and a file of
byte code, both below that folder. Prints the byte code that this Python would run though its source says something
else, one name on a line, and "end" as its last line. What this Python would not take anyway (another version's, that
of an older source) is no matter. Byte code that pytest rewrote is compared with what the pytest there makes of it.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_HEAD = 16


def lies(source_path: str, compiled_path: str, site: str) -> bool:
    """Whether this Python would run the byte code, and it is not what the source says."""
    with open(compiled_path, "rb") as file:
        data = file.read()
    with open(source_path, "rb") as file:
        source = file.read()
    if len(data) < _HEAD or data[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags = int.from_bytes(data[4:8], "little")
    name = os.path.basename(compiled_path)
    rewritten = "-pytest-" in name
    if flags == 0:
        status = os.stat(source_path)
        stamp = [int(number) & 0xFFFFFFFF for number in (status.st_mtime, status.st_size)]
        if stamp != [int.from_bytes(data[at : at + 4], "little") for at in (8, 12)]:
            return False
    elif flags == 3 and data[8:16] != importlib.util.source_hash(source):
        return False
    level = 2 if ".opt-2." in name else 1 if ".opt-1." in name else 0
    try:
        wanted = _rewritten(source, source_path, site) if rewritten else _compiled(source, source_path, level)
        found = marshal.loads(data[_HEAD:])
        # A constant that is no number is unequal to itself; without references both are written the same way.
        return bool(found != wanted and marshal.dumps(found, 2) != marshal.dumps(wanted, 2))
    except (EOFError, ValueError, TypeError, SyntaxError):
        return True


def _compiled(source: bytes, path: str, level: int) -> CodeType:
    code: CodeType = compile(source, path, "exec", dont_inherit=True, optimize=level)
    return code


def _rewritten(source: bytes, path: str, site: str) -> CodeType:
    """What pytest makes of a module whose assertions it rewrites. Its own files were compared before."""
    import ast

    if site not in sys.path:
        sys.path.append(site)
    from _pytest.assertion.rewrite import rewrite_asserts

    tree = ast.parse(source, filename=path)
    rewrite_asserts(tree, source, path, None)
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def main(site: str, names: list[str]) -> None:
    """Compare all pairs."""
    sys.dont_write_bytecode = True
    for source, compiled in zip(names[::2], names[1::2]):  # noqa: B905 - Python 3.8 knows no `strict`
        if lies(os.path.join(site, source), os.path.join(site, compiled), site):
            print(compiled)
    print("end")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
