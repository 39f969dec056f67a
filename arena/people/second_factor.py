"""The second factor: what is asked for besides the password, and what takes its place once.

It is a code of an app (TOTP, RFC 6238: six digits, of SHA-1, a new one every 30 seconds) or a
passkey (`arena.people.passkeys`). Who has one of them has recovery codes, each of which lets in
once where neither is at hand.
"""

from __future__ import annotations

import base64
import secrets
from datetime import datetime

import sqlalchemy as sa
from passlib.exc import TokenError
from passlib.totp import TOTP
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.ground.config import Settings
from arena.ground.locks import lock
from arena.models import Passkey, RecoveryCode, Role, User
from arena.people import account_notifications, sessions
from arena.people.accounts import PeopleError, digest
from engine.translation import gettext

CODES = 10
CODE_BYTES = 10
"""80 bits, which are 16 letters in base32."""
WINDOW_SECONDS = 30
"""How far the clock of an app may be off."""
OF_ROLES = {
    "nobody": frozenset[Role](),
    "administrators": frozenset({Role.ADMINISTRATOR}),
    "organisers": frozenset({Role.ORGANISER, Role.ADMINISTRATOR}),
    "everybody": frozenset(Role),
}
"""Who must have a second factor, by the words of the setting."""


def is_asked(session: Session, user: User) -> bool:
    """Whether a user has a second factor, which is asked for at each sign-in."""
    return user.totp_secret is not None or has_passkeys(session, user.id)


def has_passkeys(session: Session, user_id: int) -> bool:
    """Whether a user has a passkey."""
    its = sa.select(Passkey.id).where(Passkey.user_id == user_id).limit(1)
    return session.scalar(its) is not None


def whose(session: Session) -> set[int]:
    """The ids of all who have a second factor."""
    apps = sa.select(User.id).where(User.totp_secret.is_not(None))
    return set(session.scalars(apps.union(sa.select(Passkey.user_id))))


def is_lacking(session: Session, user: User, settings: Settings) -> bool:
    """Whether a user has none who must have one."""
    return user.role in OF_ROLES[settings.second_factor] and not is_asked(session, user)


# The app.


def new_secret() -> str:
    """A secret for an app, in base32."""
    return str(TOTP(new=True).base32_key)


def address(secret: str, name: str, site: str) -> str:
    """What an app reads from a picture: the secret, with whose and which arena's it is."""
    return str(TOTP(key=secret).to_uri(label=name, issuer=site.replace(":", " ")))


def step_of(secret: str, code: str, now: datetime, last: int | None = None) -> int | None:
    """The time step of which a code is; None if it is wrong, too old, or was taken before.

    Args:
        last: the time step of the last one that was taken.
    """
    try:
        return int(TOTP(key=secret).match(code, now, WINDOW_SECONDS, last_counter=last).counter)
    except (TokenError, ValueError):
        return None


def turn_on(
    session: Session, actor: Actor, user: User, secret: str, code: str, now: datetime
) -> list[str]:
    """Has an app's codes asked for from now on.

    Returns:
        recovery codes, if there were none.

    Raises:
        PeopleError: the code is not of that secret.
    """
    lock(session, user)
    step = step_of(secret, code, now)
    if step is None:
        raise PeopleError(
            gettext("this is not the app's present code: type the one that it shows now")
        )
    user.totp_secret, user.totp_counter = secret, step
    audit.note(session, actor, "add second factor", f"user {user.name}", "app", now=now)
    account_notifications.tell(session, user, account_notifications.APP_ADDED, now)
    return first_codes(session, user)


def turn_off(session: Session, actor: Actor, user: User, now: datetime) -> None:
    """Asks for the app's codes no more."""
    if user.totp_secret is None:
        return
    user.totp_secret = user.totp_counter = None
    audit.note(session, actor, "remove second factor", f"user {user.name}", "app", now=now)
    account_notifications.tell(session, user, account_notifications.APP_REMOVED, now)
    forget_codes(session, user)


# Recovery codes.


def first_codes(session: Session, user: User) -> list[str]:
    """Recovery codes for who has none; none for who has."""
    return [] if codes_left(session, user.id) else make_codes(session, user)


def make_codes(session: Session, user: User) -> list[str]:
    """New recovery codes, in the place of those there were: the only copy of them."""
    session.execute(sa.delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    codes = [
        base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower() for _ in range(CODES)
    ]
    session.add_all(RecoveryCode(user_id=user.id, digest=digest(code)) for code in codes)
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def codes_left(session: Session, user_id: int) -> int:
    """How many recovery codes somebody has."""
    query = sa.select(sa.func.count()).where(RecoveryCode.user_id == user_id)
    return session.scalar(query) or 0


def forget_codes(session: Session, user: User) -> None:
    """Takes the recovery codes of who has no second factor any more."""
    session.flush()
    if not is_asked(session, user):
        session.execute(sa.delete(RecoveryCode).where(RecoveryCode.user_id == user.id))


def take(session: Session, user: User, code: str, now: datetime) -> str:
    """Takes a code of the app, or a recovery code, that a user typed; each counts once.

    Returns:
        what it was, for the audit log; empty if it was none.
    """
    lock(session, user)  # who sends one twice at the same moment is let in once
    if user.totp_secret is not None:
        step = step_of(user.totp_secret, code, now, user.totp_counter)
        if step is not None:
            user.totp_counter = step
            return "app"
    bare = "".join(code.split()).replace("-", "").lower()
    used = session.execute(
        sa.delete(RecoveryCode)
        .where(RecoveryCode.user_id == user.id, RecoveryCode.digest == digest(bare))
        .returning(RecoveryCode.id)
    )
    return "recovery code" if used.first() else ""


def reset(session: Session, actor: Actor, user: User, now: datetime) -> None:
    """Takes every second factor from somebody who lost them, and ends their sessions."""
    user.totp_secret = user.totp_counter = None
    for kind in (Passkey, RecoveryCode):
        session.execute(sa.delete(kind).where(kind.user_id == user.id))
    sessions.end_all(session, user.id)
    audit.note(session, actor, "reset second factor", f"user {user.name}", now=now)
    account_notifications.tell(session, user, account_notifications.FACTOR_RESET, now)
