"""What bots log in a match under way, for those alone who may read it, and as long as they do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from engine.exchange import read_lines
from engine.live import LiveLog, newest
from engine.protocol import visible

MOST_PLAYS = 2
"""The running game, and the one before, of which the last may come late."""

Seating = Callable[[int], Sequence[int]]
"""The entrant in each seat of a game."""

Kept = dict[int, tuple[int, str]]
"""A text of each ply, with the number of its last change."""


class RunningLogs:
    """The logs of a match as far as they are known; each change of them has a number."""

    def __init__(self) -> None:
        self._number = 0
        self._plays: dict[tuple[int, int], list[tuple[Kept, Kept]]] = {}
        """What each seat's bot wrote, and the lines exchanged with it, for each play by game and
        try."""

    def take(self, told: LiveLog, seats: int) -> None:
        """Takes in what is told of a seat of so many."""
        if told.seat >= seats or not (told.texts or told.exchanged):
            return
        play = told.game, told.again
        logs = self._plays.setdefault(play, [({}, {}) for _ in range(seats)])[told.seat]
        for log, texts in zip(logs, (told.texts, told.exchanged), strict=True):
            for ply, words in texts.items():
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
            written, exchanged = (
                list(_joined(number, entrants, seating(game), part))
                for part in zip(*logs, strict=True)
            )
            if written or exchanged:
                told = [[*where, visible(words)] for where, words in written]
                lines = [
                    [*where, [[line.ms, visible(line.text, but="")] for line in read_lines(words)]]
                    for where, words in exchanged
                ]
                found.append({"game": game, "again": again, "logs": told, "lines": lines})
        return found, self._number

    def forget(self) -> None:
        """Keeps nothing of them."""
        self._plays.clear()


def _joined(
    number: int, entrants: Collection[int], seating: Sequence[int], logs: Sequence[Kept]
) -> Iterator[tuple[tuple[int, int], str]]:
    """What is newer than a number, by entrant and ply; one may have several seats."""
    joined: dict[tuple[int, int], tuple[int, str]] = {}
    for entrant, log in zip(seating, logs, strict=True):
        for ply, (its, words) in log.items() if entrant in entrants else ():
            last, before = joined.get((entrant, ply), (0, ""))
            joined[entrant, ply] = max(last, its), before + words
    for where, (its, words) in sorted(joined.items()):
        if its > number:
            yield where, words
