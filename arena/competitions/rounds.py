"""Rounds of ladders: how one begins, and what becomes of divisions when it is over.

Theory of operation. A round is a tournament that a date of the ladder makes again and again (of
kind `DateKind.ROUND`), of all that are fielded then; where there are divisions, one of each. It
moves no ratings. Begun is a round only if the one before is over; after an outage of several
periods one is begun, and not several.

Divisions are an order of the ladder's bots, which is cut into so many each
(`arena.formats.divisions`). Those who can't play when a round begins lose their places, newcomers
come last. When all tournaments of a round are over, its bots rise and fall, once, in one
transaction; what a match that is made void later does to their tables changes nothing of that. The
way of a bot through the divisions is kept as the tournaments in which it played.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena import audit
from arena.audit import ARENA
from arena.competitions import final_tables
from arena.competitions.dates import seasons_of
from arena.competitions.kinds import kind_of
from arena.competitions.ladder_tournaments import demand_enough, fewest, make, ready_on
from arena.competitions.players import NamedPlayer
from arena.competitions.ranks import active_on, games_to_be_ranked
from arena.formats.divisions import DivisionResult, divided, moved
from arena.ground.db import FAILED, database_time
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.ground.texts import cut
from arena.models import (
    BotVersion,
    Competition,
    CompetitionDate,
    CompetitionState,
    DivisionPlace,
    Entrant,
    EntrantState,
    Ladder,
    LadderRound,
    Meeting,
    Topic,
    Tournament,
)
from arena.people.audience import owners
from arena.people.notifications import notify
from arena.present import maintenance
from arena.sight import who_see
from engine.seeds import derive
from engine.translation import N_

ROSE = N_("The bot %(bot)s rose into division %(division)s of %(title)s")
BOSS = N_("The bot %(bot)s is the boss of division %(division)s of %(title)s")
FELL = N_("The bot %(bot)s fell into division %(division)s of %(title)s")

log = logging.getLogger("arena.recorder.rounds")


class _Group(NamedTuple):
    """Who is to play a tournament of a round."""

    division: int
    """0 where there are none."""
    field: list[NamedPlayer]
    boss: NamedPlayer | None = None


def is_round(session: Session, competition: Competition) -> bool:
    """Whether a competition is a round of a ladder, or one of its divisions there."""
    its = sa.select(LadderRound.id).where(LadderRound.made_id == competition.id)
    return session.scalar(its) is not None


def begin(
    session: Session, date: CompetitionDate, ladder: Ladder, now: datetime
) -> Tournament | None:
    """Begins the next round of a ladder, and gives its first tournament.

    Refusals are in English, as they are kept.

    Args:
        ladder: locked.

    Raises:
        Refusal: the one before is not over, nobody can play on the ladder in its state, or there
            are too few bots.
    """
    if ladder.state is CompetitionState.FROZEN:
        raise Refusal("the ladder was frozen, so that none was begun")
    number = _demand_last_over(session, ladder) + 1
    its, ready = date.settings, ready_on(session, ladder)
    demand_enough(ladder, ready)
    if its["size"]:
        groups = _arrange(session, ladder, ready, its["size"])
    else:
        session.execute(sa.delete(DivisionPlace).where(*_places_of(ladder)))
        groups = [_Group(0, ready)]
    made = [
        _play(session, ladder, one, number, its, now)
        for one in groups
        if len(one.field) + (one.boss is not None) >= fewest(ladder)
    ]
    if not made:
        raise Refusal("no division has bots enough; those in placement are in none yet")
    return made[0]


def _demand_last_over(session: Session, ladder: Ladder) -> int:
    """The number of the last round of a ladder, or of its season before; 0 before the first.

    Raises:
        Refusal: it is not over.
    """
    ids = [one.id for one in seasons_of(session, ladder)] or [ladder.id]
    of_it = LadderRound.competition_id.in_(ids)
    last = session.scalar(sa.select(sa.func.max(LadderRound.number)).where(of_it)) or 0
    going_on = sa.select(LadderRound.id).join(LadderRound.made)
    going_on = going_on.where(
        of_it,
        sa.or_(LadderRound.ended.is_(None), Tournament.state != CompetitionState.CLOSED),
        LadderRound.number == last,
    )
    if session.scalars(going_on).first() is not None:
        raise Refusal(f"round {last} was not over, so that none was begun")
    return last


def _play(
    session: Session,
    ladder: Ladder,
    group: _Group,
    number: int,
    its: Mapping[str, Any],
    now: datetime,
) -> Tournament:
    division = group.division
    made = make(
        session,
        ladder,
        [*group.field, *([group.boss] if group.boss else [])],
        now,
        name=f"{ladder.name[:60]}-round-{number}" + (f"-{division}" if division else ""),
        title=f"{cut(ladder.title, 80)}: round {number}"
        + (f", division {division}" if division else ""),
        format=its["format"],
        settings=its["settings"],
        seed=derive(ladder.seed, "round", number, division) % 2**48,
        tells=False,
    )
    session.add(
        LadderRound(
            competition_id=ladder.id,
            number=number,
            division=division,
            moves=its["moves"] if division else 0,
            begun=now,
            boss_id=group.boss.version.bot_id if group.boss else None,
            made=made,
        )
    )
    session.flush()
    return made


def _places_of(ladder: Ladder) -> tuple[sa.ColumnElement[bool], ...]:
    return DivisionPlace.competition_id == ladder.id, ~DivisionPlace.is_boss


def bosses_of(session: Session, ladder: Competition) -> dict[int, DivisionPlace]:
    """The bosses of a ladder by their divisions."""
    query = sa.select(DivisionPlace).where(
        DivisionPlace.competition_id == ladder.id, DivisionPlace.is_boss
    )
    found = session.scalars(query.options(joinedload(DivisionPlace.bot)))
    return {one.division: one for one in found}


def _arrange(
    session: Session, ladder: Ladder, ready: Sequence[NamedPlayer], size: int
) -> list[_Group]:
    """Has everybody who plays the next round be in a division.

    Args:
        ready: who can play, the strongest first.
    """
    by_bot = {one.version.bot_id: one for one in ready}
    bosses = {division: one.bot_id for division, one in bosses_of(session, ladder).items()}
    places = _standing(session, ladder)
    able = by_bot.keys() - set(bosses.values())
    staying = [bot for bot in places if bot in able]
    placed = _placed(session, ladder)
    newcomers = [bot for bot in by_bot if bot in able and bot not in places and bot in placed]
    for bot in places.keys() - set(staying):
        session.delete(places[bot])
    groups = []
    order = [*staying, *newcomers]
    last = -(-len(order) // size)
    least = fewest(ladder) - (bosses.get(last) in by_bot)
    for division, bots in enumerate(divided(order, size, least), 1):
        for number, bot in enumerate(bots, 1):
            place = places.get(bot)
            if place is None:
                place = DivisionPlace(competition_id=ladder.id, bot_id=bot, is_boss=False)
                session.add(place)
            place.division, place.number = division, number
        boss = by_bot.get(bosses.get(division, 0))
        groups.append(_Group(division, [by_bot[bot] for bot in bots], boss))
    session.flush()
    return groups


def _standing(session: Session, ladder: Ladder) -> dict[int, DivisionPlace]:
    """The places in the divisions of a ladder, but for bosses, by their bots, the highest first."""
    query = sa.select(DivisionPlace).where(*_places_of(ladder))
    query = query.order_by(DivisionPlace.division, DivisionPlace.number, DivisionPlace.id)
    found = session.scalars(query.options(joinedload(DivisionPlace.bot)))
    return {one.bot_id: one for one in found}


def _placed(session: Session, ladder: Ladder) -> set[int]:
    """The bots on a ladder that have had their placement; all where it makes no matches."""
    rows = session.execute(
        sa.select(BotVersion.bot_id, Entrant.games)
        .join(Entrant.version)
        .where(active_on(ladder.id))
    ).all()
    needed = games_to_be_ranked(ladder, len(rows))
    can_place = ladder.state is CompetitionState.OPEN
    return {row.bot_id for row in rows if row.games >= needed or not can_place}


_OTHER, _MADE = aliased(LadderRound), aliased(Tournament)
OVER = sa.select(LadderRound).where(
    LadderRound.ended.is_(None),
    ~sa.exists().where(
        _OTHER.competition_id == LadderRound.competition_id,
        _OTHER.number == LadderRound.number,
        _MADE.id == _OTHER.made_id,
        sa.or_(_MADE.state != CompetitionState.CLOSED, _MADE.rebuild_due),
    ),
)
"""The divisions of rounds that are over, by which nobody rose or fell yet."""


def rise_and_fall(session: Session) -> bool:
    """Has bots rise and fall by a round of some ladder that is over; whether there was one.

    During maintenance none do.
    """
    if maintenance(session) is not None:
        return False
    found = session.scalar(OVER.order_by(LadderRound.id).limit(1))
    if found is None:
        return False
    ladder = session.get_one(Ladder, found.competition_id)
    lock(session, ladder)
    query = sa.select(LadderRound).where(
        LadderRound.competition_id == ladder.id, LadderRound.number == found.number
    )
    query = query.order_by(LadderRound.division).execution_options(populate_existing=True)
    parts = session.scalars(query).all()
    for part in sorted(parts, key=lambda one: one.made_id):
        lock(session, part.made)
    over = [one.made.state is CompetitionState.CLOSED and not one.made.rebuild_due for one in parts]
    if found.ended is not None or not all(over):
        return True  # by another recorder, or a match was just made void
    now = database_time(session)
    try:
        with session.begin_nested():
            changed = _move_bots(session, ladder, parts, now)
    except FAILED:
        raise
    except Exception:
        log.exception("round %s of %s", found.number, ladder.name)
        changed = "something went wrong, which is in the recorder's log: nobody rises or falls"
    for part in parts:
        part.ended = now
    words = ", ".join(filter(None, [f"round {found.number}", changed]))
    audit.note(session, ARENA, "round", f"ladder {ladder.name}", words, now=now)
    session.flush()
    return True


def _move_bots(
    session: Session, ladder: Ladder, parts: Sequence[LadderRound], now: datetime
) -> str:
    """Keeps the tables of a round, and has its bots rise and fall; gives who did in words."""
    for part in parts:
        if part.made.placed_games != part.made.games:
            found = kind_of(part.made).final_places(session, part.made)
            final_tables.keep(session, part.made, found)
    if not parts[0].division or ladder.state is CompetitionState.CLOSED:
        return ""
    places = _standing(session, ladder)
    active = set(
        session.scalars(
            sa.select(BotVersion.bot_id).join(Entrant.version).where(active_on(ladder.id))
        )
    )
    played = {part.division: part for part in parts}
    results = []
    for division in range(1, max((one.division for one in places.values()), default=0) + 1):
        its = [bot for bot, one in places.items() if one.division == division]
        results.append(_result(session, played.get(division), its, active))
    rose: list[int] = []
    fell: list[int] = []
    for division, bots in enumerate(moved(results, parts[0].moves), 1):
        for number, bot in enumerate(bots, 1):
            place = places[bot]
            if place.division != division:
                (fell if place.division < division else rose).append(bot)
            place.division, place.number = division, number
    for message, bots in ((ROSE, rose), (FELL, fell)):
        for bot in bots:
            tell(session, ladder, message, places[bot], now)
    told = [
        f"{word}: {', '.join(places[bot].bot.name for bot in bots)}"
        for word, bots in (("rose", rose), ("fell", fell))
        if bots
    ]
    return ", ".join(told)


def _result(
    session: Session, part: LadderRound | None, its: Sequence[int], active: Set[int]
) -> DivisionResult:
    """How a division came out.

    Args:
        part: its tournament; None if none was made.
        its: the bots that are in it, as they stood before.
        active: the bots that are on the ladder still. Who is not comes last, so that nobody stays
            where they were by leaving for a moment, with another falling in their stead.
    """
    if part is None or part.made.is_called_off:
        return DivisionResult(its, is_played=False)
    query = (
        sa.select(Entrant)
        .where(Entrant.competition_id == part.made_id)
        .order_by(sa.nulls_last(Entrant.final_place), Entrant.final_points.desc(), Entrant.number)
        .options(joinedload(Entrant.version))
    )
    entrants = {one.version.bot_id: one for one in session.scalars(query)}
    # Who was put into the division since, is last.
    order = [bot for bot in entrants if bot in its]
    order += [bot for bot in its if bot not in entrants]
    order.sort(key=lambda bot: bot not in active)
    may = set(order) & active
    boss = entrants.get(part.boss_id or 0)
    if boss is not None and boss.state is EntrantState.ACTIVE:
        may = {bot for bot in may if bot in entrants and _beat(session, entrants[bot], boss)}
    return DivisionResult(order, may_rise=may)


def _beat(session: Session, one: Entrant, other: Entrant) -> bool:
    """Whether an entrant has more than half of the points of its games against another."""
    pair = sorted((one.id, other.id))
    found = session.get(Meeting, pair)
    if found is None:
        return False
    losses = found.games - found.wins - found.draws
    return found.wins > losses if one.id == found.first_id else found.wins < losses


def tell(
    session: Session, ladder: Ladder, message: str, place: DivisionPlace, now: datetime
) -> None:
    """Tells a bot's owners which place it has in the divisions of a ladder by now."""
    notify(
        session,
        who_see(session, ladder, owners(session, [place.bot_id])),
        message,
        {"bot": place.bot.name, "division": place.division, "title": ladder.title},
        f"/competitions/{ladder.name}",
        now,
        topic=Topic.LADDER,
    )
