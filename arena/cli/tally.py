"""Adds up the games of a run between named bots."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.ratings.elo import Estimate, estimate
from engine.bot_logs import is_heading
from engine.game import Termination, Variant
from engine.match import MatchResult, MatchSpec, points, race_ranks, shares_beaten
from engine.places import added, placed
from engine.process import STANDARD_ERROR
from engine.record import GameRecord, charged_us
from engine.referee import ISOLATION_LEVELS
from engine.translation import gettext

PAIR_CELLS, RACE_CELLS = 5, 3
"""How many half points one of two bots can have of a match, 0 included."""
SHOWN_FAULTS = 3
"""Faults of a bot that are told in words; the rest are counted."""
SHOWN_ERRORS = 12
"""Lines of what a bot that crashed wrote to standard error; of more the first and the last."""
SHOWN_LETTERS = 300
"""Characters that are shown of each line."""


@dataclass(slots=True)
class TallyLine:
    """What one bot did."""

    name: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    scored: float = 0.0
    """The sum of its scores by the rules, where a game is played alone."""
    places: list[int] = field(default_factory=list)
    """How often it had each place, in games of more than two sides (`engine.places`)."""
    faults: Counter[Termination] = field(default_factory=Counter)
    fault_details: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """The lines that it wrote to standard error in the first game in which it crashed."""
    moves: int = 0
    charged_us: int = 0
    longest_us: int = 0

    @property
    def score(self) -> float:
        """Points a game, from 0 to 1."""
        return self.points / self.games if self.games else 0.0

    @property
    def mean_ms(self) -> float:
        """What a move was charged, in milliseconds: CPU time, or wall time where that counts."""
        return self.charged_us / 1000 / self.moves if self.moves else 0.0


class RunTally:
    """Wins, draws, losses, faults and times of each bot over a run."""

    def __init__(self, variant: Variant, names: Sequence[str]) -> None:
        self.variant = variant
        self.lines = [TallyLine(name) for name in names]
        self.games = 0
        self.seconds = 0.0
        self.results: list[dict[str, Any]] = []
        """What came of each game, as JSON's types."""
        # In a race the two have a game each, and are compared once.
        cells = RACE_CELLS if variant.seats == 1 else PAIR_CELLS
        self._pairs = [0] * cells if len(names) == 2 else None
        """How many whole matches gave the first of two bots so many half points; None if there are
        not two."""
        self._digests = hashlib.sha256()
        self._isolations: set[str] = set()

    @property
    def faults(self) -> int:
        """How often any bot failed."""
        return sum(line.faults.total() for line in self.lines)

    @property
    def elo(self) -> tuple[Estimate, Estimate] | None:
        """How much stronger each of two bots is than the other by their whole matches."""
        if self._pairs is None:
            return None
        return estimate(self._pairs), estimate(self._pairs[::-1])

    @property
    def words(self) -> str:
        """How it stands: of two bots by the first, of more by the one that leads."""
        if self.elo is None:
            best = max(self.lines, key=lambda line: line.score)
            return gettext("%(bot)s leads with %(score)s", bot=best.name, score=f"{best.score:.1%}")
        first, (elo, _) = self.lines[0], self.elo
        results = f"{first.name} {first.wins}-{first.draws}-{first.losses}"
        return f"{results}, Elo {elo.measured}" if elo.tells else results

    def digest(self) -> str:
        """SHA-256 over the games' own digests, in their order."""
        return self._digests.hexdigest()

    def add(self, spec: MatchSpec, result: MatchResult) -> None:
        """Counts the games of a match."""
        race = race_ranks(result.games) if spec.variant.seats == 1 else ()
        before = self.lines[0].points
        for number, record in enumerate(result.games):
            self.games += 1
            self._isolations.add(record.isolation)
            digest = record.digest()
            self._digests.update(digest.encode())
            self.results.append(
                {
                    "game": self.games,
                    "players": list(record.players),
                    "scores": list(record.scores),
                    "ranks": list(record.ranks),
                    "termination": str(record.termination),
                    "plies": len(record.plies),
                    "digest": digest,
                }
            )
            seating = spec.seating(number)
            if race:
                self._count(self.lines[seating[0]], _race_points(race, number))
                self.lines[seating[0]].scored += record.scores[0]
            else:
                shares = points(record.variant, record.ranks)
                # An entrant with several seats holds them for one side; it is counted once.
                for seat in {entrant: seat for seat, entrant in enumerate(seating)}.values():
                    line = self.lines[seating[seat]]
                    self._count(line, _result(record, seat, shares))
                    game = placed(record.variant.side_of, record.ranks[seat])
                    line.places = added(line.places, game)
            self._add_plies(record, seating, result.logs[number])
        if self._pairs is not None and len(result.games) == spec.games:
            self._pairs[round(2 * (self.lines[0].points - before))] += 1

    @staticmethod
    def _count(line: TallyLine, outcome: tuple[str, float]) -> None:
        kind, share = outcome
        line.games += 1
        line.points += share
        setattr(line, kind, getattr(line, kind) + 1)

    def _add_plies(self, record: GameRecord, seating: Sequence[int], logs: Sequence[str]) -> None:
        for ply in record.plies:
            cost_us = charged_us(ply, record.time)
            if cost_us is not None:
                line = self.lines[seating[ply.seat]]
                line.moves += 1
                line.charged_us += cost_us
                line.longest_us = max(line.longest_us, cost_us)
        for fault in record.faults:
            if not fault.termination.is_failure:
                continue
            line = self.lines[seating[fault.seat]]
            line.faults[fault.termination] += 1
            if len(line.fault_details) < SHOWN_FAULTS:
                line.fault_details.append(
                    f"game {self.games}, ply {fault.ply}: {fault.termination}, {fault.detail}"
                )
            if fault.termination is Termination.CRASH and not line.errors:
                errors = logs[fault.seat].partition(STANDARD_ERROR)[2]
                said = [line for line in errors.splitlines() if not is_heading(line)]
                # A single one is told with the fault.
                line.errors = _abridged(said) if len(said) > 1 else []

    def to_json(self) -> dict[str, Any]:
        """The tally as JSON's types."""
        told_elo = self.elo if self.games else None
        return {
            "variant": str(self.variant),
            "games": self.games,
            "seconds": round(self.seconds, 3),
            "games_per_second": round(self.games / self.seconds, 3) if self.seconds else None,
            # The weakest, as of the players of a game.
            "isolation": min(self._isolations, key=ISOLATION_LEVELS.index, default=None),
            "digest": self.digest(),
            "bots": [
                {
                    "name": line.name,
                    "games": line.games,
                    "wins": line.wins,
                    "draws": line.draws,
                    "losses": line.losses,
                    "score": round(line.score, 6),
                    "places": line.places,
                    **(told_elo[number].to_json() if told_elo else {}),
                    "faults": {str(key): count for key, count in line.faults.items()},
                    "fault_details": line.fault_details,
                    "mean_ms": round(line.mean_ms, 3),
                    "longest_ms": line.longest_us / 1000,
                }
                for number, line in enumerate(self.lines)
            ],
            "results": self.results,
        }


def _abridged(lines: list[str]) -> list[str]:
    half = SHOWN_ERRORS // 2
    lines = [line[:SHOWN_LETTERS] for line in lines]
    return lines if len(lines) <= SHOWN_ERRORS else [*lines[:half], "...", *lines[-half:]]


def _result(record: GameRecord, seat: int, shares: Sequence[float]) -> tuple[str, float]:
    """Won, drawn or lost: first alone, first with another side, or behind."""
    sides = record.variant.side_of
    if record.ranks[seat] != 1:
        return "losses", shares[seat]
    shared = any(
        rank == 1 and side != sides[seat] for rank, side in zip(record.ranks, sides, strict=True)
    )
    return ("draws" if shared else "wins"), shares[seat]


def _race_points(ranks: Sequence[int], number: int) -> tuple[str, float]:
    mine, others = ranks[number], [*ranks[:number], *ranks[number + 1 :]]
    if not others:
        return "draws", 0.5
    share = shares_beaten(range(len(ranks)), ranks)[number]
    return ("losses" if mine > 1 else "draws" if 1 in others else "wins"), share
