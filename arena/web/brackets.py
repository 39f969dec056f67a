"""The bracket of a tournament as columns of ties, for a page to set side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.formats.format import Tie, stage_words


@dataclass(frozen=True, slots=True)
class Stage:
    """Ties side by side."""

    name: str
    """What people see it called."""
    ties: tuple[Tie, ...]


def brackets(ties: Iterable[Tie]) -> list[list[Stage]]:
    """The stages of each part of a bracket, in their order.

    Stages in which nobody can ever be (those of a large bracket for a small field) are left out.
    """
    parts: dict[int, dict[str, list[Tie]]] = {}
    for tie in ties:
        parts.setdefault(tie.part, {}).setdefault(tie.stage, []).append(tie)
    shown = [
        [
            Stage(stage_words(name), tuple(found))
            for name, found in stages.items()
            if any(not tie.decided or tie.winner is not None for tie in found)
        ]
        for _, stages in sorted(parts.items())
    ]
    return [stages for stages in shown if stages]


FILTERS = {"brackets": brackets}
"""Filters of templates, by their names there."""
