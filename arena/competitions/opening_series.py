"""The random openings of a comparison, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice

from engine.game import Variant
from engine.openings import Opening, openings


class OpeningSeries:
    """The openings of a board by a seed, kept as they are found: to judge each takes long."""

    def __init__(self, variant: Variant, seed: int, plies: int | None = None) -> None:
        self._variant, self._seed, self._plies = variant, seed, plies
        self._found: list[Opening] | None = None

    def opening(self, number: int, so_far: Callable[[], list[Opening]]) -> Opening | None:
        """The opening of a number, from 0; None if the board has no more.

        Args:
            so_far: reads those that were played, from the first on and without a gap, which are
                not judged again.
        """
        if self._found is None or len(self._found) < number:
            self._found = so_far()
            series = openings(self._variant, self._seed, plies=self._plies, known=self._found)
            self._rest = islice(series, len(self._found), None)
        self._found += islice(self._rest, max(0, number + 1 - len(self._found)))
        return self._found[number] if number < len(self._found) else None


opening_series = lru_cache(maxsize=100)(OpeningSeries)
