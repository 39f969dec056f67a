"""Mail or messages to hooks that stand still are an alarm; a hook that does not answer is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Delivery, Hook, HookFormat, Mail
from arena.operation import alarms
from arena.people import accounts
from arena.people.outbox import add_mail

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = Settings(mail="smtp+plain://localhost", mail_from="arena@example.org")


def told(database: Database, settings: Settings, now: datetime) -> list[tuple[str, str]]:
    """The alarms of the sender."""
    with database.read() as session:
        found = alarms.find(session, settings, now)
    return [(one.subject, one.words) for one in found if one.kind == "sender"]


def test_mail_that_stands_still_is_an_alarm(database: Database) -> None:
    """With what the server says, if somebody tried; not where no mail is set up."""
    with database.begin() as session:
        add_mail(session, "ada@example.org", "x", "y", NOW)
    later = NOW + timedelta(minutes=31)
    assert told(database, SETTINGS, NOW) == told(database, Settings(), later) == []
    assert told(database, SETTINGS, later) == [
        ("mail", "mail has waited for 31 minutes: nobody sends it")
    ]
    with database.begin() as session:
        session.query(Mail).one().problem = "Connection refused"
    assert told(database, SETTINGS, later) == [
        ("mail", "mail has waited for 31 minutes: Connection refused")
    ]


def test_messages_that_nobody_sends_are_an_alarm(database: Database) -> None:
    """Those of a hook that failed a moment ago, or is disabled, wait rightly."""
    with database.begin() as session:
        ada = accounts.add(session, ARENA, "ada", now=NOW)
        hook = Hook(user_id=ada.id, url="https://h/", format=HookFormat.JSON, created=NOW)
        session.add(hook)
        session.flush()
        for _ in range(2):
            session.add(Delivery(hook_id=hook.id, created=NOW, due=NOW, expires=NOW))
    later = NOW + timedelta(minutes=16)
    ((subject, words),) = told(database, Settings(), later)
    assert (subject, words[:32]) == ("hooks", "2 messages to hooks should have ")
    assert told(database, Settings(hooks="nobody"), later) == []
    with database.begin() as session:
        found = session.get_one(Hook, hook.id)
        found.rests_until = later - timedelta(minutes=1)
    assert told(database, Settings(), later) == []
    with database.begin() as session:
        found = session.get_one(Hook, hook.id)
        found.rests_until, found.disabled = None, "it is gone"
    assert told(database, Settings(), later) == []
