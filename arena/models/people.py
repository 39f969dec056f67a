"""People: their accounts, the tokens of their programs, and the links that let them in."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.models.base import Base
from engine.translation import N_

HOUSE = "arena"
"""The owner of the sample bots, which wait behind people's bots."""
GUEST = "guest"
"""Whoever plays without an account is called so."""
RESERVED = frozenset({HOUSE, GUEST})
"""What no account can be called, in whatever letters' size."""


class Role(StrEnum):
    """What a person is here; each may do what those before it may."""

    PARTICIPANT = N_("participant")
    ORGANISER = N_("organiser")
    ADMINISTRATOR = N_("administrator")


class Scope(StrEnum):
    """A kind of deed. A person has those of the role, a token those that it was given of them."""

    READ = "read"
    SUBMIT = "submit"
    CONNECT = "connect"
    ORGANISE = "organise"
    ADMIN = "admin"


SCOPES: Mapping[Role, frozenset[Scope]] = {
    Role.PARTICIPANT: frozenset({Scope.READ, Scope.SUBMIT, Scope.CONNECT}),
    Role.ORGANISER: frozenset({Scope.READ, Scope.SUBMIT, Scope.CONNECT, Scope.ORGANISE}),
    Role.ADMINISTRATOR: frozenset(Scope),
}
"""What each role may do."""


def _session_key() -> str:
    return secrets.token_hex(16)


def lower_name(context: DefaultExecutionContext) -> str:
    """A row's name without regard to the size of letters, which nobody may pass for another by."""
    parameters: dict[str, Any] = context.get_current_parameters()  # type: ignore[no-untyped-call]
    return str(parameters["name"]).lower()


class User(Base):
    """A person, or the arena itself as the owner of the sample bots."""

    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    lower_name: Mapped[str] = mapped_column(sa.String(80), unique=True, default=lower_name)
    """Nobody may pass for somebody else by the size of letters."""
    created: Mapped[datetime]
    role: Mapped[Role] = mapped_column(default=Role.PARTICIPANT)
    active: Mapped[bool] = mapped_column(default=True)
    """False shuts somebody out: no sign-in, no sessions, and no tokens that work."""
    quota_mib: Mapped[int | None]
    """How many MiB may be stored of theirs; None for as many as of everybody."""
    password: Mapped[str | None] = mapped_column(sa.String(255))
    """Its argon2 hash; None for who can't sign in, such as owners that commands name."""
    must_change: Mapped[bool] = mapped_column(default=False)
    """Whether the password is known to somebody else, who gave it for one sign-in."""
    session_key: Mapped[str] = mapped_column(sa.String(32), unique=True, default=_session_key)
    """What sessions name their user by; a new one ends them all."""
    last_sign_in: Mapped[datetime | None]
    mail: Mapped[str | None] = mapped_column(sa.String(254))
    """The address where mail reaches them, which they have confirmed; None if none does."""
    language: Mapped[str | None] = mapped_column(sa.String(20))
    """In which they are written to, by its tag; None for English."""

    def end_sessions(self) -> None:
        """Makes every session of this user worthless."""
        self.session_key = _session_key()


class ApiToken(Base):
    """What a program of a user's shows instead of a password; only its digest is kept."""

    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(60))
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    scopes: Mapped[list[Any]]
    created: Mapped[datetime]
    last_used: Mapped[datetime | None]

    user: Mapped[User] = relationship()


class LinkKind(StrEnum):
    """What a link lets its holder do."""

    INVITATION = "invitation"
    RESET = "reset"


class AccountLink(Base):
    """A secret address that works once: to register, or to set a new password."""

    __tablename__ = "link"
    __table_args__ = (CheckConstraint("(kind = 'reset') = (user_id IS NOT NULL)", name="user"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[LinkKind]
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True)
    """The person whose password a reset is for."""
    role: Mapped[Role] = mapped_column(default=Role.PARTICIPANT)
    """What an invited person becomes."""
    created: Mapped[datetime]
    expires: Mapped[datetime]

    user: Mapped[User | None] = relationship()
