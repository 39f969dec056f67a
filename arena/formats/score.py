"""What was won, drawn and lost against somebody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Games of one against another."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __add__(self, more: Score) -> Score:
        return Score(self.wins + more.wins, self.draws + more.draws, self.losses + more.losses)

    @property
    def turned(self) -> Score:
        """The score of these games as the other sees them."""
        return Score(self.losses, self.draws, self.wins)

    @property
    def games(self) -> int:
        """How many games there were, however they ended."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A win is one, a draw half."""
        return self.wins + self.draws / 2

    @property
    def share(self) -> float:
        """Points a game, from 0 to 1; of no games there is none."""
        return self.points / self.games
