"""No list of what fails grows with the ledger (P21): pages of a bounded size, which together are the whole list."""

from __future__ import annotations

import pytest

from tallystick.ledger.model import Criterion
from tallystick.limits import PAGE_ROWS
from tallystick.mcp import answers
from tests.crash.stage import empty, on, tally

SIZES = (0, 1, PAGE_ROWS - 1, PAGE_ROWS, PAGE_ROWS + 1, 3 * PAGE_ROWS, 10 * PAGE_ROWS + 5)


@pytest.mark.requirement("P21", "L11")
@pytest.mark.parametrize("size", SIZES)
def test_the_pages_an_agent_gets_are_bounded_and_together_whole(size: int) -> None:
    names = [f"AC{number}" for number in range(size)]
    rest = [(Criterion(name, "the cart is kept", None, ""), "failing") for name in names]
    seen: list[str] = []
    cursor = None
    while True:
        page = answers.failing(rest, cursor, 0, 0, None).structured
        assert page is not None
        assert len(page["features"]) <= PAGE_ROWS
        seen += [row["id"] for row in page["features"]]
        cursor = page["cursor"]
        if cursor is None:
            break
        rest = rest[[one.id for one, _ in rest].index(cursor) + 1 :]
    assert seen == names


@pytest.mark.requirement("P21")
@pytest.mark.parametrize("size", SIZES[1:])
def test_the_pages_of_the_command_line_are_bounded_and_together_whole(size: int) -> None:
    names = [f"AC{number}" for number in range(size)]
    disk = empty()
    criteria = "".join(f"- [ ] {name} the cart is kept\n" for name in names).encode()
    assert tally(disk.process(), "ledger", "init", "checkout", "-", stdin=criteria).status == 0
    seen: list[str] = []
    more = size
    while more:
        after = ("--after", seen[-1]) if seen else ()
        page = on(disk, "ledger", "failing", *after, "--json").document
        assert len(page["criteria"]) <= PAGE_ROWS
        seen += [row["id"] for row in page["criteria"]]
        more = page["more"]
        assert more == size - len(seen)
    assert seen == names
