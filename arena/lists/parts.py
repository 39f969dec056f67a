"""What a filter consists of: how the games of each part are found, and how it is tried on one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.ground.bot_names import Named
from arena.ground.db import LOOKED_UP
from arena.ground.refusals import NotThere
from arena.lists.filters import COMPARISONS, GameFilter
from arena.lists.lines import within
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    GameLine,
    GameTag,
    GameValue,
    ListedSeat,
)
from arena.sight import open_named
from engine.translation import gettext

Condition = sa.ColumnElement[bool]
FIRST_SEAT: Any = sa.literal_column("0")
"""Spelt out, or no index of first seats alone is used."""
ONE = sa.literal_column("1", sa.Integer)


@dataclass(frozen=True, slots=True)
class Sitter:
    """A bot, or one version of it, by its ids, and what it was told at least of its options."""

    bot_id: int
    version_id: int | None
    chosen: tuple[str, ...] = ()
    """Each as ``depth=8``."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the names in a filter stand for."""

    competition_id: int | None
    bot: Sitter | None
    against: tuple[Sitter, ...]


def look_up(session: Session, wanted: GameFilter) -> Known:
    """What the names in a filter stand for.

    Raises:
        NotThere: there is nothing of such a name.
    """
    competition = None
    if wanted.competition is not None:
        which = Competition.named(wanted.competition)
        open_named(session, sa.select(Competition.id).where(which))
        competition = session.scalar(
            sa.select(Competition.id).where(which), execution_options=LOOKED_UP
        )
        if competition is None:
            raise NotThere(gettext("there is no competition %(name)s", name=wanted.competition))
    named = [one for one in (wanted.bot, *wanted.against) if one is not None]
    sitters = _sitters(session, named)
    return Known(
        competition,
        None if wanted.bot is None else sitters[wanted.bot],
        tuple(sitters[one] for one in wanted.against),
    )


def _sitters(session: Session, named: Sequence[Named]) -> dict[Named, Sitter]:
    found = {}
    for one in named:
        versions = sa.select(BotVersion.id, BotVersion.number, BotVersion.bot_id)
        versions = versions.join(BotVersion.bot).where(Bot.named(one.name))
        its = session.execute(versions, execution_options=LOOKED_UP).all()
        if not its:
            raise NotThere(gettext("there is no bot %(name)s", name=one.name))
        version = next((row.id for row in its if row.number == one.version), None)
        if one.version is not None and version is None:
            raise NotThere(
                gettext(
                    "there is no version %(number)s of %(name)s",
                    number=one.version,
                    name=one.name,
                )
            )
        chosen = tuple(one.options.split(",")) if one.options else ()
        found[one] = Sitter(its[0].bot_id, version, chosen)
    return found


class RowTie(Enum):
    """How the row that is looked at belongs to the stream's."""

    SAME = "it is that row"
    SEAT = "of the same seat"
    GAME = "of the same game"
    FIRST = "of the same game, of which it is the first seat"
    OTHERS = "of another seat of the same game"


@dataclass(frozen=True, slots=True)
class Stream:
    """Rows of games that have something in common, found by an index."""

    table: Any
    """An alias of a class of rows that have a game's number."""
    which: Sequence[Condition]
    tie: RowTie
    order: Any = None
    """The columns in whose order the index has the rows, where that is not by the games'
    numbers."""

    @property
    def is_ordered(self) -> bool:
        """Whether the index has the rows in the order of the games."""
        return self.order is None

    def few(self, most: int) -> Stream:
        """So many rows of it at most, read by their index, however many a server thinks there
        are."""
        if self.is_ordered:
            return self
        its = sa.select(self.table).where(*self.which).order_by(self.order).limit(most)
        whole = sa.inspect(self.table).mapper.class_
        return Stream(aliased(whole, its.subquery()), (), self.tie)


@dataclass(frozen=True, slots=True)
class FilterPart:
    """A part of a filter: how its games are found, and how it is tried on a row."""

    tried: Callable[[Any], Condition]
    stream: Stream | None = None
    column: str = ""
    """The column, where the part is that all seats of a game have one value in it."""


def hidden(column: Any) -> Any:
    """A column in a form that no index is used for."""
    return sa.func.coalesce(column, column)


def a_seat() -> Any:
    """An alias of the rows of seats."""
    return aliased(ListedSeat)


def _there(query: sa.Select[Any]) -> Condition:
    """Whether a row has others; as a value, which PostgreSQL joins to nothing by itself."""
    return query.limit(1).scalar_subquery().is_not(None)


def _of_game(name: str, value: Any) -> FilterPart:
    """The part that says that all seats of a game have a value in a column."""
    table = a_seat()
    which = (getattr(table, name) == value, table.seat == FIRST_SEAT)
    stream = Stream(table, which, RowTie.FIRST)
    return FilterPart(lambda row: hidden(getattr(row, name)) == value, stream, name)


def _of_seat(name: str, value: Any, tie: RowTie = RowTie.SAME) -> Stream:
    table = a_seat()
    return Stream(table, (getattr(table, name) == value,), tie)


def _is(row: Any, sitter: Sitter) -> Condition:
    """Whether somebody sits there."""
    is_bot: Condition = hidden(row.bot_id) == sitter.bot_id
    is_version: Condition = hidden(row.version_id) == sitter.version_id
    its = is_bot if sitter.version_id is None else is_version
    return sa.and_(its, *_by_options(row, sitter))


def _by_options(row: Any, sitter: Sitter) -> list[Condition]:
    """The conditions that somebody who sits there was told what is chosen, letter by letter."""
    options = "," + hidden(row.options) + ","
    return [sa.func.replace(options, f",{one},", "") != options for one in sitter.chosen]


def _sits(sitter: Sitter, tie: RowTie) -> Stream:
    table = a_seat()
    who = (
        table.bot_id == sitter.bot_id
        if sitter.version_id is None
        else table.version_id == sitter.version_id
    )
    return Stream(table, (who, *_by_options(table, sitter)), tie)


def _against(sitter: Sitter, *, is_of_seat: bool) -> FilterPart:
    """The part that says that somebody sits in a game: in another seat, if one is spoken of."""

    def tried(row: Any) -> Condition:
        other = a_seat()
        query = sa.select(ONE).where(other.game_id == row.game_id, _is(other, sitter))
        return _there(query.where(other.seat != row.seat) if is_of_seat else query)

    return FilterPart(tried, _sits(sitter, RowTie.OTHERS if is_of_seat else RowTie.GAME))


def _tagged(tag: str) -> FilterPart:
    def tried(row: Any) -> Condition:
        query = sa.select(ONE).where(
            GameTag.tag == tag, GameTag.game_id == row.game_id, GameTag.seat == row.seat
        )
        return _there(query)

    table = aliased(GameTag)
    return FilterPart(tried, Stream(table, (table.tag == tag,), RowTie.SEAT))


def _told(key: str) -> FilterPart:
    """The part that says that a bot gave a number, whatever it was."""
    table = aliased(GameValue)
    return FilterPart(lambda _: sa.true(), Stream(table, (table.key == key,), RowTie.SEAT))


def _compared(key: str, comparison: str, value: float) -> FilterPart:
    def holds(column: Any) -> Condition:
        found: Condition = COMPARISONS[comparison](column, value)
        return found

    def tried(row: Any) -> Condition:
        query = sa.select(ONE).where(
            GameValue.key == key,
            GameValue.game_id == row.game_id,
            GameValue.seat == row.seat,
            holds(GameValue.value) if comparison else sa.true(),
        )
        return _there(query)

    if not comparison:
        return FilterPart(tried)
    table = aliased(GameValue)
    which = (table.key == key, holds(table.value))
    stream = Stream(table, which, RowTie.SEAT, table.value)
    return FilterPart(tried, stream)


def _begun(line: bytes) -> FilterPart:
    """The part that says that a game began with a line."""

    def tried(row: Any) -> Condition:
        query = sa.select(ONE).where(
            GameLine.game_id == row.game_id, within(hidden(GameLine.line), line)
        )
        return _there(query)

    table = aliased(GameLine)
    stream = Stream(table, (within(table.line, line),), RowTie.GAME, table.line)
    return FilterPart(tried, stream)


def _uncounted() -> FilterPart:
    """The part that says that a game counts for nothing, which is rare."""
    table = a_seat()
    which = (table.counts == sa.false(), table.seat == FIRST_SEAT)
    stream = Stream(table, which, RowTie.FIRST)
    return FilterPart(lambda row: hidden(row.counts) == sa.false(), stream)


def _plies(least: int | None, most: int | None) -> FilterPart:
    def within(column: Any) -> Condition:
        ends = []
        if least is not None:
            ends.append(column >= least)
        if most is not None:
            ends.append(column <= most)
        return sa.and_(*ends)

    table = a_seat()
    which = (within(table.plies), table.seat == FIRST_SEAT)
    stream = Stream(table, which, RowTie.FIRST, table.plies)
    return FilterPart(lambda row: within(hidden(row.plies)), stream)


def parts(wanted: GameFilter, known: Known) -> Iterator[FilterPart]:
    """What a filter consists of, but for its order."""
    for name, value in (
        ("competition_id", known.competition_id),
        ("game", wanted.game),
        ("ending", wanted.ending),
        ("opening", wanted.opening),
        ("worker", wanted.worker),
    ):
        if value is not None:
            yield _of_game(name, value)
    if known.bot is not None:
        bot = known.bot
        yield FilterPart(lambda row: _is(row, bot), _sits(bot, RowTie.SAME))
    for other in known.against:
        yield _against(other, is_of_seat=wanted.is_of_seat)
    if wanted.fault is not None:
        fault = wanted.fault
        yield FilterPart(lambda row: hidden(row.fault) == fault, _of_seat("fault", fault))
    for tag in wanted.tag:
        yield _tagged(tag)
    for one in wanted.value:
        yield _told(one.key)
        yield _compared(one.key, one.comparison, one.value)
    if wanted.line is not None:
        yield _begun(wanted.line)
    if wanted.counts is False:
        yield _uncounted()
    if wanted.plies is not None:
        yield _plies(wanted.plies.least, wanted.plies.most)
    yield from _tried(wanted)


def _tried(wanted: GameFilter) -> Iterator[FilterPart]:
    """The parts that no index helps to find."""
    if not wanted.is_of_seat:
        yield FilterPart(lambda row: row.seat == FIRST_SEAT)
    if wanted.seat is not None:
        seat = wanted.seat - 1
        yield FilterPart(lambda row: hidden(row.seat) == seat)
    if wanted.result is not None:
        result = wanted.result
        yield FilterPart(lambda row: hidden(row.result) == result)
    if wanted.counts:
        yield FilterPart(lambda row: hidden(row.counts) == sa.true())
    if wanted.speed is not None:
        least, below = wanted.speed.least, wanted.speed.below
        if least is not None:
            yield FilterPart(lambda row: hidden(row.speed) >= least)
        if below is not None:
            yield FilterPart(lambda row: hidden(row.speed) < below)
    if wanted.since is not None:
        begin = wanted.since.begin
        yield FilterPart(lambda row: hidden(row.finished) >= begin)
    if wanted.until is not None:
        end = wanted.until.end
        yield FilterPart(lambda row: hidden(row.finished) <= end)
