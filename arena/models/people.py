"""People: their accounts, the tokens of their programs, and what lets them in: links, sessions of
browsers, identities at providers, passkeys, and the second factor.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import Mapped, mapped_column, object_session, relationship

from arena.models.base import NUMBERED_ONCE, Base
from arena.models.naming import FormerName
from engine.translation import N_

PERSON, TEAM = "person", "team"
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


def _random_name() -> str:
    return secrets.token_hex(16)


def lower_name(context: DefaultExecutionContext) -> str:
    """A row's name without regard to the size of letters, which nobody may pass for another by."""
    parameters: dict[str, Any] = context.get_current_parameters()  # type: ignore[no-untyped-call]
    return str(parameters["name"]).lower()


class User(Base):
    """A person, a team of them, or the arena itself as the owner of the sample bots."""

    __tablename__ = "user"
    __table_args__ = (CheckConstraint("kind = 'team' OR captain_id IS NULL", name="captain"),)
    __mapper_args__ = {  # noqa: RUF012
        "polymorphic_on": "kind",
        "polymorphic_identity": PERSON,
        "with_polymorphic": "*",
    }

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(sa.String(10), default=PERSON)
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
    handle: Mapped[str] = mapped_column(sa.String(32), unique=True, default=_random_name)
    """What passkeys name their user by; it tells nothing else."""
    last_sign_in: Mapped[datetime | None]
    mail: Mapped[str | None] = mapped_column(sa.String(254), index=True)
    """The mail address, which is proven to be theirs: letters are sent to no other."""
    mail_wanted: Mapped[str | None] = mapped_column(sa.String(254))
    """The one that is not proven yet, and takes its place then."""
    totp_secret: Mapped[str | None] = mapped_column(sa.String(64))
    """The secret of which an app makes codes (RFC 6238), in base32; None for who has no such app.
    It is kept as it is: what could encrypt it would lie in the same database."""
    totp_counter: Mapped[int | None] = mapped_column(sa.BigInteger)
    """The time step of the last code that was taken: each code counts once."""
    description: Mapped[str] = mapped_column(sa.Text, default="")
    """What they say of themselves, in Markdown."""
    links: Mapped[list[Any]] = mapped_column(default=list)
    """Addresses that they give."""
    deleted: Mapped[datetime | None]
    """When the account was deleted: what is left has no name, and lets nobody in."""
    language: Mapped[str | None] = mapped_column(sa.String(20))
    """The language in which they are written to, by its tag; None for English."""

    @property
    def is_team(self) -> bool:
        """Whether it is several people, and no account."""
        return self.kind == TEAM

    @property
    def person_id(self) -> int:
        """The person as whom it has turns and quotas, and who decides about its bots: itself."""
        return self.id

    @property
    def can_sign_in(self) -> bool:
        """Whether something lets them in; asks the database about who has no password."""
        if self.password is not None:
            return True
        ways = [sa.exists().where(kind.user_id == self.id).select() for kind in (Identity, Passkey)]
        session = object_session(self)
        assert session is not None
        return any(session.scalar(way) for way in ways)

    @classmethod
    def named(cls, name: str) -> sa.ColumnElement[bool]:
        """The condition that a user is called so, or was, in whatever letters' size."""
        return sa.or_(cls.lower_name == name.lower(), cls.id == FormerName.of("user", name))


class Team(User):
    """Several people whose bots are each one's. It is called as people are, and has bots as they
    have; nobody signs in as it."""

    __mapper_args__ = {"polymorphic_identity": TEAM}  # noqa: RUF012

    captain_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"), index=True, unique=True)
    """Who decides about it, one of its members; None of one that was dissolved. Each is the captain
    of one team at most."""
    join_code: Mapped[str | None] = mapped_column(sa.String(20), index=True, unique=True)
    """The code by which one becomes a member; None if there is none."""

    captain: Mapped[User | None] = relationship(foreign_keys=[captain_id], remote_side=[User.id])

    @property
    def person_id(self) -> int:
        """Its captain: so there are never more than people, however many teams they found."""
        return self.id if self.captain_id is None else self.captain_id


class TeamMember(Base):
    """Somebody who belongs to a team."""

    __tablename__ = "team_member"

    team_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    joined: Mapped[datetime]

    user: Mapped[User] = relationship(foreign_keys=[user_id])


class FormerMember(Base):
    """Somebody who left a team: what it handed in to a course by then stays theirs."""

    __tablename__ = "former_member"

    team_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    joined: Mapped[datetime] = mapped_column(primary_key=True)
    left: Mapped[datetime]


class BrowserSession(Base):
    """A browser in which somebody is signed in; without its row its cookie is worth nothing."""

    __tablename__ = "browser_session"
    __table_args__ = NUMBERED_ONCE

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    key: Mapped[str] = mapped_column(sa.String(32), unique=True, default=_random_name)
    """What its cookie, which is signed, names it by."""
    created: Mapped[datetime]
    last_used: Mapped[datetime]
    address: Mapped[str] = mapped_column(sa.String(60))
    """The address from where it was signed in."""
    browser: Mapped[str] = mapped_column(sa.String(80))
    """What browser that was, as ``Firefox, Linux``; empty if it did not say."""

    user: Mapped[User] = relationship()


class Identity(Base):
    """The user that a provider of sign-ins (OpenID Connect, GitHub) knows by an identity."""

    __tablename__ = "identity"
    __table_args__ = (UniqueConstraint("issuer", "subject"), NUMBERED_ONCE)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    issuer: Mapped[str] = mapped_column(sa.String(300))
    """The provider's address."""
    subject: Mapped[str] = mapped_column(sa.String(255))
    """What it names them by, and never anybody else."""
    label: Mapped[str] = mapped_column(sa.String(120))
    """What it calls them, for people to read."""
    created: Mapped[datetime]
    last_used: Mapped[datetime | None]

    user: Mapped[User] = relationship()


class Passkey(Base):
    """A key of WebAuthn that stays on a device or security key of a user; its public half."""

    __tablename__ = "passkey"
    __table_args__ = NUMBERED_ONCE

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    name: Mapped[str] = mapped_column(sa.String(60))
    credential: Mapped[str] = mapped_column(sa.String(1400), unique=True)
    """Its id, in base64url."""
    public_key: Mapped[bytes]
    """The key in COSE."""
    sign_count: Mapped[int] = mapped_column(sa.BigInteger)
    """How often it has signed, as far as it counts; one that counts backwards is a copy."""
    created: Mapped[datetime]
    last_used: Mapped[datetime | None]

    user: Mapped[User] = relationship()


class RecoveryCode(Base):
    """What takes a second factor's place, once; only its digest is kept."""

    __tablename__ = "recovery_code"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    digest: Mapped[str] = mapped_column(sa.String(64), unique=True)


class ApiToken(Base):
    """What a program of a user's shows instead of a password; only its digest is kept."""

    __tablename__ = "api_token"
    __table_args__ = NUMBERED_ONCE

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
    __table_args__ = (
        CheckConstraint("(kind = 'reset') = (user_id IS NOT NULL)", name="user"),
        NUMBERED_ONCE,
    )

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
