"""Telling people of bots: what came of a check, and that one was taken off a ladder."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from arena.deeds import By
from arena.models import Bot, Check, Entrant, Ladder, Topic, User
from arena.people.audience import followers, owners
from arena.people.notifications import notify
from arena.sight import who_see
from engine.translation import N_

PASSED = N_("%(version)s passed its check for %(ladder)s")
NOT_PASSED = N_("%(version)s did not pass its check for %(ladder)s")
SUSPENDED = N_("%(version)s was suspended on %(ladder)s")
BARRED_FROM = N_("An organiser took %(bot)s off the ladder %(ladder)s: %(note)s")
SHARED = N_("%(person)s shares the bot %(bot)s with you: it is yours as well now")
JOINED = N_("%(person)s joined the team %(team)s")
LEFT = N_("%(person)s left the team %(team)s")
REMOVED = N_("you are not in the team %(team)s any more")
CAPTAIN = N_("you are the captain of the team %(team)s now")
GIVEN = N_("the bot %(bot)s is the team %(team)s's now")
DISSOLVED = N_("the team %(team)s was dissolved")
TAKEN = N_("the bot %(bot)s is the team %(team)s's no more: %(person)s has it")
OF_PEOPLE = (SHARED, JOINED, LEFT, REMOVED, CAPTAIN, GIVEN, DISSOLVED, TAKEN)
"""What names people or teams, at the places ``person`` and ``team``."""


def tell_check(session: Session, check: Check, now: datetime) -> None:
    """Tells what came of the check of a version that is to enter: its owners, and if it passed
    those who follow the bot, but for what nobody is to know. Who tries a version in the browser
    looks at what comes of it.
    """
    if not check.enters:
        return
    bot = check.version.bot
    places = {"version": check.version.label, "ladder": check.ladder.title}
    message = PASSED if check.passed else NOT_PASSED
    its = who_see(session, check.ladder, owners(session, [bot.id]))
    notify(session, its, message, places, f"/checks/{check.id}", now, topic=Topic.CHECK)
    if check.passed and not check.ladder.anonymous:
        others = who_see(session, check.ladder, followers(session, bot.id))
        notify(session, others, message, places, f"/bots/{bot.name}", now, topic=Topic.CHECK)


def tell_suspension(session: Session, entrant: Entrant, now: datetime) -> None:
    """Tells a bot's owners and those who follow it that it was taken off a ladder."""
    bot = entrant.version.bot
    places = {"version": entrant.version.label, "ladder": entrant.competition.title}
    people = owners(session, [bot.id]) | followers(session, bot.id)
    people = who_see(session, entrant.competition, people)
    address = f"/bots/{bot.name}?ladder={entrant.competition.name}"
    notify(session, people, SUSPENDED, places, address, now, topic=Topic.SUSPENSION)


def tell_barred(session: Session, bot: Bot, ladder: Ladder, note: str, by: By) -> None:
    """Tells a bot's owners why an organiser took it off a ladder."""
    people = who_see(session, ladder, owners(session, [bot.id])) - {by.actor.id}
    places = {"bot": bot.name, "ladder": ladder.title, "note": note}
    address = f"/bots/{bot.name}?ladder={ladder.name}"
    notify(session, people, BARRED_FROM, places, address, by.now, topic=Topic.SUSPENSION)


def tell_shared(session: Session, bot: Bot, person: str, mate: User, now: datetime) -> None:
    """Tells somebody that a bot is theirs as well."""
    places = {"person": person, "bot": bot.name}
    notify(session, [mate.id], SHARED, places, f"/bots/{bot.name}", now)
