"""Finds games among many by a filter, in a time that does not grow with them.

Theory of operation. Each part of a filter that says what something is (a bot, an ending, a tag)
has an index by which its games are found in the order of their numbers, a *stream*. One statement
looks how far the next `PROBE` games of each stream reach: of one that has fewer, all games are
looked at, and else those of the stream whose games lie farthest apart, which narrows most. All
other parts are tried on these games one by one, in columns that no other index is used for. No
page looks at more than `WINDOW` games of a stream: where they are not enough, what was found is
told with the place from which to look further. So every page takes a bounded time, whatever is
asked for, and going on from page to page comes to every game once.

Games are numbered in the order in which they were recorded, and of each day it is known from which
number to which they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import LARGEST_ID
from arena.lists.filters import GameFilter, Order
from arena.lists.parts import (
    FIRST_SEAT,
    Condition,
    FilterPart,
    RowTie,
    Stream,
    a_seat,
    hidden,
    look_up,
    parts,
)
from arena.models import GameDay

PROBE = 1000
"""Games of which all are looked at, whatever the order."""
WINDOW = 8_000
"""Games of a stream that one page looks at, and of which all are sorted by their lengths."""


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers of the games that are looked at, both ends among them."""

    first: int
    last: int

    def of(self, column: Any) -> tuple[Condition, ...]:
        """What a number within it keeps."""
        ends = []
        if self.first > 1:
            ends.append(column >= self.first)
        if self.last < LARGEST_ID:
            ends.append(column <= self.last)
        return tuple(ends)


def _span(session: Session, wanted: GameFilter) -> Span:
    """The numbers of the games of the days that are wanted."""
    if wanted.since is None and wanted.until is None:
        return Span(1, LARGEST_ID)
    query = sa.select(sa.func.min(GameDay.first_id), sa.func.max(GameDay.last_id))
    if wanted.since is not None:
        query = query.where(GameDay.day >= wanted.since.begin.toordinal())
    if wanted.until is not None:
        query = query.where(GameDay.day <= wanted.until.end.toordinal())
    first, last = session.execute(query).one()
    return Span(first or 1, last or 0)


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where a list goes on: behind a game, in its order."""

    number: int
    plies: int = 0
    """How many that game has, where they say what the order is."""


@dataclass(frozen=True, slots=True)
class Found:
    """The numbers of some games in their order."""

    games: tuple[int, ...]
    further: ListPlace | None
    """Where to go on; None where all games were looked at."""
    is_cut: bool
    """Whether there are fewer than were asked for since enough games were looked at."""


def find(
    session: Session, wanted: GameFilter, *, most: int, after: ListPlace | None = None
) -> Found:
    """The next games that a filter wants.

    Args:
        most: how many.
        after: where a list that was found before ended.

    Raises:
        NotThere: it names what is not there.
    """
    walk = Walk.of(session, wanted, after)
    edge = None if walk.is_whole else walk.edge(session, WINDOW)
    query = sa.select(*walk.keys).select_from(walk.source).where(*walk.conditions)
    if edge is not None:
        query = query.where(walk.before(edge))
    if walk.repeats:
        query = query.distinct()
    rows = session.execute(query.order_by(*walk.order).limit(most + 1)).all()
    places = [ListPlace(*reversed(row)) for row in rows[:most]]
    games = tuple(place.number for place in places)
    if len(rows) > most:
        return Found(games, places[-1], is_cut=False)
    if edge is None:
        return Found(games, None, is_cut=False)
    # That one was not looked at yet.
    step = 1 if walk.falls else -1
    return Found(games, ListPlace(edge.number + step, edge.plies), is_cut=True)


@dataclass(frozen=True, slots=True)
class Walk:
    """The rows that are looked at for a filter, in its order."""

    which: Sequence[Condition]
    """What that index is asked for."""
    row: Any
    """The row of a seat that is looked at."""
    source: Any
    """The seat and the game, joined if both are needed."""
    conditions: Sequence[Condition]
    """All that is wanted."""
    keys: Sequence[Any]
    """The columns by which they are ordered."""
    falls: bool
    """Whether those fall, and do not rise."""
    repeats: bool
    """Whether a game can have several such rows."""
    is_whole: bool
    """Whether they are so few that all are looked at."""

    @classmethod
    def of(cls, session: Session, wanted: GameFilter, after: ListPlace | None = None) -> Walk:
        """The walk for a filter.

        Raises:
            NotThere: it names what is not there.
        """
        told = list(parts(wanted, look_up(session, wanted)))
        if wanted.since is not None or wanted.until is not None:
            told.append(FilterPart(lambda _: sa.true(), everything()))
        falls = wanted.sort in (Order.NEWEST, Order.LONGEST)
        by_length = wanted.sort in (Order.LONGEST, Order.SHORTEST)
        span = _span(session, wanted)
        if after is not None and not by_length:
            span = _behind(span, after.number, falls=falls)
        few = WINDOW if by_length else PROBE
        part, is_whole = _choose(session, told, span, few, falls=falls)
        if by_length and not is_whole:
            part, stream = _by_length(told)
        elif part is None or part.stream is None:
            stream = everything()
        else:
            stream = part.stream.few(few) if is_whole else part.stream
        table, which = stream.table, [*stream.which]
        if is_whole or not by_length:
            which += span.of(table.game_id)
        row, source = _tied(stream, is_of_seat=wanted.is_of_seat)
        keys = [table.game_id]
        if by_length:
            keys = [row.plies if is_whole else table.plies, table.game_id]
        if is_whole:
            # They are to be found by their own index, and not by one that has the order.
            keys = [hidden(key) for key in keys]
        if by_length and after is not None:
            which.append(_beyond(keys, after, falls=falls))
        tried = [one.tried(row) for one in told if one is not part]
        repeats = wanted.is_of_seat or bool(wanted.against)
        return cls(which, row, source, [*which, *tried], keys, falls, repeats, is_whole)

    @property
    def order(self) -> list[Any]:
        """The columns by which they are sorted, each with its direction."""
        return [key.desc() if self.falls else key.asc() for key in self.keys]

    def edge(self, session: Session, games: int) -> ListPlace | None:
        """The first game that is not looked at any more; None if all are.

        Args:
            games: how many are looked at.
        """
        query = sa.select(*self.keys).where(*self.which).order_by(*self.order)
        row = session.execute(query.offset(games).limit(1)).first()
        return None if row is None else ListPlace(*reversed(row))

    def before(self, edge: ListPlace) -> Condition:
        """What is true of the rows up to a game, without it."""
        return _beyond(self.keys, edge, falls=not self.falls)


def _beyond(keys: Sequence[Any], place: ListPlace, *, falls: bool) -> Condition:
    """What is true of the rows behind a place, in an order that falls or rises."""
    found: Condition
    if len(keys) == 1:
        found = keys[0] < place.number if falls else keys[0] > place.number
        return found
    here = sa.tuple_(sa.literal(place.plies), sa.literal(place.number))
    both = sa.tuple_(*keys)
    found = both < here if falls else both > here
    return found


def _behind(span: Span, number: int, *, falls: bool) -> Span:
    if falls:
        return Span(span.first, min(span.last, number - 1))
    return Span(max(span.first, number + 1), span.last)


def everything() -> Stream:
    """The stream of all games."""
    table = a_seat()
    return Stream(table, (table.seat == FIRST_SEAT,), RowTie.FIRST)


def _by_length(told: Sequence[FilterPart]) -> tuple[FilterPart | None, Stream]:
    """All games, or those of a competition, by an index in the order of their lengths."""
    for part in told:
        if part.stream is not None and part.column == "competition_id":
            return part, part.stream
    return None, everything()


def _tied(stream: Stream, *, is_of_seat: bool) -> tuple[Any, Any]:
    """The row that is looked at, and what it is taken from."""
    table = stream.table
    if stream.tie is RowTie.SAME or (stream.tie is RowTie.FIRST and not is_of_seat):
        return table, table
    row = a_seat()
    on = [row.game_id == table.game_id]
    if stream.tie is RowTie.SEAT:
        on.append(row.seat == table.seat)
    elif stream.tie is RowTie.OTHERS:
        on.append(row.seat != table.seat)
    return row, sa.orm.join(table, row, sa.and_(*on))


def _choose(
    session: Session, told: Sequence[FilterPart], span: Span, few: int, *, falls: bool
) -> tuple[FilterPart | None, bool]:
    """The part by whose stream games are looked at, and whether these are few.

    Args:
        few: fewer than this are.
    """
    streams = {number: part.stream for number, part in enumerate(told) if part.stream is not None}
    if not streams:
        return None, False
    probes = []
    for number, stream in streams.items():
        game = stream.table.game_id
        next_ones = sa.select(game.label("id")).where(*stream.which).limit(few)
        if stream.is_ordered:
            # Of others, whatever their numbers: to leave some out would take a look at all.
            next_ones = next_ones.where(*span.of(game))
            next_ones = next_ones.order_by(game.desc() if falls else game.asc())
        else:
            next_ones = next_ones.order_by(stream.order)
        ids = next_ones.subquery()
        farthest = sa.func.min(ids.c.id) if falls else sa.func.max(ids.c.id)
        of_it: Any = sa.literal_column(str(number)).label("part")
        probes.append(sa.select(of_it, sa.func.count().label("games"), farthest.label("farthest")))
    rows = session.execute(sa.union_all(*probes)).all()
    fewest = min(rows, key=lambda row: row.games)
    if fewest.games < few:
        return told[fewest.part], True
    ordered = [row for row in rows if streams[row.part].is_ordered]
    if not ordered:
        return None, False
    sign = 1 if falls else -1
    return told[min(ordered, key=lambda row: sign * row.farthest).part], False


def known_words(session: Session, column: Any, most: int | None = None) -> list[Any]:
    """The different words in a column that begins an index, each found by a look of its own."""
    first = sa.select(sa.func.min(column).label("word")).cte("words", recursive=True)
    following = sa.select(sa.func.min(column)).where(column > first.c.word).scalar_subquery()
    words = first.union_all(sa.select(following).where(first.c.word.is_not(None)))
    query = sa.select(words.c.word).where(words.c.word.is_not(None)).limit(most)
    return list(session.scalars(query))
