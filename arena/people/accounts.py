"""People's accounts: how they come about, and what changes them, with a note of each change.

Passwords are kept as argon2 hashes. Whatever else opens a door (tokens, links) is 32 random
bytes, shown once and kept as its SHA-256: nobody can guess it, so a slow hash would add nothing.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from argon2 import PasswordHasher
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena import audit, naming, sight
from arena.audit import Actor
from arena.ground.db import count_rows
from arena.ground.locks import locking
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    PERSON,
    RESERVED,
    SCOPES,
    AccountLink,
    ApiToken,
    LinkKind,
    MemberRole,
    Role,
    Scope,
    User,
)
from arena.people import account_notifications, sessions
from engine.translation import gettext

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)
TOKEN_PREFIX = "arena_"  # noqa: S105 - so that scanners for leaked secrets know it
NOBODY, ANONYMOUS = "deleted user", "anonymous owner"
"""What nobody can be called: it has a space."""
TOKENS_ALLOWED = 50
INVITATION_LASTS, RESET_LASTS = timedelta(days=7), timedelta(days=1)
FIRST_LASTS = timedelta(days=30)
"""So long a link lets somebody choose a password to an account that was made for them."""
USE_NOTED = timedelta(minutes=1)
"""The use of a token is written down at most so often."""


class PeopleError(Refusal):
    """What can't be done to an account; one sentence that says what to do."""


def typed(name: str) -> str:
    """A name without the space that keyboards put after a word."""
    return name.strip()


def find(session: Session, name: str) -> User | None:
    """The user of this name, in whatever letters' size, and whatever space is around it."""
    return session.scalar(sa.select(User).where(User.named(typed(name))))


def get(session: Session, name: str) -> User:
    """The person of this name.

    Raises:
        PeopleError: there is none, or it is the arena itself, or a team.
    """
    found = find(session, name)
    if found is None or found.name == HOUSE or found.deleted:
        raise PeopleError(gettext("there is no user %(name)r", name=name[:60]))
    if found.is_team:
        raise PeopleError(gettext("%(name)s is a team: name one of its members", name=found.name))
    return found


def person_of(session: Session, actor: Actor, now: datetime) -> User:
    """The person who does something; who runs the arena gets a user of that name."""
    if actor.id is not None:
        return session.get_one(User, actor.id)
    found = find(session, actor.name)
    if found is not None and found.is_team:
        found = get(session, actor.name)  # says that it is a team
    if found is None:
        found = User(name=actor.name[:40], created=now)
        session.add(found)
        session.flush()
    return found


def is_person() -> sa.ColumnElement[bool]:
    """The condition that a user is somebody's account."""
    return sa.and_(User.kind == PERSON, User.name != HOUSE, User.deleted.is_(None))


def listed(session: Session) -> list[User]:
    """Everyone who has an account, by name."""
    everyone = sa.select(User).where(is_person())
    return list(session.scalars(everyone.order_by(User.lower_name)))


def nobody(session: Session, now: datetime) -> User:
    """Whose bots are that were deleted."""
    return _stand_in(session, NOBODY, now)


def anonymous(session: Session, now: datetime) -> User:
    """Whose masks are, as long as nobody is to know."""
    return _stand_in(session, ANONYMOUS, now)


def _stand_in(session: Session, name: str, now: datetime) -> User:
    """A user who is nobody."""
    query = sa.select(User).where(User.lower_name == name)
    found = session.scalar(query)
    if found is None:
        try:
            with session.begin_nested():
                session.add(User(name=name, created=now, active=False, deleted=now))
        except IntegrityError:
            pass  # somebody else has just made it
        found = session.scalars(query).one()
    return found


def as_json(user: User) -> dict[str, Any]:
    """A user as JSON's types."""
    return {
        "name": user.name,
        "role": str(user.role),
        "active": user.active,
        "can_sign_in": user.can_sign_in,
        "must_change_password": user.must_change,
        "created": user.created.isoformat(),
        "last_sign_in": user.last_sign_in and user.last_sign_in.isoformat(),
        "quota_mib": user.quota_mib,
    }


def refusal(session: Session, name: str) -> str:
    """Why nobody can be called so now; empty if somebody can."""
    if not NAME.fullmatch(name):
        return gettext(
            "%(name)r is no name: 1 to 40 letters, digits, '_', '.', '-', a letter or digit first",
            name=name[:60],
        )
    if name.lower() in RESERVED or find(session, name) is not None:
        return gettext("the name %(name)s is taken: choose another", name=name)
    return ""


def add(
    session: Session,
    actor: Actor | None,
    name: str,
    *,
    password: str | None = None,
    role: Role = Role.PARTICIPANT,
    must_change: bool = False,
    now: datetime,
) -> User:
    """Makes an account.

    Args:
        actor: who does it; None if it is the new person's own deed.
        password: its hash; without one nobody can sign in.

    Raises:
        PeopleError: the name is no name, or taken.
    """
    name = typed(name)
    if words := refusal(session, name):
        raise PeopleError(words)
    user = make(session, name, now, role=role, password=password, must_change=must_change)
    by = actor or Actor(user.id, user.name, "")
    audit.note(session, by, "add user", f"user {user.name}", f"role {user.role}", now=now)
    return user


def make(session: Session, name: str, now: datetime, **more: Any) -> User:
    """Makes an account of a name that is free, of which somebody else makes a note.

    Args:
        more: what else it has, by the columns of `User`.

    Raises:
        PeopleError: another had the name until now, and is found by it.
    """
    user = User(name=name, created=now, **more)
    session.add(user)
    try:
        naming.demand_never(session, user)
    except Refusal as error:
        raise PeopleError(str(error)) from None
    return user


def first_administrator(session: Session, name: str, now: datetime) -> str | None:
    """Makes the administrator of a fresh arena, and gives the one-time password.

    Returns:
        None if there was an administrator before.
    """
    if session.scalar(sa.select(User.id).where(User.role == Role.ADMINISTRATOR).limit(1)):
        return None
    user = find(session, name)
    if user is None:
        user = add(session, audit.ARENA, name, role=Role.ADMINISTRATOR, now=now)
    set_role(session, audit.ARENA, user, Role.ADMINISTRATOR, now)
    return give_one_time_password(session, audit.ARENA, user, now)


def give_one_time_password(session: Session, actor: Actor, user: User, now: datetime) -> str:
    """Gives a user a password for one sign-in, at which it must be changed."""
    password = secrets.token_urlsafe(12)
    if user.password is not None:
        account_notifications.tell(session, user, account_notifications.ONE_TIME, now)
    set_password(session, user, PasswordHasher().hash(password))
    user.must_change = True
    user.active = True
    audit.note(session, actor, "give one-time password", f"user {user.name}", now=now)
    return password


def set_password(session: Session, user: User, hashed: str) -> None:
    """Changes a password, given as its hash; ends all sessions, and links to reset it."""
    user.password = hashed
    user.must_change = False
    sessions.end_all(session, user.id)
    end_links(session, user)


def set_role(session: Session, actor: Actor, user: User, role: Role, now: datetime) -> None:
    """Makes a user something else here; links that were given before end.

    Raises:
        PeopleError: nobody would be left to administer the arena.
    """
    if user.role is role:
        return
    leave_an_administrator(session, user)
    audit.note(
        session, actor, "change role", f"user {user.name}", f"{user.role} to {role}", now=now
    )
    user.role = role
    end_links(session, user)


def set_active(session: Session, actor: Actor, user: User, *, active: bool, now: datetime) -> None:
    """Shuts a user out, or lets one in again; who is shut out loses all sessions.

    Raises:
        PeopleError: nobody would be left to administer the arena.
    """
    if user.active is active:
        return
    if not active:
        leave_an_administrator(session, user)
        sessions.end_all(session, user.id)
    user.active = active
    action = "activate user" if active else "deactivate user"
    audit.note(session, actor, action, f"user {user.name}", now=now)


def leave_an_administrator(session: Session, user: User) -> None:
    """Refuses what would leave nobody to administer the arena.

    Raises:
        PeopleError: it is the only administrator.
    """
    if user.role is not Role.ADMINISTRATOR:
        return
    # Locked, this one too: two who shut each other out at the same moment wait for each other here.
    administrators = sa.select(User.id).where(User.role == Role.ADMINISTRATOR, User.active)
    found = session.scalars(locking(administrators, User)).all()
    if not set(found) - {user.id}:
        raise PeopleError(
            gettext(
                "the account %(name)s is the only administrator: make another one first",
                name=user.name,
            )
        )


# Links.


def invite(session: Session, actor: Actor, role: Role, now: datetime) -> str:
    """A secret with which one person may register."""
    audit.note(session, actor, "invite", "users", f"role {role}", now=now)
    return _link(session, LinkKind.INVITATION, now + INVITATION_LASTS, now, role=role)


def reset_link(
    session: Session, actor: Actor, user: User, now: datetime, lasts: timedelta = RESET_LASTS
) -> str:
    """A secret with which a user may set a new password."""
    audit.note(session, actor, "give reset link", f"user {user.name}", now=now)
    return _link(session, LinkKind.RESET, now + lasts, now, user_id=user.id)


def first_link(session: Session, user: User, now: datetime) -> str:
    """A secret with which somebody for whom an account was made chooses its password; one that was
    given before is worthless. Whoever gives it makes a note."""
    end_links(session, user)
    return _link(session, LinkKind.RESET, now + FIRST_LASTS, now, user_id=user.id)


def end_links(session: Session, user: User) -> None:
    """Makes all links by which somebody's password is chosen worthless: who has one would be what
    they become."""
    session.execute(sa.delete(AccountLink).where(AccountLink.user_id == user.id))


def _link(
    session: Session,
    kind: LinkKind,
    expires: datetime,
    now: datetime,
    *,
    user_id: int | None = None,
    role: Role = Role.PARTICIPANT,
) -> str:
    session.execute(sa.delete(AccountLink).where(AccountLink.expires < now))
    secret = secrets.token_urlsafe(32)
    session.add(
        AccountLink(
            kind=kind, digest=digest(secret), user_id=user_id, role=role, created=now,
            expires=expires,
        )
    )  # fmt: skip
    return secret


def find_link(session: Session, kind: LinkKind, secret: str, now: datetime) -> AccountLink:
    """The link of this secret, while it works.

    Raises:
        PeopleError: there is none, it was used, or it is too old.
    """
    found = session.scalar(
        sa.select(AccountLink).where(
            AccountLink.digest == digest(secret),
            AccountLink.kind == kind,
            AccountLink.expires > now,
        )
    )
    if found is None or (found.user is not None and not found.user.active):
        raise PeopleError(
            gettext(
                "This link was used or is too old: ask an administrator of the arena for a new one."
            )
        )
    return found


def use_link(session: Session, kind: LinkKind, secret: str, now: datetime) -> AccountLink:
    """Uses a link up, in the transaction of what it allows.

    Raises:
        PeopleError: as `find_link`; also when somebody else uses it at the same moment.
    """
    found = find_link(session, kind, secret, now)
    session.expunge(found)
    used = session.execute(
        sa.delete(AccountLink).where(AccountLink.id == found.id).returning(AccountLink.id)
    )
    if used.first() is None:
        raise PeopleError(gettext("This link was used just now."))
    return found


# Tokens.


def is_token_name(name: str) -> bool:
    """Whether a token can be known by it."""
    return bool(name.strip()) and len(name) <= 60 and name.isprintable()


def add_token(
    session: Session, actor: Actor, user: User, name: str, scopes: Iterable[Scope], now: datetime
) -> str:
    """Makes a token, and gives the only copy of it.

    Raises:
        PeopleError: it has no name or no scope, or one that its user has not, or there are
            too many.
    """
    wanted = frozenset(scopes)
    if not is_token_name(name):
        raise PeopleError(
            gettext("a token needs a name of at most 60 printable characters, to know it by")
        )
    if not wanted or not wanted <= scopes_of(session, user):
        raise PeopleError(
            gettext("a token needs one scope at least, and none that its owner has not")
        )
    if count_rows(session, ApiToken, ApiToken.user_id == user.id) >= TOKENS_ALLOWED:
        raise PeopleError(
            gettext("there are %(number)s tokens already: revoke one first", number=TOKENS_ALLOWED)
        )
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    session.add(
        ApiToken(
            user_id=user.id,
            name=name.strip(),
            digest=digest(secret),
            scopes=[str(scope) for scope in Scope if scope in wanted],
            created=now,
        )
    )
    words = f"{name.strip()}: {', '.join(sorted(wanted))}"
    audit.note(session, actor, "add token", f"user {user.name}", words, now=now)
    return secret


def scopes_of(session: Session, user: User) -> frozenset[Scope]:
    """What a token of somebody's may be given: what the role may, and to organise for who organises
    a competition, who then may do it there."""
    organises = MemberRole.ORGANISER in sight.roles_of(session, user.id).values()
    return SCOPES[user.role] | ({Scope.ORGANISE} if organises else set())


def revoke_token(session: Session, actor: Actor, token: ApiToken, now: datetime) -> None:
    """Makes a token worthless."""
    audit.note(session, actor, "revoke token", f"user {token.user.name}", token.name, now=now)
    session.delete(token)


def tokens_of(session: Session, user_id: int) -> list[ApiToken]:
    """A user's tokens, the newest first."""
    query = sa.select(ApiToken).where(ApiToken.user_id == user_id).order_by(ApiToken.id.desc())
    return list(session.scalars(query))


def digest(secret: str) -> str:
    """What is kept of a token or a link."""
    return hashlib.sha256(secret.encode()).hexdigest()
