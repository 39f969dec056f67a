"""What is counted of the moves that lead on from a line, kept up as games are recorded.

Theory of operation. Each game that counts has a row with its line, which the recorder writes with
the game. A line that few games share is counted when it is asked for, from these games. As soon as
`SHARED` games have it, it is *opened*: of every move that leads on from it, what came of the games
is kept for each competition and seat. The recorder adds games to the lines that are open not one
by one but `ENOUGH` at a time, by a few statements, and notes up to which game it
came; the games behind that are counted when they are asked for, too. So all that is told is right
at any moment, and it costs next to nothing to keep it up.

A match that is made void takes its games out again. That, and the adding, locks the note first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from arena.ground.locks import locking
from arena.lists.lines import BEGUN, END, LONGEST, MOVE_BYTES, ROOT_BYTES, within
from arena.lists.parts import hidden
from arena.lists.settled import settled
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
    return session.scalars(locking(sa.select(Mark).where(Mark.key == NOTE), Mark, anew=True)).one()


def add_next(session: Session) -> bool:
    """Adds the next games to the lines that are open, if they are enough, and opens lines.

    Returns:
        Whether any were added.
    """
    after = last_added(session)
    following = sa.select(GameLine.game_id).where(
        GameLine.game_id > after, GameLine.game_id <= settled(session)
    )
    ids = following.order_by(GameLine.game_id).limit(AT_ONCE).subquery()
    number, last = session.execute(sa.select(sa.func.count(), sa.func.max(ids.c.game_id))).one()
    if number < ENOUGH:
        return False
    note = _lock_note(session)
    rows = _read(session, GameLine.game_id.between(after + 1, last))
    opened = _opened(session, {row[0] for row in rows})
    gone = _add(session, rows, opened)
    for line in _due(session, opened, gone):
        _open(session, line, last)
    note.value = str(last)
    return True


_KEYS = ("line", "move", "competition_id", "seat")
_PLACES = {SeatResult.WON: 0, SeatResult.DRAWN: 1, SeatResult.LOST: 2}
SeatOfGame = tuple[bytes, int, int, int, SeatResult]
"""A game's line and how many of its plies are set, its competition, a seat and its result."""
_ROWS = sa.select(
    GameLine.line, GameLine.set_plies,
    ListedSeat.competition_id, ListedSeat.seat, ListedSeat.result,
).join(ListedSeat, ListedSeat.game_id == GameLine.game_id)  # fmt: skip


def _read(session: Session, *which: Any) -> Counter[SeatOfGame]:
    """The seats of some games; of games that were alike, how many there are."""
    rows = session.connection().execute(_ROWS.where(*which))
    return Counter(map(tuple, rows))  # type: ignore[arg-type]


def _add(
    session: Session, rows: Counter[SeatOfGame], opened: Collection[bytes], least: int = 0
) -> set[tuple[bytes, bytes]]:
    """Adds games to open lines.

    Args:
        opened: which are open.
        least: the bytes of the shortest to which they are added.

    Returns:
        Those lines, each with what led on.
    """
    counts: dict[tuple[bytes, bytes, int, int], list[int]] = {}
    for (whole, set_plies, competition, seat, result), number in rows.items():
        for line, move, by_bot in _steps(whole, set_plies, least):
            if line not in opened:
                break
            known = counts.setdefault((line, move, competition, seat), [0, 0, 0, 0])
            known[_PLACES[result]] += number
            known[3] += number * by_bot
    if counts:
        insert = _insert(session, LineBranch)
        adding = insert.on_conflict_do_update(
            index_elements=_KEYS,
            set_={name: getattr(LineBranch, name) + insert.excluded[name] for name in _COUNTED},
        )
        values = [
            dict(zip((*_KEYS, *_COUNTED), (*key, *numbers), strict=True))
            for key, numbers in sorted(counts.items())
        ]
        session.connection().execute(adding, values)
    return {(line, move) for line, move, *_ in counts}


def _steps(whole: bytes, set_plies: int, least: int = 0) -> Iterator[tuple[bytes, bytes, bool]]:
    """The lines that a game went along, each with what led on, and whether a bot chose that.

    Args:
        whole: the line of the game.
        least: the bytes of the first of them.
    """
    for level in LEVELS:
        if level >= len(whole):
            return
        if level >= least:
            by_bot = level >= BEGUN and set_plies <= (level - BEGUN) // MOVE_BYTES
            yield whole[:level], whole[level : level + _size(level)], by_bot


def _opened(session: Session, lines: Collection[bytes]) -> set[bytes]:
    """Which lines are open of those that some games went along."""
    found = {b""}
    for level in LEVELS[1:]:
        here = set[bytes]()
        for part in _parts(sorted({line[:level] for line in lines})):
            its = sa.select(LineBranch.line).where(LineBranch.line.in_(part)).distinct()
            here.update(session.scalars(its))
        lines = [line for line in lines if line[:level] in here]
        if not lines:
            break
        found |= here
    return found


def _parts(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Cuts lines into parts, each as many as a statement takes well."""
    for start in range(0, len(lines), 500):
        yield lines[start : start + 500]


def _due(
    session: Session, opened: Collection[bytes], gone: Collection[tuple[bytes, bytes]]
) -> Iterator[bytes]:
    """The lines that are to be opened now.

    Args:
        opened: those that are open.
        gone: the lines, each with what led on, of the games that were added.
    """
    frontier = {
        (line, move)
        for line, move in gone
        if move != END and len(line) + len(move) < LONGEST and line + move not in opened
    }
    for part in _parts(sorted({line for line, _ in frontier})):
        shared = (
            sa.select(LineBranch.line, LineBranch.move)
            .where(LineBranch.line.in_(part), LineBranch.seat == 0)
            .group_by(LineBranch.line, LineBranch.move)
            .having(sa.func.sum(games_of(LineBranch)) >= SHARED)
        )
        for line, move in session.execute(shared).all():
            if (line, move) in frontier:
                yield line + move


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


def games_of(branch: Any) -> Any:
    """How many games a row of a seat counts."""
    return branch.won + branch.drawn + branch.lost


def _open(session: Session, line: bytes, last: int) -> None:
    """Begins to keep what is counted behind a line, and behind longer ones that are shared, too.

    Args:
        last: the number of the last game that is added.
    """
    rows = _read(session, within(GameLine.line, line), GameLine.game_id <= last)
    games = Counter[bytes]()
    for (whole, set_plies, _, seat, _), number in rows.items():
        if seat == 0:
            games.update({its: number for its, *_ in _steps(whole, set_plies, len(line))})
    _add(session, rows, {its for its, number in games.items() if number >= SHARED}, len(line))


def take_out(session: Session, games: Sequence[int]) -> None:
    """Takes games out of all that is counted of lines."""
    if not games:
        return
    note = _lock_note(session)
    rows = _read(session, GameLine.game_id.in_(games), GameLine.game_id <= int(note.value))
    changes = sorted(
        (change for row in rows.elements() for change in _taken_out(*row)),
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


def _taken_out(
    whole: bytes, set_plies: int, competition: int, seat: int, result: SeatResult
) -> Iterator[dict[str, Any]]:
    """What is to be subtracted for a seat of a game, line by line; of one that is not open, too."""
    for line, move, by_bot in _steps(whole, set_plies):
        yield {
            "its_line": line,
            "its_move": move,
            "its_competition": competition,
            "its_seat": seat,
            "its_chosen": int(by_bot),
            **{f"its_{one}": int(result is one) for one in SeatResult},
        }
