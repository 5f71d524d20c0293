"""The groups of tests: where each lies, what it holds, and what it needs of a machine. One row, one folder of `tests`.

A test that alone in its group needs something says so itself, with `@pytest.mark.needs("strace")`.
"""

from __future__ import annotations

from typing import NamedTuple

from yard.probes import missing


class Group(NamedTuple):
    """One folder below `tests`. `needs` are rows of `probes.PROBES`; with `node` some of its tests need Node.js;
    `environments` are those that its tests try small projects in, named like the dependency groups they hold."""

    name: str
    says: str
    needs: tuple[str, ...] = ()
    node: bool = False
    environments: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The folder, from the top of the tree."""
        return f"tests/{self.name}"


#: What the honest tasks and the cheats are played in.
PROOF = ("proof-plain", "proof-plugins", "proof-build")

GROUPS = (
    Group("unit", "each module by itself, laid out like src"),
    Group("property", "any sequence of commands against a small reference model"),
    Group("crash", "a faulty disk: torn writes, errors of every call, kills", ("git",)),
    Group("planted", "one fault planted for each promise: the tests that hold it turn red and name it", ("git",)),
    Group("attacks", "cheats, each beside its honest twin", ("git",)),
    Group("proof", "honest tasks, each proven, and cheats, each caught", ("git",), environments=PROOF),
    Group("faces", "each face by its real client", ("git",), node=True),
    Group("inputs", "bad input of every kind: one clear line, and not a byte changed", ("git",)),
    Group("reports", "public bug reports of this kind of tool, the kind of each as a test", ("git",)),
    Group("real", "real processes, disks and repositories: writers, kills, power cuts, git", ("git",), node=True),
    Group("yard", "this house: floors, loading, requirements, docs, the jobs of dev.py", ("git", "bash")),
    Group("pythons", "the demo under every supported Python", ("git",)),
)


def reasons(group: Group) -> str:
    """Why a group cannot run here, "" if it can."""
    return "; ".join(reason for need in group.needs if (reason := missing(need)))
