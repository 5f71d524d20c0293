"""How long to wait: the limits, or less where a variable of the environment says so. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.errors import Refusal
from tallystick.limits import ANSWER_S, LOCK_WAIT_S


def lock_wait(env: Mapping[str, str]) -> float:
    """How long to wait for a lock, in seconds: the limit, or less where TALLYSTICK_LOCK_WAIT_S says so."""
    return _seconds(env, "TALLYSTICK_LOCK_WAIT_S", LOCK_WAIT_S)


def answer_wait(env: Mapping[str, str]) -> float:
    """How long a call over MCP waits for its check, in seconds: the limit, or less where TALLYSTICK_ANSWER_S says so.

    For a client that gives up on a call before a minute is over.
    """
    return _seconds(env, "TALLYSTICK_ANSWER_S", ANSWER_S)


def _seconds(env: Mapping[str, str], name: str, most: float) -> float:
    text = env.get(name, "")
    if not text:
        return most
    try:
        wait = float(text)
    except ValueError:
        wait = -1.0
    if not 0 <= wait <= most:
        raise Refusal("usage", f"{name} is {text!r}, a number from 0 to {most:g} is wanted", "leave the variable out")
    return wait
