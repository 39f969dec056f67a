"""Makes ratings and counters anew from the results, and says whether they came out the same.

What is kept beside the results of a competition is a fold over them in the order of completion.
Who voids a match or changes a ladder's draw probability only marks the competition: the recorder
makes it anew, between two results. A transaction that changes what a rebuild reads, or writes
what it writes, holds the competition's row; so it is always a whole history that is folded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions import strength_tallies
from arena.counters import EntrantTally, MeetingTally, Tally, tally
from arena.db import Database, lock
from arena.models import (
    BotVersion,
    Competition,
    CompetitionKind,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
    StrengthTest,
)
from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trends import Trends
from arena.ratings.trueskill import TrueSkill

log = logging.getLogger("arena.rebuild")

AT_A_TIME = 2000
"""Rows that are read or written at a time."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of one competition found."""

    competition: str
    games: int
    entrants: int
    differences: tuple[str, ...]
    """One line for each rating and counter that did not come out as it was stored."""

    @property
    def equal(self) -> bool:
        """Whether everything came out as it was stored, ratings to the last bit."""
        return not self.differences


@dataclass(slots=True)
class _Fold:
    """What came out of all matches so far."""

    book: RatingBook[int]
    trends: Trends[int] = field(default_factory=Trends)
    total: Tally = field(default_factory=Tally)
    last_games: dict[int, datetime] = field(default_factory=dict)
    last_game: datetime | None = None
    differences: list[str] = field(default_factory=list)
    seats: list[dict[str, Any]] = field(default_factory=list)
    """Those whose ratings came out differently, as the parameters of a statement."""

    def count(self, one: Tally, when: datetime) -> None:
        """Adds a match."""
        self.total.add(one)
        self.last_games.update(dict.fromkeys(one.entrants, when))
        self.last_game = when

    def rate(self, result: GameResult[int], rows: Sequence[Any]) -> None:
        """Rates a result, and compares with what the rows of its seats hold."""
        changes = self.book.apply(result)
        self.trends.note(changes)
        for row, change in zip(rows, changes, strict=True):
            before, after = change.before, change.after
            made = (before.mu, before.sigma, after.mu, after.sigma)
            if made != (row.mu_before, row.sigma_before, row.mu_after, row.sigma_after):
                self.differences.append(f"game {row.game_id}, seat {row.seat + 1}: {made}")
                values = dict(zip(_RATING_COLUMNS, made, strict=True))
                self.seats.append({"its_game": row.game_id, "its_seat": row.seat, **values})

    def compare(self, stored: object, made: dict[str, Any], label: str, *, write: bool) -> None:
        """Compares what is stored in a row with what came out; stores that if asked to."""
        for name, value in made.items():
            was = getattr(stored, name)
            if was != value:
                self.differences.append(f"{label}: {name} {was} is stored, {value} came out")
                if write:
                    setattr(stored, name, value)


_RATING_COLUMNS = ("mu_before", "sigma_before", "mu_after", "sigma_after")


def rebuild(
    session: Session,
    competition: Competition,
    *,
    write: bool,
    advance: Callable[[int], None] = lambda _: None,
) -> Rebuilt:
    """Folds the results of a ladder or a tournament anew, in the order of completion.

    Args:
        write: stores what came out; otherwise nothing is changed.
        advance: is told now and then how many more games were folded.
    """
    if write:
        lock(session, competition)
    entrants = session.scalars(
        sa.select(Entrant)
        .where(Entrant.competition_id == competition.id)
        .order_by(Entrant.entered_after, Entrant.id)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        .execution_options(populate_existing=write)
    ).all()
    fold = _fold(session, competition, entrants, advance)
    total = fold.total
    made: dict[str, Any] = {
        "games": total.games,
        "neighbours": total.neighbours,
        "ties": total.ties,
        "last_game": fold.last_game,
    }
    fold.compare(competition, made, competition.name, write=write)
    for entrant in entrants:
        made = asdict(total.entrants.get(entrant.id, EntrantTally()))
        made["last_game"] = fold.last_games.get(entrant.id)
        if isinstance(competition, Ladder):
            rating = fold.book[entrant.id]
            made |= {"mu": rating.mu, "sigma": rating.sigma, "trend": fold.trends[entrant.id]}
        fold.compare(entrant, made, entrant.version.label, write=write)
    _compare_meetings(session, competition, fold, write=write)
    if isinstance(competition, StrengthTest):
        fold.differences += strength_tallies.differences(session, competition, write=write)
    if write:
        _store_seats(session, fold.seats)
        competition.rebuild_due, competition.alarm = False, ""
    return Rebuilt(competition.name, total.games, len(entrants), tuple(fold.differences))


def _fold(
    session: Session,
    competition: Competition,
    entrants: Sequence[Entrant],
    advance: Callable[[int], None],
) -> _Fold:
    """Counts every match that counts, and rates those of a ladder.

    Args:
        entrants: in the order in which they entered.
    """
    variant = competition.variant
    sides, race = variant.side_of, variant.seats == 1
    rated = isinstance(competition, Ladder)
    made = strength_tallies.duel if isinstance(competition, StrengthTest) else GameResult
    draws = competition.draw_probability if isinstance(competition, Ladder) else 0.5
    fold = _Fold(RatingBook[int](TrueSkill(draw_probability=draws)))
    waiting = iter(entrants)
    due = next(waiting, None)
    told = 0
    for seq, match in groupby(_seats(session, competition), key=lambda row: row.seq):
        # Whoever entered before this match was fixed takes over its predecessor's mu of then.
        while due is not None and due.entered_after < seq:
            fold.book.enter(due.id, after=due.predecessor_id)
            due = next(waiting, None)
        rows = list(match)
        games = [list(game) for _, game in groupby(rows, key=lambda row: row.number)]
        results = []
        # The games of a race are one result, in which everybody is a side of its own.
        for seated in [rows] if race else games:
            result = made(
                tuple(row.entrant_id for row in seated),
                tuple(range(len(seated))) if race else sides,
                tuple(row.rank for row in seated),
            )
            results.append(result)
            if rated:
                fold.rate(result, seated)
        faults = [(row.entrant_id, row.fault) for row in rows if row.fault is not None]
        fold.count(tally(results, faults, games=len(games)), rows[0].fixed)
        if fold.total.games - told >= AT_A_TIME:
            advance(fold.total.games - told)
            told = fold.total.games
    advance(fold.total.games - told)
    while due is not None:
        fold.book.enter(due.id, after=due.predecessor_id)
        due = next(waiting, None)
    return fold


def _seats(session: Session, competition: Competition) -> Iterator[sa.Row[Any]]:
    """The seats of all games that count in the order of completion, read in small parts."""
    query = (
        sa.select(
            Match.seq,
            Match.fixed,
            PlayedGame.number,
            GameSeat.game_id,
            GameSeat.seat,
            GameSeat.entrant_id,
            GameSeat.rank,
            GameSeat.fault,
            GameSeat.mu_before,
            GameSeat.sigma_before,
            GameSeat.mu_after,
            GameSeat.sigma_after,
        )
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(PlayedGame.competition_id == competition.id, Match.status == JobStatus.FIXED)
        .order_by(Match.seq, PlayedGame.number, GameSeat.seat)
        .execution_options(yield_per=AT_A_TIME)
    )
    if isinstance(competition, Ladder):
        query = query.where(Match.rated)
    found: sa.Result[Any] = session.execute(query)
    yield from found


def _compare_meetings(
    session: Session, competition: Competition, fold: _Fold, *, write: bool
) -> None:
    of_it = sa.select(Meeting).where(Meeting.competition_id == competition.id)
    stored = {
        (meeting.first_id, meeting.second_id): meeting
        for meeting in session.scalars(of_it.execution_options(populate_existing=write))
    }
    for pair in sorted(stored.keys() | fold.total.meetings.keys()):
        made = asdict(fold.total.meetings.get(pair, MeetingTally()))
        meeting = stored.get(pair)
        if meeting is None:
            meeting = Meeting(
                first_id=pair[0],
                second_id=pair[1],
                competition_id=competition.id,
                **asdict(MeetingTally()),
            )
            if write:
                session.add(meeting)
        fold.compare(meeting, made, "the meeting of entrants {} and {}".format(*pair), write=write)


def _store_seats(session: Session, seats: Sequence[dict[str, Any]]) -> None:
    statement = (
        sa.update(GameSeat)
        .where(
            GameSeat.game_id == sa.bindparam("its_game"),
            GameSeat.seat == sa.bindparam("its_seat"),
        )
        .values({name: sa.bindparam(name) for name in _RATING_COLUMNS})
    )
    for start in range(0, len(seats), AT_A_TIME):
        session.connection().execute(statement, seats[start : start + AT_A_TIME])


def ask_rebuild(session: Session, competition: Competition) -> None:
    """Has the recorder make a competition anew; until this transaction ends, it waits.

    To be called before anything is changed that a rebuild reads.
    """
    session.flush()
    session.execute(
        sa.update(Competition).where(Competition.id == competition.id).values(rebuild_due=True)
    )


def rebuild_one(session: Session) -> Rebuilt | None:
    """Makes a competition anew of which that is due; None if there is none."""
    due = sa.select(Competition).where(Competition.rebuild_due).order_by(Competition.id).limit(1)
    competition = session.scalar(due)
    if competition is None:
        return None
    made = rebuild(session, competition, write=True)
    log.info("%s was made anew: %s differences", made.competition, len(made.differences))
    return made


def check_one(database: Database, check_seconds: float, now: datetime) -> Rebuilt | None:
    """Checks the competition that was not checked for longest, if that was long ago.

    What does not come out the same is kept as the competition's alarm, and in the log. With many
    games that takes long, and nobody who writes is kept waiting meanwhile.
    """
    before = now - timedelta(seconds=check_seconds)
    query = (
        sa.select(Competition)
        .where(
            sa.or_(Competition.checked.is_(None), Competition.checked < before),
            Competition.created < before,
            ~Competition.rebuild_due,
            Competition.kind != CompetitionKind.TEST,
        )
        .order_by(Competition.checked.is_not(None), Competition.checked, Competition.id)
        .limit(1)
    )
    with database.read() as session:
        competition = session.scalar(query)
        if competition is None:
            return None
        found = rebuild(session, competition, write=False)
    alarm = ""
    if not found.equal:
        alarm = (
            f"{len(found.differences)} ratings and counters differ from the results, the first: "
            f"{found.differences[0]}"
        )[:2000]
        log.error("%s: %s", found.competition, alarm)
    checked = sa.update(Competition).where(Competition.id == competition.id)
    with database.begin() as session:
        session.execute(checked.values(checked=now, alarm=alarm))
    return found
