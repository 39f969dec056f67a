"""Whose milliseconds a competition's times are: in words, as they are chosen."""

from __future__ import annotations

from engine.translation import gettext

MACHINES = ("own", "reference")
"""Whichever machine plays, and the reference machine (`engine.measure`)."""


def is_reference(text: str) -> bool:
    """Whether a word names the reference machine.

    Raises:
        ValueError: it is none of these words; it says what they are.
    """
    if text not in MACHINES:
        raise ValueError(gettext("one of %(choices)s", choices=", ".join(MACHINES)))
    return text == MACHINES[1]
