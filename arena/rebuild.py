"""Makes ratings anew from the results of a ladder, and says whether they came out the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Entrant, GameSeat, JobStatus, Ladder, Match, PlayedGame
from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trueskill import Rating, TrueSkill


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild of one ladder found."""

    ladder: str
    games: int
    entrants: int
    differences: tuple[str, ...]
    """One line for each rating that did not come out as it was stored."""

    @property
    def equal(self) -> bool:
        """Whether every rating came out as it was stored, to the last bit."""
        return not self.differences


@dataclass(frozen=True, slots=True)
class _Rated:
    """A result, and the rows of the seats that its ratings are stored in."""

    seq: int
    result: GameResult[int]
    rows: tuple[sa.Row[Any], ...]


def rebuild(session: Session, ladder: Ladder, *, write: bool) -> Rebuilt:
    """Folds a ladder's results anew, in the order of completion.

    Args:
        write: stores the ratings as they came out; otherwise nothing is changed.
    """
    entrants = list(session.scalars(sa.select(Entrant).where(Entrant.competition_id == ladder.id)))
    entrants.sort(key=lambda entrant: (entrant.entered_after, entrant.id))
    waiting = iter(entrants)
    due = next(waiting, None)
    book = RatingBook[int](TrueSkill(draw_probability=ladder.draw_probability))
    differences: list[str] = []
    games = 0
    for rated in _results(session, ladder):
        # Whoever entered before this match was fixed takes over its predecessor's mu of then.
        while due is not None and due.entered_after < rated.seq:
            book.enter(due.id, after=due.predecessor_id)
            due = next(waiting, None)
        changes = book.apply(rated.result)
        games += len({row.game_id for row in rated.rows})
        for row, change in zip(rated.rows, changes, strict=True):
            before, after = change.before, change.after
            made = (before.mu, before.sigma, after.mu, after.sigma)
            if made != (row.mu_before, row.sigma_before, row.mu_after, row.sigma_after):
                differences.append(f"game {row.game_id}, seat {row.seat + 1}: {made}")
                if write:
                    _store(session, row.game_id, row.seat, before, after)
    while due is not None:
        book.enter(due.id, after=due.predecessor_id)
        due = next(waiting, None)
    for entrant in entrants:
        rating = book[entrant.id]
        if (entrant.mu, entrant.sigma) != (rating.mu, rating.sigma):
            differences.append(
                f"{entrant.version.label}: mu {entrant.mu!r}, sigma {entrant.sigma!r} is stored; "
                f"mu {rating.mu!r}, sigma {rating.sigma!r} came out"
            )
            if write:
                entrant.mu, entrant.sigma = rating.mu, rating.sigma
    return Rebuilt(ladder.name, games, len(entrants), tuple(differences))


def _store(session: Session, game_id: int, seat: int, before: Rating, after: Rating) -> None:
    session.execute(
        sa.update(GameSeat)
        .where(GameSeat.game_id == game_id, GameSeat.seat == seat)
        .values(
            mu_before=before.mu,
            sigma_before=before.sigma,
            mu_after=after.mu,
            sigma_after=after.sigma,
        )
    )


def _results(session: Session, ladder: Ladder) -> Iterator[_Rated]:
    """The results of a ladder in the order of completion, read in small parts."""
    query = (
        sa.select(
            Match.seq,
            PlayedGame.number,
            GameSeat.game_id,
            GameSeat.seat,
            GameSeat.entrant_id,
            GameSeat.rank,
            GameSeat.mu_before,
            GameSeat.sigma_before,
            GameSeat.mu_after,
            GameSeat.sigma_after,
        )
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(PlayedGame.competition_id == ladder.id, Match.rated, Match.status == JobStatus.FIXED)
        .order_by(Match.seq, PlayedGame.number, GameSeat.seat)
        .execution_options(yield_per=2000)
    )
    variant = ladder.variant
    race = variant.seats == 1
    rows: list[sa.Row[Any]] = []
    key: tuple[int, ...] = ()
    found: sa.Result[Any] = session.execute(query)
    for row in found:
        # In a race the games of a match are one result, otherwise each game is.
        its_key = (row.seq,) if race else (row.seq, row.number)
        if rows and its_key != key:
            yield _rated(rows, variant.side_of, race)
            rows = []
        key = its_key
        rows.append(row)
    if rows:
        yield _rated(rows, variant.side_of, race)


def _rated(rows: list[sa.Row[Any]], sides: tuple[int, ...], race: bool) -> _Rated:
    result = GameResult(
        tuple(row.entrant_id for row in rows),
        tuple(range(len(rows))) if race else sides,
        tuple(row.rank for row in rows),
    )
    return _Rated(rows[0].seq, result, tuple(rows))
