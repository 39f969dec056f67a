"""What is counted of the moves that lead on from a line, kept up as games are recorded.

Theory of operation. Each game that counts has a row with its line, which the recorder writes with
the game. A line that few games share is counted when it is asked for, from these games. As soon as
`SHARED` games have it, it is *opened*: of every move that leads on from it, what came of the games
is kept for each competition and seat. The recorder adds games to the lines that are open not one
by one but `ENOUGH` at a time, by a few statements for all of them, and notes up to which game it
came; the games behind that are counted when they are asked for, too. So all that is told is right
at any moment, and it costs next to nothing to keep it up.

A match that is made void takes its games out again. That, and the adding, locks the note first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arena.lists.lines import BEGUN, END, LONGEST, MOVE_BYTES, ROOT_BYTES, within
from arena.lists.parts import hidden
from arena.models import GameLine, LineBranch, ListedSeat, Mark, SeatResult

SHARED = 1000
"""A line that so many games have is opened."""
ENOUGH = 500
"""So many games are waited for before any is added."""
AT_ONCE = 5000
"""Games that are added in one transaction."""
NOTE = "lines counted"
"""The mark whose value is the number of the last game that was added."""
LEVELS = (0, ROOT_BYTES, *range(BEGUN, LONGEST, MOVE_BYTES))
"""The bytes of lines from which something leads on."""

_COUNTED = ("won", "drawn", "lost", "chosen")


def last_added(session: Session) -> int:
    """The number of the last game that was added to the lines that are open."""
    return int(session.scalar(sa.select(Mark.value).where(Mark.key == NOTE)) or 0)


def _lock_note(session: Session) -> Mark:
    known = _insert(session, Mark).values(key=NOTE, value="0").on_conflict_do_nothing()
    session.execute(known)
    return session.get_one(Mark, NOTE, with_for_update=True, populate_existing=True)


def add_next(session: Session) -> bool:
    """Adds the next games to the lines that are open, if they are enough, and opens lines.

    Returns:
        Whether any were added.
    """
    after = last_added(session)
    following = sa.select(GameLine.game_id).where(GameLine.game_id > after)
    ids = following.order_by(GameLine.game_id).limit(AT_ONCE).subquery()
    number, last = session.execute(sa.select(sa.func.count(), sa.func.max(ids.c.game_id))).one()
    if number < ENOUGH:
        return False
    note = _lock_note(session)
    these = GameLine.game_id.between(after + 1, last)
    levels = []
    for level in LEVELS:
        opened: sa.ColumnElement[bool] = sa.true()
        if level:
            opened = sa.exists().where(LineBranch.line == _part(0, level))
        if not _add(session, tallied(level, these, opened)):
            break
        levels.append(level)
    for level in levels:
        for line in session.scalars(_due(level, these)).all():
            _open(session, line, last)
    note.value = str(last)
    return True


def _size(level: int) -> int:
    """The bytes of what leads on from a line of so many."""
    return ROOT_BYTES if level == 0 else MOVE_BYTES


def _part(start: int, size: int) -> Any:
    """Some bytes of a line; the numbers are spelt out, for it is grouped by them."""
    first, length = (sa.literal_column(str(one), sa.Integer) for one in (start + 1, size))
    return sa.func.substr(GameLine.line, first, length, type_=sa.LargeBinary())


def tallied(level: int, *which: Any, competition_id: int | None = None) -> sa.Select[Any]:
    """What is counted of games, by what leads on from their lines: rows as `LineBranch` has them.

    Args:
        level: the bytes of those lines.
        which: what is true of the games.
        competition_id: whose games they are; by default those of every competition.
    """
    line, move, seat = _part(0, level), _part(level, _size(level)), ListedSeat
    by_bot = GameLine.set_plies <= sa.literal_column(str((level - BEGUN) // MOVE_BYTES))
    sums = [
        sa.func.sum(sa.case((held, 1), else_=0)).label(name)
        for name, held in (
            *((result.value, seat.result == result) for result in SeatResult),
            ("chosen", by_bot if level >= BEGUN else sa.false()),
        )
    ]
    if competition_id is not None:
        which = (*which, hidden(seat.competition_id) == competition_id)
    keys = (line.label("line"), move.label("move"), seat.competition_id, seat.seat)
    return (
        sa.select(*keys, *sums)
        .select_from(GameLine)
        .join(seat, seat.game_id == GameLine.game_id)
        .where(sa.func.length(GameLine.line) > level, *which)
        .group_by(line, move, seat.competition_id, seat.seat)
    )


def _insert(session: Session, table: Any) -> sqlite.Insert | postgresql.Insert:
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


def _add(session: Session, rows: sa.Select[Any]) -> int:
    """Adds to what is counted; gives how many rows that changed."""
    insert = _insert(session, LineBranch)
    keys = ["line", "move", "competition_id", "seat"]
    statement = insert.from_select([*keys, *_COUNTED], rows).on_conflict_do_update(
        index_elements=keys,
        set_={name: getattr(LineBranch, name) + insert.excluded[name] for name in _COUNTED},
    )
    done: Any = session.execute(statement)
    return int(done.rowcount)


def games_of(branch: Any) -> Any:
    """How many games a row of a seat counts."""
    return branch.won + branch.drawn + branch.lost


def _due(level: int, these: Any) -> sa.Select[Any]:
    """Lines of some games that are to be opened: each a line of so many bytes and a move."""
    size = _size(level)
    touched = (
        sa.select(
            _part(0, level).label("line"),
            _part(level, size).label("move"),
            _part(0, level + size).label("longer"),
        )
        .where(these, sa.func.length(GameLine.line) > level)
        .distinct()
        .subquery()
    )
    its = touched.c
    longer = sa.orm.aliased(LineBranch)
    of_it = sa.and_(LineBranch.line == its.line, LineBranch.move == its.move, LineBranch.seat == 0)
    return (
        sa.select(its.longer)
        .join(LineBranch, of_it)
        .where(
            its.move != END,
            sa.literal(level + size < LONGEST),
            ~sa.exists().where(longer.line == its.longer),
        )
        .group_by(its.longer)
        .having(sa.func.sum(games_of(LineBranch)) >= SHARED)
    )


def _open(session: Session, line: bytes, last: int) -> None:
    """Begins to keep what is counted of the moves that lead on from a line, up to a game."""
    these = (within(GameLine.line, line), GameLine.game_id <= last)
    _add(session, tallied(len(line), *these))
    if len(line) + MOVE_BYTES == LONGEST:
        return
    shared = (
        sa.select(LineBranch.move)
        .where(LineBranch.line == line, LineBranch.seat == 0, LineBranch.move != END)
        .group_by(LineBranch.move)
        .having(sa.func.sum(games_of(LineBranch)) >= SHARED)
    )
    for move in session.scalars(shared).all():
        _open(session, line + move, last)


def take_out(session: Session, games: Sequence[int]) -> None:
    """Takes games out of all that is counted of lines."""
    if not games:
        return
    note = _lock_note(session)
    rows = session.execute(
        sa.select(
            GameLine.game_id, GameLine.line, GameLine.set_plies,
            ListedSeat.competition_id, ListedSeat.seat, ListedSeat.result,
        )
        .join(ListedSeat, ListedSeat.game_id == GameLine.game_id)
        .where(GameLine.game_id.in_(games))
    ).all()  # fmt: skip
    added = [row for row in rows if row.game_id <= int(note.value)]
    changes = sorted(
        (change for row in added for change in _taken_out(row)),
        key=lambda its: (its["its_line"], its["its_move"], its["its_seat"]),
    )
    if changes:
        session.connection().execute(_TAKE_OUT, changes)
    session.execute(sa.delete(GameLine).where(GameLine.game_id.in_(games)))


_TAKE_OUT = (
    sa.update(LineBranch)
    .where(
        LineBranch.line == sa.bindparam("its_line"),
        LineBranch.move == sa.bindparam("its_move"),
        LineBranch.competition_id == sa.bindparam("its_competition"),
        LineBranch.seat == sa.bindparam("its_seat"),
    )
    .values({name: getattr(LineBranch, name) - sa.bindparam(f"its_{name}") for name in _COUNTED})
)


def _taken_out(row: Any) -> Iterator[dict[str, Any]]:
    """What is to be subtracted for a seat of a game, line by line; of one that is not open, too."""
    for level in LEVELS:
        if level >= len(row.line):
            return
        by_bot = level >= BEGUN and row.set_plies <= (level - BEGUN) // MOVE_BYTES
        yield {
            "its_line": row.line[:level],
            "its_move": row.line[level : level + _size(level)],
            "its_competition": row.competition_id,
            "its_seat": row.seat,
            "its_chosen": int(by_bot),
            **{f"its_{result}": int(row.result is result) for result in SeatResult},
        }
