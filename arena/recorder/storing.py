"""The rows of matches that were played: their games, seats and meetings.

Each kind of row is written by one statement for many matches, and by the connection, which
spares it the session's bookkeeping.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arena.models import GameSeat, Match, Meeting, PlayedGame
from arena.ratings.book import RatingChange
from arena.ratings.result import GameResult
from arena.recorder.counters import Tally
from engine import reporting
from engine.match import points, shares_beaten
from engine.record import GameRecord


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that was fixed, and what is to be stored of it."""

    match: Match
    report: reporting.MatchReport
    seatings: Sequence[Sequence[int]]
    """For each game the place of the entrant in each seat."""
    results: Sequence[GameResult[int]]
    """One for each game, or a single one for a race."""
    changes: Sequence[Sequence[RatingChange[int]]] | None
    """Of the ratings, for each result and its places; None if nothing was rated."""
    tally: Tally | None
    """None if it counts in no table."""
    faulty: Sequence[int]
    """The ids of the entrants that left one of its games by their own fault."""


def pack(record: GameRecord) -> bytes:
    """A record as it is stored: JSON, compressed."""
    text = json.dumps(record.to_json(), separators=(",", ":"), ensure_ascii=False)
    return zlib.compress(text.encode())


def unpack(stored: bytes) -> GameRecord:
    """The record that `pack` stored."""
    return GameRecord.from_json(json.loads(zlib.decompress(stored)))


def store(session: Session, played: Sequence[PlayedMatch]) -> None:
    """Stores the games of matches in their order, and adds up who met whom."""
    if not played:
        return
    connection = session.connection()
    games = [row for one in played for row in _games(one)]
    ids = iter(connection.scalars(_INSERT_GAMES, games).all())
    seats = [
        seat
        for one in played
        for number in range(len(one.report.games))
        for seat in _seats(one, number, next(ids))
    ]
    connection.execute(_INSERT_SEATS, seats)
    counted: dict[int, Tally] = {}
    for one in played:
        if one.tally:
            counted.setdefault(one.match.competition_id, Tally()).add(one.tally)
    meetings = [
        {"first_id": first, "second_id": second, "competition_id": competition, **asdict(both)}
        for competition, its in counted.items()
        for (first, second), both in its.meetings.items()
    ]
    if meetings:
        connection.execute(_add_to_meetings(connection.dialect.name), meetings)


_INSERT_GAMES = sa.insert(PlayedGame).returning(PlayedGame.id, sort_by_parameter_order=True)
_INSERT_SEATS = sa.insert(GameSeat)


def _games(played: PlayedMatch) -> list[dict[str, Any]]:
    match = played.match
    return [
        {
            "match_id": match.id,
            "competition_id": match.competition_id,
            "number": number,
            "termination": record.termination,
            "plies": len(record.plies),
            "finished": match.fixed,
            "digest": record.digest(),
            "record": pack(record),
        }
        for number, record in enumerate(played.report.games)
    ]


def _seats(played: PlayedMatch, number: int, game_id: int) -> list[dict[str, Any]]:
    """The rows of a game's seats."""
    record = played.report.games[number]
    race = record.variant.seats == 1
    told = 0 if race else number
    # As much as `engine.process` keeps: standard error, four times that of its lines, two headings.
    longest = 5 * played.match.competition.log_bytes + 1000
    result = played.results[told]
    change = played.changes[told] if played.changes else None
    shares = (
        shares_beaten(result.sides, result.ranks) if race else points(record.variant, record.ranks)
    )
    faults = {fault.seat: fault.termination for fault in record.faults}
    seats = []
    for seat, place in enumerate(played.seatings[number]):
        rated = change[place if race else seat] if change else None
        seats.append(
            {
                "game_id": game_id,
                "seat": seat,
                "entrant_id": played.match.places[place].entrant_id,
                "score": record.scores[seat],
                "rank": result.ranks[place] if race else record.ranks[seat],
                "points": shares[place if race else seat],
                "fault": faults.get(seat),
                "cpu_us": sum(ply.cpu_us or 0 for ply in record.plies if ply.seat == seat),
                "mu_before": rated and rated.before.mu,
                "sigma_before": rated and rated.before.sigma,
                "mu_after": rated and rated.after.mu,
                "sigma_after": rated and rated.after.sigma,
                "log": played.report.logs[number][seat][:longest],
            }
        )
    return seats


@cache
def _add_to_meetings(dialect: str) -> sa.Insert:
    """Adds to what is counted of a meeting, the first of two too."""
    statement: sqlite.Insert | postgresql.Insert
    statement = sqlite.insert(Meeting) if dialect == "sqlite" else postgresql.insert(Meeting)
    sums = {
        name: getattr(Meeting, name) + statement.excluded[name]
        for name in ("matches", "games", "wins", "draws")
    }
    return statement.on_conflict_do_update(
        index_elements=[Meeting.first_id, Meeting.second_id], set_=sums
    )
