"""What is taken out of play: bots that fault in most of their games, ladders that nobody can play.

A bot is taken off a ladder, and its owner told why. A bot with which no match could ever be played
costs its own matches and is left alone. But when bots that have played there can't be played any
more, whoever meets whom, then what is wrong is the ladder's, such as a limit that is too small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA
from arena.models import (
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Place,
    PlayedGame,
)
from engine.game import Termination

GAMES_LOOKED_AT = 10
FAULTS_TOO_MANY = 6
"""Most of the games looked at."""
FEWEST_ASIDE = 3
"""Matches of a ladder that must have been set aside before it is paused, however few its bots."""


def why_suspended(last: Sequence[Termination | None]) -> str | None:
    """Why a bot is suspended, in words for its owner; None if it is not.

    Args:
        last: how it left each of its last games, the newest first; None where it did not.
    """
    looked_at = last[:GAMES_LOOKED_AT]
    # To resign is to play.
    faults = Counter(fault for fault in looked_at if fault not in (None, Termination.RESIGN))
    if faults.total() < FAULTS_TOO_MANY:
        return None
    kinds = ", ".join(f"{kind} ({count})" for kind, count in faults.most_common())
    return f"{faults.total()} of its last {len(looked_at)} games ended by its own fault: {kinds}"


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
        .limit(4 * GAMES_LOOKED_AT)
    )
    if entrant.returned is not None:
        query = query.where(PlayedGame.finished > entrant.returned)
    games: dict[int, Termination | None] = {}
    for game, fault in session.execute(query):
        # Who holds several seats of a game leaves it once.
        games[game] = games.get(game) or fault
    reason = why_suspended(list(games.values()))
    if reason is None:
        return
    entrant.state = EntrantState.SUSPENDED
    entrant.reason = f"{reason}; the last was game {max(games)}"
    version = entrant.version
    detail = f"version {version.number}, {entrant.competition.name}: {entrant.reason}"
    audit.note(session, ARENA, "suspend", f"bot {version.bot.name}", detail, now=now)


def pause_if_unplayable(session: Session, match: Match, now: datetime) -> None:
    """Pauses a ladder after one of its matches was set aside, if so were all the last ones."""
    ladder = match.competition
    if (
        isinstance(ladder, Ladder)
        and ladder.state is CompetitionState.OPEN
        and is_unplayable(session, ladder)
    ):
        ladder.state = CompetitionState.PAUSED
        words = f"its last matches could not be played: {match.problem}"
        audit.note(session, ARENA, "pause", f"ladder {ladder.name}", words, now=now)


def is_unplayable(session: Session, ladder: Ladder) -> bool:
    """Whether the last matches of a ladder were all set aside, as many as it has active bots.

    Those do not count in which somebody was who has never finished a game there.
    """
    bots = sa.select(sa.func.count()).select_from(Entrant)
    bots = bots.where(Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
    enough = max(FEWEST_ASIDE, session.scalar(bots) or 0)
    never_played = sa.exists().where(
        Place.match_id == Match.id, Place.entrant_id == Entrant.id, Entrant.games == 0
    )
    ended = (JobStatus.FIXED, JobStatus.SET_ASIDE)
    last = session.scalars(
        sa.select(Match.status)
        .where(Match.competition_id == ladder.id, Match.status.in_(ended), ~never_played)
        .order_by(Match.id.desc())
        .limit(enough)
    ).all()
    return last.count(JobStatus.SET_ASIDE) == enough
