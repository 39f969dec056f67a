"""Hooks: addresses elsewhere at which a program hears what a person is told.

Who may have one is their owner alone. What such an address may be is said here; whether its name
leads to a public address is seen each time that something is sent (`arena.ground.outside`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.ground import locks
from arena.ground.db import count_rows
from arena.ground.outside import OutsideError, read_address
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import (
    Delivery,
    DeliveryState,
    Hook,
    HookFormat,
    Scope,
)
from arena.models.notifications import LONGEST_ADDRESS
from arena.people import accounts
from arena.people.notifications import DELIVERY_LASTS, delivery_of
from engine.translation import N_, gettext

MOST = 5
"""Hooks of one person."""


def hooks_of(session: Session, user_id: int) -> list[Hook]:
    """Somebody's hooks, the oldest first."""
    return list(session.scalars(sa.select(Hook).where(Hook.user_id == user_id).order_by(Hook.id)))


def find_hook(session: Session, number: int, by: By, *, to_change: bool = False) -> Hook:
    """The hook of a number, for its owner.

    Raises:
        NotThere: there is none, or it is somebody else's, of which nobody hears.
    """
    found = locks.find(session, Hook, number, to_change=to_change)
    if found is None or not (by.at_machine or found.user_id == by.actor.id):
        raise NotThere(gettext("you have no hook %(number)s", number=number))
    return found


@dataclass(frozen=True)
class HookDeed(Deed):
    """Changes a hook of one's own; answers it."""

    scope = Scope.SUBMIT
    subject = "notifications"
    answers: ClassVar[type | None] = Hook
    personal = True


@dataclass(frozen=True)
class AddHook(HookDeed):
    """Have what you are told sent to an https address elsewhere, signed, as a message each."""

    address = "POST /hooks"
    makes = True

    url: str = asked("Its address", most=LONGEST_ADDRESS)
    format: str = asked(
        "What it is sent: json, or discord for the address of a webhook of Discord",
        label="Format",
        choices=tuple(map(str, HookFormat)),
        default=str(HookFormat.JSON),
    )

    def do(self, session: Session, by: By) -> Done:
        if not by.may_have_hooks:
            raise NotAllowed(gettext("this arena sends nothing to hooks"))
        url = self.url.strip()
        try:
            place = read_address(url)
        except OutsideError as error:
            raise Refusal(str(error)) from None
        person = accounts.person_of(session, by.actor, by.now)
        locks.lock(session, person)  # two at once would each find room for one more
        if count_rows(session, Hook, Hook.user_id == person.id) >= MOST:
            raise Refusal(gettext("you have %(most)s hooks already: remove one first", most=MOST))
        made = Hook(user_id=person.id, url=url, format=HookFormat(self.format), created=by.now)
        session.add(made)
        session.flush()
        audit.note(session, by.actor, "add hook", f"hook {made.id}", place.shown, now=by.now)
        return Done(gettext("hook %(number)s hears what you are told", number=made.id), made)


@dataclass(frozen=True)
class RemoveHook(HookDeed):
    """Send nothing to a hook any more, and forget what was sent."""

    address = "POST /hooks/<int:number>/remove"
    answers = None
    lasting = N_(
        "The log of what was sent goes with the hook, and its secret: another one has another."
    )

    number: int = asked("The hook's number")

    def do(self, session: Session, by: By) -> Done:
        hook = find_hook(session, self.number, by, to_change=True)
        session.delete(hook)
        audit.note(session, by.actor, "remove hook", f"hook {hook.id}", now=by.now)
        return Done(gettext("hook %(number)s is removed", number=hook.id))


@dataclass(frozen=True)
class TryHook(HookDeed):
    """Send a test to a hook; one that was disabled is tried again from then on."""

    address = "POST /hooks/<int:number>/test"
    adds = True

    number: int = asked("The hook's number")

    def do(self, session: Session, by: By) -> Done:
        hook = find_hook(session, self.number, by, to_change=True)
        waits = Delivery.hook_id == hook.id, Delivery.state == DeliveryState.WAITS
        if count_rows(session, Delivery, *waits, Delivery.notification_id.is_(None)):
            raise Refusal(gettext("a test is under way: see what comes of it first"))
        wake(hook)
        session.add(delivery_of(hook, None, by.now))
        audit.note(session, by.actor, "test hook", f"hook {hook.id}", now=by.now)
        return Done(gettext("a test is sent to hook %(number)s", number=hook.id), hook)


@dataclass(frozen=True)
class SendAgain(HookDeed):
    """Send a message to a hook once more; it keeps its id, so that the receiver knows it."""

    address = "POST /hooks/<int:number>/deliveries/<int:delivery>/again"
    adds = True

    number: int = asked("The hook's number")
    delivery: int = asked("The message's number, as the hook's log has it")

    def do(self, session: Session, by: By) -> Done:
        hook = find_hook(session, self.number, by, to_change=True)
        found = locks.find(session, Delivery, self.delivery, to_change=True)
        if found is None or found.hook_id != hook.id:
            raise NotThere(
                gettext(
                    "there is no message %(delivery)s to hook %(number)s",
                    delivery=self.delivery,
                    number=hook.id,
                )
            )
        if found.state is DeliveryState.WAITS:
            raise Refusal(gettext("message %(number)s is still to be sent", number=found.id))
        wake(hook)
        _again(found, by.now)
        words = f"message {found.id}"
        audit.note(session, by.actor, "send again", f"hook {hook.id}", words, now=by.now)
        return Done(gettext("message %(number)s is sent again", number=found.id), hook)


def wake(hook: Hook) -> None:
    """Has a hook tried at once, whatever came of it before."""
    hook.disabled, hook.rests_until, hook.failing_since = "", None, None


def _again(delivery: Delivery, now: datetime) -> None:
    delivery.state, delivery.tries = DeliveryState.WAITS, 0
    delivery.due, delivery.expires = now, now + DELIVERY_LASTS
