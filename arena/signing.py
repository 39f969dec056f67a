"""What the arena signs: sessions, tickets, and the short-lived addresses of bundles and runtimes.

The secret is made once and kept in the database, for every server and the recorder. A worker on
another machine is given, in each job, an address of each bundle it needs. It holds for that one
bundle and for some minutes, so that a worker needs no login to fetch it. Tickets of leases are
signed, too: a report with such a ticket is no invention, whatever the database knows of it.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from datetime import datetime
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Mark

SECRET_MARK = "secret of sessions"  # noqa: S105 - the name of where it is kept
ARENA_MARK = "id of the arena"
FETCH_SECONDS = 600.0
"""How long an address of a bundle holds beyond the time in which its job must be taken up."""


def secret_key(database: Database) -> str:
    """What is signed with; made if there is none yet."""
    with database.read() as reading:
        found = reading.get(Mark, SECRET_MARK)
    return found.value if found else database.run(_secret)


def _secret(session: Session) -> str:
    found = session.get(Mark, SECRET_MARK)
    if found is None:
        found = Mark(key=SECRET_MARK, value=secrets.token_hex(32))
        session.add(found)
    session.info[SECRET_MARK] = found  # so that it is found again without a query
    return found.value


def arena_id(session: Session) -> str:
    """What no other arena has; one that was restored from this one's backup has another."""
    found = session.get(Mark, ARENA_MARK)
    if found is None:
        found = Mark(key=ARENA_MARK, value=secrets.token_hex(16))
        session.add(found)
    return found.value


def rotate(session: Session, actor: Actor, now: datetime) -> None:
    """Makes another secret: every session and every address of a bundle ends with the old one.

    Servers that run go on with the old one for their sessions until they are started again.
    """
    session.merge(Mark(key=SECRET_MARK, value=secrets.token_hex(32)))
    audit.note(session, actor, "rotate secret", "sessions", now=now)


def bundle_location(session: Session, settings: Settings, digest: str, now: datetime) -> str:
    """Where a worker finds a bundle: a path on one machine, a signed address on many."""
    return _location(session, settings, settings.bundles, digest, now)


def runtime_location(session: Session, settings: Settings, digest: str, now: datetime) -> str:
    """Where a worker finds a runtime, in the same way."""
    return _location(session, settings, settings.runtimes, digest, now)


def _location(
    session: Session, settings: Settings, folder: Path, digest: str, now: datetime
) -> str:
    if not settings.public_url:
        return str(folder / digest)
    expires = int(now.timestamp() + settings.take_up_seconds + FETCH_SECONDS)
    token = _signer(_secret(session)).dumps([digest, expires])
    return f"{settings.public_url.rstrip('/')}/{folder.name}/{digest}?token={token}"


def sign_ticket(session: Session, job: str, nonce: str) -> str:
    """The ticket of an attempt at a job, which shows that this arena gave it out.

    Args:
        job: the attempt, in words that are no other's.
        nonce: what this attempt alone has.
    """
    return f"{nonce}.{_of_ticket(_secret(session), job, nonce)}"


def is_own_ticket(session: Session, job: str, ticket: str) -> bool:
    """Whether this arena gave a ticket out for an attempt, though it may not remember: as after a
    restore from a backup that is older.
    """
    found = session.get(Mark, SECRET_MARK)
    nonce, _, signature = ticket.partition(".")
    expected = _of_ticket(found.value, job, nonce) if found else ""
    return bool(signature) and hmac.compare_digest(signature.encode(), expected.encode())


def _of_ticket(secret: str, job: str, nonce: str) -> str:
    words = f"ticket {job} {nonce}".encode()
    return hmac.digest(secret.encode(), words, "sha256").hex()[:SIGNATURE]


SIGNATURE = 32
"""Hexadecimal digits."""


def may_fetch(session: Session, digest: str, token: str, now: datetime) -> bool:
    """Whether a token is one for this bundle or runtime that still holds."""
    found = session.get(Mark, SECRET_MARK)
    if found is None:
        return False
    try:
        signed = _signer(found.value).loads(token)
    except BadData:
        return False
    # What was signed is of the one form that `_location` writes.
    its_digest, expires = signed
    return bool(its_digest == digest and now.timestamp() < expires)


def seal(session: Session, secret: str) -> str:
    """A secret that somebody gave the arena to use, as it is kept: whoever reads the column alone,
    in a list or a dump of it, learns nothing."""
    return _box(session).encrypt(secret.encode()).decode()


def unseal(session: Session, sealed: str) -> str | None:
    """The secret again; None if the arena's own was made anew since."""
    try:
        return _box(session).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _box(session: Session) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(_derived(session, "seal")))


def push_secret(session: Session, code: str) -> str:
    """What a forge signs with that tells of pushes, by the code in the address that it asks."""
    return _derived(session, f"push {code}").hex()


def _derived(session: Session, use: str) -> bytes:
    """32 bytes that follow from the arena's secret for one use alone."""
    return hmac.digest(_secret(session).encode(), use.encode(), "sha256")


def unsubscribe_path(session: Session, user_id: int) -> str:
    """The path of the page at which whoever has this letter can end such letters to a person."""
    return f"/unsubscribe/{_unsubscriber(_secret(session)).dumps(user_id)}"


def unsubscribes(session: Session, token: str) -> int | None:
    """The id of the person whose letters a token ends; None if it is none of ours."""
    found = session.get(Mark, SECRET_MARK)
    try:
        return int(_unsubscriber(found.value).loads(token)) if found else None
    except BadData:
        return None


def _unsubscriber(secret: str) -> URLSafeSerializer:
    return URLSafeSerializer(secret, salt="unsubscribe")


def _signer(secret: str) -> URLSafeSerializer:
    return URLSafeSerializer(secret, salt="bundle")
