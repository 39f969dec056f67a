"""The fold over the results of a competition that its ratings and counters are.

It goes over the matches in the order of their completion, as the recorder did, and can be gone on
with: as far as it came, nothing of a history changes but that a match which counted is made void,
or that the ladder gets another draw probability. Then it no longer holds, and is begun anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import groupby
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.kinds import kind_of
from arena.ground.db import count_rows
from arena.models import (
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Match,
    PlayedGame,
)
from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trends import Trends
from arena.ratings.trueskill import Rating, TrueSkill
from arena.recorder.storage import EntrantTally, Tally, tally
from arena.schedule.match_sets import waiting
from engine.shelf import Missing, UnknownGameError

AT_A_TIME = 2000
"""Rows that are read or written at a time."""
CHAPTER = 1000
"""Matches that have one digest in common."""
RATING_COLUMNS = ("mu_before", "sigma_before", "mu_after", "sigma_after")


class Entry(NamedTuple):
    """An entrant that came, or came back."""

    after: int
    """The `Match.seq` of the last match before."""
    entrant: int
    again: bool
    predecessor: int | None
    start: tuple[float, float] | None
    """The mu and sigma that it came with from the season before."""


@dataclass(slots=True)
class Chapter:
    """Some matches that were folded one after the other, and what was stored of them."""

    after: int
    """The `Match.seq` of the last match before them."""
    last: int
    """The `Match.seq` of the last of them."""
    matches: int = 0
    digest: str = ""

    @property
    def is_full(self) -> bool:
        """Whether the next match begins another one."""
        return self.matches >= CHAPTER

    def add(self, seq: int, rows: Iterable[Sequence[Any]]) -> None:
        """Adds a match.

        Args:
            rows: what is stored of its seats, with the ratings that came out.
        """
        # Enums as what they are stored as, floats to the last digit.
        text = "\n".join("\t".join(map(str, row)) for row in rows)
        self.last, self.matches = seq, self.matches + 1
        self.digest = blake2b(f"{self.digest}\n{text}".encode(), digest_size=32).hexdigest()


@dataclass(slots=True)
class Fold:
    """What came out of all matches so far."""

    draws: float
    """The draw probability by which they were rated."""
    book: RatingBook[int]
    trends: Trends[int] = field(default_factory=Trends)
    total: Tally = field(default_factory=Tally)
    last_games: dict[int, datetime] = field(default_factory=dict)
    last_game: datetime | None = None
    differences: list[str] = field(default_factory=list)
    seats: list[dict[str, Any]] = field(default_factory=list)
    """Those whose ratings came out differently, as the parameters of a statement."""
    last: int = 0
    """The `Match.seq` of the last of them."""
    voids: int = 0
    """How many matches that counted were void and had been completed before it."""
    without: int | None = None
    """The number of a set of matches whose waiting ones are left out, as if they were void."""
    entered: list[Entry] = field(default_factory=list)
    """Who came and came back so far."""
    games_before: dict[int, int] = field(default_factory=dict)
    """How many games each had that came back, when it last did."""
    met: int = 0
    """The sum of all meetings at the checkpoint from which the fold goes on. Those of ``total`` are
    what came since."""
    kept: int | None = None
    """`last`, as it was when this was last stored as a checkpoint; None if it never was."""
    chapters: list[Chapter] = field(default_factory=list)
    """Those that were folded and not yet kept; the last one may become longer."""

    @classmethod
    def of(cls, competition: Competition, *, without: int | None = None) -> Fold:
        """A fold over no match yet."""
        draws = _draws(competition)
        book = RatingBook[int](TrueSkill(draw_probability=draws))
        return cls(draws, book, without=without)

    def holds(self, session: Session, competition: Competition) -> bool:
        """Whether the history is still the one that was folded, as far as that came."""
        known = _entries(session, competition)[: len(self.entered)]
        return (
            self.draws == _draws(competition)
            and self.voids == _voids(session, competition, self.last)
            and self.entered == known
        )

    def go_on(
        self,
        session: Session,
        competition: Competition,
        advance: Callable[[int], None],
        most: int | None = None,
    ) -> bool:
        """Counts the next matches that count, and rates those of a ladder.

        Args:
            advance: is told now and then how many more games were folded.
            most: how many matches at most; by default all.

        Returns:
            Whether more are left.
        """
        upto = _seq_of(session, competition, self.last, most) if most else None
        rated = kind_of(competition).rated
        waiting = iter(_entries(session, competition)[len(self.entered) :])
        due = next(waiting, None)
        told = self.total.games
        with _seats(session, competition, self.last, upto, self.without) as rows:
            for seq, match in groupby(rows, key=lambda row: row.seq):
                # Whoever entered before it was fixed takes over its predecessor's mu of then.
                while due is not None and due.after < seq:
                    self._enter(due)
                    due = next(waiting, None)
                self._add(competition, seq, list(match), rated=rated)
                self.last = seq
                if self.total.games - told >= AT_A_TIME:
                    advance(self.total.games - told)
                    told = self.total.games
        advance(self.total.games - told)
        if upto is not None:
            self.last = upto  # which may be unrated, as may all of this part
        while upto is None and due is not None:
            self._enter(due)
            due = next(waiting, None)
        self.voids = _voids(session, competition, self.last)
        return upto is not None

    def _enter(self, entry: Entry) -> None:
        if entry.again:
            self.book.come_back(entry.entrant)
            counted = self.total.entrants.get(entry.entrant, EntrantTally())
            self.games_before[entry.entrant] = counted.games
        else:
            start = None if entry.start is None else Rating(*entry.start)
            self.book.enter(entry.entrant, after=entry.predecessor, start=start)
        self.entered.append(entry)

    def _add(self, competition: Competition, seq: int, rows: Sequence[Any], *, rated: bool) -> None:
        """Adds a match.

        Args:
            seq: its place in the order of completion.
            rows: the seats of its games.
        """
        variant = competition.variant
        if isinstance(variant, Missing):  # who is on whose side is not to be guessed
            raise UnknownGameError(variant.reason)
        sides, race = variant.side_of, variant.seats == 1
        kind = kind_of(competition)
        games = [list(game) for _, game in groupby(rows, key=lambda row: row.number)]
        results, made = [], list[tuple[float | None, ...]]()
        # The games of a race are one result, in which everybody is a side of its own.
        for seated in [rows] if race else games:
            result = kind.result(
                [row.entrant_id for row in seated],
                range(len(seated)) if race else sides,
                [row.rank for row in seated],
            )
            results.append(result)
            if rated:
                made += self._rate(result, seated)
        faults = [(row.entrant_id, row.fault) for row in rows if row.fault is not None]
        one, when = tally(results, faults, games=len(games)), rows[0].fixed
        self.total.add(one)
        self.last_games.update(dict.fromkeys(one.entrants, when))
        self.last_game = when
        if not self.chapters or self.chapters[-1].is_full:
            self.chapters.append(Chapter(self.chapters[-1].last if self.chapters else 0, seq))
        own = -len(RATING_COLUMNS)
        self.chapters[-1].add(
            seq,
            [(*row[:own], *its) for row, its in zip(rows, made, strict=True)] if rated else rows,
        )

    def _rate(self, result: GameResult[int], rows: Sequence[Any]) -> list[tuple[float | None, ...]]:
        """Rates a result, and compares with what the rows of its seats hold.

        Returns:
            What comes out for each, by `RATING_COLUMNS`.
        """
        changes = self.book.apply(result)
        self.trends.note(changes)
        all_made = list[tuple[float | None, ...]]()
        for row, change in zip(rows, changes, strict=True):
            before, after = change.before, change.after
            made = (before.mu, before.sigma, after.mu, after.sigma)
            all_made.append(made)
            if made != (row.mu_before, row.sigma_before, row.mu_after, row.sigma_after):
                self.differences.append(f"game {row.game_id}, seat {row.seat + 1}: {made}")
                values = dict(zip(RATING_COLUMNS, made, strict=True))
                self.seats.append({"its_game": row.game_id, "its_seat": row.seat, **values})
        return all_made

    def compare(self, stored: object, made: dict[str, Any], label: str, *, write: bool) -> None:
        """Compares what is stored in a row with what came out; stores that if asked to."""
        for name, value in made.items():
            was = getattr(stored, name)
            if was != value:
                self.differences.append(f"{label}: {name} {was} is stored, {value} came out")
                if write:
                    setattr(stored, name, value)


def _draws(competition: Competition) -> float:
    return kind_of(competition).draw_probability(competition)


def _entries(session: Session, competition: Competition) -> list[Entry]:
    """Who came and came back, in the order in which they did."""
    query = sa.select(
        Entrant.id,
        Entrant.entered_after,
        Entrant.predecessor_id,
        Entrant.returned_after,
        Entrant.start_mu,
        Entrant.start_sigma,
    )
    query = query.where(Entrant.competition_id == competition.id)
    return sorted(
        Entry(after, number, again, predecessor, None if mu is None else (mu, sigma))
        for number, entered, predecessor, returned, mu, sigma in session.execute(query)
        for after, again in [(entered, False), *((each, True) for each in returned)]
    )


def _voids(session: Session, competition: Competition, last: int) -> int:
    """How many matches that counted are void and were completed before another."""
    return count_rows(
        session,
        Match,
        Match.competition_id == competition.id,
        Match.status == JobStatus.VOID,
        Match.requester_id.is_(None),  # as Match.counts says
        Match.seq <= last,
    )


def as_stored(session: Session, competition: Competition, chapter: Chapter) -> Chapter:
    """A chapter as it is stored now."""
    found = Chapter(chapter.after, chapter.after)
    with _seats(session, competition, chapter.after, chapter.last, None) as rows:
        for seq, match in groupby(rows, key=lambda row: row.seq):
            found.add(seq, match)
    return found


def _seq_of(session: Session, competition: Competition, last: int, number: int) -> int | None:
    """The place of the match that was completed so many after another; None if none was."""
    query = sa.select(Match.seq).where(
        Match.competition_id == competition.id, Match.status == JobStatus.FIXED, Match.seq > last
    )
    return session.scalars(query.order_by(Match.seq).offset(number - 1).limit(1)).first()


def _seats(
    session: Session, competition: Competition, last: int, upto: int | None, without: int | None
) -> sa.Result[Any]:
    """The seats of all games that count in the order of completion, read in small parts.

    Args:
        last, upto: after which match, and with which as the last one.
        without: of which set the waiting matches are left out; None for none.
    """
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
        .where(
            Match.competition_id == competition.id,
            Match.status == JobStatus.FIXED,
            Match.requester_id.is_(None),  # as Match.counts says
            Match.seq > last,
        )
        .order_by(Match.seq, PlayedGame.number, GameSeat.seat)
        .execution_options(yield_per=AT_A_TIME)
    )
    if upto is not None:
        query = query.where(Match.seq <= upto)
    if without is not None:
        query = query.where(~waiting(without))
    return session.execute(query)
