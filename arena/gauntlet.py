"""Gauntlets: candidate and baseline against the same field, compared by their common opponents.

A bot can beat its baseline and yet do worse against everybody else. Here the two never meet:
each plays the same openings against the same opponents, with the same dice. A round is one
opening played against one opponent by both, each a whole match (see `arena.strength`); its
difference in score, from all lost against all won to the opposite, is what is counted. The
openings differ from round to round, so the differences are independent of each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from arena.outcomes import Outcome, cells, seatings
from arena.ratings.elo import Estimate, elo_of, estimate, expected_score
from arena.ratings.sprt import Decision
from arena.strength import StrengthError
from engine.game import Termination, Variant


@dataclass(frozen=True, slots=True)
class Line:
    """What one bot did against the field."""

    half_points: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: Mapping[Termination, int] = field(default_factory=dict)
    """Its own."""

    def add(self, outcome: Outcome) -> Line:
        """The line after one more match."""
        return Line(
            self.half_points + outcome.half_points,
            self.wins + outcome.wins,
            self.draws + outcome.draws,
            self.losses + outcome.losses,
            dict(Counter(self.faults) + Counter(outcome.faults[0])),
        )


@dataclass(frozen=True, slots=True)
class Gauntlet:
    """A gauntlet after some rounds."""

    variant: Variant
    rounds: int
    """How many it is to have."""
    counts: tuple[int, ...]
    """Rounds by their difference, from the worst for the candidate to the best."""
    candidate: Line = Line()
    baseline: Line = Line()

    @classmethod
    def begin(cls, variant: Variant, games: int, opponents: int) -> Gauntlet:
        """A gauntlet of so many games or a few more: everybody is met equally often.

        Raises:
            StrengthError: nobody to meet, or a game of one seat.
        """
        if variant.seats == 1:
            raise StrengthError(f"{variant} can't be a gauntlet: a puzzle is played alone")
        if not opponents:
            raise StrengthError("a gauntlet needs an opponent or more")
        a_turn = 2 * len(seatings(variant)) * opponents
        return cls(variant, -(-games // a_turn) * opponents, (0,) * (2 * cells(variant) - 1))

    def add(self, candidate: Outcome, baseline: Outcome) -> Gauntlet:
        """The gauntlet after a round: what each of the two did against the same opponent.

        Raises:
            StrengthError: it is over.
        """
        if self.played >= self.rounds:
            raise StrengthError("the gauntlet is over and takes no more rounds")
        counts = list(self.counts)
        most = cells(self.variant) - 1
        counts[most + candidate.half_points - baseline.half_points] += 1
        return replace(
            self,
            counts=tuple(counts),
            candidate=self.candidate.add(candidate),
            baseline=self.baseline.add(baseline),
        )

    @property
    def played(self) -> int:
        """The rounds so far."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """Those of both bots."""
        return 2 * self.played * len(seatings(self.variant))

    def score(self, line: Line) -> float:
        """The mean share of the points that a bot took from the field."""
        most = cells(self.variant) - 1
        return line.half_points / (self.played * most) if self.played else 0.5

    @property
    def difference(self) -> tuple[float, float, float]:
        """The difference of the two scores, and the ends of its 95 % interval."""
        # (1 + difference) / 2 is a score like any other, with its interval in Elo.
        found = estimate(self.counts)
        mean = self.score(self.candidate) - self.score(self.baseline)
        return mean, 2 * expected_score(found.lower) - 1, 2 * expected_score(found.upper) - 1

    @property
    def estimate(self) -> Estimate:
        """The Elo of the candidate's score against the field, less that of the baseline's.

        The interval is that of the difference carried over, with the middle of the two scores
        held: so it holds zero if and only if the difference's does. Between bots of like strength
        an error of the middle shifts both Elos alike; where one scores far more than the other,
        the interval is mostly too wide, for the higher a score the less it spreads.
        """
        middle = (self.score(self.candidate) + self.score(self.baseline)) / 2
        elo, lower, upper = (
            elo_of(middle + apart / 2) - elo_of(middle - apart / 2) for apart in self.difference
        )
        return Estimate(elo, lower, upper, estimate(self.counts).los)

    @property
    def decision(self) -> Decision:
        """ACCEPT if at the end the whole interval lies above zero, REJECT if below."""
        if self.played < self.rounds:
            return Decision.CONTINUE
        _, lower, upper = self.difference
        if lower > 0:
            return Decision.ACCEPT
        return Decision.REJECT if upper < 0 else Decision.UNDECIDED

    def to_json(self) -> dict[str, Any]:
        """The result as JSON's types."""
        mean, lower, upper = self.difference
        return {
            "game": str(self.variant),
            "decision": str(self.decision),
            "passed": self.decision is Decision.ACCEPT,
            "rounds": self.played,
            "games": self.games,
            "counts": list(self.counts),
            "difference": round(mean, 6),
            "difference_95": [round(lower, 6), round(upper, 6)],
            **self.estimate.to_json(),
            "candidate": self._line(self.candidate),
            "baseline": self._line(self.baseline),
        }

    def _line(self, line: Line) -> dict[str, Any]:
        return {
            "score": round(self.score(line), 6),
            "wins": line.wins,
            "draws": line.draws,
            "losses": line.losses,
            "faults": {str(key): count for key, count in line.faults.items()},
        }
