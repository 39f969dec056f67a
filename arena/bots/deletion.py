"""Bots that are deleted.

Theory of operation. A bot that is in no match goes wholly, with what people played against it for
themselves. One that is stays as a *tombstone*, since its games are its opponents' as well: a row
without name, owner, description, code, logs and checks, by which tables keep their numbers. It
leaves every competition, or ends it, as the kind of each has it; what a worker plays with it is
played to its end and counts, and what cannot be is void (`arena.schedule.leases`). Its files go
where no other bot has them (`arena.bots.discarding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit, naming
from arena.audit import ARENA
from arena.bots import discarding, entries, pictures, spent_quotas, written_names
from arena.bots.bot_deeds import BotDeed, find_bot
from arena.competitions import sign_ups
from arena.competitions.kinds import kind_of
from arena.competitions.masks import demand_no_mask, masks_of
from arena.competitions.voids import make_void
from arena.deeds import By, Done
from arena.ground import locks
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    Bot,
    BotAnswer,
    BotTag,
    BotVersion,
    Build,
    Check,
    Competition,
    CompetitionState,
    CoOwner,
    DivisionPlace,
    Entrant,
    EntrantState,
    Follow,
    GameSeat,
    JobStatus,
    LadderRound,
    Match,
    Place,
    Presence,
    Question,
    Repository,
    Scope,
    SignUp,
    Sitting,
    SittingSeat,
    Tournament,
    VersionStatus,
)
from arena.people import accounts
from engine.translation import gettext

WHY = "the bot was deleted"


class BotGone(NamedTuple):
    """What became of a bot that was deleted."""

    name: str
    """The name that it had."""
    tombstone: str | None
    """What games still call it; None if nothing is left of it."""


@dataclass(frozen=True)
class DeleteBot(BotDeed):
    """Delete a bot of one's own for good, with its code, its logs and its description.

    One that is in no match goes wholly. Of one that is, its games and its place in tables stay, as
    those of a bot without a name: they are its opponents', too. Matches under way are played to
    their end. Co-owners can't do so, and administrators can for everybody.
    """

    address = "POST /bots/<name>/delete"
    command = "bot delete NAME"
    example = "mybot"
    answers = BotGone

    def asks(self, session: Session, by: By) -> str:
        bot = _to_delete(session, by, self.name)
        if not _is_in_matches(session, bot):
            return gettext(
                "The bot %(bot)s goes with all its versions, its code and its description, and "
                "with what people played against it for themselves. This can't be undone.",
                bot=bot.name,
            )
        return gettext(
            "The code, the logs, the description and the name of %(bot)s go. Its games stay, as "
            "those of “deleted bot %(number)s”, since they are its opponents', too. This can't be "
            "undone.",
            bot=bot.name,
            number=bot.id,
        )

    def do(self, session: Session, by: By) -> Done:
        bot = _to_delete(session, by, self.name)
        (gone,) = delete(session, [bot], by.now)
        audit.note(
            session, by.actor, "delete", f"bot {gone.name}", gone.tombstone or "", now=by.now
        )
        if gone.tombstone is None:
            return Done(gettext("the bot %(bot)s is deleted", bot=gone.name), gone)
        said = gettext(
            "the bot %(bot)s is deleted; its games call it %(tombstone)s",
            bot=gone.name,
            tombstone=gone.tombstone,
        )
        return Done(said, gone)


def _to_delete(session: Session, by: By, name: str) -> Bot:
    bot = find_bot(session, name)
    if bot.deleted:
        raise Refusal(gettext("the bot %(bot)s is deleted already", bot=bot.name))
    demand_no_mask(bot)
    if not (by.heads(bot) or by.may(Scope.ADMIN)):
        raise NotAllowed(
            gettext("only %(owner)s can delete %(bot)s", owner=bot.owner.name, bot=bot.name)
        )
    return bot


def delete(session: Session, bots: Sequence[Bot], now: datetime) -> list[BotGone]:
    """Deletes some bots of one owner, without a note.

    Raises:
        Refusal: one can't be spared in a tournament that has not begun.
    """
    # Whoever hands in a version of one waits, and finds no such bot.
    for owner in {bot.owner for bot in bots}:
        locks.lock(session, owner)
    masks = masks_of(session, [bot.id for bot in bots])
    matches = _lock_what_ends(session, [*masks, *bots])
    for mask in masks:
        _delete(session, mask, matches, now)
    return [_delete(session, bot, matches, now) for bot in bots]


def _lock_what_ends(session: Session, bots: Sequence[Bot]) -> Sequence[Match]:
    """Locks all that some bots leave, in the order of `arena.ground.locks`: what is done bot by bot
    would go through that order again and again.

    Returns:
        Their matches that no worker has.
    """
    ids = [bot.id for bot in bots]
    versions = sa.select(BotVersion.id).where(BotVersion.bot_id.in_(ids))
    its = Entrant.version_id.in_(versions)
    waiting = sa.select(Match).where(
        Match.status.in_([JobStatus.OPEN, JobStatus.SET_ASIDE]),
        Match.places.any(Place.entrant_id.in_(sa.select(Entrant.id).where(its))),
    )
    matches = session.scalars(locks.locking(waiting, Match)).all()
    checks = sa.select(Check).where(
        Check.version_id.in_(versions), Check.status.in_(entries.UNDECIDED)
    )
    session.scalars(locks.locking(checks, Check, anew=True)).all()
    session.scalars(locks.locking(_sittings(versions), Sitting)).all()
    competitions = sa.select(Competition).where(
        Competition.state != CompetitionState.CLOSED,
        sa.or_(
            Competition.id.in_(sa.select(Entrant.competition_id).where(its)),
            Competition.id.in_(sa.select(SignUp.competition_id).where(SignUp.bot_id.in_(ids))),
        ),
    )
    session.scalars(locks.locking(competitions, Competition, anew=True)).all()
    return matches


def _delete(session: Session, bot: Bot, matches: Sequence[Match], now: datetime) -> BotGone:
    name, versions = bot.name, sa.select(BotVersion.id).where(BotVersion.bot_id == bot.id)
    entrants = sa.select(Entrant.id).where(Entrant.version_id.in_(versions))
    _leave(session, bot, entrants, now)
    its = set(session.scalars(sa.select(Place.match_id).where(Place.entrant_id.in_(entrants))))
    for match in matches:
        if match.id in its and match.status in (JobStatus.OPEN, JobStatus.SET_ASIDE):
            make_void(session, match, WHY)
    issued = sa.select(sa.func.max(Match.lease_ends)).where(
        Match.status == JobStatus.ISSUED, Match.places.any(Place.entrant_id.in_(entrants))
    )
    files_go = session.scalar(issued) or now
    digests = set(session.scalars(sa.select(BotVersion.digest).where(BotVersion.bot_id == bot.id)))
    names = written_names.bot_names_of(session, bot)
    spent_quotas.keep(session, bot, now)
    _forget(session, bot, versions)
    written_names.replace_bot_names(session, versions, names, _tombstone(bot))
    whole = not _is_in_matches(session, bot) and not _is_elsewhere(session, entrants)
    if whole:
        _go(session, bot, versions, entrants)
    else:
        _make_nameless(session, bot, entrants, now)
    discarding.discard(session, digests, files_go)
    return BotGone(name, None if whole else bot.name)


def _tombstone(bot: Bot) -> str:
    """What a deleted bot is called: nobody can give such a name, as it has spaces."""
    return f"deleted bot {bot.id}"


def _is_in_matches(session: Session, bot: Bot) -> bool:
    query = (
        sa.select(Place.match_id)
        .join(Place.entrant)
        .join(Entrant.version)
        .where(BotVersion.bot_id == bot.id)
    )
    return session.scalar(query.limit(1)) is not None


def _is_elsewhere(session: Session, entrants: sa.Select[int]) -> bool:
    """Whether one of some entrants is in anything but a ladder, whose plan may name it."""
    query = (
        sa.select(Entrant.id)
        .join(Entrant.competition)
        .where(Entrant.id.in_(entrants), Competition.kind != "ladder")
    )
    return session.scalar(query.limit(1)) is not None


def _leave(session: Session, bot: Bot, entrants: sa.Select[int], now: datetime) -> None:
    """Takes a bot out of everything that goes on."""
    its = sa.select(BotVersion.id).where(BotVersion.bot_id == bot.id)
    for sitting in session.scalars(locks.locking(_sittings(its), Sitting)).all():
        sitting.break_off(WHY, now)
    entries.stop_entering(session, bot, WHY, now)
    query = (
        sa.select(Entrant)
        .join(Entrant.competition)
        .where(
            Entrant.id.in_(entrants),
            Entrant.state != EntrantState.RETIRED,
            Competition.state != CompetitionState.CLOSED,
        )
        .order_by(Competition.id)
        .options(joinedload(Entrant.competition))
    )
    for entrant in session.scalars(query).all():
        competition = entrant.competition
        locks.lock(session, competition)
        if competition.state is not CompetitionState.CLOSED:
            kind_of(competition).withdraw(session, competition, entrant, WHY, now)
    coming = sa.select(Tournament).where(
        Tournament.signing_up.is_(True),
        Tournament.state != CompetitionState.CLOSED,
        Tournament.id.in_(sa.select(SignUp.competition_id).where(SignUp.bot_id == bot.id)),
    )
    for tournament in session.scalars(coming.order_by(Tournament.id)).all():
        sign_ups.sign_off(session, tournament, bot, now, ARENA)


def _sittings(versions: sa.Select[int]) -> sa.Select[Sitting]:
    """A query for the sittings under way against some versions."""
    return sa.select(Sitting).where(
        Sitting.finished.is_(None), Sitting.seats.any(SittingSeat.version_id.in_(versions))
    )


def _forget(session: Session, bot: Bot, versions: sa.Select[int]) -> None:
    """Lets go of what is the bot's alone, whatever remains of it."""
    questions = sa.select(Question.id).where(Question.version_id.in_(versions))
    for gone in (
        sa.delete(BotAnswer).where(
            sa.or_(BotAnswer.version_id.in_(versions), BotAnswer.question_id.in_(questions))
        ),
        sa.delete(Question).where(Question.version_id.in_(versions)),
        sa.delete(Build).where(Build.version_id.in_(versions)),
        sa.delete(Presence).where(Presence.version_id.in_(versions)),
        sa.delete(Check).where(Check.version_id.in_(versions)),
        sa.delete(SignUp).where(SignUp.bot_id == bot.id),
        sa.delete(DivisionPlace).where(DivisionPlace.bot_id == bot.id),
        sa.delete(CoOwner).where(CoOwner.bot_id == bot.id),
        sa.delete(Follow).where(Follow.bot_id == bot.id),
        sa.delete(Repository).where(Repository.bot_id == bot.id),
    ):
        session.execute(gone, execution_options={"synchronize_session": False})
    naming.forget(session, bot)
    pictures.give(session, bot, None)


def _go(session: Session, bot: Bot, versions: sa.Select[int], entrants: sa.Select[int]) -> None:
    """Nothing is left of it."""
    sittings = sa.select(SittingSeat.sitting_id).where(SittingSeat.version_id.in_(versions))
    numbers = session.scalars(sittings.distinct()).all()
    ids = session.scalars(entrants).all()
    for gone in (
        sa.delete(SittingSeat).where(SittingSeat.sitting_id.in_(numbers)),
        sa.delete(Sitting).where(Sitting.id.in_(numbers)),
        sa.update(Entrant).where(Entrant.id.in_(ids)).values(predecessor_id=None),
        sa.update(LadderRound).where(LadderRound.boss_id == bot.id).values(boss_id=None),
        sa.delete(Entrant).where(Entrant.id.in_(ids)),
        sa.delete(BotVersion).where(BotVersion.bot_id == bot.id),
        sa.delete(BotTag).where(BotTag.bot_id == bot.id),
    ):
        session.execute(gone, execution_options={"synchronize_session": False})
    session.expire(bot)
    session.delete(bot)
    session.flush()


def _make_nameless(session: Session, bot: Bot, entrants: sa.Select[int], now: datetime) -> None:
    """What stays has no word of its author's."""
    session.execute(
        sa.update(GameSeat)
        .where(GameSeat.entrant_id.in_(entrants), GameSeat.log != "")
        .values(log=""),
        execution_options={"synchronize_session": False},
    )
    session.execute(
        sa.update(BotVersion)
        .where(BotVersion.bot_id == bot.id)
        .values(
            digest="",
            size=0,
            files_bytes=0,
            note="",
            options=None,
            commit_hash=None,
            commit_subject=None,
            commit_repository=None,
            commit_dirty=None,
            status=VersionStatus.REFUSED,
            masks_id=None,
        )
    )
    bot.name = bot.lower_name = _tombstone(bot)
    bot.owner, bot.open_source, bot.deleted = accounts.nobody(session, now), False, now
    bot.description, bot.links, bot.tags = "", [], []
    bot.masks = bot.masked_in = None
    session.flush()
