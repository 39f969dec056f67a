"""The table of a ladder's rounds: who came where in each, and in which division everybody is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.ranks import active_on
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    DivisionPlace,
    Entrant,
    Ladder,
    LadderRound,
    Tournament,
)

MOST_ROUNDS = 200
"""So many are told of at a time."""


class RoundPlace(NamedTuple):
    """Where a bot came in a round."""

    number: int
    """The number of the round."""
    division: int
    """0 where there were none."""
    made: Tournament
    version: int
    place: int | None
    """None while it goes on, and of one that was called off."""
    points: float | None


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A round of a ladder."""

    number: int
    parts: Sequence[LadderRound]
    """One for each division, the highest first."""

    @property
    def begun(self) -> datetime:
        """When its tournaments began."""
        return self.parts[0].begun

    @property
    def ended(self) -> datetime | None:
        """When it was over for the ladder."""
        return self.parts[0].ended


@dataclass(slots=True)
class RoundLine:
    """A bot in the table of a ladder's rounds."""

    bot: Bot
    division: int | None = None
    """The division that it is in; None if in none."""
    standing: int | None = None
    """Where it stands there, as it is seeded in the next round."""
    is_boss: bool = False
    is_active: bool = False
    """Whether it is on the ladder."""
    points: float = 0.0
    """What it got in all rounds that are over, added up."""
    rounds: int = 0
    """How many these are."""
    places: dict[int, RoundPlace] = field(default_factory=dict)
    """Where it came in those rounds that are told of, by their numbers."""

    @property
    def results(self) -> list[RoundPlace]:
        """Where it came in those rounds that are told of, the newest first."""
        return [self.places[number] for number in sorted(self.places, reverse=True)]


@dataclass(frozen=True, slots=True)
class RoundTable:
    """The rounds of a ladder that are told of, and the first of the bots that were in any."""

    ladder: Ladder
    rounds: Sequence[PlayedRound]
    """The newest first."""
    lines: Sequence[RoundLine]
    """The bots by divisions, and where they stand there; then by points."""
    size: int
    """How many bots the whole table has."""

    @property
    def divisions(self) -> Mapping[int, Sequence[RoundLine]]:
        """Who is in each division, the boss last; of no division are those who are in none."""
        found: dict[int, list[RoundLine]] = {}
        for line in self.lines:
            found.setdefault(line.division or 0, []).append(line)
        return found


def round_table(
    session: Session, ladder: Ladder, most: int = MOST_ROUNDS, *, most_lines: int | None = None
) -> RoundTable:
    """The table of a ladder's rounds.

    Args:
        most: so many of them are told one by one, the newest; points are of all.
        most_lines: of so many bots; None for all.
    """
    of_it = LadderRound.competition_id == ladder.id
    standing = sa.select(DivisionPlace).where(DivisionPlace.competition_id == ladder.id)
    any_at_all = sa.select(LadderRound.id).where(of_it).exists() | standing.exists()
    if not session.scalar(sa.select(any_at_all)):
        return RoundTable(ladder, (), (), 0)
    newest = sa.select(LadderRound.number).where(of_it).distinct()
    numbers = session.scalars(newest.order_by(LadderRound.number.desc()).limit(most)).all()
    query = sa.select(LadderRound).where(of_it, LadderRound.number.in_(numbers))
    query = query.order_by(LadderRound.number.desc(), LadderRound.division)
    parts = session.scalars(query.options(joinedload(LadderRound.made))).all()
    played = [
        PlayedRound(number, [*its]) for number, its in groupby(parts, key=lambda one: one.number)
    ]
    shown, size = _lines(session, ladder, most_lines)
    wanted = [BotVersion.bot_id.in_(shown)] if len(shown) < size else []
    its = {one.id: one for one in parts}
    places = (
        sa.select(
            LadderRound.id,
            *(BotVersion.bot_id, BotVersion.number),
            *(Entrant.final_place, Entrant.final_points),
        )
        .join(Entrant, Entrant.competition_id == LadderRound.made_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .where(of_it, LadderRound.number.in_(numbers), *wanted)
    )
    for number, bot_id, version, place, points in session.execute(places):
        part = its[number]
        if part.made.state is not CompetitionState.CLOSED:
            place = points = None
        shown[bot_id].places[part.number] = RoundPlace(
            part.number, part.division, part.made, version, place, points
        )
    return RoundTable(ladder, played, [*shown.values()], size)


def _lines(session: Session, ladder: Ladder, most: int | None) -> tuple[dict[int, RoundLine], int]:
    """The first of all bots that were in any round of a ladder, without their places in single
    ones, and how many these all are."""
    is_over = Tournament.state == CompetitionState.CLOSED
    sums = (
        sa.select(
            BotVersion.bot_id,
            sa.func.sum(Entrant.final_points).filter(is_over),
            sa.func.count(Entrant.final_points).filter(is_over),
        )
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .join(LadderRound, LadderRound.made_id == Entrant.competition_id)
        .join(LadderRound.made)
        .where(LadderRound.competition_id == ladder.id)
        .group_by(BotVersion.bot_id)
    )
    totals = {bot: (points or 0.0, count) for bot, points, count in session.execute(sums)}
    place = DivisionPlace
    its_places = (
        sa.select(place.bot_id, place.division, place.number, place.is_boss)
        .where(place.competition_id == ladder.id)
        .order_by(place.is_boss)
    )
    standing = {row[0]: row[1:] for row in session.execute(its_places)}
    its_active = sa.select(BotVersion.bot_id).join(Entrant.version).where(active_on(ladder.id))
    active = set(session.scalars(its_active))

    def order(bot: int) -> tuple[float, ...]:
        if bot in standing:
            division, number, is_boss = standing[bot]
            return 0, division, is_boss, number or 0, bot
        points, count = totals[bot]
        return 1, bot not in active, -points, count, bot

    known = totals.keys() | standing.keys()
    first = sorted(known, key=order)[:most]
    its_bots = sa.select(Bot).where(
        Bot.id.in_(first)
        if len(first) < len(known)
        else sa.or_(
            Bot.id.in_(sums.with_only_columns(BotVersion.bot_id)),
            Bot.id.in_(sa.select(place.bot_id).where(place.competition_id == ladder.id)),
        )
    )
    its_bots = its_bots.options(joinedload(Bot.owner))
    bots = {one.id: one for one in session.scalars(its_bots)}
    lines = {}
    for bot in first:
        points, count = totals.get(bot, (0.0, 0))
        division, number, is_boss = standing.get(bot, (None, None, False))
        lines[bot] = RoundLine(
            bots[bot], division, number or None, is_boss, bot in active, points, count
        )
    return lines, len(known)
