"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: float, thing: str, things: str = "") -> str:
    """``1 game``, ``2 games``, ``0.5 points``.

    Args:
        things: the plural, if it is not the singular with an s.
    """
    return f"{number:.12g} {thing if number == 1 else things or thing + 's'}"
