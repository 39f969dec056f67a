"""What was done that somebody may ask about later: who did what, when, on what, from where.

A note is written in the transaction of the deed itself, so that there is neither a deed without
a note nor a note without its deed.
"""

from __future__ import annotations

import getpass
import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import AuditEntry


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, and from where."""

    id: int | None
    """The user's; None for the arena itself, or somebody at its machine."""
    name: str
    origin: str
    """An address, or ``command line``."""


ARENA = Actor(None, "arena", "")
"""The arena itself, whose tick does what nobody asked for at that moment."""


def operator() -> Actor:
    """Whoever runs a command on the arena's machine."""
    return Actor(None, machine_user(), "command line")


def machine_user() -> str:
    """This process's user; one that the machine has no name for goes by number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def note(
    session: Session, actor: Actor, action: str, subject: str, detail: str = "", *, now: datetime
) -> None:
    """Writes down a deed, in the transaction that does it.

    Args:
        action: what was done, in one to three words: ``sign in``, ``freeze ladder``.
        subject: on what, its kind before its name: ``user ada``, ``match 17``.
        detail: what else matters; never a secret.
    """
    session.add(
        AuditEntry(
            at=now,
            actor_id=actor.id,
            actor=actor.name,
            origin=actor.origin,
            action=action,
            subject=subject,
            detail=detail,
        )
    )


def entries(
    session: Session,
    *,
    before: int | None = None,
    count: int = 100,
    actor: str = "",
    action: str = "",
    subject: str = "",
) -> list[AuditEntry]:
    """The last entries, the newest first.

    Args:
        before: only those of lower ids, to page on.
        actor, action, subject: only those of just this, if it is given; an actor in whatever
            letters' size.
    """
    query = matching(actor=actor or None, action=action or None, subject=subject or None)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return list(session.scalars(query.order_by(AuditEntry.id.desc()).limit(count)))


def matching(
    *, actor: str | None, action: str | None, subject: str | None
) -> sa.Select[AuditEntry]:
    """The entries of just this actor (in whatever letters' size), action and subject, or of any."""
    query = sa.select(AuditEntry)
    if actor is not None:
        query = query.where(sa.func.lower(AuditEntry.actor) == actor.lower())
    if action is not None:
        query = query.where(AuditEntry.action == action)
    if subject is not None:
        query = query.where(AuditEntry.subject == subject)
    return query


def as_json(entry: AuditEntry) -> dict[str, Any]:
    """An entry as JSON's types."""
    return {
        "id": entry.id,
        "at": entry.at.isoformat(),
        "actor": entry.actor,
        "origin": entry.origin,
        "action": entry.action,
        "subject": entry.subject,
        "detail": entry.detail,
    }
