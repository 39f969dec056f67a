"""The bracket of a knockout as columns of ties, for a page to set side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arena.formats.knockout import Tie


@dataclass(frozen=True, slots=True)
class Stage:
    """Ties side by side."""

    name: str
    ties: tuple[Tie, ...]


def brackets(ties: Iterable[Tie]) -> list[list[Stage]]:
    """The stages of each bracket in their order: the main one, then that of the losers.

    A match for the third place stands alone at the end. Stages in which nobody can ever be (those
    of a large bracket for a small field) are left out.
    """
    stages: dict[str, list[Tie]] = {}
    for tie in ties:
        stages.setdefault(tie.stage, []).append(tie)
    shown = [
        Stage(name, tuple(found))
        for name, found in stages.items()
        if any(not tie.decided or tie.winner is not None for tie in found)
    ]
    losers = [stage for stage in shown if stage.name.startswith("losers'")]
    third = [stage for stage in shown if stage.name == "third place"]
    main = [stage for stage in shown if stage not in losers and stage not in third]
    return [part for part in (main, losers, third) if part]


FILTERS = {"brackets": brackets}
"""Those that templates use, by their names there."""
