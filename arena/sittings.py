"""People's games against bots: begun, moved in, given up, abandoned.

A person is a player like any other: the engine judges every move, and a fault of a bot ends its
part. Each move of a bot is a job of its own, with a lease, as a match is (`arena.schedule.leases`).
What people do is stored by the pages, what bots answer by the recorder; each in one
transaction that has locked the game, so that whatever is said twice, late or falsely changes
nothing. These games are rated nowhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload, object_session, selectinload, undefer

from arena.ground import bot_names, locks
from arena.ground.config import Settings
from arena.ground.db import LOOKED_UP, count_rows
from arena.ground.refusals import Refusal
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Sitting,
    SittingSeat,
    User,
    VersionStatus,
    Visibility,
)
from arena.schedule import leases, workers
from arena.schedule.leases import Fate
from engine import reporting, sitting
from engine.game import CHANCE, Seat, Variant
from engine.match import entrants_needed
from engine.openings import Opening, opening
from engine.plurals import counted, listed
from engine.protocol import demand_sayable
from engine.record import GameRecord, RecordError, other_rules
from engine.rules_trail import at
from engine.translation import gettext, ngettext, translated

OFFERED = 100
"""How many bots of a ladder are offered, and as many of other ladders of its game."""


class SittingError(Refusal):
    """What can't be done in a person's game; one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whoever plays: a user, or a guest who is known by a digest."""

    name: str
    user_id: int | None = None
    guest: str | None = None

    def plays(self, game: Sitting) -> bool:
        """Whether a game is this person's."""
        if self.user_id is not None:
            return game.user_id == self.user_id
        return self.guest is not None and game.guest == self.guest

    @property
    def own(self) -> sa.ColumnElement[bool]:
        """What is this person's among the sittings."""
        if self.user_id is not None:
            return Sitting.user_id == self.user_id
        return Sitting.guest == self.guest

    def form(self, number: str) -> str:
        """What a form of theirs is kept as: another person may choose the same number."""
        return hashlib.sha256(f"{self.user_id} {self.guest} {number}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Wish:
    """How somebody wants to play."""

    ladder: Ladder
    place: int
    """The person's place, among those that entrants of a match have; from 0."""
    opponents: tuple[int, ...]
    """A bot version for each other place in order, by their ids."""
    random_opening: bool
    form: str
    """The number of the form that says so."""
    seed: int
    opening: Opening | None = None
    """The one that was chosen, in the place of a random one or of the start."""


def places(variant: Variant) -> list[str]:
    """What each place is called: the names of its seats, e.g. "Blue and Red"."""
    names: list[list[str]] = [[] for _ in range(entrants_needed(variant))]
    for name, place in zip(variant.seat_names, variant.entrant_of, strict=True):
        names[place].append(translated(name))
    return [listed(each) for each in names]


def bots_for(session: Session, ladder: Ladder, *, more: str = "") -> list[BotVersion]:
    """The bots to choose from: the best of the ladder, then others that play its game.

    Args:
        more: the name of a bot that is to be among them, if it plays this game.
    """
    on_it, elsewhere = Entrant.competition_id == ladder.id, Entrant.competition_id != ladder.id
    best = Entrant.conservative.desc()
    found = _active(session, ladder, on_it, best)
    if len(found) < OFFERED:
        found += _active(session, ladder, elsewhere, best)
    if more:
        named = Bot.named(more)
        found += _active(session, ladder, named, best)
    return list({version.id: version for version in found}.values())


def _active(
    session: Session, ladder: Ladder, which: sa.ColumnElement[bool], order: sa.ColumnElement[Any]
) -> list[BotVersion]:
    """The versions that play a ladder's game on it, or on one that everybody sees, as the game may
    be looked at by whoever sees that ladder."""
    there = sa.or_(Ladder.id == ladder.id, Ladder.visibility == Visibility.PUBLIC)
    query = (
        sa.select(Entrant)
        .join(Ladder, Ladder.id == Entrant.competition_id)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .where(
            Ladder.game == ladder.game,
            Entrant.state == EntrantState.ACTIVE,
            BotVersion.status == VersionStatus.READY,
            BotVersion.language != AT_HOME,
            there,
            which,
        )
        .order_by(order, Entrant.id)
        .limit(OFFERED)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
        .execution_options(**LOOKED_UP)
    )
    return [entrant.version for entrant in session.scalars(query)]


def begin(
    session: Session, person: Person, wish: Wish, now: datetime, *, most_open: int
) -> Sitting:
    """Begins a game; one that the same form began already is given again.

    Args:
        most_open: how many games that are not over a person may have.

    Raises:
        SittingError: the wish can't be fulfilled, or the person has too many open games.
    """
    if person.user_id is not None:
        # Two forms of one person at the same moment wait for each other here.
        locks.find(session, User, person.user_id, to_change=True)
    form = person.form(wish.form)
    of_this_form = sa.select(Sitting).where(Sitting.form == form)
    known = session.scalar(of_this_form)
    if known is not None:
        return known
    ladder, variant = wish.ladder, wish.ladder.variant
    if ladder.state is CompetitionState.CLOSED:
        raise SittingError(gettext("the ladder %(ladder)s is closed", ladder=ladder.title))
    needed = entrants_needed(variant)
    if not 0 <= wish.place < needed:
        raise SittingError(
            gettext("choose one of the seats: %(seats)s", seats=", ".join(places(variant)))
        )
    if len(wish.opponents) != needed - 1:
        bots = counted(needed - 1, "bot")
        raise SittingError(
            gettext(
                "the ladder %(ladder)s is played against %(bots)s", ladder=ladder.title, bots=bots
            )
        )
    versions = [_opponent(session, ladder, number) for number in wish.opponents]
    _demand_room(session, person.own, most_open)
    holders = [*versions[: wish.place], None, *versions[wish.place :]]
    seated = [holders[place] for place in variant.entrant_of]
    start = wish.opening or (
        opening(variant, wish.seed)
        if wish.random_opening
        else Opening(variant.drawn(wish.seed), ())
    )
    game = sitting.begin(
        start,
        seed=wish.seed,
        players=[version.label if version else person.name for version in seated],
        time=ladder.time.stretched(),
        started=now,
    )
    if sitting.position(game).to_move is None:
        raise SittingError(gettext("the game is over there: go on from an earlier position"))
    made = Sitting(
        user_id=person.user_id,
        guest=person.guest,
        form=form,
        ladder=ladder,
        created=now,
        status=JobStatus.FIXED,
        seats=[
            SittingSeat(seat=seat, version_id=version and version.id)
            for seat, version in enumerate(seated)
        ],
    )
    _set(made, game, now)
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:  # two forms of a guest, who has no row to wait at
        return session.scalars(of_this_form).one()
    return made


def _demand_room(session: Session, own: sa.ColumnElement[bool], most_open: int) -> None:
    """Refuses another game that goes on to who has as many of them as may be."""
    if count_rows(session, Sitting, own, Sitting.finished.is_(None)) >= most_open:
        raise SittingError(
            ngettext(
                "you have %(number)s game that is not over: end or give up one of them first",
                "you have %(number)s games that are not over: end or give up one of them first",
                most_open,
                number=most_open,
            )
        )


def _opponent(session: Session, ladder: Ladder, number: int) -> BotVersion:
    found = _active(session, ladder, BotVersion.id == number, Entrant.conservative.desc())
    if not found:
        raise SittingError(
            gettext("choose each opponent from the list: one of them is not there any more")
        )
    return found[0]


def opponent_named(session: Session, ladder: Ladder, name: str) -> int:
    """The id of the version that ``greedy`` or ``greedy:2`` stands for among those that play.

    Raises:
        SittingError: there is none that plays this ladder's game.
    """
    named = bot_names.read(name, SittingError)
    which = Bot.named(named.name)
    if named.version is not None:
        which &= BotVersion.number == named.version
    found = _active(session, ladder, which, (Entrant.competition_id != ladder.id).asc())
    if not found:
        raise SittingError(
            gettext(
                "no bot %(name)r plays %(game)s on a ladder here", name=name[:60], game=ladder.game
            )
        )
    return found[0].id


def find(session: Session, number: int, *, to_change: bool = False) -> Sitting | None:
    """A person's game with its record and its seats.

    Args:
        to_change: locks it, against whoever else might change it.
    """
    query = sa.select(Sitting).where(Sitting.id == number)
    if to_change:
        query = locks.locking(query, Sitting)
    return session.scalar(query.options(*_WHOLE), execution_options=LOOKED_UP)


_WHOLE = (
    undefer(Sitting.game),
    selectinload(Sitting.seats).joinedload(SittingSeat.version).joinedload(BotVersion.bot),
)
"""A game is read with its record and its seats."""


def latest(session: Session, person: Person, *, count: int) -> list[Sitting]:
    """The games of a person, the last begun first."""
    query = sa.select(Sitting).where(person.own).order_by(Sitting.id.desc()).limit(count)
    return list(session.scalars(query.options(*_WHOLE, joinedload(Sitting.ladder))))


def record_of(found: Sitting) -> GameRecord:
    """What was played so far."""
    return GameRecord.from_json(found.game)


def own_seats(found: Sitting) -> list[Seat]:
    """The seats that the person has."""
    return [one.seat for one in found.seats if one.version_id is None]


def move(found: Sitting, word: str, ply: int, now: datetime) -> None:
    """Plays the person's move.

    Args:
        found: the person's game, locked.
        ply: how many plies were played when the person decided on it.

    Raises:
        SittingError: it is not the person's turn, or not that ply's any more.
        IllegalMoveError: the rules do not allow the move.
    """
    game = _at(found, ply)
    if sitting.position(game).to_move not in own_seats(found):
        raise SittingError(gettext("it is not your turn"))
    _set(found, sitting.moved(game, word), now)


def resign(found: Sitting, ply: int, now: datetime) -> None:
    """Gives the person's game up.

    Where the others would play on they do not: nobody waits for what comes of that.

    Raises:
        SittingError: it is over already, or went on meanwhile.
    """
    if other_rules(record_of(found)):
        found.break_off("its rules are not here any more", now)
        return
    _set(found, given_up(found, _at(found, ply)), now)
    found.status, found.finished = JobStatus.FIXED, now


def given_up(found: Sitting, game: GameRecord) -> GameRecord:
    """What becomes of a game that goes on if the person gives it up."""
    to_move, mine = sitting.position(game).to_move, own_seats(found)
    return sitting.resigned(game, to_move if to_move in mine else mine[0])


def may_take_back(found: Sitting, game: GameRecord) -> bool:
    """Whether the last move may be taken back: in a game played alone, unless it was given up."""
    alone = all(one.version_id is None for one in found.seats)
    moved = any(ply.seat != CHANCE for ply in game.plies[game.opening :])
    return alone and moved and not game.faults and found.status is JobStatus.FIXED


def take_back(found: Sitting, ply: int, now: datetime, *, most_open: int) -> None:
    """Takes the last move back of a game that the person plays alone, also of one that it ended.

    Args:
        most_open: how many games that are not over a person may have.

    Raises:
        SittingError: it is no such game, nothing was moved, or it went on meanwhile.
    """
    game = record_of(found)
    if other := other_rules(game):
        raise SittingError(gettext("the game can't go on: %(reason)s", reason=other))
    if ply != len(game.plies):
        raise SittingError(gettext("the game went on meanwhile, so nothing was done"))
    if not may_take_back(found, game):
        raise SittingError(
            gettext("a move can be taken back in a game that you play alone, after it")
        )
    if found.finished is not None:
        session = object_session(found)
        assert session is not None
        own = Sitting.user_id == found.user_id if found.user_id else Sitting.guest == found.guest
        _demand_room(session, own, most_open)
    _set(found, sitting.taken_back(game), now)


def _at(found: Sitting, ply: int) -> GameRecord:
    game = record_of(found)
    if found.finished is not None:
        raise SittingError(gettext("the game is over"))
    if other := other_rules(game):
        raise SittingError(gettext("the game can't go on: %(reason)s", reason=other))
    if ply != len(game.plies):
        raise SittingError(gettext("the game went on meanwhile, so nothing was done"))
    return game


def _set(found: Sitting, game: GameRecord, now: datetime) -> None:
    """Keeps what the game has come to, and whether a bot's move is due."""
    # The seats are read first: between these columns no query may flush what is half said.
    mine, over = own_seats(found), not sitting.goes_on(game)
    due = not over and sitting.position(game).to_move not in mine
    found.game, found.plies, found.moved = game.to_json(), len(game.plies), now
    found.failures = 0
    found.end_lease(JobStatus.OPEN if due else JobStatus.FIXED)
    found.finished = now if over else None


def record_move(session: Session, report: reporting.MoveReport, now: datetime) -> Fate:
    """Keeps what a bot answered, if this attempt is the one that counts."""
    found = leases.find_issued(session, report.lease)
    if not isinstance(found, Sitting):
        return Fate.STALE
    try:
        demand_sayable(report.game)
        with at(found.ladder.game, f"taking in a move of game {found.id} of a person"):
            sitting.confirm(record_of(found), report.game)
    except RecordError as error:
        problem = f"its move is refuted by the rules: {error}"
        name = found.worker or report.worker
        workers.note_falsehood(session, name, workers.label(found), problem, now)
        leases.roll_back(found, f"{report.worker}: {problem}", failed=True)
        return Fate.REFUSED
    workers.note_success(session, found, found.worker or report.worker)
    _set(found, report.game, now)
    return Fate.FIXED


def give_up_abandoned(session: Session, settings: Settings, now: datetime) -> int:
    """Ends the games in which nothing happened for too long, and says how many."""
    query = sa.select(Sitting).where(
        Sitting.finished.is_(None), Sitting.moved < now - timedelta(days=settings.abandoned_days)
    )
    abandoned = session.scalars(locks.locking(query, Sitting)).all()
    for found in abandoned:
        found.break_off("abandoned", now)
    return len(abandoned)
