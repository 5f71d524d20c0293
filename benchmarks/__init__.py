"""What Tallystick costs, each figure as a ratio within one run: `python3 dev.py bench` (or `python3 -m benchmarks`).

A time in milliseconds says little on somebody else's machine; a ratio between two things that took turns on the same
disk and processor says much. Standard library only. `__main__.py` holds the table of parts.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))  # we run from the tree, nothing is installed
