"""Tallystick: what an agent did is found again, and "done" means that somebody else ran the proof.

Importing the package does nothing. A newcomer starts in `wiring.py`, which shows how the parts fit together.
"""

__version__ = "0.1.0"
