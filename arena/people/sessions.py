"""The sessions of browsers: each has its row, which is listed for its user and can be ended.

The cookie of a session is signed and names its row; whatever ends a session deletes the row, so
that a copy of the cookie is worth nothing either.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.models import BrowserSession, User

LASTS = timedelta(days=30)
"""How long a session goes unused until it ends."""
USE_NOTED = timedelta(minutes=5)
"""The use of a session is written down at most so often."""
MOST = 50
"""How many a person has; a further one ends that which was unused for longest."""
BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "Chrome": "Chrome",
    "CriOS": "Chrome",
    "Safari": "Safari",
    "curl": "curl",
}
"""The browsers by what stands in front of a slash in what they say, those first that also name
others."""
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Macintosh": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def browser_of(user_agent: str) -> str:
    """What browser a request is from, as ``Firefox, Linux``; empty if it does not say so."""
    browser = next((its for sign, its in BROWSERS.items() if f"{sign}/" in user_agent), "")
    system = next((its for sign, its in SYSTEMS.items() if sign in user_agent), "")
    if not (browser or system):
        first = re.match(r"[\w.-]+", user_agent, re.ASCII)
        return first[0][:40] if first else ""
    return ", ".join(filter(None, (browser, system)))


def begin(
    session: Session, user: User, address: str, user_agent: str, now: datetime
) -> BrowserSession:
    """Begins a session of a user, in place of those that are too old or too many."""
    its = BrowserSession.user_id == user.id
    kept = sa.select(BrowserSession.id).where(its, BrowserSession.last_used > now - LASTS)
    kept = kept.order_by(BrowserSession.last_used.desc()).limit(MOST - 1)
    ids = session.scalars(kept).all()
    session.execute(sa.delete(BrowserSession).where(its, BrowserSession.id.not_in(ids)))
    begun = BrowserSession(
        user_id=user.id,
        created=now,
        last_used=now,
        address=address[:60],
        browser=browser_of(user_agent)[:80],
    )
    session.add(begun)
    session.flush()
    return begun


def find(session: Session, key: str, now: datetime) -> BrowserSession | None:
    """The session of a key, with its user, if it has not ended."""
    query = sa.select(BrowserSession).where(
        BrowserSession.key == key, BrowserSession.last_used > now - LASTS
    )
    return session.scalar(query.options(joinedload(BrowserSession.user)))


def note_use(session: Session, number: int, now: datetime) -> None:
    """Writes down that a session is used."""
    its = BrowserSession.id == number
    session.execute(sa.update(BrowserSession).where(its).values(last_used=now))


def listed(session: Session, user_id: int, now: datetime) -> list[BrowserSession]:
    """A user's sessions, that which was used last first."""
    query = sa.select(BrowserSession).where(
        BrowserSession.user_id == user_id, BrowserSession.last_used > now - LASTS
    )
    return list(session.scalars(query.order_by(BrowserSession.last_used.desc())))


def end(session: Session, user_id: int, number: int) -> bool:
    """Ends one session of a user; False if there is no such."""
    ended = session.execute(
        sa.delete(BrowserSession)
        .where(BrowserSession.id == number, BrowserSession.user_id == user_id)
        .returning(BrowserSession.id)
    )
    return ended.first() is not None


def end_all(session: Session, user_id: int) -> None:
    """Ends every session of a user."""
    session.execute(sa.delete(BrowserSession).where(BrowserSession.user_id == user_id))
