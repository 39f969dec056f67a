"""Tournaments that come of a ladder by themselves: its final, and its rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import tournaments
from arena.competitions.fields import field_of, proven
from arena.competitions.founding import free_name
from arena.competitions.players import NamedPlayer
from arena.competitions.tournament_progress import new_frame
from arena.competitions.tournaments import TournamentPlan
from arena.competitions.visibility import make_part
from arena.formats.catalogue import FORMATS
from arena.ground.refusals import Refusal
from arena.models import Ladder, Tournament, VersionStatus
from engine.match import entrants_needed


def ready_on(session: Session, ladder: Ladder) -> list[NamedPlayer]:
    """The active versions of a ladder that can play in a tournament, the strongest first."""
    there = field_of(session, ladder)
    able = proven(session, ladder.game, [one.version for one in there])
    ready = [one for one in there if one.version.status is VersionStatus.READY]
    return [one for one in ready if one.version.id in able]


def fewest(ladder: Ladder) -> int:
    """The fewest bots that a tournament of a ladder's game can have."""
    return 2 if ladder.variant.seats == 1 else max(2, entrants_needed(ladder.variant))


def demand_enough(ladder: Ladder, field: Sequence[NamedPlayer]) -> None:
    """Refuses a field that is too small; it is said in English, as it is kept.

    Raises:
        Refusal: it is.
    """
    least = fewest(ladder)
    if len(field) < least:
        there = {0: "there are none", 1: "there is one"}.get(len(field), f"there are {len(field)}")
        raise Refusal(f"it takes {'two' if least == 2 else least} bots, and {there}")


def make(
    session: Session,
    ladder: Ladder,
    field: Sequence[NamedPlayer],
    now: datetime,
    *,
    name: str,
    title: str,
    format: str,
    settings: Mapping[str, Any],
    seed: int,
    tells: bool = True,
) -> Tournament:
    """Makes a tournament of bots of a ladder by the ladder's own rules; who sees and organises that
    does so with it.

    Args:
        name: if it is taken, another one is found by it.
        settings: of the format, for a field that may be larger.
        tells: whether the owners of the bots are told.

    Raises:
        Refusal: the format does not take this field.
    """
    frame = new_frame(ladder.variant, len(field), 0)
    known = FORMATS[format].settings
    plan = TournamentPlan(
        free_name(session, name),
        ladder.variant,
        ladder.time,
        format,
        title=title,
        settings={key: known[key].nearest(value, frame) for key, value in settings.items()},
        openings=ladder.openings_words,
        limits=ladder.limits,
        seed=seed,
        allows_options=ladder.allows_options,
        visibility=ladder.visibility,
        tells=tells,
    )
    made = tournaments.create(session, plan, field, now, ARENA)
    make_part(made, ladder)
    return made
