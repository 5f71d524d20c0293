"""Counts tokens as cl100k does, offline: the npm package gpt-tokenizer ships the table. For tests and benchmarks only.

It stands for what a model is charged for a text; models of other makers count much the same for such texts.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from yard.console import Stop
from yard.node import FOLDER, WANTED

COUNTER = "cl100k, counted by gpt-tokenizer"


def count(texts: Sequence[str]) -> list[int]:
    """The number of tokens of each text. Raises `Stop` where the packages for Node.js are not there."""
    program = (WANTED.parent / "count.mjs").read_text(encoding="utf-8")
    argv = ["node", "--input-type=module", "--eval", program]
    try:
        done = subprocess.run(argv, cwd=FOLDER, input=json.dumps(list(texts)).encode(), capture_output=True)
    except OSError as error:
        raise Stop(f"no tokens can be counted: {error}") from None
    if done.returncode != 0:
        raise Stop(f"no tokens can be counted: {done.stderr.decode(errors='replace').strip()[-200:]}")
    counts: list[int] = json.loads(done.stdout)
    return counts
