"""A match: one opening played once from every rotation of the seats.

It is the unit of work and of statistics. In a race (games of one seat) every entrant plays the
same start alone, and the match ranks them. An entrant's process is kept from game to game
unless it failed, and can be kept for further matches of the same entrants. A game that is void
by our own fault is played again twice at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.clock import TimeControl
from engine.game import Move, Variant, ranks_of
from engine.games import GAMES
from engine.player import LogSoFar, Player, VoidGameError
from engine.record import GameRecord, charged_us
from engine.referee import Watch, play_game
from engine.seeds import derive

VOID_RETRIES = 2

StartPlayer = Callable[[int], Player]
"""Makes a player of the entrant with this number."""


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """What is to be played, with every lot drawn."""

    variant: Variant
    entrants: tuple[str, ...]
    """A name for each entrant, for the records."""
    time: TimeControl
    opening: tuple[Move, ...] = ()
    seed: int = 0
    seatings: tuple[tuple[int, ...], ...] = ()
    """Who has each place in each game, if that is not to be every rotation of the entrants; then an
    entrant may have several places."""
    chosen: tuple[Mapping[str, str], ...] = ()
    """The options that each entrant is told; empty if nobody is told any."""
    times: tuple[TimeControl, ...] = ()
    """The time control of each entrant; empty if all have `time`."""

    @property
    def games(self) -> int:
        """How many games it has: one for every rotation, or in a race one for each entrant."""
        return len(self.seatings or self.entrants)

    def seating(self, game: int) -> tuple[int, ...]:
        """The entrant in each seat of a game; seat by seat they move on by one every game."""
        if self.seatings:
            return tuple(self.seatings[game][place] for place in self.variant.entrant_of)
        if self.variant.seats == 1:
            return (game,)
        count = len(self.entrants)
        return tuple((place + game) % count for place in self.variant.entrant_of)

    def told(self, game: int) -> tuple[Mapping[str, str], ...]:
        """The options that the player in each seat of a game is told; empty if nobody is."""
        if not any(self.chosen):
            return ()
        return tuple(self.chosen[entrant] for entrant in self.seating(game))

    def controls(self, game: int) -> tuple[TimeControl, ...]:
        """The time control of each seat of a game; empty if all have `time`."""
        if all(one == self.time for one in self.times):
            return ()
        return tuple(self.times[entrant] for entrant in self.seating(game))

    def game_seed(self, game: int) -> int:
        """The seed of a game; in a race everyone has the same start and the same dice."""
        return derive(self.seed, "game", 0 if self.variant.seats == 1 else game)

    @property
    def longest_seconds(self) -> float:
        """How long its games may take by what their clocks allow, starts of bots not counted."""
        seats, plies = self.variant.seats, self.variant.max_plies
        longest = max(one.longest_ms(seats, plies) for one in (self.time, *self.times))
        return self.games * longest / 1000

    def to_json(self) -> dict[str, Any]:
        """The match as JSON's types."""
        return {
            "game": self.variant.game,
            "options": dict(self.variant.options),
            "entrants": list(self.entrants),
            "time": self.time.to_json(),
            "opening": list(self.opening),
            "seed": self.seed,
            "seatings": [list(places) for places in self.seatings],
            "rules": GAMES.rules(self.variant.game),
            **({"chosen": [dict(one) for one in self.chosen]} if any(self.chosen) else {}),
            **({"times": [one.to_json() for one in self.times]} if self.times else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MatchSpec:
        """The match that `to_json` wrote.

        Raises:
            OptionError: it is of a game that is not here, or by other rules than are.
        """
        GAMES.demand(data["game"], data.get("rules", ""))
        return cls(
            GAMES[data["game"]].variant(**data["options"]),
            tuple(data["entrants"]),
            TimeControl(**data["time"]),
            tuple(data["opening"]),
            int(data["seed"]),
            tuple(tuple(places) for places in data["seatings"]),
            tuple(dict(one) for one in data.get("chosen", ())),
            tuple(TimeControl(**one) for one in data.get("times", ())),
        )


def entrants_needed(variant: Variant) -> int:
    """How many entrants sit down to a game; a race takes any number from two."""
    return max(variant.entrant_of) + 1


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The games of a match in the order of its rotations, and each seat's log beside them."""

    games: tuple[GameRecord, ...]
    logs: tuple[tuple[str, ...], ...]
    """The log of each seat in each game: for the bots' owners alone."""


def race_ranks(records: Sequence[GameRecord]) -> tuple[int, ...]:
    """Ranks of entrants that played the same puzzle, from their records.

    The higher score ranks higher; of two that solved it, the one that thought for less time by its
    clock, rounded to 10 ms; otherwise they tie.
    """
    return ranks_of([_race_key(record) for record in records])


def _race_key(record: GameRecord) -> tuple[float, int]:
    score = record.scores[0]
    if score != record.variant.solved_score:
        return (score, 0)
    thought_us = sum(charged_us(ply, record.time) or 0 for ply in record.plies)
    (stretch,) = record.stretch or (1.0,)
    return (score, -round(thought_us / stretch / 10_000))


def play_match(
    spec: MatchSpec,
    start_player: StartPlayer,
    *,
    games: int | None = None,
    watch: Callable[[int], Watch] | None = None,
) -> MatchResult:
    """Plays a match with players of its own, who leave at its end; see `Players`.

    Raises:
        VoidGameError: a game was void three times; nothing of the match counts.
    """
    players = Players(start_player)
    try:
        return players.play(spec, games=games, watch=watch)
    finally:
        players.close()


class Players:
    """The players of a match, or of matches of the same entrants that follow each other.

    There is one for each entrant, and more where it holds several seats at the same time. Each
    keeps its process from game to game until it fails.
    """

    def __init__(self, start_player: StartPlayer) -> None:
        """Takes what is called for an entrant whenever it needs a fresh player."""
        self._start = start_player
        self._players: dict[tuple[int, int], Player] = {}
        self._seated: Sequence[Player] = ()

    def play(
        self,
        spec: MatchSpec,
        *,
        games: int | None = None,
        watch: Callable[[int], Watch] | None = None,
        speeds: Sequence[float] = (),
    ) -> MatchResult:
        """Plays a match; after it the players wait for the next one.

        Args:
            games: plays only so many of its games.
            watch: gives, for the number of a game, what is to be told after each of its plies.
            speeds: as `engine.referee.play_game` has it, of each entrant.

        Raises:
            VoidGameError: a game was void three times; nothing of the match counts.
        """
        records, logs = [], []
        try:
            for number in range(spec.games if games is None else games):
                its_watch = watch(number) if watch else None
                record, log = self._play(spec, number, its_watch, speeds)
                if spec.variant.seats == 1:
                    # Nobody races twice, and whoever is done must not disturb those to come.
                    self.close()
                records.append(record)
                logs.append(log)
        except BaseException:
            # Nobody knows what they would say next.
            self.close(kill=True)
            raise
        return MatchResult(tuple(records), tuple(logs))

    def close(self, *, kill: bool = False) -> None:
        """Sends all of them away; whoever is needed after that is started anew."""
        for player in self._players.values():
            player.close(kill=kill)
        self._players.clear()

    def logs(self) -> list[LogSoFar]:
        """What the player in each seat of the game under way has logged, between two plies."""
        return [player.log_so_far() for player in self._seated]

    def _play(
        self, spec: MatchSpec, number: int, watch: Watch | None, speeds: Sequence[float]
    ) -> tuple[GameRecord, tuple[str, ...]]:
        for _ in range(VOID_RETRIES):
            try:
                return self._play_once(spec, number, watch, speeds)
            except VoidGameError:
                self.close(kill=True)
        return self._play_once(spec, number, watch, speeds)

    def _play_once(
        self, spec: MatchSpec, number: int, watch: Watch | None, speeds: Sequence[float]
    ) -> tuple[GameRecord, tuple[str, ...]]:
        seating = spec.seating(number)
        players = self._seated = self._seat(seating)
        record = play_game(
            spec.variant,
            players,
            time=spec.time,
            seed=spec.game_seed(number),
            opening=spec.opening,
            names=[spec.entrants[entrant] for entrant in seating],
            chosen=spec.told(number),
            times=spec.controls(number),
            watch=watch,
            speeds=[speeds[entrant] for entrant in seating] if speeds else (),
        )
        return record, tuple(player.take_log() for player in players)

    def _seat(self, seating: Sequence[int]) -> list[Player]:
        """A living player for each seat."""
        players = []
        held: dict[int, int] = {}
        for entrant in seating:
            key = (entrant, held.setdefault(entrant, 0))
            held[entrant] += 1
            if key not in self._players or self._players[key].closed:
                self._players[key] = self._start(entrant)
            players.append(self._players[key])
        return players


def points(variant: Variant, ranks: Sequence[int]) -> tuple[float, ...]:
    """The share of the other sides' seats that each seat beat, ties half; 0 to 1."""
    return shares_beaten(variant.side_of, ranks)


def shares_beaten(sides: Sequence[int], ranks: Sequence[int]) -> tuple[float, ...]:
    """The share of those of other sides that each of some players beat, ties half.

    In a race everybody is a side of its own. Who has no rival has half a point.
    """
    shares = []
    for mine, its_side in zip(ranks, sides, strict=True):
        others = [rank for rank, side in zip(ranks, sides, strict=True) if side != its_side]
        beaten = sum((mine < rank) + (mine == rank) / 2 for rank in others)
        shares.append(beaten / len(others) if others else 0.5)
    return tuple(shares)
