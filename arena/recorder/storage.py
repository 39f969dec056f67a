"""What is counted and stored of matches that were played: games, seats, meetings, counters.

What is counted of a match is the same as it comes in, and when all is counted anew. Each kind of
row is written by one statement for many matches, and by the connection, which spares it the
session's bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arena.competitions.kinds import kind_of
from arena.competitions.pairings import pairs_of
from arena.keeping.dictionaries import dictionary_of
from arena.keeping.packing import pack
from arena.lists.rows import (
    Days,
    Listed,
    OfMatch,
    given_by_bots,
    line_row,
    listed_seats,
    opening_number,
    speed_of,
    start_of,
)
from arena.models import GameSeat, Match, Meeting, PlayedGame, Visibility
from arena.ratings.book import RatingChange
from arena.ratings.result import GameResult
from arena.recorder.settling import begin_to_store
from engine import reporting
from engine.bot_options import chosen_words
from engine.game import Termination
from engine.match import points, shares_beaten
from engine.places import added, placed
from engine.record import GameRecord


@dataclass(slots=True)
class EntrantTally:
    """An entrant's games."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """The share of opponents beaten in each game, ties half, added up."""
    faults: int = 0
    places: list[int] = field(default_factory=list)
    """How often it had each place, in games of more than two sides (`engine.places`)."""

    def add_to(self, counts: Any) -> None:
        """Adds each number to what has the same name."""
        counts.games += self.games
        counts.wins += self.wins
        counts.draws += self.draws
        counts.losses += self.losses
        counts.points += self.points
        counts.faults += self.faults
        if self.places:  # of two sides nothing is to be written
            counts.places = added(counts.places, self.places)


@dataclass(slots=True)
class MeetingTally:
    """What two entrants did against each other."""

    matches: int = 0
    """Those in which both played, on one side or on two."""
    games: int = 0
    """Those that they played against each other; allies do not meet."""
    wins: int = 0
    """Games in which the first ranked before the second."""
    draws: int = 0

    def add_to(self, counts: Any) -> None:
        """Adds each number to what has the same name."""
        counts.matches += self.matches
        counts.games += self.games
        counts.wins += self.wins
        counts.draws += self.draws

    def without(self, other: MeetingTally) -> MeetingTally:
        """What is left if that is taken away."""
        return MeetingTally(
            self.matches - other.matches,
            self.games - other.games,
            self.wins - other.wins,
            self.draws - other.draws,
        )


@dataclass(slots=True)
class Tally:
    """What is counted of one match, or of many."""

    games: int = 0
    neighbours: int = 0
    """Sides next to each other in the order of finish, two by two."""
    ties: int = 0
    """How many of those two shared a rank."""
    entrants: dict[int, EntrantTally] = field(default_factory=dict)
    meetings: dict[tuple[int, int], MeetingTally] = field(default_factory=dict)
    """The tallies of those who met, by the ids of both, the lower first."""

    def add(self, one: Tally) -> None:
        """Adds a match, number by number as the recorder does: sums of floats have an order."""
        self.games += one.games
        self.neighbours += one.neighbours
        self.ties += one.ties
        for entrant, its in one.entrants.items():
            its.add_to(self.entrants.setdefault(entrant, EntrantTally()))
        for pair, both in one.meetings.items():
            both.add_to(self.meetings.setdefault(pair, MeetingTally()))


def tally(
    results: Sequence[GameResult[int]], faults: Iterable[tuple[int, Termination]], *, games: int
) -> Tally:
    """What is counted of a match.

    Args:
        results: one for each game; for a race a single one.
        faults: the entrant of each, and its kind; to resign is to play, and counts as none.
        games: how many games were played.
    """
    found = Tally(games=games)
    for result in results:
        _count(found, result)
    for entrant, kind in faults:
        found.entrants[entrant].faults += kind.is_failure
    for meeting in found.meetings.values():
        meeting.matches = 1
    return found


def _count(found: Tally, result: GameResult[int]) -> None:
    shares = shares_beaten(result.sides, result.ranks)
    seats = {entrant: seat for seat, entrant in enumerate(result.entrants)}
    firsts = {side for side, rank in zip(result.sides, result.ranks, strict=True) if rank == 1}
    for entrant, seat in seats.items():
        counts = found.entrants.setdefault(entrant, EntrantTally())
        counts.games += 1
        counts.points += shares[seat]
        counts.places = added(counts.places, placed(result.sides, result.ranks[seat]))
        if result.ranks[seat] > 1:
            counts.losses += 1
        elif len(firsts) > 1:
            counts.draws += 1
        else:
            counts.wins += 1
    for first, second in pairs_of(sorted(seats)):
        meeting = found.meetings.setdefault((first, second), MeetingTally())
        if result.sides[seats[first]] == result.sides[seats[second]]:
            continue
        rank, other = result.ranks[seats[first]], result.ranks[seats[second]]
        meeting.games += 1
        meeting.wins += rank < other
        meeting.draws += rank == other
    rank_of_side = dict(zip(result.sides, result.ranks, strict=True))
    found.neighbours += len(rank_of_side) - 1
    found.ties += len(rank_of_side) - len(set(rank_of_side.values()))


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that was fixed, and what is to be stored of it."""

    match: Match
    report: reporting.MatchReport
    seatings: Sequence[Sequence[int]]
    """The place of the entrant in each seat, for each game."""
    results: Sequence[GameResult[int]]
    """One for each game, or a single one for a race."""
    changes: Sequence[Sequence[RatingChange[int]]] | None
    """The changes of the ratings, for each result and its places; None if nothing was rated."""
    tally: Tally | None
    """None if it counts in no table."""
    faulty: Sequence[int]
    """The ids of the entrants that left one of its games by their own fault."""


def store(session: Session, played: Sequence[PlayedMatch], days: Days) -> None:
    """Stores the games of matches in their order, and adds up who met whom.

    Args:
        days: to which they are added, to be written at the end of the transaction.
    """
    if not played:
        return
    begin_to_store(session)
    connection = session.connection()
    games = [row for one in played for row in _games(session, one)]
    ids = iter(connection.scalars(_INSERT_GAMES, games).all())
    seats, listed = [], Listed.nothing()
    for one in played:
        about, versions = _in_common(one.match), _versions(one.match)
        for number, record in enumerate(one.report.games):
            id_, its = next(ids), _seats(one, number)
            seats += [{"game_id": id_, **seat} for seat in its]
            seated = listed_seats(record, its, versions, about)
            line = line_row(record, about)
            listed.add(id_, seated, given_by_bots(record), line, is_public=about.is_public)
    connection.execute(_INSERT_SEATS, seats)
    listed.write(connection)
    days.add(listed)
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


def _games(session: Session, played: PlayedMatch) -> list[dict[str, Any]]:
    match = played.match
    dictionary = dictionary_of(session, match.competition.game)
    return [
        {
            "match_id": match.id,
            "competition_id": match.competition_id,
            "number": number,
            "termination": record.termination,
            "plies": len(record.plies),
            "finished": match.fixed,
            "digest": record.digest(),
            "speed": speed_of(record),
            "record": pack(record, dictionary),
        }
        for number, record in enumerate(played.report.games)
    ]


def _in_common(match: Match) -> OfMatch:
    assert match.fixed is not None
    competition = match.competition
    return OfMatch(
        competition.id,
        competition.game,
        opening_number(match.options, match.opening),
        match.fixed,
        match.played_by,
        match.counts,
        start_of(competition.game, kind_of(competition).options_of(match), match.options),
        len(match.opening),
        competition.visibility is Visibility.PUBLIC,
    )


def _versions(match: Match) -> dict[int, tuple[int, int]]:
    """The ids of each entrant's version and of its bot, by the id of the entrant."""
    versions = {place.entrant_id: place.entrant.version for place in match.places}
    return {entrant: (version.id, version.bot_id) for entrant, version in versions.items()}


def _seats(played: PlayedMatch, number: int) -> list[dict[str, Any]]:
    """The rows of a game's seats, with their logs."""
    told = 0 if len(played.results) < len(played.report.games) else number
    rows = seat_rows(
        played.report.games[number],
        played.seatings[number],
        [place.entrant_id for place in played.match.places],
        played.results[told],
        played.changes[told] if played.changes else None,
    )
    # As much as `engine.process` keeps: standard error, four times that of its lines, once that of
    # the lines exchanged, and headings.
    longest = 6 * played.match.competition.log_bytes + 1000
    logs = played.report.logs[number]
    return [{**row, "log": log[:longest]} for row, log in zip(rows, logs, strict=True)]


def seat_rows(
    record: GameRecord,
    seating: Sequence[int],
    entrants: Sequence[int],
    result: GameResult[int],
    change: Sequence[RatingChange[int]] | None,
) -> list[dict[str, Any]]:
    """What is stored of a game's seats, but for its number and their logs.

    Args:
        seating: the place of the entrant in each seat.
        entrants: their ids by their places.
        result: of the game, or of the race that it was part of.
        change: what that did to the ratings; None if it is not rated.
    """
    race = record.variant.seats == 1
    shares = (
        shares_beaten(result.sides, result.ranks) if race else points(record.variant, record.ranks)
    )
    faults = {fault.seat: fault.termination for fault in record.faults}
    rows = []
    for seat, place in enumerate(seating):
        at = place if race else seat
        rated = change[at] if change else None
        rows.append(
            {
                "seat": seat,
                "entrant_id": entrants[place],
                "options": chosen_words(record.chosen[seat]) if record.chosen else "",
                "score": record.scores[seat],
                "rank": result.ranks[at] if race else record.ranks[seat],
                "points": shares[at],
                "fault": faults.get(seat),
                "cpu_us": sum(ply.cpu_us or 0 for ply in record.plies if ply.seat == seat),
                "mu_before": rated and rated.before.mu,
                "sigma_before": rated and rated.before.sigma,
                "mu_after": rated and rated.after.mu,
                "sigma_after": rated and rated.after.sigma,
            }
        )
    return rows


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
