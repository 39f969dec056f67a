"""The matches of a tournament as the database has them, in the words of formats."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.formats.fixtures import Fixture, Result
from arena.models import Entrant, GameSeat, JobStatus, Match, Place, PlayedGame, Tournament
from arena.ratings.result import GameResult


@dataclass(frozen=True, slots=True)
class SetMatch:
    """A match that was made for a fixture, and what came of it."""

    id: int
    status: JobStatus
    result: Result
    """What came of it; it has no games as long as it is not fixed."""
    games: tuple[GameResult[int], ...] = ()
    """Its games as ratings take them."""


def matches_of(session: Session, tournament: Tournament) -> list[SetMatch]:
    """All matches of a tournament that are not void, round by round, in three statements."""
    seats: dict[int, dict[int, list[Any]]] = {}
    for row in session.execute(
        sa.select(
            PlayedGame.match_id,
            PlayedGame.number.label("game"),
            Entrant.number,
            GameSeat.points,
            GameSeat.rank,
        )
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .join(Entrant, Entrant.id == GameSeat.entrant_id)
        .where(Match.competition_id == tournament.id, Match.status == JobStatus.FIXED)
        .order_by(PlayedGame.match_id, PlayedGame.number, GameSeat.seat)
    ):
        seats.setdefault(row.match_id, {}).setdefault(row.game, []).append(row)
    entrants: dict[int, list[int]] = {}
    for match_id, number in session.execute(
        sa.select(Place.match_id, Entrant.number)
        .join(Entrant, Entrant.id == Place.entrant_id)
        .where(Entrant.competition_id == tournament.id)
        .order_by(Place.match_id, Place.number)
    ):
        entrants.setdefault(match_id, []).append(number)
    rows = session.execute(
        sa.select(Match.id, Match.round, Match.leg, Match.status)
        .where(Match.competition_id == tournament.id, Match.status != JobStatus.VOID)
        .order_by(Match.round, Match.id)
    )
    sides = tournament.variant.side_of
    return [
        read_match(
            row.id,
            row.status,
            Fixture(row.round, tuple(entrants[row.id]), row.leg),
            list(seats.get(row.id, {}).values()),
            sides,
        )
        for row in rows
    ]


def voided_fixtures(session: Session, tournament: Tournament) -> list[Fixture]:
    """Those of the matches that are void, the last made first."""
    found: dict[int, tuple[int, int, list[int]]] = {}
    for row in session.execute(
        sa.select(Match.id, Match.round, Match.leg, Entrant.number)
        .join(Place, Place.match_id == Match.id)
        .join(Entrant, Entrant.id == Place.entrant_id)
        .where(Match.competition_id == tournament.id, Match.status == JobStatus.VOID)
        .order_by(Match.id.desc(), Place.number)
    ):
        found.setdefault(row.id, (row.round, row.leg, []))[2].append(row.number)
    return [Fixture(round_, tuple(entrants), leg) for round_, leg, entrants in found.values()]


def digest(session: Session, tournament: Tournament) -> str:
    """SHA-256 over the records of all games that count, in the order of fixtures, less their times.

    The same bots from the same seed give the same one, however the tournament was played.
    """
    place: dict[int, list[int]] = {}
    for match in matches_of(session, tournament):
        fixture = match.result.fixture
        place[match.id] = [fixture.round, *fixture.entrants, fixture.leg]
    rows = session.execute(
        sa.select(PlayedGame.match_id, PlayedGame.number, PlayedGame.digest)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(Match.competition_id == tournament.id, Match.status == JobStatus.FIXED)
    )
    lines = sorted((place[row.match_id], row.number, row.digest) for row in rows)
    return hashlib.sha256("\n".join(str(line) for line in lines).encode()).hexdigest()


def read_match(
    id_: int,
    status: JobStatus,
    fixture: Fixture,
    games: list[list[Any]],
    sides: tuple[int, ...],
) -> SetMatch:
    """A match from the rows of its games, seat by seat.

    Args:
        sides: of each seat of the variant.
    """
    if games and len(sides) == 1:
        # The runs of a race are one result.
        games = [[seat for game in games for seat in game]]
        sides = tuple(range(len(fixture.entrants)))
    points = [{seat.number: seat.points for seat in game} for game in games]
    return SetMatch(
        id_,
        status,
        Result(fixture, tuple(tuple(game[one] for one in fixture.entrants) for game in points)),
        tuple(
            GameResult(
                tuple(seat.number for seat in game), sides, tuple(seat.rank for seat in game)
            )
            for game in games
        ),
    )
