"""What an address names, read from the database, or a 404 that says what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import sqlalchemy as sa
from flask import abort, redirect, request, url_for
from sqlalchemy.orm import Session, joinedload
from werkzeug.routing import IntegerConverter, Map

from arena import naming, sittings
from arena.bots import directory
from arena.bots.sharing import belongs_to, is_member
from arena.bots.submissions import is_only_refused
from arena.competitions.gauntlets import Gauntlet
from arena.ground.db import LARGEST_ID, LOOKED_UP
from arena.ground.guesses import meant
from arena.keeping.reading import record_of
from arena.models import (
    HOUSE,
    Bot,
    BotTuning,
    BotVersion,
    Competition,
    Entrant,
    Ladder,
    Match,
    PlayedGame,
    Scope,
    Sitting,
    StrengthTest,
    Team,
    Tournament,
    User,
)
from arena.operation.notice import read_notice
from arena.sight import STRANGER, look_up, open_named
from arena.web import identity, queries
from arena.web.words import sentence
from engine.record import GameRecord
from engine.translation import N_, gettext

F = TypeVar("F", bound=naming.Nameable)


class Number(IntegerConverter):
    """A number in an address, ``<int:number>``: one that a database can be asked for, and in the
    one way to write it. There is nothing at any other address.
    """

    regex = "(?:0|[1-9][0-9]{0,9})"

    def __init__(self, map: Map) -> None:
        super().__init__(map, max=LARGEST_ID)


@contextmanager
def reading() -> Iterator[Session]:
    """A session of the arena's database that only reads, and only what who asks sees."""
    with identity.read_database().read() as session:
        identity.look(session)
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """A session for a transaction that changes something, in which what is named is looked up as
    who asks sees it."""
    account = identity.current()
    with identity.database().begin() as session:
        look_up(session, account.reader if account else STRANGER)
        yield session


def notice() -> str:
    """What all visitors are told; empty if that is nothing."""
    with identity.read_database().read() as session:
        return read_notice(session)


ABSENT: dict[type[Bot | Competition], str] = {
    Bot: N_("there is no bot %(name)s"),
    Competition: N_("there is no competition %(name)s"),
    Ladder: N_("there is no ladder %(name)s"),
    Tournament: N_("there is no tournament %(name)s"),
    Gauntlet: N_("there is no gauntlet %(name)s"),
}


def _open(session: Session, *which: sa.ColumnElement[bool]) -> None:
    """Has a session see the unlisted competition that is named."""
    open_named(session, sa.select(Competition.id).where(*which))


def _absent(session: Session, kind: type[Bot | Competition], name: str) -> NoReturn:
    """A 404 for what is not there by a name, with those like it."""
    which = [~is_only_refused()] if kind is Bot else []
    guess = meant(session, kind.name, name, *which)
    words = ABSENT.get(kind, ABSENT[Competition])
    abort(404, sentence(f"{gettext(words, name=name)}{guess}"))


def _moved(name: str, found: F) -> F:
    """What was found; who asked for its page by a name that it had is led to the present one."""
    naming.note(name, found)
    asked = request.view_args or {}
    reads_page = request.method in ("GET", "HEAD") and request.blueprint != "api"
    if found.name != name and reads_page and name in asked.values():
        assert request.endpoint
        there: dict[str, Any] = {
            key: found.name if value == name else value for key, value in asked.items()
        }
        more = request.query_string.decode("ascii", "replace")
        address = url_for(request.endpoint, **there)
        abort(redirect(f"{address}?{more}" if more else address))
    return found


def asked_page() -> int:
    """The page of a list that an address asks for, ``?page=2``; the first without it."""
    return request.args.get("page", 1, type=int)


def find_ladder(session: Session, name: str) -> Ladder:
    """The one of this name; a tournament of it is none."""
    _open(session, Competition.named(name))
    ladder = session.scalar(
        sa.select(Ladder).where(Ladder.named(name)), execution_options=LOOKED_UP
    )
    return _moved(name, ladder or _absent(session, Ladder, name))


def find_competition(session: Session, name: str) -> Competition:
    """The ladder, tournament or strength test of this name."""
    _open(session, Competition.named(name))
    found = session.scalar(
        sa.select(Competition).where(Competition.named(name)), execution_options=LOOKED_UP
    )
    return _moved(name, found or _absent(session, Competition, name))


def find_tournament(session: Session, name: str) -> Tournament:
    """The one of this name; a ladder of it is none."""
    _open(session, Competition.named(name))
    tournament = session.scalar(
        sa.select(Tournament).where(Tournament.named(name)), execution_options=LOOKED_UP
    )
    return _moved(name, tournament or _absent(session, Tournament, name))


def find_gauntlet(session: Session, name: str) -> Gauntlet:
    """The gauntlet of this name."""
    _open(session, Competition.named(name))
    gauntlet = session.scalar(
        sa.select(Gauntlet).where(Gauntlet.named(name)), execution_options=LOOKED_UP
    )
    return _moved(name, gauntlet or _absent(session, Gauntlet, name))


def find_bot(session: Session, name: str, *, leads: bool = True) -> Bot:
    """The bot of this name, in upper or lower case, with its owner; or of a name that it had.

    Args:
        leads: whether a reader of a page is led to the address by its present name.
    """
    account = identity.current()
    # What was never more than refused is its owners' business.
    seen = sa.or_(~is_only_refused(), belongs_to(account.id) if account else sa.false())
    if account is not None and account.may(Scope.ADMIN):
        seen = sa.true()
    query = sa.select(Bot).where(Bot.named(name), seen).options(joinedload(Bot.owner))
    found = session.scalar(query)
    if found is None:
        # One that is known by what is unlisted alone: this is its address.
        its = sa.select(Entrant.competition_id).join(Entrant.version).join(BotVersion.bot)
        open_named(session, its.where(Bot.named(name)))
        found = session.scalar(query)
    found = found or _absent(session, Bot, name)
    return _moved(name, found) if leads else found


def find_person(session: Session, name: str) -> User:
    """The person of this name, or of one that they had, whose page who asks may see: that of
    whoever has a bot to be seen, and one's own; administrators see all.
    """
    found = session.scalar(sa.select(User).where(User.named(name)))
    account = identity.current()
    if isinstance(found, Team):
        team, found = found, None
        if _sees_team(session, team):
            if request.endpoint == "directory.person":
                abort(redirect(url_for("teams.team", name=team.name)))
            abort(404, gettext("%(name)s is a team: see /teams/%(name)s", name=team.name))
    if found is not None and found.name != HOUSE and not found.deleted:
        own = account is not None and (account.id == found.id or account.may(Scope.ADMIN))
        if not own and not directory.is_seen(session, found):
            found = None
    if found is None or found.name == HOUSE or found.deleted:
        abort(404, gettext("There is nobody %(name)s with a bot here.", name=name))
    return _moved(name, found)


def find_team(session: Session, name: str) -> Team:
    """The team of this name, or of one that it had, if who asks may see it: one that has a bot to
    be seen; its members and administrators see it in any case.
    """
    found = session.scalar(sa.select(Team).where(Team.named(name)))
    if found is None or not _sees_team(session, found):
        abort(404, gettext("There is no team %(name)s with a bot here.", name=name))
    return _moved(name, found)


def _sees_team(session: Session, team: Team) -> bool:
    account = identity.current()
    own = account is not None and (account.may(Scope.ADMIN) or is_member(session, team, account.id))
    return not team.deleted and (own or directory.is_seen(session, team))


def find_match(session: Session, number: int) -> Match:
    """The match of this number, with its places and games."""
    open_named(session, sa.select(Match.competition_id).where(Match.id == number))
    found = queries.match(session, number)
    return found or abort(404, gettext("There is no match %(number)s.", number=number))


def find_game(session: Session, number: int) -> tuple[PlayedGame, GameRecord]:
    """The game of this number, with its seats and its record."""
    _open_game(session, number)
    found = queries.game(session, number)
    if found is None:
        abort(404, gettext("There is no game %(number)s.", number=number))
    return found, record_of(session, number, found.record)


def _open_game(session: Session, number: int) -> None:
    open_named(session, sa.select(PlayedGame.competition_id).where(PlayedGame.id == number))


def find_test(session: Session, number: int) -> StrengthTest:
    """The strength test of this number."""
    _open(session, Competition.id == number)
    found = session.get(StrengthTest, number)
    return found or abort(404, gettext("There is no strength test %(number)s.", number=number))


def find_tuning(session: Session, number: int) -> BotTuning:
    """The tuning of this number."""
    _open(session, Competition.id == number)
    found = session.get(BotTuning, number)
    return found or abort(404, gettext("There is no tuning %(number)s.", number=number))


def find_sitting(session: Session, number: int, *, to_change: bool = False) -> Sitting:
    """A person's game of this number, with its seats.

    Args:
        to_change: locks it.
    """
    open_named(session, sa.select(Sitting.ladder_id).where(Sitting.id == number))
    found = sittings.find(session, number, to_change=to_change)
    return found or abort(
        404, gettext("There is no game %(number)s of a person against bots.", number=number)
    )


def find_record(session: Session, number: int) -> GameRecord:
    """The record alone of the game of this number."""
    _open_game(session, number)
    stored = session.scalar(sa.select(PlayedGame.record).where(PlayedGame.id == number))
    if stored is None:
        abort(404, gettext("There is no game %(number)s.", number=number))
    return record_of(session, number, stored)
