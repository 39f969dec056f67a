"""Whose milliseconds a competition's times are: in words, as they are chosen."""

from __future__ import annotations

CLOCKS = ("own", "reference")
"""Of whichever machine plays, and of the reference machine (`engine.measure`)."""


def is_reference(text: str) -> bool:
    """Whether a word names the reference machine's clock.

    Raises:
        ValueError: it is none of these words; it says what they are.
    """
    if text not in CLOCKS:
        raise ValueError(f"one of {', '.join(CLOCKS)}")
    return text == CLOCKS[1]
