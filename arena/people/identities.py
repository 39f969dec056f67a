"""Identities, by which providers know people: one lets its account in, each account has several.

An identity is a provider's address and what that names somebody by for ever. Mail addresses link
nothing: whoever has one at a provider need not be who has it here.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.audit import Actor
from arena.models import Identity, User
from arena.people import account_notifications
from arena.people.accounts import PeopleError
from arena.people.ways_in import demand_another
from engine.translation import gettext

LONGEST_SUBJECT, LONGEST_LABEL = 255, 120


def find(session: Session, issuer: str, subject: str) -> Identity | None:
    """The identity of what a provider names somebody by, with its user."""
    query = sa.select(Identity).where(Identity.issuer == issuer, Identity.subject == subject)
    return session.scalar(query.options(joinedload(Identity.user)))


def listed(session: Session, user_id: int) -> list[Identity]:
    """The identities of a user, the oldest first."""
    query = sa.select(Identity).where(Identity.user_id == user_id).order_by(Identity.id)
    return list(session.scalars(query))


def link(
    session: Session,
    actor: Actor,
    user: User,
    issuer: str,
    subject: str,
    label: str,
    now: datetime,
) -> None:
    """Has an identity let in a user.

    Raises:
        PeopleError: it lets in somebody else.
    """
    found = find(session, issuer, subject)
    if found is not None:
        if found.user_id == user.id:
            return
        raise PeopleError(
            gettext(
                "%(label)s at %(issuer)s signs in to another account", label=label, issuer=issuer
            )
        )
    session.add(Identity(user_id=user.id, issuer=issuer, subject=subject, label=label, created=now))
    session.flush()
    audit.note(
        session, actor, "link identity", f"user {user.name}", f"{label} at {issuer}", now=now
    )


def unlink(
    session: Session,
    actor: Actor,
    user: User,
    identity: Identity,
    issuers: Collection[str],
    now: datetime,
) -> None:
    """Has an identity let in nobody.

    Args:
        issuers: those by which people sign in now.

    Raises:
        PeopleError: nothing else lets its user in.
    """
    demand_another(session, user, identity, issuers)
    words = f"{identity.label} at {identity.issuer}"
    session.delete(identity)
    audit.note(session, actor, "unlink identity", f"user {user.name}", words, now=now)
    account_notifications.tell(session, user, account_notifications.UNLINKED, now, what=words)
