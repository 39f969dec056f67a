"""Who is told what of bots and competitions, and that nobody is of what they may not see."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots.bot_deeds import ShareBot
from arena.bots.notifications import tell_check, tell_suspension
from arena.bots.submissions import enter, submit
from arena.bots.suspension import suspend_if_faulty
from arena.competitions import ladder_settings
from arena.competitions.notifications import tell_ends
from arena.competitions.tournament_deeds import CreateTournament
from arena.deeds import By, perform
from arena.ground.db import Database
from arena.models import (
    Bot,
    Check,
    Entrant,
    Follow,
    JobStatus,
    Ladder,
    Membership,
    Notification,
    Role,
    Scope,
    User,
    VersionStatus,
    Visibility,
)
from arena.people import accounts
from arena.people.notifications import text_of
from engine.games import find_variant

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PEOPLE = ("ada", "bob", "eve", "organiser")


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    """A transaction of an arena with a ladder, a bot of ada's on it, and people: bob follows both,
    eve the ladder alone.
    """
    with database.begin() as found:
        people = {name: accounts.add(found, ARENA, name, now=NOW) for name in PEOPLE}
        people["organiser"].role = Role.ORGANISER
        variant = find_variant("clobber", ["size=4x3"])
        ladder = ladder_settings.create(found, ARENA, "clobber", variant, {"title": "C"}, NOW)
        version = submit(
            found, people["ada"], "bot", digest="0" * 64, size=1, language="C",
            ladder=ladder, now=NOW,
        )  # fmt: skip
        version.status = VersionStatus.READY
        found.flush()
        for name, which in (
            ("bob", {"bot_id": version.bot_id}),
            ("bob", {"competition_id": ladder.id}),
            ("eve", {"competition_id": ladder.id}),
            ("organiser", {"competition_id": ladder.id}),
        ):
            found.add(Follow(user_id=people[name].id, since=NOW, **which))
        enter(found, ladder, version, NOW)
        found.flush()
        yield found


def told(session: Session) -> dict[str, list[str]]:
    """What people were told, with where it leads, by their names."""
    session.flush()
    query = sa.select(User.name, Notification).join(User, User.id == Notification.user_id)
    found: dict[str, list[str]] = {}
    for name, one in session.execute(query.order_by(Notification.id)):
        found.setdefault(name, []).append(f"{text_of(one)}: {one.address}")
    return found


def test_what_came_of_a_check(session: Session) -> None:
    """Owners hear it, with the check's page; who follows the bot hears that it passed."""
    check = session.scalars(sa.select(Check)).one()
    check.status, check.findings = JobStatus.FIXED, [{"kept": False, "words": "it hung"}]
    tell_check(session, check, NOW)
    assert told(session) == {"ada": [f"bot v1 did not pass its check for C: /checks/{check.id}"]}
    check.findings = [{"kept": True, "words": ""}]
    tell_check(session, check, NOW)
    assert told(session)["bob"] == ["bot v1 passed its check for C: /bots/bot"]
    check.enters = False
    tell_check(session, check, NOW)
    assert sum(map(len, told(session).values())) == 3


def test_that_a_bot_was_suspended(session: Session) -> None:
    """With the page that says why."""
    entrant = session.scalars(sa.select(Entrant)).one()
    suspend_if_faulty(session, entrant, NOW)
    assert told(session) == {}
    tell_suspension(session, entrant, NOW)
    line = "bot v1 was suspended on C: /bots/bot?ladder=clobber"
    assert told(session) == {"ada": [line], "bob": [line]}


def test_that_a_competition_is_over(session: Session) -> None:
    """Once for each time; who takes part or follows it hears it, unless it is muted."""
    ladder = session.scalars(sa.select(Ladder)).one()
    tell_ends(session, NOW)
    assert told(session) == {}
    ladder_settings.change(session, ARENA, ladder, {"state": "closed"}, NOW)
    session.flush()
    for _ in range(2):
        tell_ends(session, NOW)
        session.flush()
    line = "The ladder C is closed: /competitions/clobber"
    assert told(session) == {name: [line] for name in PEOPLE}
    ada = session.scalars(sa.select(User.id).where(User.name == "ada")).one()
    session.add(Follow(user_id=ada, competition_id=ladder.id, muted=True, since=NOW))
    ladder.finished = NOW + timedelta(days=1)
    session.flush()
    tell_ends(session, NOW)
    assert {name: len(lines) for name, lines in told(session).items()} == {
        "ada": 1, "bob": 2, "eve": 2, "organiser": 2,
    }  # fmt: skip


def test_a_private_competition_is_told_of_to_its_members(session: Session) -> None:
    """Whoever followed it while it was public, or has left it, hears nothing of it: neither of its
    end, nor of a bot's check for it, nor of a suspension there.
    """
    ladder = session.scalars(sa.select(Ladder)).one()
    ladder.visibility = Visibility.PRIVATE
    ada = session.scalars(sa.select(User.id).where(User.name == "ada")).one()
    session.add(Membership(competition_id=ladder.id, user_id=ada, joined=NOW))
    session.flush()
    check = session.scalars(sa.select(Check)).one()
    check.status, check.findings = JobStatus.FIXED, [{"kept": True, "words": ""}]
    tell_check(session, check, NOW)
    tell_suspension(session, session.scalars(sa.select(Entrant)).one(), NOW)
    ladder_settings.change(session, ARENA, ladder, {"state": "closed"}, NOW)
    session.flush()
    tell_ends(session, NOW)
    assert {name: len(lines) for name, lines in told(session).items()} == {"ada": 3, "organiser": 1}


def test_that_a_bot_is_shared(session: Session) -> None:
    """With whom it is."""
    bot = session.scalars(sa.select(Bot)).one()
    by = By(Actor(bot.owner_id, "ada", ""), frozenset({Scope.SUBMIT}), NOW)
    perform(session, ShareBot("bot", "eve"), by)
    line = "ada shares the bot bot with you: it is yours as well now: /bots/bot"
    assert told(session) == {"eve": [line]}


def test_that_a_bot_was_entered_in_a_tournament(session: Session) -> None:
    """Somebody else entered it, who is told nothing."""
    bob = session.scalars(sa.select(User).where(User.name == "bob")).one()
    ladder = session.scalars(sa.select(Ladder)).one()
    other = submit(
        session, bob, "other", digest="1" * 64, size=1, language="C", ladder=ladder, now=NOW
    )
    other.status = VersionStatus.READY
    enter(session, ladder, other, NOW)
    session.flush()
    by = By(Actor(bob.id, "bob", ""), frozenset(Scope), NOW)
    made = CreateTournament("cup", "round-robin", ladder="clobber", bots=("bot:1", "other:1"))
    perform(session, made, by)
    line = "A bot of yours plays in the tournament cup: /competitions/cup"
    assert told(session) == {"ada": [line]}
