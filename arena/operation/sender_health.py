"""Whether mail and messages to hooks go out, which a process of its own sends (`arena.sender`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.models import Delivery, DeliveryState, Hook, Mail, User
from engine.plurals import counted
from engine.translation import gettext

MAIL_WAITS, HOOKS_WAIT = timedelta(minutes=30), timedelta(minutes=15)
"""How long a letter may wait, and how late a message to a hook may be."""


def unsent(session: Session, settings: Settings, now: datetime) -> Iterator[tuple[str, str]]:
    """What does not go out that should, and why. That a hook does not answer is its owner's."""
    if settings.mail:
        first = sa.select(Mail).where(Mail.created <= now - MAIL_WAITS).order_by(Mail.id).limit(1)
        if letter := session.scalar(first):
            minutes = int((now - letter.created).total_seconds() / 60)
            waits = counted(minutes, "minute")
            if letter.problem:
                problem = letter.problem
                yield (
                    "mail",
                    gettext(
                        "mail has waited for %(time)s: %(problem)s", time=waits, problem=problem
                    ),
                )
            else:
                yield "mail", gettext("mail has waited for %(time)s: nobody sends it", time=waits)
    if settings.hooks == "nobody":
        return
    begin = now - HOOKS_WAIT
    late = session.scalar(
        sa.select(sa.func.count())
        .select_from(Delivery)
        .join(Hook, Hook.id == Delivery.hook_id)
        .join(User, User.id == Hook.user_id)
        .where(
            Delivery.state == DeliveryState.WAITS,
            Delivery.due <= begin,
            Hook.disabled == "",
            sa.or_(Hook.rests_until.is_(None), Hook.rests_until <= begin),
            User.active,
        )
    )
    if late:
        yield (
            "hooks",
            gettext(
                "%(messages)s to hooks should have been sent by now: the sender is stopped, or has "
                "more than it can send",
                messages=counted(late, "message"),
            ),
        )
