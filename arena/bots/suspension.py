"""Bots that fault in most of their games are taken off a ladder, and their owners told why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from itertools import islice

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.bots.notifications import tell_suspension
from arena.models import Entrant, EntrantState, GameSeat, JobStatus, Match, PlayedGame
from engine.game import Termination

GAMES_LOOKED_AT = 10
MOST_SEATS = 4
"""How many seats of a game one bot holds, at most."""
FAULTS_TOO_MANY = 6
"""Most of the games looked at."""
SUSPEND = "suspend"
"""What the audit log calls it."""
_ON_LADDER = re.compile(r"version \d+, ([^,: ]+): ")


def why_suspended(last: Mapping[int, Termination | None]) -> str | None:
    """Why a bot is suspended, in words for its owner; None if it is not.

    Args:
        last: how it left each of its last games, by their numbers, the newest first; None where it
            did not.
    """
    looked_at = dict(islice(last.items(), GAMES_LOOKED_AT))
    faulty = {
        game: fault for game, fault in looked_at.items() if fault is not None and fault.is_failure
    }
    if len(faulty) < FAULTS_TOO_MANY:
        return None
    kinds = ", ".join(f"{kind} ({count})" for kind, count in Counter(faulty.values()).most_common())
    return (
        f"{len(faulty)} of its last {len(looked_at)} games ended by its own fault: {kinds}; the "
        f"last was game {next(iter(faulty))}"
    )


def suspended_on(detail: str) -> str:
    """The name of the ladder of a suspension, by its note in the audit log; empty where it was of
    all at once."""
    found = _ON_LADDER.match(detail)
    return found[1] if found else ""


def suspend_if_faulty(session: Session, entrant: Entrant, now: datetime) -> None:
    """Suspends an active entrant of a ladder whose last games speak for it."""
    if entrant.state is not EntrantState.ACTIVE:
        return
    query = (
        sa.select(GameSeat.game_id, GameSeat.fault)
        .join(PlayedGame, PlayedGame.id == GameSeat.game_id)
        .join(Match, Match.id == PlayedGame.match_id)
        .where(GameSeat.entrant_id == entrant.id, Match.status == JobStatus.FIXED, Match.rated)
        .order_by(GameSeat.game_id.desc(), GameSeat.fault.desc())
        .limit(MOST_SEATS * GAMES_LOOKED_AT)
    )
    if entrant.returned is not None:
        query = query.where(PlayedGame.finished > entrant.returned)
    games: dict[int, Termination | None] = {}
    for game, fault in session.execute(query):
        # Who holds several seats of a game leaves it once.
        games[game] = games.get(game) or fault
    reason = why_suspended(games)
    if reason is None:
        return
    entrant.state = EntrantState.SUSPENDED
    entrant.reason = reason
    version = entrant.version
    detail = f"version {version.number}, {entrant.competition.name}: {entrant.reason}"
    audit.note(session, ARENA, SUSPEND, f"bot {version.bot.name}", detail, now=now)
    tell_suspension(session, entrant, now)
