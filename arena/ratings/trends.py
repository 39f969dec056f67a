"""The course of ratings over the last results, as boards draw it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Generic

from arena.ratings.book import RatingChange
from arena.ratings.result import E

TREND_RESULTS = 30
"""A trend goes back so many results."""


class Trends(Generic[E]):
    """Everybody's display rating after each of the last results, to a tenth, oldest first."""

    def __init__(self, known: Mapping[E, Sequence[float]] | None = None) -> None:
        """Trends that go on from these; without them all are empty."""
        self._trends = {
            entrant: deque(trend, TREND_RESULTS) for entrant, trend in (known or {}).items()
        }

    def __getitem__(self, entrant: E) -> list[float]:
        """An entrant's trend; empty for one that was never noted."""
        return list(self._trends.get(entrant, ()))

    def note(self, changes: Sequence[RatingChange[E]]) -> None:
        """Adds a result: who has several seats in it changes once."""
        for entrant, after in {change.entrant: change.after for change in changes}.items():
            if entrant not in self._trends:
                self._trends[entrant] = deque(maxlen=TREND_RESULTS)
            self._trends[entrant].append(round(after.display, 1))
