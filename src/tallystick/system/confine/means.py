"""The means of confinement, and how far each goes. Pure."""

from __future__ import annotations

from typing import NamedTuple

BUBBLEWRAP, LANDLOCK, SANDBOX_EXEC, UNSANDBOXED = "bubblewrap", "landlock", "sandbox-exec", "unsandboxed"


class Means(NamedTuple):
    """A means of confinement: its name, the program that does it, and how far it goes.

    `namespaces` is whether Landlock came with namespaces of its own (process, network, mounts); bubblewrap always
    does. `sized` is whether this bubblewrap limits folders in memory. `tried` are sentences on why no better means
    was chosen.
    """

    name: str
    program: str = ""
    namespaces: bool = False
    sized: bool = False
    tried: tuple[str, ...] = ()

    @property
    def confines(self) -> bool:
        """Whether anything is shut at all."""
        return self.name != UNSANDBOXED

    @property
    def whole(self) -> bool:
        """Whether all that is promised holds; *files only* is no more than half, and is asked about like nothing."""
        return self.name in (BUBBLEWRAP, SANDBOX_EXEC) or self.namespaces

    @property
    def mounts(self) -> bool:
        """Whether `Rules.mount_at` and `Rules.binds` take effect."""
        return self.name == BUBBLEWRAP or self.namespaces

    @property
    def word(self) -> str:
        """As a pass says it."""
        return f"{self.name}, files only" if self.name == LANDLOCK and not self.namespaces else self.name
