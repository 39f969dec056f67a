"""Which of those who play have runtimes, and what workers must be that play with them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import (
    Bot,
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    Runtime,
)

_PLAYS = (Entrant.state == EntrantState.ACTIVE, Competition.state == CompetitionState.OPEN)


def platforms_of_entrants(session: Session) -> dict[int, str]:
    """What runtimes are made for of entrants in competitions that are not over, by their ids."""
    query = (
        sa.select(Entrant.id, Runtime.platform)
        .join(BotVersion, BotVersion.runtime_id == Runtime.id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(Competition, Competition.id == Entrant.competition_id)
        .where(Competition.state != CompetitionState.CLOSED)
    )
    return {entrant: platform for entrant, platform in session.execute(query)}  # noqa: C416 - of rows


def platforms_in_use(session: Session) -> set[str]:
    """The platforms of the runtimes that versions of bots have."""
    has = sa.exists().where(BotVersion.runtime_id == Runtime.id)
    return set(session.scalars(sa.select(Runtime.platform).where(has).distinct()))


def wanted_by(session: Session, game: str, *, several: bool) -> dict[str, list[str]]:
    """The names of the bots that are to play a game with a runtime, by its platform.

    Args:
        several: where bots are granted several processes, and not where they aren't.
    """
    query = (
        sa.select(Runtime.platform, Bot.name)
        .join(BotVersion, BotVersion.runtime_id == Runtime.id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(Competition, Competition.id == Entrant.competition_id)
        .where(*_PLAYS, Competition.game == game, (Competition.processes > 1) == several)
        .order_by(Runtime.platform, Bot.name)
        .distinct()
    )
    found: dict[str, list[str]] = {}
    for platform, name in session.execute(query):
        found.setdefault(platform, []).append(name)
    return found
