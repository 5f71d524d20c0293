"""The start-up file that is carried into a check as `sitecustomize.py`: editable installs lead into the fresh tree.

An editable install names the main tree, so a check in a fresh tree would test the main one. Where nothing can be
mounted, every Python of the run reads this file before anything else of the project: entries of `sys.path` and what
the finders of editable installs know (setuptools in both styles, `editables` as hatchling uses it, scikit-build) are
moved from the main tree to the fresh one. Then the sitecustomize that it stands in for runs.

One file, standard library alone, Python 3.8 upwards. Beside it lies `tallystick_places`: the main tree, the fresh one,
then the folders of the main tree that are lent as they are, with NUL between them. Python started with -I, -E or -S
does not read it; what is then loaded from the main tree is seen by the reporter.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PLACES = "tallystick_places"
_HERE = os.path.dirname(os.path.abspath(__file__))
#: Modules that an editable install puts beside the packages: setuptools', and those of the `editables` library.
_EDITABLE = ("__editable__", "_editable_impl", "_editable_", "editables.")
_DEEP = 4


class Move:
    """From the folder `main` to the folder `fresh`, but for what lies below a folder that is `kept`."""

    def __init__(self, main: str, fresh: str, kept: Iterable[str]) -> None:
        self._mains = tuple({main, os.path.realpath(main)})
        self._fresh = fresh
        self._kept = tuple(kept)

    def path(self, text: str) -> str:
        """Where a path leads now; one that is not of the main tree stays as it is."""
        if not os.path.isabs(text):
            return text
        for one in (text, os.path.realpath(text)):
            for main in self._mains:
                if _within(one, main):
                    return text if self._is_kept(one) else self._fresh + one[len(main) :]
        return text

    def value(self, value: object, depth: int = 0) -> object:
        """The same for everything in a value; lists and dictionaries are changed in place."""
        if isinstance(value, str):
            return self.path(value)
        if depth == _DEEP:
            return value
        if isinstance(value, list):
            value[:] = [self.value(one, depth + 1) for one in value]
        elif isinstance(value, dict):
            for key, one in list(value.items()):
                value[key] = self.value(one, depth + 1)
        elif type(value) is tuple:
            return tuple(self.value(one, depth + 1) for one in value)
        elif type(value) is set:
            return {self.value(one, depth + 1) for one in value}
        return value

    def names(self, holder: object) -> None:
        """The same for what an object, a class or a module has under its names."""
        for name, old in list(vars(holder).items()):
            if name.startswith("__") or not isinstance(old, (str, list, dict, tuple, set)):
                continue
            new = self.value(old)
            if new is not old and new != old:
                setattr(holder, name, new)

    def _is_kept(self, path: str) -> bool:
        return any(_within(path, os.path.join(main, kept)) for main in self._mains for kept in self._kept)


def repoint(move: Move) -> None:
    """Move everything in this interpreter that says where modules come from."""
    sys.path[:] = [move.path(entry) for entry in sys.path]
    for finder in sys.meta_path:
        of_class = finder if isinstance(finder, type) else type(finder)
        if of_class.__module__.startswith("_frozen_importlib"):
            continue
        for holder in (of_class, finder):
            if hasattr(holder, "__dict__"):
                move.names(holder)
    for name, module in list(sys.modules.items()):
        if name.startswith(_EDITABLE):
            move.names(module)
        path = getattr(module, "__path__", None)
        if isinstance(path, list):
            path[:] = [move.path(entry) for entry in path]
    sys.path_importer_cache.clear()


def places(data: bytes) -> Move | None:
    """The move that the file of places asks for, None where there is none."""
    fields = [os.fsdecode(field) for field in data.split(b"\0")]
    return Move(fields[0], fields[1], fields[2:]) if len(fields) > 1 else None


def hand_over(name: str, entries: Sequence[str]) -> None:
    """Run the module of that name which lies on these entries, as if we were not there."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, entries)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def start() -> None:
    """What happens when Python starts."""
    try:
        with open(os.path.join(_HERE, PLACES), "rb") as file:
            move = places(file.read())
    except OSError:
        move = None
    if move is not None:
        repoint(move)
    hand_over("sitecustomize", [entry for entry in sys.path if os.path.abspath(entry) != _HERE])


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


if __name__ == "sitecustomize":
    start()
