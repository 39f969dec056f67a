"""The directory of bots, of people and of teams, and the search over both and over competitions.

A bot stands in it once a version of it has entered something, and a person with their first bot
there, their own or one that is shared with them; a team likewise. Everything is asked by the
classes of `arena.models`, so that what a reader may not see is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session, joinedload, selectinload

from arena.ground.numbered_pages import Page, page_of
from arena.models import (
    HOUSE,
    PERSON,
    TEAM,
    Bot,
    BotTag,
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    Ladder,
    LadderRound,
    SearchEntry,
    User,
    owners_of_bots,
)
from arena.models.searching import FULL_TEXT, lexemes, words_of

LONGEST_QUERY, MOST_WORDS = 200, 8
"""Characters and words of what is searched for that are looked at."""
SORTS: dict[str, tuple[str, ...]] = {
    "bots": ("name", "new", "games"),
    "people": ("name", "new", "bots"),
}
Kind = Literal["bot", "user", "competition"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What somebody wants to see of the directory."""

    sort: str = "name"
    page: int = 1
    tag: str = ""
    language: str = ""
    """The language that some version is written in."""
    game: str = ""
    """The game of a competition that some version has entered."""
    owner: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether some are left out."""
        return bool(self.tag or self.language or self.game or self.owner)


ALL = Narrowing()


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot with what the directory tells of it."""

    bot: Bot
    languages: Sequence[str]
    ladders: Sequence[Ladder]
    """The ladders that it is active on."""
    games: int
    """How many games it played, in all competitions."""


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """A person with how many bots of theirs, or shared with them, the directory has."""

    user: User
    bots: int


def is_listed() -> sa.ColumnElement[bool]:
    """The condition that the directory has a bot."""
    entered = (
        sa.select(Entrant.id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .where(BotVersion.bot_id == Bot.id, ~Entrant.is_tried)
    )
    return sa.and_(Bot.deleted.is_(None), entered.exists())


def narrowed(wish: Narrowing) -> list[sa.ColumnElement[bool]]:
    """The conditions that a bot is one of those that are wished for."""
    found: list[sa.ColumnElement[bool]] = []
    if wish.tag:
        tagged = sa.select(BotTag.bot_id).where(BotTag.tag == wish.tag.strip().lower())
        found.append(Bot.id.in_(tagged))
    if wish.language:
        written = sa.select(BotVersion.bot_id).where(BotVersion.language == wish.language.lower())
        found.append(Bot.id.in_(written))
    if wish.game:
        plays = (
            sa.select(BotVersion.bot_id)
            .join(Entrant, Entrant.version_id == BotVersion.id)
            .join(Competition, Competition.id == Entrant.competition_id)
            .where(Competition.game == wish.game.lower(), ~Entrant.is_tried)
        )
        found.append(Bot.id.in_(plays))
    if wish.owner:
        people = sa.select(User.id).where(User.named(wish.owner))
        owned = owners_of_bots().subquery()
        found.append(Bot.id.in_(sa.select(owned.c.bot_id).where(owned.c.user_id.in_(people))))
    return found


def bots(session: Session, wish: Narrowing) -> Page[ListedBot]:
    """A page of the directory of bots."""
    query = sa.select(Bot).where(is_listed(), *narrowed(wish))
    order: list[Any] = [Bot.lower_name]
    if wish.sort == "new":
        order = [Bot.created.desc(), Bot.id.desc()]
    elif wish.sort == "games":
        played = (
            sa.select(BotVersion.bot_id, sa.func.sum(Entrant.games).label("games"))
            .join(Entrant, Entrant.version_id == BotVersion.id)
            .group_by(BotVersion.bot_id)
            .subquery()
        )
        query = query.join(played, played.c.bot_id == Bot.id)
        order = [played.c.games.desc(), Bot.id]
    found = page_of(session, query, order, wish.page, joinedload(Bot.owner), selectinload(Bot.tags))
    return Page(told(session, found.items), found.found, found.page)


def people(session: Session, wish: Narrowing) -> Page[ListedPerson]:
    """A page of the directory of people."""
    return _people(session, wish, PERSON)


def teams(session: Session, wish: Narrowing) -> Page[ListedPerson]:
    """A page of the directory of teams."""
    return _people(session, wish, TEAM)


def _people(session: Session, wish: Narrowing, kind: str) -> Page[ListedPerson]:
    has = _has(sa.select(Bot.id).where(is_listed(), *narrowed(wish))).subquery()
    query = (
        sa.select(User).join(has, has.c.user_id == User.id).where(_is_somebody(), User.kind == kind)
    )
    order: list[Any] = [User.lower_name]
    if wish.sort == "new":
        order = [User.created.desc(), User.id.desc()]
    elif wish.sort == "bots":
        order = [has.c.bots.desc(), User.lower_name]
    found = page_of(session, query, order, wish.page)
    return Page(with_bots(session, found.items), found.found, found.page)


def is_listed_person(wish: Narrowing = ALL) -> sa.ColumnElement[bool]:
    """The condition that the directory has a user, or a team, with a bot of those wished for."""
    which = is_listed(), *narrowed(wish)
    owned = owners_of_bots().subquery()
    theirs = sa.select(owned.c.user_id).join(Bot, Bot.id == owned.c.bot_id).where(*which)
    return sa.and_(_is_somebody(), User.id.in_(theirs))


def _is_somebody() -> sa.ColumnElement[bool]:
    return sa.and_(User.active, User.deleted.is_(None), User.name != HOUSE)


def _has(which: sa.Select[int]) -> sa.Select[Any]:
    """How many of some bots each person has, of those that have any."""
    owned = owners_of_bots().subquery()
    count = sa.func.count(owned.c.bot_id.distinct()).label("bots")
    its = sa.select(owned.c.user_id, count).where(owned.c.bot_id.in_(which))
    return its.group_by(owned.c.user_id)


def with_bots(session: Session, those: Sequence[User]) -> list[ListedPerson]:
    ids = [one.id for one in those]
    if not ids:
        return []
    owned = owners_of_bots().subquery()
    theirs = sa.select(owned.c.bot_id).where(owned.c.user_id.in_(ids))
    which = sa.select(Bot.id).where(is_listed(), Bot.id.in_(theirs))
    has = {row.user_id: row.bots for row in session.execute(_has(which))}
    return [ListedPerson(one, has.get(one.id, 0)) for one in those]


def told(session: Session, those: Sequence[Bot]) -> list[ListedBot]:
    """Bots with what the directory tells of them, in their order."""
    ids = [one.id for one in those]
    written: dict[int, dict[str, None]] = {}
    languages = sa.select(BotVersion.bot_id, BotVersion.language).where(BotVersion.bot_id.in_(ids))
    for bot_id, language in session.execute(languages.order_by(BotVersion.number.desc())):
        written.setdefault(bot_id, {})[language] = None
    played: dict[int, int] = {}
    there: dict[int, dict[int, Ladder]] = {}
    its = (
        sa.select(BotVersion.bot_id, Entrant, Competition)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(Competition, Competition.id == Entrant.competition_id)
        .where(BotVersion.bot_id.in_(ids))
        .order_by(Competition.id)
    )
    for bot_id, entrant, competition in session.execute(its):
        played[bot_id] = played.get(bot_id, 0) + entrant.games
        if isinstance(competition, Ladder) and entrant.state is EntrantState.ACTIVE:
            there.setdefault(bot_id, {})[competition.id] = competition
    return [
        ListedBot(
            one,
            [*written.get(one.id, ())],
            [*there.get(one.id, {}).values()],
            played.get(one.id, 0),
        )
        for one in those
    ]


def languages(session: Session) -> Sequence[str]:
    """The languages that listed bots are written in."""
    query = sa.select(BotVersion.language).join(BotVersion.bot).where(is_listed())
    return session.scalars(query.distinct().order_by(BotVersion.language)).all()


def names_of_bots(session: Session, user: User) -> Sequence[str]:
    """The names of somebody's bots that the directory has."""
    query = sa.select(Bot.name).where(is_listed(), *narrowed(Narrowing(owner=user.name)))
    return session.scalars(query.order_by(Bot.lower_name)).all()


def is_seen(session: Session, user: User) -> bool:
    """Whether somebody's page is for everybody: whether the directory has them."""
    return (
        session.scalar(sa.select(User.id).where(User.id == user.id, is_listed_person())) is not None
    )


# Search.


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search has found, a page of each kind."""

    words: Sequence[str]
    """The words that were looked for; none finds nothing."""
    bots: Page[ListedBot]
    people: Page[ListedPerson]
    competitions: Page[Competition]


def search(session: Session, text: str, *, page: int = 1) -> SearchResult:
    """What has all words of a text, or words that begin so; names that begin so come first.

    Args:
        text: anything that somebody types.
    """
    wanted = text[:LONGEST_QUERY]
    words = words_of(*wanted.split(), parts=False)[:MOST_WORDS]
    nothing: Page[Any] = Page((), 0, page)
    if not words:
        return SearchResult(words, nothing, nothing, nothing)
    typed = wanted.strip().lower()
    bots_found = page_of(
        session,
        sa.select(Bot).where(is_listed(), Bot.id.in_(_matching(session, "bot", words))),
        (_nearness(Bot.lower_name, typed), Bot.lower_name),
        page,
        joinedload(Bot.owner),
        selectinload(Bot.tags),
    )
    people_found = page_of(
        session,
        sa.select(User).where(is_listed_person(), User.id.in_(_matching(session, "user", words))),
        (_nearness(User.lower_name, typed), User.lower_name),
        page,
    )
    competitions = page_of(
        session,
        sa.select(Competition).where(
            LadderRound.lists(), Competition.id.in_(_matching(session, "competition", words))
        ),
        (_nearness(Competition.name, typed), Competition.id.desc()),
        page,
    )
    return SearchResult(
        words,
        replace(bots_found, items=told(session, bots_found.items)),
        replace(people_found, items=with_bots(session, people_found.items)),
        competitions,
    )


def _matching(session: Session, kind: Kind, words: Sequence[str]) -> sa.Select[int]:
    """The ids of what of a kind has all of some words, by the database's own full text.

    Args:
        words: letters and digits alone.
    """
    of_kind = sa.select(SearchEntry.subject_id).where(SearchEntry.kind == kind)
    if session.get_bind().dialect.name == "postgresql":
        query = " & ".join(f"'{word}':*" for word in words)
        asked = sa.cast(query, TSQUERY)
        return of_kind.where(lexemes(SearchEntry.words).op("@@")(asked))
    query = " ".join(f'"{word}"*' for word in words)
    full_text = sa.table(FULL_TEXT, sa.column("rowid"))
    matches = sa.literal_column(FULL_TEXT).op("MATCH")(query)
    rows = sa.select(full_text.c.rowid).select_from(full_text).where(matches)
    return of_kind.where(SearchEntry.id.in_(rows))


def _nearness(name: sa.SQLColumnExpression[str], typed: str) -> sa.ColumnElement[int]:
    """0 for a name that is just what was typed, 1 for one that begins so, 2 for any other."""
    begins = name.startswith(typed, autoescape=True)
    return sa.case((name == typed, 0), (begins, 1), else_=2)
