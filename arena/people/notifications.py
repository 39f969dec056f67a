"""What people are told: kept for each of them, shown on the site, and sent where they want it.

A notification is a text as catalogues know it, with what stands at its places, so that everybody
reads it in their own language. It is a row for each who is told, written in the transaction of
what it tells; a message to each of their hooks is a row beside it. The sender (`arena.sender`)
makes mail of them, and sends both: nothing here speaks to anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import count_rows
from arena.ground.locks import locking
from arena.models import (
    HOUSE,
    PERSON,
    Delivery,
    Hook,
    MailChoice,
    Notification,
    Topic,
    User,
    Wishes,
)
from engine.translation import N_, gettext

TOPICS: Mapping[Topic, str] = {
    Topic.CHECK: N_("checks of versions"),
    Topic.SUSPENSION: N_("suspensions"),
    Topic.TEST: N_("strength tests, tunings and gauntlets"),
    Topic.TOURNAMENT: N_("tournaments"),
    Topic.LADDER: N_("ladders"),
    Topic.MATCH: N_("unrated matches that you asked for"),
}
"""Those that people can choose not to hear of, in words."""
DELIVERY_LASTS = timedelta(days=1)
"""How long it is tried to tell a hook of something."""
_MOMENT = "moment"


def notify(
    session: Session,
    people: Iterable[int],
    message: str,
    places: Mapping[str, Any],
    address: str,
    now: datetime,
    *,
    topic: Topic = Topic.OTHER,
) -> None:
    """Tells people something, in the caller's transaction.

    Args:
        people: the ids of users; who is shut out, the arena itself, and teams are told nothing.
        message: in English, marked by `N_`, a sentence without its full stop.
        places: what stands at ``%(name)s``: texts, numbers, and moments.
        address: the path of the page where more can be seen.

    Raises:
        ValueError: that is no path.
    """
    if not address.startswith("/"):
        raise ValueError(f"{address!r} is no path of this site")
    wanted = set(people)
    if not wanted:
        return
    query = (
        sa.select(User.id, User.mail, Wishes.mail, Wishes.silenced)
        .outerjoin(Wishes, Wishes.user_id == User.id)
        .where(User.id.in_(wanted), User.active, User.name != HOUSE, User.kind == PERSON)
        .order_by(User.id)
    )
    kept = {name: _kept(value) for name, value in places.items()}
    told: dict[int, Notification] = {}
    for person, mail, choice, silenced in session.execute(query).all():
        if topic in (silenced or ()):
            continue
        told[person] = Notification(
            user_id=person,
            at=now,
            topic=topic,
            message=message,
            places=kept,
            address=address,
            mail_waits=bool(mail) and choice not in (None, MailChoice.NEVER),
        )
    if not told:
        return
    session.add_all(told.values())
    hooks = sa.select(Hook).where(Hook.user_id.in_(told), Hook.disabled == "")
    for hook in session.scalars(locking(hooks, Hook, to="keep")):
        session.add(delivery_of(hook, told[hook.user_id], now))


def delivery_of(hook: Hook, told: Notification | None, now: datetime) -> Delivery:
    """A message to a hook that is to be sent at once.

    Args:
        told: what it tells; None for one that only tries the hook.
    """
    return Delivery(
        hook_id=hook.id, notification=told, created=now, due=now, expires=now + DELIVERY_LASTS
    )


def text_of(told: Notification) -> str:
    """What somebody is told, in the language that is spoken; a sentence without its full stop."""
    return gettext(told.message, **{name: _shown(value) for name, value in told.places.items()})


def _kept(value: Any) -> Any:
    """What stands at a place, as JSON keeps it."""
    if isinstance(value, datetime):
        return {_MOMENT: value.isoformat()}
    return value if isinstance(value, (int, float)) else str(value)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return f"{datetime.fromisoformat(value[_MOMENT]):%Y-%m-%d %H:%M} UTC"
    return value


# What one person was told.


def unread(session: Session, user_id: int) -> int:
    """How much of what somebody was told they have not seen."""
    return count_rows(
        session, Notification, Notification.user_id == user_id, Notification.read.is_(None)
    )


def told_to(
    session: Session, user_id: int, *, before: int | None = None, count: int = 50
) -> list[Notification]:
    """What somebody was told, the newest first.

    Args:
        before: only those of lower ids, to page on.
    """
    query = sa.select(Notification).where(Notification.user_id == user_id)
    if before is not None:
        query = query.where(Notification.id < before)
    return list(session.scalars(query.order_by(Notification.id.desc()).limit(count)))


def wishes_of(session: Session, user_id: int) -> Wishes:
    """How somebody is told; a row of their own that is added when something of it is chosen."""
    found = session.get(Wishes, user_id)
    return found or Wishes(user_id=user_id, mail=MailChoice.NEVER, silenced=[])
