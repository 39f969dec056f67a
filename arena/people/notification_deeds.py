"""What people choose about how they are told, and that they have read it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.deeds import By, Deed, Done, asked
from arena.ground import locks
from arena.ground.catalogues import languages
from arena.ground.refusals import NotThere, Refusal
from arena.models import MailChoice, Notification, Scope, User, Wishes
from arena.people import accounts
from arena.people.accounts import digest
from arena.people.notifications import TOPICS
from engine.translation import ENGLISH, gettext


class Choices(NamedTuple):
    """How somebody is told of what happens, as they chose."""

    mail: str
    silenced: str
    """The topics of which they hear nothing, with spaces between them."""
    language: str


def find_wishes(session: Session, by: By) -> tuple[User, Wishes]:
    """Who does something, and how they are told, to be changed."""
    user = accounts.person_of(session, by.actor, by.now)
    locks.lock(session, user)
    wishes = session.get(Wishes, user.id)
    if wishes is None:
        wishes = Wishes(user_id=user.id, mail=MailChoice.NEVER, silenced=[])
        session.add(wishes)
    return user, wishes


@dataclass(frozen=True)
class NotificationDeed(Deed):
    """Changes how one is told."""

    scope = Scope.SUBMIT
    subject = "notifications"


@dataclass(frozen=True)
class ChooseTold(NotificationDeed):
    """Choose how you are told of what you follow, and of what you hear nothing.

    Mail needs an address that is proven to be yours.
    """

    address = "POST /account/told"
    answers = Choices
    personal = True

    mail: str = asked(
        "When it comes by mail: never, at once or daily",
        label="By mail",
        choices=tuple(map(str, MailChoice)),
        default=None,
    )
    silenced: tuple[str, ...] | None = asked(
        f"The topics of which you hear nothing, of {', '.join(TOPICS)}", default=None, most=20
    )
    language: str = asked(
        "In which language you are written to, by its tag",
        label="Language",
        choices=languages(),
        default="",
    )

    def do(self, session: Session, by: By) -> Done:
        user, wishes = find_wishes(session, by)
        before = self._now(user, wishes)
        for topic in self.silenced or ():
            if topic not in TOPICS:
                known = ", ".join(TOPICS)
                raise Refusal(gettext("a topic is one of %(topics)s", topics=known))
        if self.mail not in (None, MailChoice.NEVER) and not user.mail:
            raise Refusal(gettext("your account has no mail address yet: give it one"))
        if self.mail is not None:
            wishes.mail = MailChoice(self.mail)
            if wishes.mail is MailChoice.NEVER:
                self._leave_unsent(session, user)
        if self.silenced is not None:
            wishes.silenced = list(dict.fromkeys(self.silenced))
        if self.language:
            user.language = None if self.language == ENGLISH.language else self.language
        after = self._now(user, wishes)
        if after[:2] == (MailChoice.NEVER, "") and not (wishes.mailed or wishes.feed_digest):
            session.flush()
            session.delete(wishes)  # nothing is chosen
        words = f"mail {after.mail}, silenced: {after.silenced or 'nothing'}"
        audit.note(session, by.actor, "choose what is told", f"user {user.name}", words, now=by.now)
        undo = ChooseTold(before.mail, tuple(before.silenced.split()), before.language)
        return Done(
            gettext("you are told so from now on"), after, () if before == after else (undo,)
        )

    @staticmethod
    def _now(user: User, wishes: Wishes) -> Choices:
        return Choices(
            str(wishes.mail), " ".join(wishes.silenced), user.language or ENGLISH.language
        )

    @staticmethod
    def _leave_unsent(session: Session, user: User) -> None:
        its = Notification.user_id == user.id, Notification.mail_waits
        session.execute(sa.update(Notification).where(*its).values(mail_waits=False))


@dataclass(frozen=True)
class ReadNotifications(NotificationDeed):
    """Mark what you were told as read, up to one of them or all of it."""

    scope = Scope.READ
    address = "POST /notifications/read"
    adds = True

    until: int | None = asked(
        "The number of the last that you have seen; by default all", default=None
    )

    def do(self, session: Session, by: By) -> Done:
        user = accounts.person_of(session, by.actor, by.now)
        its = [Notification.user_id == user.id, Notification.read.is_(None)]
        if self.until is not None:
            last = locks.find(session, Notification, self.until)
            if last is None or last.user_id != user.id:
                raise NotThere(
                    gettext("you were told nothing of the number %(number)s", number=self.until)
                )
            its.append(Notification.id <= self.until)
        change = sa.update(Notification).where(*its).values(read=by.now)
        done = session.execute(change, execution_options={"synchronize_session": False})
        number = cast("sa.CursorResult[Any]", done).rowcount
        words = f"{number} notifications"
        audit.note(session, by.actor, "mark as read", f"user {user.name}", words, now=by.now)
        return Done(gettext("%(number)s marked as read", number=number))


def make_feed(session: Session, by: By) -> str:
    """Makes the address at which a feed reader finds what somebody is told, and gives its secret,
    of which there is no other copy; one that was made before ends.
    """
    user, wishes = find_wishes(session, by)
    secret = secrets.token_urlsafe(32)
    wishes.feed_digest = digest(secret)
    audit.note(session, by.actor, "make feed", f"user {user.name}", now=by.now)
    return secret
