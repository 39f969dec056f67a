"""How many bytes of each person's the arena stores, and may; and how many bots each has, and may.

What counts is easy to say: each file once, whichever of the person's bots and versions have it.
Those are the bundles of the versions of the bots that are the person's (`Bot.person_id`), their
large files, and the large files that the person sends or has sent and no bot has yet. What several
people have is stored once, and counts for each of them, so that nobody's room depends on what
others do.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import count_rows
from arena.ground.locks import locking
from arena.ground.refusals import Refusal
from arena.models import SCOPES, Bot, BotVersion, LargeFile, Scope, SentFile, User
from engine.plurals import counted
from engine.translation import gettext


def stored_bytes(session: Session, user_id: int) -> int:
    """What is stored of a person's."""
    bundles = (
        sa.select(BotVersion.digest, sa.func.max(BotVersion.size))
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(Bot.is_of(user_id))
        .group_by(BotVersion.digest)
    )
    whole: dict[str, int] = {row[0]: row[1] for row in session.execute(bundles)}
    of_bundles = sa.select(LargeFile.digest, LargeFile.size).where(
        LargeFile.bundle.in_(bundles.with_only_columns(BotVersion.digest))
    )
    sent = sa.select(SentFile.digest, SentFile.size).where(SentFile.user_id == user_id)
    in_bundles = session.execute(of_bundles).all()
    large: dict[str, int] = {row[0]: row[1] for row in (*in_bundles, *session.execute(sent))}
    beside: int = sum(row[1] for row in in_bundles)
    tars: int = sum(whole.values()) - beside
    return tars + sum(large.values())


def most_bytes(session: Session, user_id: int, usual: int) -> int:
    """What may be stored of a person: their own quota, or the usual one."""
    own = session.scalar(sa.select(User.quota_mib).where(User.id == user_id))
    return usual if own is None else own * 2**20


def lock_people(session: Session, user_ids: Collection[int]) -> None:
    """Lets nobody else store anything for these people until this transaction ends."""
    wanted = sa.select(User).where(User.id.in_(user_ids))
    session.scalars(locking(wanted, User, anew=True)).all()


def demand_room(session: Session, user_id: int, more: int, usual: int) -> None:
    """Refuses what would be more than a person may have stored.

    Args:
        more: bytes that are to be stored besides, of a person who is locked.
        usual: as `most_bytes` takes it.

    Raises:
        Refusal: it is too much; says what there is, and what to do.
    """
    stored, most = stored_bytes(session, user_id), most_bytes(session, user_id, usual)
    if more and stored + more > most:
        raise Refusal(refusal(stored, more, most))


def refusal(stored: int, more: int, most: int) -> str:
    """Why there is no room for so many bytes more."""
    left = max(0, most - stored)
    return gettext(
        "this needs %(more)s more, and of the %(most)s that you may have stored here %(left)s are "
        "left: files that you have sent count once, so use them again, or ask the arena's operator "
        "for more",
        more=in_mib(more),
        most=in_mib(most),
        left=in_mib(left),
    )


def bots_here(session: Session, person_id: int) -> int:
    """How many bots are a person's, or a team's of which they are captain, wherever they play."""
    return count_rows(session, Bot, Bot.is_of(person_id), Bot.deleted.is_(None))


def most_bots(person: User, usual: int | None) -> int | None:
    """How many bots a person may have; None for any number, as organisers may.

    Args:
        usual: of everybody else; None or 0 for any number.
    """
    return None if Scope.ORGANISE in SCOPES[person.role] else usual or None


def why_no_more_bots(session: Session, person: User, usual: int | None) -> str:
    """Why a person can't have another bot; empty if they can.

    Args:
        usual: as `most_bots` takes it.
    """
    most = most_bots(person, usual)
    if most is None or bots_here(session, person.id) < most:
        return ""
    return gettext(
        "each person may have %(bots)s here, and so many are there: hand it in as a new version of "
        "one of them, or delete one",
        bots=counted(most, "bot"),
    )


def demand_fewer_bots(session: Session, person: User, usual: int | None) -> None:
    """Refuses another bot of a person, who is locked, beyond what each may have.

    Raises:
        Refusal: there are so many; says what to do.
    """
    if words := why_no_more_bots(session, person, usual):
        raise Refusal(words)


def in_mib(size: int) -> str:
    """Tells people bytes in MiB, to a tenth."""
    return f"{size / 2**20:.1f} MiB"
