"""What an agent is given to read, in tokens, whatever the size of the ledger.

Clients show a model either the text of an answer or its structure; the larger of the two is counted. Needs the
packages for Node.js (`python3 dev.py bench` fetches them), since they bring the counter.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.scene import Scene, names, pass_many, scene
from benchmarks.table import Row, say
from tallystick.ledger.model import Draft
from tallystick.mcp import replies, versions
from tallystick.mcp.catalogue import OFFERED, offered
from tallystick.mcp.tools import Tools
from tallystick.mcp.toolset import CallContext, ToolResult
from tallystick.wiring import App
from yard import node
from yard.tokens import COUNTER, count

PART = f"Tokens of what an agent reads ({COUNTER}; the larger of text and structure)"
SIZES = (10, 200, 10_000)
BOUNDS = {"accepted mark": 60, "refusal": 150, "get_feature": 150, "first page of list_failing": 2_000, "brief": 600}
#: What one mark of the seed's server cost at N = 200, as published.
SEED = 18_222.0
FEATURE = "checkout"
_TEXT = "a coupon code lowers the total once, and a second use of it is refused with a message that names the coupon"
_ERROR = "tests/test_coupon.py::test_coupon_twice: assert 2 == 1 (src/cart.py:88)"
_CHECK = 'tests: ["test_cart.Cart.test_coupon", "test_cart.Cart.test_coupon_twice"]'
_TESTS = """\
import unittest

class Cart(unittest.TestCase):
    def test_coupon(self):
        self.assertEqual(1, 1)

    def test_coupon_twice(self):
        self.assertEqual(2, 1, "the coupon was taken twice")
"""


def rows() -> list[Row]:
    """All rows of this part; none, and a word about it, where the counter is not there."""
    if node.lacks() or not node.fetched():
        say("tokens are not counted: the packages for Node.js are not there; python3 dev.py bench fetches them")
        return []
    found = [row for size in SIZES for row in measured(size)]
    found.sort(key=lambda row: list(BOUNDS).index(row.what.rpartition(", N")[0]))
    mark = next(row.measured for row in found if row.what == "accepted mark, N = 200")
    beside = f"published; {SEED / mark:,.0f} of ours"
    return [*found, *lists(), Row(PART, "one mark by the seed's server, N = 200", SEED, None, beside)]


def measured(size: int) -> list[Row]:
    """The rows of a ledger of `size` criteria."""
    with scene() as at:
        texts = {what: [form for one in results for form in _forms(one)] for what, results in answers(at, size).items()}
    counts = {what: count(forms) for what, forms in texts.items()}
    return [
        Row(PART, f"{what}, N = {size:,}", float(max(found)), BOUNDS[what], _beside(found))
        for what, found in counts.items()
    ]


def lists() -> list[Row]:
    """The rows of what the roles are offered."""
    tokens = dict(zip(OFFERED, count([_listed(role) for role in OFFERED]), strict=True))
    longest = max((role for role in OFFERED if role != "solo"), key=tokens.__getitem__)
    return [
        Row(PART, "tool list of solo", float(tokens["solo"]), 1_500, f"{len(OFFERED['solo'])} tools"),
        Row(PART, f"longest tool list of a role ({longest})", float(tokens[longest]), 900, "with its hints"),
    ]


def answers(at: Scene, size: int) -> dict[str, list[ToolResult]]:
    """Answers of each kind out of a ledger of `size` criteria, half of them passed."""
    app = _filled(at, size)
    solo, implementer = Tools(app, "solo", 60.0), Tools(app, "implementer", 60.0)
    open_ = f"AC{size - 3}"

    def ask(tool: str, tools: Tools = solo, **given: Any) -> ToolResult:
        return tools.call(tool, given, _context(f"{tool} {given}"))

    def mark(name: str, reference: str, tools: Tools = solo) -> ToolResult:
        return ask("mark_pass", tools, task_id=FEATURE, feature_id=name, evidence_ref=reference)

    page = ask("list_failing", task_id=FEATURE)
    brief = ask("brief", feature=FEATURE)
    refused = [
        mark("checked", "I ran it"),
        mark(open_, "looks good to me, all tests are green"),
        mark("AC0", "proof/report.txt"),
        mark(open_, "proof/report.txt", implementer),
        ask("get_feature", task_id=FEATURE, feature_id="AC99999"),
    ]
    pages = [ask("get_feature", task_id=FEATURE, feature_id=name) for name in ("AC0", open_, "checked")]
    accepted = [mark(open_, "proof/report.txt:12"), mark("provable", "I ran it")]
    solo.close()
    assert not any(one.is_error for one in (*accepted, *pages, page, brief))
    assert all(one.is_error for one in refused)
    return {
        "accepted mark": accepted,
        "refusal": refused,
        "get_feature": pages,
        "first page of list_failing": [page],
        "brief": [brief],
    }


def _filled(at: Scene, size: int) -> App:
    """A ledger of `size` criteria with texts of an ordinary length: half pass, the open ones were tried."""
    app = at.app()
    drafts = [Draft(name, f"{_TEXT} ({name})") for name in names(size - 2)]
    drafts += [Draft("checked", _TEXT, (_CHECK,)), Draft("provable", _TEXT, ("run: true",))]
    app.ledger.freeze(FEATURE, drafts)
    report = at.write("proof/report.txt", 300)
    (at.place / "test_cart.py").write_text(_TESTS, encoding="utf-8")
    pass_many(at, FEATURE, names(size // 2), [report])
    app = at.app()
    for name in names(min(size // 2 - 2, 25), size // 2):
        app.ledger.mark_failure(FEATURE, name, _ERROR)
    for number in range(5):
        tools = Tools(app, "solo", 60.0)
        text = f"the coupon table is seeded in conftest.py; the rounding of totals is in src/money.py ({number})"
        tools.call("note", {"feature": FEATURE, "text": text}, _context(text))
    app.due.finish()
    return app


def _context(request: str) -> CallContext:
    return CallContext(request, "", "bench", "1", "2026-07-28", "", lambda: False, lambda done, total, says: None)


def _forms(result: ToolResult) -> tuple[str, str]:
    return result.text, json.dumps(result.structured, ensure_ascii=False, separators=(",", ":"))


def _listed(role: str) -> str:
    """The list of a role's tools as it is on the wire, hints and titles too."""
    tools = [replies._tool(tool, versions.NEWEST) for tool in offered(role, writes=True)]
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":"))


def _beside(counts: list[int]) -> str:
    kinds = len(counts) // 2
    both = f"text {max(counts[::2])}, structure {max(counts[1::2])}"
    return f"{both}, the largest of {kinds}" if kinds > 1 else both
