"""What waits to be sent, as the database has it: who takes it, and what became of it.

Whoever takes something gives it a moment until which nobody else does (its ``due``), in a short
transaction; it is sent outside of any. Who dies meanwhile has it sent again after that moment, so
that a letter may come twice, each time with the same id, and none is lost.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.ground import locks
from arena.ground.catalogues import translation
from arena.ground.config import Settings
from arena.ground.locks import locking
from arena.ground.outside import OutsideError
from arena.ground.texts import cut
from arena.models import (
    Delivery,
    DeliveryState,
    Hook,
    Mail,
    MailChoice,
    Notification,
    User,
    Wishes,
)
from arena.people.notifications import notify, text_of
from arena.people.outbox import add_mail
from arena.sender.post_office import MailFate
from arena.sender.posting import HookAnswer
from arena.signing import unsubscribe_path
from engine.plurals import counted
from engine.translation import ENGLISH, N_, gettext, speaking

HELD, LETTER_HELD = timedelta(minutes=5), timedelta(minutes=10)
"""How long a message to a hook, and a letter, are whoever's who has taken them."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(hours=1)
"""The pause before the second try, and the longest one before those after it."""
MAIL_LASTS = timedelta(days=2)
"""How long a letter is tried."""
TOGETHER, DAY = timedelta(minutes=1), timedelta(days=1)
"""How far apart letters of notifications are for who wants them at once, and daily."""
FAILS_FOR = timedelta(days=3)
"""How long no message reaches a hook until it is disabled."""
DELIVERIES_KEPT, NOTIFICATIONS_KEPT = timedelta(days=30), timedelta(days=180)
LETTERS_AT_ONCE, PEOPLE_AT_ONCE, LINES, FORGOTTEN_AT_ONCE = 20, 50, 50, 500
GONE = 410
"""What a hook answers that wants to be sent nothing any more."""


def pause_after(tries: int) -> timedelta:
    """How long to wait after so many tries, by chance a little more or less, so that what failed
    together is not tried together.
    """
    doubled = FIRST_PAUSE * 4 ** min(tries - 1, 10)
    pause: timedelta = min(doubled, LONGEST_PAUSE) * random.uniform(0.8, 1.2)
    return pause


# Mail.


def _mail_wanted(now: datetime) -> sa.Select[int]:
    """The people who are to get a letter of what they were told."""
    apart = sa.or_(
        Wishes.mailed.is_(None),
        sa.and_(Wishes.mail == MailChoice.AT_ONCE, Wishes.mailed <= now - TOGETHER),
        sa.and_(Wishes.mail == MailChoice.DAILY, Wishes.mailed <= now - DAY),
    )
    waits = sa.select(Notification.user_id).where(Notification.mail_waits)
    people = sa.select(Wishes.user_id).where(Wishes.user_id.in_(waits), apart)
    return people.order_by(Wishes.user_id).limit(PEOPLE_AT_ONCE)


def is_mail_due(session: Session, now: datetime) -> bool:
    """Whether there is a letter to be sent, or to be written."""
    due = sa.select(Mail.id).where(Mail.due <= now).limit(1)
    return bool(session.scalar(due) or session.scalar(_mail_wanted(now)))


def write_letters(session: Session, settings: Settings, now: datetime) -> None:
    """Makes a letter for each who is to get one, of all that they were told and have not read."""
    # Who is just being written to by another sender is left to that one.
    wanted = sa.select(User).where(User.id.in_(session.scalars(_mail_wanted(now)).all()))
    for user in session.scalars(locking(wanted, User, free=True)).all():
        wishes = session.get_one(Wishes, user.id)
        waiting = Notification.user_id == user.id, Notification.mail_waits
        # Marked and read at once: nothing that another has marked comes in a second letter, and
        # nothing that is told meanwhile comes in none.
        marked = sa.update(Notification).where(*waiting).values(mail_waits=False)
        found = session.scalars(marked.returning(Notification)).all()
        told = sorted((one for one in found if one.read is None), key=lambda one: one.id)
        if not (told and user.mail and user.active):
            continue
        wishes.mailed = now
        with speaking(translation(user.language or ENGLISH.language)):
            subject, text = _letter(told, settings.pages)
        path = unsubscribe_path(session, user.id)
        add_mail(session, user.mail, subject, text, now, unsubscribe=path)


def _letter(told: Sequence[Notification], site: str) -> tuple[str, str]:
    """The subject and the text of a letter of what somebody was told, in the language spoken."""
    if len(told) == 1:
        subject = text_of(told[0])
    else:
        subject = gettext("News of the arena: %(number)s", number=counted(len(told), "message"))
    lines = [f"{text_of(one)}\n{site}{one.address}" for one in told[:LINES]]
    if len(told) > LINES:
        lines.append(gettext("All of it: %(address)s", address=f"{site}/notifications"))
    choose = gettext(
        "What you are told, and how, you choose here: %(address)s",
        address=f"{site}/notifications/choices",
    )
    return subject, "\n\n".join([*lines, f"--\n{choose}"]) + "\n"


def take_letters(session: Session, now: datetime) -> list[Mail]:
    """Letters to be sent now, which are the caller's for a while."""
    query = sa.select(Mail).where(Mail.due <= now).order_by(Mail.due).limit(LETTERS_AT_ONCE)
    letters = list(session.scalars(locking(query, Mail, free=True)))
    for letter in letters:
        letter.due, letter.tries = now + LETTER_HELD, letter.tries + 1
    return letters


def note_letters(
    session: Session, letters: Sequence[Mail], fates: Sequence[MailFate], now: datetime
) -> Iterator[str]:
    """Forgets what the server has, and what it never takes; says of each of those why.

    Args:
        fates: what became of the letters; those at the end that have none were not tried.
    """
    for letter, fate in zip_longest(letters, fates):
        its = Mail.id == letter.id
        if fate is None:
            values = {"due": now, "tries": letter.tries - 1}
            session.execute(sa.update(Mail).where(its).values(values))
            continue
        given_up = fate.for_good or now - letter.created >= MAIL_LASTS
        if not fate.problem or given_up:
            session.execute(sa.delete(Mail).where(its))
        else:
            values = {"problem": cut(fate.problem), "due": now + pause_after(letter.tries)}
            session.execute(sa.update(Mail).where(its).values(values))
        if fate.problem and given_up:
            yield f"letter {letter.id} is given up: {fate.problem}"


# Hooks.


def _deliveries_due(busy: Collection[int], now: datetime) -> sa.Select[int]:
    """The first message that is due of each person who has nothing sent just now."""
    return (
        sa.select(sa.func.min(Delivery.id))
        .join(Hook, Hook.id == Delivery.hook_id)
        .join(User, User.id == Hook.user_id)
        .where(
            Delivery.state == DeliveryState.WAITS,
            Delivery.due <= now,
            Hook.disabled == "",
            sa.or_(Hook.rests_until.is_(None), Hook.rests_until <= now),
            User.active,
            Hook.user_id.not_in(busy),
        )
        .group_by(Hook.user_id)
        .order_by(sa.func.min(Delivery.due))
    )


def is_delivery_due(session: Session, busy: Collection[int], now: datetime) -> bool:
    """Whether there is a message to be sent to a hook.

    Args:
        busy: the people of whom one is being sent; each has one at a time, so that hooks that hang
            are in nobody else's way.
    """
    return session.scalar(_deliveries_due(busy, now).limit(1)) is not None


def take_deliveries(
    session: Session, busy: Collection[int], most: int, now: datetime
) -> list[Delivery]:
    """Messages to be sent now, which are the caller's for a while, with all that is sent."""
    ids = session.scalars(_deliveries_due(busy, now).limit(most)).all()
    query = (
        sa.select(Delivery)
        .where(Delivery.id.in_(ids), Delivery.state == DeliveryState.WAITS, Delivery.due <= now)
        .options(joinedload(Delivery.hook).joinedload(Hook.user), joinedload(Delivery.notification))
    )
    found = list(session.scalars(locking(query, Delivery, free=True)))
    for delivery in found:
        delivery.due, delivery.tries = now + HELD, delivery.tries + 1
    return found


def note_delivery(
    session: Session,
    delivery_id: int,
    came: HookAnswer | OutsideError,
    milliseconds: int,
    now: datetime,
) -> None:
    """Writes down what came of a try, when the next one is, and whether the hook goes on."""
    # Its owner may have removed it meanwhile.
    delivery = session.get(Delivery, delivery_id)
    if delivery is None:
        return
    hook = locks.find(session, Hook, delivery.hook_id, to_change=True)
    if hook is None:
        return
    delivery.tried, delivery.milliseconds = now, milliseconds
    answered = came if isinstance(came, HookAnswer) else None
    delivery.status = answered.status if answered else None
    delivery.answer = answered.words if answered else str(came)
    if answered and answered.is_well:
        delivery.state = DeliveryState.ARRIVED
        hook.rests_until = hook.failing_since = None
        return
    hook.failing_since = hook.failing_since or now
    if answered and answered.status == GONE:
        _disable(session, hook, "it answered that it is gone (410)", now)
    elif now - hook.failing_since >= FAILS_FOR:
        _disable(session, hook, f"nothing has arrived for {FAILS_FOR.days} days", now)
    pause = pause_after(delivery.tries)
    if answered and answered.retry_after is not None:
        pause = min(max(pause, timedelta(seconds=answered.retry_after)), LONGEST_PAUSE)
    delivery.due = hook.rests_until = now + pause
    if hook.disabled or delivery.due > delivery.expires:
        delivery.state = DeliveryState.GIVEN_UP


def _disable(session: Session, hook: Hook, why: str, now: datetime) -> None:
    hook.disabled = why
    message = N_("Your hook %(number)s is disabled: nothing is sent there any more")
    notify(session, [hook.user_id], message, {"number": hook.id}, f"/hooks/{hook.id}", now)


# What is kept no longer.


def tidy(session: Session, now: datetime) -> None:
    """Gives up what has waited too long, and forgets what is old, some of it at a time."""
    late = Delivery.state == DeliveryState.WAITS, Delivery.expires <= now, Delivery.due <= now
    _some(session, Delivery, late, {"state": DeliveryState.GIVEN_UP})
    _some(session, Mail, (Mail.created <= now - MAIL_LASTS, Mail.due <= now))
    _some(session, Delivery, (Delivery.created <= now - DELIVERIES_KEPT,))
    named = sa.exists().where(Delivery.notification_id == Notification.id)
    _some(session, Notification, (Notification.at <= now - NOTIFICATIONS_KEPT, ~named))


def _some(
    session: Session,
    kind: type[Delivery] | type[Mail] | type[Notification],
    which: Sequence[sa.ColumnElement[bool]],
    values: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Changes some of the rows of which all of this holds, or deletes them."""
    found = session.scalars(sa.select(kind.id).where(*which).limit(FORGOTTEN_AT_ONCE)).all()
    if found:
        its = kind.id.in_(found)
        change = sa.update(kind).where(its).values(**values) if values else None
        session.execute(
            sa.delete(kind).where(its) if change is None else change,
            execution_options={"synchronize_session": False},
        )
