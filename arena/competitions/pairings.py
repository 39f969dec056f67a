"""What a competition wants to be played next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.openings import Opening


@dataclass(frozen=True, slots=True)
class Pairing:
    """Entrants that are to meet in a match."""

    entrants: tuple[int, ...]
    """Their ids, in the order of their seats in the first game."""
    round: int | None = None
    """Of a tournament, from 1."""
    leg: int = 1
    """Which of the fixtures of the same entrants in the same round it is."""
    key: tuple[str | int, ...] | None = None
    """What its opening and dice are drawn by, where they must not depend on when it is made; by
    default it is the number of the match."""
    opening: Opening | None = None
    """Its opening, where its kind chooses that."""


def pairs_of(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every two of some entrants, the lower first."""
    for number, one in enumerate(ids):
        for other in ids[number + 1 :]:
            yield min(one, other), max(one, other)
