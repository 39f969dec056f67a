"""What people are told: who hears of what, in which language, and how it is kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.ground.catalogues import translation
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    Delivery,
    Hook,
    HookFormat,
    Mail,
    MailChoice,
    Notification,
    Topic,
    User,
    Wishes,
)
from arena.people import accounts
from arena.people.notifications import notify, text_of, told_to, unread
from arena.people.outbox import add_mail
from engine.translation import speaking

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def people(session: Session, *names: str) -> list[int]:
    """The ids of new users."""
    return [accounts.add(session, ARENA, name, now=NOW).id for name in names]


def test_each_is_told_once_and_reads_it_in_their_language(database: Database) -> None:
    """With what stands at its places: texts, numbers, moments."""
    message = "there is no user %(name)r"
    with database.begin() as session:
        ada, bob = people(session, "ada", "bob")
        places = {"name": "x", "until": NOW, "number": 3}
        notify(session, [ada, bob, ada], message, places, "/bots/x", NOW)
    with database.read() as session:
        (told,) = told_to(session, ada)
        assert (text_of(told), told.address, told.topic) == (
            "there is no user 'x'",
            "/bots/x",
            "other",
        )
        with speaking(translation("it")):
            assert text_of(told) == "non c'è nessun utente 'x'"
        assert told.places == {"name": "x", "until": {"moment": NOW.isoformat()}, "number": 3}
        told.message = "until %(until)s: %(number)s"
        assert text_of(told) == "until 2026-03-01 12:00 UTC: 3"
        assert unread(session, ada) == unread(session, bob) == 1


def test_who_is_shut_out_or_wants_not_to_hear_is_told_nothing(database: Database) -> None:
    """Nor is the arena itself; what has no topic to be silenced everybody hears."""
    with database.begin() as session:
        ada, bob, eve = people(session, "ada", "bob", "eve")
        house = User(name=HOUSE, created=NOW)
        session.add_all([house, Wishes(user_id=bob, silenced=[Topic.CHECK])])
        session.get_one(User, eve).active = False
        session.flush()
        everybody = [ada, bob, eve, house.id]
        notify(session, everybody, "a", {}, "/", NOW, topic=Topic.CHECK)
        notify(session, everybody, "b", {}, "/", NOW)
    with database.read() as session:
        rows = session.execute(sa.select(Notification.user_id, Notification.message)).all()
        assert sorted(rows) == [(ada, "a"), (ada, "b"), (bob, "b")]


def test_it_waits_for_mail_and_hooks_where_they_are_wanted(database: Database) -> None:
    """A choice without an address brings no mail, and a disabled hook nothing."""
    with database.begin() as session:
        ada, bob = people(session, "ada", "bob")
        session.get_one(User, ada).mail = "ada@example.org"
        session.add_all(Wishes(user_id=one, mail=MailChoice.DAILY) for one in (ada, bob))
        for person, disabled in ((ada, ""), (ada, "it was gone"), (bob, "")):
            hook = Hook(
                user_id=person, url="https://h/", format=HookFormat.JSON, created=NOW,
                disabled=disabled,
            )  # fmt: skip
            session.add(hook)
        session.flush()
        notify(session, [ada, bob], "a", {}, "/", NOW)
    with database.read() as session:
        waits = sa.select(Notification.user_id, Notification.mail_waits)
        assert sorted(session.execute(waits).all()) == [(ada, True), (bob, False)]
        its = sa.select(Hook.user_id, Notification.user_id).select_from(Delivery)
        its = its.join(Delivery.hook).join(Delivery.notification)
        assert sorted(session.execute(its).all()) == [(ada, ada), (bob, bob)]


def test_it_leads_to_a_page_of_the_site(database: Database) -> None:
    """And nowhere else."""
    with database.begin() as session, pytest.raises(ValueError, match="is no path"):
        notify(session, people(session, "ada"), "a", {}, "https://elsewhere.example", NOW)


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("ada@example.org", True),
        (" ada+arena@mail.example.org ", True),
        ("a.d.a@xn--bcher-kva.example", True),
        ("ada@localhost", False),
        ("ada", False),
        ("@example.org", False),
        ("ada@example.org\nBcc: eve@example.org", False),
        ("ada@example.org, eve@example.org", False),
        ("Ada <ada@example.org>", False),
        ("ada@[127.0.0.1]", False),
        ("ada@-example.org", False),
        ("a" * 65 + "@example.org", False),
        ("ada@" + "a." * 120 + "org", False),
        ("ad\u00e4@example.org", False),
    ],
)
def test_mail_goes_to_addresses_alone(database: Database, address: str, is_one: bool) -> None:
    """One each, without what a header could be made of; a subject is one line."""
    with database.begin() as session:
        if not is_one:
            with pytest.raises(Refusal, match="is no mail address"):
                add_mail(session, address, "x", "y", NOW)
            return
        add_mail(session, address, "one\r\nBcc: eve@example.org", "text", NOW)
        letter = session.scalars(sa.select(Mail)).one()
        assert (letter.address, letter.due) == (address.strip(), NOW)
        assert letter.subject == "one  Bcc: eve@example.org"
