"""What bots log in a match under way, for those alone who may read it, and as long as they do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from engine.live import LiveLog, newest
from engine.protocol import visible

MOST_PLAYS = 2
"""The running game, and the one before, of which the last may come late."""

Seating = Callable[[int], Sequence[int]]
"""The entrant in each seat of a game."""


class RunningLogs:
    """The logs of a match as far as they are known; each change of them has a number."""

    def __init__(self) -> None:
        self._number = 0
        self._plays: dict[tuple[int, int], list[dict[int, tuple[int, str]]]] = {}
        """Of each play, by game and try, for each seat the text at each ply, with its number."""

    def take(self, told: LiveLog, seats: int) -> None:
        """Takes in what is told of a seat of so many."""
        if told.seat >= seats or not told.texts:
            return
        play = told.game, told.again
        log = self._plays.setdefault(play, [{} for _ in range(seats)])[told.seat]
        for ply, words in told.texts.items():
            if ply not in log or log[ply][1] != words:
                self._number += 1
                log[ply] = self._number, words
        kept = newest({ply: words for ply, (_, words) in log.items()})
        for ply in log.keys() - kept.keys():
            del log[ply]
        for old in sorted(self._plays)[:-MOST_PLAYS]:
            del self._plays[old]

    def since(
        self, number: int, entrants: Collection[int], seating: Seating
    ) -> tuple[list[dict[str, Any]], int]:
        """What those entrants logged since the change of a number, and the number of the last.

        The number counts what others log, too, and is not to be told to anybody.
        """
        found = []
        for (game, again), logs in sorted(self._plays.items()):
            joined: dict[tuple[int, int], tuple[int, str]] = {}  # one may have several seats
            for entrant, log in zip(seating(game), logs, strict=True):
                for ply, (its, words) in log.items() if entrant in entrants else ():
                    last, before = joined.get((entrant, ply), (0, ""))
                    joined[entrant, ply] = max(last, its), before + words
            new = [
                [*where, visible(words)]
                for where, (its, words) in sorted(joined.items())
                if its > number
            ]
            if new:
                found.append({"game": game, "again": again, "logs": new})
        return found, self._number

    def forget(self) -> None:
        """Keeps nothing of them."""
        self._plays.clear()
