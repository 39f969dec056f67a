"""People's mail addresses: wanted first, and theirs once they are proven by a letter.

Nothing but that letter is sent to an address that is not proven, and nothing tells whether an
account has some address: two accounts may have the same.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.ground.db import count_rows
from arena.models import HOUSE, AccountLink, LinkKind, User
from arena.people import account_notifications, accounts
from arena.people.accounts import PeopleError
from arena.people.outbox import demand_address
from engine.translation import gettext

RESET_LASTS = timedelta(hours=1)
"""How long a link holds by which one sets a new password, if it came by mail."""
MOST_RESETS = 3
"""How many of them somebody has at a time."""
MOST_ACCOUNTS = 5
"""How many accounts of one address a letter goes to."""


def want(session: Session, actor: Actor, user: User, address: str, now: datetime) -> None:
    """Notes the address that somebody says is theirs, for a letter to prove it.

    Raises:
        Refusal: it is no mail address.
    """
    user.mail_wanted = demand_address(address)
    audit.note(session, actor, "want mail address", f"user {user.name}", now=now)


def confirm(session: Session, actor: Actor, user: User, address: str, now: datetime) -> None:
    """Gives somebody the address that a letter has proven; the one before is told.

    Raises:
        PeopleError: it is not the one that they want by now.
    """
    if user.mail_wanted != address:
        raise PeopleError(
            gettext("this letter is not the last one: another address was asked for since")
        )
    before, user.mail, user.mail_wanted = user.mail, address, None
    audit.note(session, actor, "confirm mail address", f"user {user.name}", now=now)
    for one in filter(None, {before, address}):
        account_notifications.tell(
            session, user, account_notifications.MAIL, now, what=address, mail=one
        )


def forget(session: Session, actor: Actor, user: User, now: datetime) -> None:
    """Takes somebody's address away; it is told."""
    if user.mail is not None:
        account_notifications.tell(session, user, account_notifications.NO_MAIL, now)
    if user.mail or user.mail_wanted:
        audit.note(session, actor, "remove mail address", f"user {user.name}", now=now)
    user.mail = user.mail_wanted = None


def forgetful(session: Session, typed: str, now: datetime) -> list[User]:
    """Who gets a letter by which to set a new password: by what somebody typed, which is a name
    or a mail address. Who has had too many lately gets none.
    """
    typed = typed.strip()
    which = (
        sa.func.lower(User.mail) == typed.lower()
        if "@" in typed
        else sa.and_(User.lower_name == typed.lower(), User.mail.is_not(None))
    )
    query = sa.select(User).where(which, User.active, User.name != HOUSE).order_by(User.id)
    return [
        user
        for user in session.scalars(query.limit(MOST_ACCOUNTS))
        if count_rows(
            session,
            AccountLink,
            AccountLink.user_id == user.id,
            AccountLink.kind == LinkKind.RESET,
            AccountLink.expires > now,
        )
        < MOST_RESETS
    ]


def reset_link(session: Session, actor: Actor, user: User, now: datetime) -> str:
    """A secret with which somebody sets a new password who asked for it by mail."""
    return accounts.reset_link(session, actor, user, now, lasts=RESET_LASTS)
