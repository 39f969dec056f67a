"""Telling people that their bots play in a tournament, or do not any more."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.competitions.players import NamedPlayer
from arena.deeds import By
from arena.models import Bot, Topic, Tournament
from arena.people.audience import owners
from arena.people.notifications import notify
from arena.sight import who_see
from engine.translation import N_


def tell_entered(
    session: Session,
    tournament: Tournament,
    players: Iterable[NamedPlayer],
    actor: Actor,
    now: datetime,
) -> None:
    """Tells those whose bots were entered in a tournament, but for who did it."""
    people = owners(session, [player.version.bot_id for player in players]) - {actor.id}
    message = N_("A bot of yours plays in the tournament %(title)s")
    notify(
        session,
        who_see(session, tournament, people),
        message,
        {"title": tournament.title},
        f"/competitions/{tournament.name}",
        now,
        topic=Topic.TOURNAMENT,
    )


def tell_taken_out(session: Session, tournament: Tournament, bot: Bot, note: str, by: By) -> None:
    """Tells a bot's owners that an organiser took it out, and why, if that was said."""
    people = owners(session, [bot.id])
    if by.actor.id in people:
        return
    message = (
        N_("An organiser took %(bot)s out of the tournament %(title)s: %(note)s")
        if note
        else N_("An organiser took %(bot)s out of the tournament %(title)s")
    )
    notify(
        session,
        who_see(session, tournament, people),
        message,
        {"bot": bot.name, "title": tournament.title, "note": note},
        f"/competitions/{tournament.name}",
        by.now,
        topic=Topic.TOURNAMENT,
    )
