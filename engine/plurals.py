"""Numbers, and numbers of things, in words."""

from __future__ import annotations


def decimal(value: float) -> str:
    """Points and the like as people write them: ``12``, ``2.5``, ``0.333``, ``1234567.25``."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


def counted(number: float, thing: str, things: str = "") -> str:
    """``1 game``, ``2 games``, ``0.5 points``.

    Args:
        things: the plural, if it is not the singular with an s.
    """
    return f"{decimal(number)} {thing if number == 1 else things or thing + 's'}"
