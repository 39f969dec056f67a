"""What is stored of a match that was played: a row for each game, and one for each of its seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import undefer

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Entrant, GameSeat, PlayedGame
from arena.recorder import recording
from arena.schedule import leases
from arena.schedule.matchmaking import new_matches
from engine import jobs, reporting
from engine.game import Termination
from engine.match import MatchSpec, play_match, points
from engine.player import Choice, CrashError, GameSetup, Turn
from engine.record import GameRecord
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, LotPlayer, Simulation, give_sign

END = START + timedelta(minutes=1)
MU, SIGMA = 25, 25 / 3
"""The rating of a new bot, as the docs have it."""


class Spender(LotPlayer):
    """One whose every move costs as many microseconds as its seat says, counted from 1."""

    def new_game(self, setup: GameSetup) -> None:
        super().new_game(setup)
        self.cost, self.moves = setup.seat + 1, 0

    def choose(self, turn: Turn) -> Choice:
        self.moves += 1
        return super().choose(turn)._replace(cpu_us=self.cost)


class Crasher(Spender):
    """One that crashes at its third move of every game."""

    def choose(self, turn: Turn) -> Choice:
        if self.moves == 2:
            raise CrashError("exit status 1")
        return super().choose(turn)


@dataclass
class Stored:
    """A match that was played, and its rows."""

    spec: MatchSpec
    told: Sequence[GameRecord]
    games: Sequence[PlayedGame]
    seats: list[Sequence[GameSeat]]
    entrants: Mapping[str, Entrant]
    """The entrants by the names of their versions."""


def played(database: Database, game: str, options: dict[str, str]) -> Stored:
    """Has a match recorded, whose first entrant crashes."""
    Simulation(database, 0, CALM).furnish([(game, options)], bots=4)
    with database.begin() as session:
        give_sign(session, "w", START, slots=1)
        # The second, so that its number is no other's.
        *_, match = islice(new_matches(session, START), 2)
        job = issued(session, match, Settings(), START)
        assert isinstance(job, jobs.Job)
        told = play_match(job.spec, lambda entrant: Spender() if entrant else Crasher()).games
        logs = tuple(
            tuple(f"{number}.{seat}" for seat in seats(one)) for number, one in enumerate(told)
        )
        report = reporting.MatchReport(job.lease, "w", told, logs)
        outcome = recording.take_in(session, [report], Settings(), END)
        assert outcome == [leases.Fate.FIXED]
    with database.read() as session:
        games = session.scalars(sa.select(PlayedGame).order_by(PlayedGame.number)).all()
        its = sa.select(GameSeat).order_by(GameSeat.seat).options(undefer(GameSeat.log))
        rows = [session.scalars(its.where(GameSeat.game_id == one.id)).all() for one in games]
        entrants = {one.version.label: one for one in session.scalars(sa.select(Entrant))}
    return Stored(job.spec, told, games, rows, entrants)


def seats(record: GameRecord) -> range:
    return range(record.variant.seats)


def holders(stored: Stored) -> list[list[str]]:
    """Who held each seat of each game."""
    spec = stored.spec
    return [[spec.entrants[one] for one in spec.seating(game)] for game in range(spec.games)]


def costs(record: GameRecord) -> list[int]:
    """What each seat spent, by the moves that its player chose."""
    chosen = [ply.seat for ply in record.plies[record.opening :]]
    return [(seat + 1) * chosen.count(seat) for seat in seats(record)]


VARIANTS = {
    "two seats": ("clobber", {"size": "6x7"}),
    "three seats": ("blokus", {"mode": "trio"}),
    "two seats for each bot": ("blokus", {"mode": "teams"}),
    "a race": ("puzzle", {"task": "tetrominoes"}),
}


@pytest.fixture(params=VARIANTS)
def stored(request: pytest.FixtureRequest, sqlite_database: Database) -> Stored:
    """A match of each kind."""
    return played(sqlite_database, *VARIANTS[request.param])


def test_a_row_for_each_game(stored: Stored) -> None:
    """They are in the order in which they were played."""
    assert [
        (one.number, one.finished, one.plies, one.termination, one.competition_id)
        for one in stored.games
    ] == [
        (number, END, len(told.plies), told.termination, 1)
        for number, told in enumerate(stored.told)
    ]


def test_each_seat_has_what_is_its_own(stored: Stored) -> None:
    """Who held it in this game, its score, its fault, what it spent and what it wrote."""
    ids = {name: entrant.id for name, entrant in stored.entrants.items()}
    crashed = 0
    for number, (told, names) in enumerate(zip(stored.told, holders(stored), strict=True)):
        faults = {fault.seat: fault.termination for fault in told.faults}
        crashed += Termination.CRASH in faults.values()
        assert [
            (one.entrant_id, one.score, one.fault, one.cpu_us, one.log)
            for one in stored.seats[number]
        ] == [
            (ids[name], told.scores[seat], faults.get(seat), costs(told)[seat], f"{number}.{seat}")
            for seat, name in enumerate(names)
        ]
    assert crashed


def test_each_seat_has_its_rank_and_points(stored: Stored) -> None:
    """In a race it has them among its runs: who scored more is first, and has beaten the others."""
    found = [[(one.rank, one.points) for one in rows] for rows in stored.seats]
    if stored.spec.variant.seats == 1:
        one, other = (told.scores[0] for told in stored.told)
        assert found == ([[(1, 1.0)], [(2, 0.0)]] if one > other else [[(2, 0.0)], [(1, 1.0)]])
        return
    for told, rows in zip(stored.told, found, strict=True):
        assert rows == list(zip(told.ranks, points(told.variant, told.ranks), strict=True))


def test_ratings_follow_each_other(stored: Stored) -> None:
    """Each begins where its last one ended, from that of a new bot to what the ladder shows."""
    now: dict[str, tuple[float | None, ...]] = dict.fromkeys(stored.entrants, (MU, SIGMA))
    for rows, names in zip(stored.seats, holders(stored), strict=True):
        after: dict[str, tuple[float | None, ...]] = {}
        for row, name in zip(rows, names, strict=True):
            assert (row.mu_before, row.sigma_before) == pytest.approx(now[name])
            assert (row.mu_after, row.sigma_after) != (row.mu_before, row.sigma_before)
            after[name] = (row.mu_after, row.sigma_after)
        now |= after
    assert now == {name: (one.mu, one.sigma) for name, one in stored.entrants.items()}
