"""Who sees which competition; and that a session leaves out whatever its reader does not see.

Whoever may not see a competition is to find it nowhere: not in a list, a count, a search, nor by
its name. So it is not for each page to remember. A session is told once whose it is (`look`), and
every select of it is narrowed by SQLAlchemy: each class with a key of a competition, a game, a bot
or a version, wherever it stands in the statement. A class that comes later is narrowed by having
such a key; what leads to a competition by a match or an entrant alone is found through these. A bot
or a version is left out where all that is known of it is in such competitions.

In an anonymous competition bots play by masks (`arena.competitions.masks`), and what names the real
ones there, their checks, is seen by their owners alone.

Of an unlisted competition the same is true until somebody names it, or something of it: from then
on a session sees it (`open_named`). That is a courtesy, and no lock.

What is hidden is nowhere listed: each row asks for its competition, so that a page costs the same
however many of them are private. Where nothing is hidden, all this costs a look at an index that is
empty.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.orm import Mapper, ORMExecuteState, Session, with_loader_criteria

from arena.ground.db import LOOKED_UP, SUGGESTED
from arena.models import (
    SCOPES,
    Base,
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    GameDay,
    ListedSeat,
    MemberRole,
    Membership,
    PlayedGame,
    Scope,
    User,
    Visibility,
)
from arena.models.competitions import IS_ANONYMOUS, NOT_PUBLIC

SIGHT = "arena.sight"
"""What a session does not see, among what is kept with it."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads; by default a stranger."""

    user_id: int | None = None
    sees_all: bool = False
    """Whether it is an organiser of the site, or who runs it."""
    member_of: frozenset[int] = frozenset()
    """The ids of the competitions that they belong to."""
    shared: frozenset[int] = frozenset()
    """The ids of the bots that they have without being their owner: what is their own they see."""


STRANGER, EVERYTHING = Reader(), Reader(sees_all=True)


@dataclass(frozen=True, slots=True)
class Sight:
    """What a reader does not see."""

    reader: Reader = STRANGER
    hides: bool = False
    """Whether anything is hidden from its reader."""
    opened: frozenset[int] = frozenset()
    """The ids of the unlisted competitions that were named: with what is within them, they are
    seen."""
    opens_all: bool = False
    """Whether whatever is unlisted is seen."""


NOTHING_HIDDEN = Sight()
_now: ContextVar[Sight] = ContextVar("sight", default=NOTHING_HIDDEN)
"""The sight of the statement that is executed."""


def roles_of(session: Session, user_id: int) -> dict[int, MemberRole]:
    """What somebody is in each competition that they belong to, by its id; in those within it, too,
    if they are an organiser."""
    its = sa.select(Membership.competition_id, Membership.role).where(Membership.user_id == user_id)
    rows = session.connection().execute(its)
    roles = {row.competition_id: row.role for row in rows}
    organised = [number for number, role in roles.items() if role is MemberRole.ORGANISER]
    if organised:
        within = sa.select(Competition.id).where(Competition.within_id.in_(organised))
        roles |= dict.fromkeys(session.connection().scalars(within), MemberRole.ORGANISER)
    return roles


def look(session: Session, reader: Reader) -> Sight:
    """Has a session that only reads leave out what its reader does not see; gives what that is."""
    sight = NOTHING_HIDDEN if reader.sees_all else _sight(session, reader)
    _hide(session, sight, _narrow)
    return sight


def look_up(session: Session, reader: Reader) -> None:
    """Has a session that writes do so where it looks up what its reader has named (`LOOKED_UP`).

    What is unlisted is seen by who names it, and suggested to nobody (`SUGGESTED`).
    """
    if not reader.sees_all:
        _hide(session, _sight(session, reader), _narrow_named)


def _sight(session: Session, reader: Reader) -> Sight:
    # By the connection, as it is the same for all.
    _now.set(Sight(reader, hides=True))
    found = session.connection().scalar(_ANY_HIDDEN)
    return Sight(reader, hides=bool(found))


def _hide(session: Session, sight: Sight, narrow: Any) -> None:
    if SIGHT not in session.info and sight.hides:
        event.listen(session, "do_orm_execute", narrow)
    if SIGHT in session.info or sight.hides:
        session.info[SIGHT] = sight


def who_see(session: Session, competition: Competition, people: Collection[int]) -> set[int]:
    """Those of some people who see a competition, if they know of it."""
    if competition.visibility is not Visibility.PRIVATE:
        return set(people)
    root = competition.within_id or competition.id
    members = sa.select(Membership.user_id).where(Membership.competition_id == root)
    roles = [role for role, scopes in SCOPES.items() if Scope.ORGANISE in scopes]
    seeing = sa.or_(User.id.in_(members), User.role.in_(roles))
    return set(session.scalars(sa.select(User.id).where(User.id.in_(people), seeing)))


class Reads(Protocol):
    """What gives sessions that only read, such as a database."""

    def read(self) -> Session:
        """A session that reads, and is narrowed by a sight."""


@dataclass(frozen=True, slots=True)
class SeenBy:
    """What a reader sees of a database, for whoever reads it in several sessions."""

    database: Reads
    reader: Reader

    def read(self) -> Session:
        """A session that leaves out what the reader does not see by now."""
        session = self.database.read()
        look(session, self.reader)
        return session


def open_named(session: Session, its: sa.Select[int]) -> None:
    """Has a session see from now on what is unlisted and was named.

    Args:
        its: gives the ids of the competitions that it is about.
    """
    sight: Sight = session.info.get(SIGHT, NOTHING_HIDDEN)
    if not sight.hides:
        return
    its_root = sa.select(_root(_COMPETITION)).where(
        _COMPETITION.id.in_(its), _COMPETITION.visibility == Visibility.UNLISTED
    )
    named = frozenset(session.connection().scalars(its_root))
    if named - sight.opened:
        session.info[SIGHT] = replace(sight, opened=sight.opened | named)


def _narrow(state: ORMExecuteState) -> None:
    _narrow_by(state.session.info[SIGHT], state)


def _narrow_named(state: ORMExecuteState) -> None:
    sight: Sight = state.session.info[SIGHT]
    if SUGGESTED.items() <= state.execution_options.items():
        _narrow_by(sight, state)
    elif LOOKED_UP.items() <= state.execution_options.items():
        _narrow_by(replace(sight, opens_all=True), state)


def _narrow_by(sight: Sight, state: ORMExecuteState) -> None:
    if sight.hides and state.is_select and not state.is_column_load:
        _now.set(sight)
        state.statement = state.statement.options(_narrowing())


@cache
def _narrowing() -> Any:
    # One option for all classes, since each makes every statement dearer.
    return with_loader_criteria(
        Base,
        lambda kind: _seen(kind),  # noqa: PLW0108 - SQLAlchemy looks into what it is given
        include_aliases=True,
        propagate_to_loaders=False,
    )


def _seen(kind: Any) -> sa.ColumnElement[bool]:
    """What is true of the rows of a class that are seen.

    Args:
        kind: the class, or an alias of it.
    """
    inspected = sa.inspect(kind, raiseerr=False)
    if inspected is None or not hasattr(inspected, "mapper"):
        return sa.true()  # the base class itself
    mapper = inspected.mapper
    if mapper.class_ is GameDay:
        return sa.true()  # the games of all, of which only the numbers are told
    if mapper.class_ is Bot:
        return sa.or_(_is_known(bot=kind.id), _is_own(kind.owner_id, kind.id))
    if mapper.class_ is BotVersion:
        return _is_version_seen(kind.id)
    if mapper.local_table is Competition.__table__:
        return sa.not_(_is_hidden(kind))
    if mapper.class_ is Check:
        names = sa.or_(_names_bots(kind.ladder_id), _is_versions_owner(kind.version_id))
        return sa.and_(_is_seen(kind.ladder_id), names)
    if columns := [getattr(kind, name) for name in keys_of(mapper)]:
        return sa.and_(*(_is_seen(column) for column in columns))
    versions, games, bots = (
        [getattr(kind, name) for name in _keys(mapper, of)] for of in (BotVersion, PlayedGame, Bot)
    )
    return sa.and_(
        sa.true(),
        *(sa.or_(its.is_(None), _is_version_seen(its)) for its in versions),
        *(sa.or_(its.is_(None), _is_game_seen(its)) for its in games),
        *(sa.or_(its.is_(None), _is_bot_seen(its)) for its in bots),
    )


def keys_of(mapper: Mapper[Any]) -> list[str]:
    """The attributes of a class that say which competition its rows are of."""
    if mapper.local_table is Competition.__table__:
        return ["id"]  # what one names of others, such as the ladder that it enters, is not its own
    named = [column.key for column in mapper.column_attrs if column.key == "competition_id"]
    return _keys(mapper, Competition) or named


def _keys(mapper: Mapper[Any], of: type[Any]) -> list[str]:
    return [
        mapper.get_property_by_column(column).key
        for column in mapper.local_table.columns
        if any(key.column.table is of.__table__ for key in column.foreign_keys)
    ]


def _value(name: str, value: Any, **how: Any) -> sa.BindParameter[Any]:
    """What is known only when a statement is executed, so that one is compiled for all readers."""
    return sa.bindparam(name, None, sa.Integer, unique=True, callable_=value, **how)


def _ids(name: str, value: Any) -> sa.BindParameter[Any]:
    # Spelt out in the statement, as a database takes only so many parameters.
    return _value(name, value, expanding=True, literal_execute=True)


def _asked(kind: type[Base], *names: str) -> sa.TableClause:
    its = kind.__table__
    return sa.table(kind.__tablename__, *(sa.column(name, its.c[name].type) for name in names))


_ASKED = {
    Competition: _asked(Competition, "id", "within_id", "visibility", "anonymous"),
    Bot: _asked(Bot, "id", "owner_id", "masked_in"),
    BotVersion: _asked(BotVersion, "id", "bot_id"),
    Check: _asked(Check, "version_id", "ladder_id"),
    Entrant: _asked(Entrant, "version_id", "competition_id"),
    ListedSeat: _asked(ListedSeat, "game_id", "seat", "competition_id"),
}
"""Tables with those of their columns alone by which it is found what is seen."""


def _alias(kind: type[Base]) -> sa.FromClause:
    """The table of a class once more, with these columns.

    SQLAlchemy makes all columns of an alias anew, and a statement has dozens of these: with whole
    tables that was more than half of what it took to compile one.
    """
    return _ASKED[kind].alias()


def _root(its: Any) -> sa.ColumnElement[int]:
    """The id of what a competition is within; its own where it is within none."""
    return sa.func.coalesce(its.within_id, its.id)


def _is_hidden(its: Any) -> sa.ColumnElement[bool]:
    """The condition that a competition is hidden from the statement's reader.

    Args:
        its: its class, or what has its columns.
    """
    unlisted = its.visibility == Visibility.UNLISTED
    opened = _root(its).in_(_ids("opened", lambda: sorted(_now.get().opened)))
    opens_all = _value("opens_all", lambda: int(_now.get().opens_all)) == 1
    return sa.and_(
        its.visibility != Visibility.PUBLIC,
        *(
            one.not_in(_ids("member_of", lambda: sorted(_now.get().reader.member_of)))
            for one in (_root(its), its.id)
        ),
        sa.not_(sa.and_(unlisted, sa.or_(opens_all, opened))),
    )


def _is_seen(competition: Any) -> sa.ColumnElement[bool]:
    """Whether that of an id is, or there is none."""
    its = _alias(Competition)
    return ~sa.exists().where(its.c.id == competition, _is_hidden(its.c))


def _names_bots(competition: Any) -> sa.ColumnElement[bool]:
    """Whether that of an id is not anonymous: what names its bots besides is no secret."""
    its = _alias(Competition)
    return ~sa.exists().where(its.c.id == competition, its.c.anonymous)


def _is_own(owner: Any, bot: Any) -> sa.ColumnElement[bool]:
    reader = _value("reader", lambda: _now.get().reader.user_id)
    return sa.or_(owner == reader, bot.in_(_ids("shared", lambda: _now.get().reader.shared)))


def _is_versions_owner(version: Any) -> sa.ColumnElement[bool]:
    bot, its = _alias(Bot), _alias(BotVersion)
    return sa.exists().where(
        its.c.id == version, bot.c.id == its.c.bot_id, _is_own(bot.c.owner_id, bot.c.id)
    )


def _is_version_seen(version: Any) -> sa.ColumnElement[bool]:
    return sa.or_(_is_known(version=version), _is_versions_owner(version))


def _is_bot_seen(bot: Any) -> sa.ColumnElement[bool]:
    its = _alias(Bot)
    own = sa.exists().where(its.c.id == bot, _is_own(its.c.owner_id, its.c.id))
    return sa.or_(_is_known(bot=bot), own)


def _is_game_seen(game: Any) -> sa.ColumnElement[bool]:
    its = _alias(ListedSeat)
    first = its.c.game_id == game, its.c.seat == sa.literal_column("0")
    return ~sa.exists().where(*first, sa.not_(_is_seen(its.c.competition_id)))


def _is_known(*, bot: Any = None, version: Any = None) -> sa.ColumnElement[bool]:
    """Whether an entrant or a check is seen of a version, or of any of a bot's, or the competition
    that a mask is for; or there is none at all. It is asked of the tables themselves, which nothing
    narrows."""
    seen, there = [], []
    for kind, key in ((Entrant, "competition_id"), (Check, "ladder_id")):
        its, versions = _alias(kind), _alias(BotVersion)
        of_it = sa.exists().where(its.c.version_id == (version if bot is None else versions.c.id))
        if bot is not None:
            of_it = of_it.where(versions.c.bot_id == bot)
        there.append(of_it)
        of_it = of_it.where(_is_seen(its.c[key]))
        # That a version was checked for an anonymous one would tell that it has a mask there.
        seen.append(of_it.where(_names_bots(its.c[key])) if kind is Check else of_it)
    mask, versions = _alias(Bot), _alias(BotVersion)
    of_it = sa.exists().where(mask.c.masked_in.is_not(None))
    if bot is not None:
        of_it = of_it.where(mask.c.id == bot)
    else:
        of_it = of_it.where(mask.c.id == versions.c.bot_id, versions.c.id == version)
    there.append(of_it)
    seen.append(of_it.where(_is_seen(mask.c.masked_in)))
    return sa.or_(*seen, sa.not_(sa.or_(*there)))


_COMPETITION: Any = Competition.__table__.alias().c
_ANY_HIDDEN = sa.select(
    sa.or_(
        sa.select(_COMPETITION.id).where(NOT_PUBLIC, _is_hidden(_COMPETITION)).exists(),
        sa.select(_COMPETITION.id).where(IS_ANONYMOUS).exists(),
    )
)
"""Each part by an index of its own, which are empty as a rule."""
