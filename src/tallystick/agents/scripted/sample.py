"""The sample project of the demo, as text: what lies there at first, and what each role writes into it.

A shop with a cart and coupons, tested with unittest, so that it needs nothing but Python. The first implementation has
one slip, `SLIP`, which one test sees; `MENDED` is the line that mends it.
"""

from __future__ import annotations

from tallystick.canonical import Json

FEATURE = "checkout"

Files = dict[str, str]

START: Files = {
    "README.md": "# Shop\n\nA small shop. What is to be built next stands in spec.md.\n",
    ".gitignore": "__pycache__/\n",
    "shop/__init__.py": '"""A small shop."""\n',
    "tests/__init__.py": "",
}

SPEC: Files = {
    "spec.md": """\
# Checkout

The cart keeps what a customer chose and knows the total, in cents. A coupon takes a share off the total, once per
cart; several coupons add up, and the manual says how. The receipt shows every line and the total.
""",
}

CART_TEST, COUPON_TEST = "tests.test_cart.CartTest", "tests.test_coupon.CouponTest"

#: What the spec-freezer freezes. One names a command, one asks in words, the others name tests.
CRITERIA: list[Json] = [
    {
        "id": "AC1",
        "description": "the cart keeps its lines in the order they came",
        "evidence_required": [f"tests: {CART_TEST}.test_keeps_order"],
    },
    {
        "id": "AC2",
        "description": "the total is exact to the cent",
        "evidence_required": [f"tests: {CART_TEST}.test_exact_total"],
    },
    {
        "id": "AC3",
        "description": "a coupon takes its share off the total",
        "evidence_required": [f"tests: {COUPON_TEST}.test_takes_share"],
    },
    {
        "id": "AC4",
        "description": "a coupon works once per cart",
        "evidence_required": [f'tests: ["{COUPON_TEST}.test_two_add_up", "{COUPON_TEST}.test_works_once"]'],
    },
    {
        "id": "AC5",
        "description": "the receipt shows every line and the total",
        "evidence_required": ["run: python3 -m tests.receipt"],
    },
    {
        "id": "AC6",
        "description": "the manual says how coupons add up",
        "evidence_required": ["the line of the manual"],
    },
]

TESTS: Files = {
    "tests/test_cart.py": """\
import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_keeps_order(self):
        cart = Cart()
        for name in ("tea", "cup", "milk"):
            cart.add(name, 100)
        self.assertEqual([name for name, _, _ in cart.lines], ["tea", "cup", "milk"])

    def test_exact_total(self):
        cart = Cart()
        cart.add("sweet", 10)
        cart.add("gum", 20, pieces=3)
        self.assertEqual(cart.total(), 70)
""",
    "tests/test_coupon.py": """\
import unittest

from shop.cart import Cart
from shop.coupon import Coupon


class CouponTest(unittest.TestCase):
    def setUp(self):
        self.cart = Cart()
        self.cart.add("tea", 1000)
        self.cart.redeem(Coupon("SPRING", percent=10))

    def test_takes_share(self):
        self.assertEqual(self.cart.total(), 900)

    def test_two_add_up(self):
        self.cart.redeem(Coupon("FRIEND", percent=50))
        self.assertEqual(self.cart.total(), 450)

    def test_works_once(self):
        self.cart.redeem(Coupon("SPRING", percent=10))
        self.assertEqual(self.cart.total(), 900)
""",
    "tests/receipt.py": '''\
"""Run as a program: prints the receipt of an order, and fails unless it shows what it must."""

import sys

from shop.cart import Cart
from shop.receipt import receipt

cart = Cart()
cart.add("tea", 450, pieces=2)
cart.add("cup", 1100)
text = receipt(cart)
print(text)
sys.exit(not all(shown in text for shown in ("2 x tea", "9.00", "1 x cup", "11.00", "20.00")))
''',
}

#: The slip of the first implementation: it looks for the coupon among the lines.
SLIP = "if coupon not in self.lines:"
MENDED = "if coupon not in self.coupons:"

CODE: Files = {
    "shop/coupon.py": '''\
"""A coupon: a code, and the share that it takes off a total."""

from typing import NamedTuple


class Coupon(NamedTuple):
    code: str
    percent: int

    def off(self, total):
        return total * self.percent // 100
''',
    "shop/cart.py": f'''\
"""A cart: its lines in the order they came, and the coupons that were redeemed. All money is in cents."""


class Cart:
    def __init__(self):
        self.lines = []
        self.coupons = []

    def add(self, name, cents, pieces=1):
        self.lines.append((name, cents, pieces))

    def redeem(self, coupon):
        {SLIP}
            self.coupons.append(coupon)

    def total(self):
        total = sum(cents * pieces for _, cents, pieces in self.lines)
        for coupon in self.coupons:
            total -= coupon.off(total)
        return total
''',
    "shop/receipt.py": '''\
"""A receipt: one line for each line of the cart, and the total."""


def receipt(cart):
    lines = [f"{pieces} x {name:<12}{cents * pieces / 100:>8.2f}" for name, cents, pieces in cart.lines]
    return "\\n".join([*lines, f"total{cart.total() / 100:>19.2f}"])
''',
    "docs/manual.md": """\
# Manual

Redeem a coupon by its code. Each coupon works once per cart.
Coupons add up: each takes its share off what the ones before it left.
""",
}
