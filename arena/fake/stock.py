"""Real games between random players, from which made-up results take their records."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from arena.competitions.ladders import Ladders
from arena.keeping.packing import pack
from arena.lists.rows import GivenByBots, given_by_bots
from arena.models import Ladder
from arena.recorder.recording import results_of
from engine.match import MatchSpec, entrants_needed, shares_beaten
from engine.openings import opening
from engine.player import (
    BotError,
    Choice,
    CrashError,
    GameEnd,
    GameSetup,
    LogSoFar,
    MemoryForfeitError,
    ProtocolError,
    TimeForfeitError,
    Turn,
)
from engine.record import GameRecord
from engine.referee import play_game

TAGS = ("book", "sacrifice", "endgame")
FAULTS = (CrashError, TimeForfeitError, MemoryForfeitError, ProtocolError)
"""The faults by which one leaves the first game of as many matches."""
STOCK = 12
"""Real matches of a variant, which all its records are taken from."""


class _RandomPlayer:
    """Plays random legal moves, says something of them, and leaves by a fault if it is told to."""

    isolation = "none"
    closed = False

    def __init__(self, random: Random, fault: BotError | None, fault_ply: int) -> None:
        self.random, self.fault, self.fault_ply = random, fault, fault_ply

    def new_game(self, setup: GameSetup) -> None:
        pass

    def choose(self, turn: Turn) -> Choice:
        if self.fault is not None and turn.ply >= self.fault_ply:
            self.closed = True
            raise self.fault
        move = self.random.choice(turn.state.legal_moves())
        spent = int(self.random.lognormvariate(9, 1))
        values = {"eval": self.random.random(), "depth": float(self.random.randrange(4, 20))}
        tags = (self.random.choice(TAGS),) if self.random.random() < 0.05 else ()
        return Choice(move, cpu_us=spent, wall_us=spent + 200, values=values, tags=tags, pv=(move,))

    def end_turn(self) -> None:
        pass

    def end_game(self, end: GameEnd) -> None:
        pass

    def take_log(self) -> str:
        return ""

    def log_so_far(self) -> LogSoFar:
        return str

    def close(self, *, kill: bool = False) -> None:
        self.closed = True


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match that was played once, and how its games are stored."""

    spec: MatchSpec
    records: tuple[GameRecord, ...]
    packed: tuple[bytes, ...]
    digests: tuple[str, ...]
    given: tuple[GivenByBots, ...]
    score: float
    """The points of the entrant in place 0 in all games, from 0 to 1."""


def play_stock(ladder: Ladder, random: Random) -> list[StoredMatch]:
    """Real matches of a ladder's game between random players."""
    stock = []
    entrants = tuple(f"bot{n}" for n in range(max(2, entrants_needed(ladder.variant))))
    for number in range(STOCK):
        start = opening(ladder.variant, random.getrandbits(32))
        spec = MatchSpec(start.variant, entrants, ladder.time, start.moves, random.getrandbits(32))
        records = []
        for game in range(spec.games):
            faulty = game == 0 and number < len(FAULTS)
            ply = random.randrange(2, 20)
            players = [
                _RandomPlayer(
                    random, FAULTS[number]("made up") if faulty and seat == 0 else None, ply
                )
                for seat in range(spec.variant.seats)
            ]
            names = [entrants[place] for place in spec.seating(game)]
            record = play_game(
                spec.variant,
                players,
                time=spec.time,
                seed=spec.game_seed(game),
                opening=spec.opening,
                names=names,
            )
            records.append(record)
        seatings = [spec.seating(game) for game in range(spec.games)]
        results = results_of(records, range(len(entrants)), seatings, Ladders())
        score = sum(
            shares_beaten(result.sides, result.ranks)[list(result.entrants).index(0)]
            for result in results
        )
        stock.append(
            StoredMatch(
                spec,
                tuple(records),
                tuple(pack(record) for record in records),
                tuple(record.digest() for record in records),
                tuple(given_by_bots(record) for record in records),
                score / len(results),
            )
        )
    return stock
