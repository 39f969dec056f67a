"""What is told of a line: the moves that led on from it, who played it, the last games with it.

Games are counted by `arena.lists.branches`, all that count, however many these are. Who played a
line is told of the newest of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.lists.branches import last_added, tallied
from arena.lists.counts import Share
from arena.lists.lines import BEGUN, MOVE_BYTES, START_BYTES, within
from arena.lists.parts import a_seat, hidden
from arena.models import GameLine, LineBranch, Match, PlayedGame, SeatResult

WINDOW = 8_000
"""Where more games have a line, the newest so many of all are looked at for its last ones."""
MOST_GAMES = 2_000
"""The most of the newest games of which it is told who played them."""
MOST_BOTS = 20
MOST_STARTS = 50
"""How many starts are told apart, those with the most games."""


@dataclass(slots=True)
class BranchTally:
    """What came of the games that went on by one move, or of all of them."""

    results: dict[int, list[int]] = field(default_factory=dict)
    """How often each seat, from 0, won, drew and lost."""
    chosen: int = 0
    """How many games there are in which a bot chose the move; in the others the opening set it."""

    @property
    def games(self) -> int:
        """How many games there are."""
        return sum(self.results.get(0, ()))

    def add(self, seat: int, results: Sequence[int], chosen: int) -> None:
        """Adds what is counted for a seat."""
        known = self.results.setdefault(seat, [0, 0, 0])
        for place, number in enumerate(results):
            known[place] += number
        if seat == 0:
            self.chosen += chosen

    def points(self, seat: int) -> float:
        """The share of the games that a seat won, a drawn game being half."""
        won, drawn, lost = self.results.get(seat, (0, 0, 0))
        return (won + drawn / 2) / max(won + drawn + lost, 1)


def branches(
    session: Session, line: bytes, competition_id: int | None = None
) -> dict[bytes, BranchTally]:
    """What led on from a line: moves, starts or `END`, those with the most games first.

    Args:
        competition_id: whose games are counted; by default those of every competition.
    """
    queries = []
    here: list[Any] = [within(GameLine.line, line)]
    if session.scalars(sa.select(LineBranch.seat).where(LineBranch.line == line).limit(1)).all():
        # Those behind are few, and found by their numbers.
        here = [
            within(hidden(GameLine.line), line),
            GameLine.game_id > last_added(session),
        ]
        its: Any = LineBranch
        added = sa.select(
            its.line, its.move, its.competition_id, its.seat, its.won, its.drawn, its.lost,
            its.chosen,
        ).where(its.line == line)  # fmt: skip
        if competition_id is not None:
            added = added.where(its.competition_id == competition_id)
        queries.append(added)
    queries.append(tallied(len(line), *here, competition_id=competition_id))
    found: dict[bytes, BranchTally] = {}
    for query in queries:
        for _, move, _, seat, won, drawn, lost, chosen in session.execute(query):
            found.setdefault(move, BranchTally()).add(seat, (won, drawn, lost), chosen)
    played = [(move, tally) for move, tally in found.items() if tally.games]
    return dict(sorted(played, key=lambda one: (-one[1].games, one[0])))


def total_of(found: Mapping[bytes, BranchTally]) -> BranchTally:
    """All games that went on."""
    total = BranchTally()
    for tally in found.values():
        for seat, results in tally.results.items():
            total.add(seat, results, tally.chosen)
    return total


def last_games(
    session: Session, line: bytes, competition_id: int | None = None, *, most: int
) -> list[int]:
    """The numbers of the last games with a line, among those that are looked at."""
    return list(session.scalars(_newest(session, line, competition_id, most)))


def _newest(session: Session, line: bytes, competition_id: int | None, most: int) -> sa.Select[int]:
    """A query for the newest games with a line."""
    its = within(GameLine.line, line)
    few = sa.select(GameLine.game_id).where(its).limit(WINDOW + 1).subquery()
    seat = a_seat()
    first = seat.seat == sa.literal_column("0")
    if session.scalars(sa.select(sa.func.count()).select_from(few)).one() <= WINDOW:
        query = sa.select(GameLine.game_id).where(its)
        if competition_id is not None:
            query = query.join(seat, seat.game_id == GameLine.game_id).where(
                first, hidden(seat.competition_id) == competition_id
            )
        return query.order_by(hidden(GameLine.game_id).desc()).limit(most)
    of_all = aliased(GameLine)
    last = sa.select(of_all.game_id).order_by(of_all.game_id.desc())
    if competition_id is not None:
        own = sa.select(seat.game_id).where(first, seat.competition_id == competition_id)
        last = own.order_by(seat.game_id.desc())
    some = last.limit(WINDOW).subquery()
    return (
        sa.select(GameLine.game_id)
        .join(some, some.c.game_id == GameLine.game_id)
        .where(within(hidden(GameLine.line), line))
        .order_by(hidden(GameLine.game_id).desc())
        .limit(most)
    )


def players(
    session: Session, line: bytes, seat: int, competition_id: int | None = None
) -> list[Share]:
    """The bots that chose the last move of a line, in the newest games, by their ids.

    Args:
        seat: whose move that is; what came of the games is told for it.
    """
    ply = (len(line) - BEGUN) // MOVE_BYTES
    newest = _newest(session, line, competition_id, MOST_GAMES).subquery()
    row = a_seat()
    games = sa.func.count().label("games")
    sums = [
        sa.func.sum(sa.case((row.result == result, 1), else_=0)).label(result.value)
        for result in SeatResult
    ]
    query = (
        sa.select(row.bot_id, games, *sums)
        .select_from(newest)
        .join(GameLine, GameLine.game_id == newest.c.game_id)
        .join(row, row.game_id == newest.c.game_id)
        .where(row.seat == seat, GameLine.set_plies < ply)
        .group_by(row.bot_id)
        .order_by(games.desc(), row.bot_id)
        .limit(MOST_BOTS)
    )
    return [Share(*map(int, numbers)) for numbers in session.execute(query)]


def starts_of(session: Session, root: bytes, codes: Sequence[bytes]) -> dict[bytes, dict[str, str]]:
    """The options of some starts of a variant, each by a game that had it."""
    examples = [
        sa.select(GameLine.game_id).where(within(GameLine.line, root + code)).limit(1).subquery()
        for code in codes
    ]
    if not examples:
        return {}
    ids = sa.union_all(*(sa.select(one.c.game_id) for one in examples)).subquery()
    rows = session.execute(
        sa.select(sa.func.substr(GameLine.line, len(root) + 1, START_BYTES), Match.options)
        .select_from(ids)
        .join(GameLine, GameLine.game_id == ids.c.game_id)
        .join(PlayedGame, PlayedGame.id == ids.c.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
    )
    return {bytes(code): dict(options) for code, options in rows}
