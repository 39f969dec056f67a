"""Ladders that begin again: the past becomes a closed ladder of its own, and the name goes on.

What is in the past stays as it is, with its number, its entrants, its matches and their ratings, so
that nothing is copied and every rebuild comes out as before; it only gets another name, as
``blitz-season-1``. A new ladder takes the name, the settings and the active entrants, each with the
rating that it starts from. So the address of a ladder leads to the season that goes on.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import ladder_settings
from arena.competitions.dates import find_date, next_moment
from arena.competitions.founding import fair_start, free_name
from arena.competitions.masks import in_lots, masked
from arena.competitions.visibility import make_part
from arena.ground.locks import locking
from arena.ground.texts import cut
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    DateKind,
    DivisionPlace,
    Entrant,
    EntrantState,
    Follow,
    FormerName,
    JobStatus,
    Ladder,
    Match,
    Membership,
    Repository,
    StrengthTest,
    TestVerdict,
    Tournament,
    VersionStatus,
)
from arena.ratings.book import NEW
from arena.ratings.trueskill import Rating
from engine.seeds import derive

ITS_OWN = frozenset(
    {
        "id", "kind", "name", "state", "seed", "matches_made", "last_match", "games",
        "worker_seconds", "head_start", "neighbours", "ties", "last_game", "created", "finished",
        "rebuild_due", "checked", "alarm", "placed_games", "series_id", "season", "told",
    }
)  # fmt: skip
"""What each season has of its own; all other columns are taken over."""
WAITING = (JobStatus.OPEN, JobStatus.ISSUED, JobStatus.SET_ASIDE)


def lock_what_moves(session: Session, ladder_id: int) -> None:
    """Locks a ladder and what goes on in its next season: checks, and then it with its tests and
    tournaments."""
    checks = sa.select(Check).where(Check.ladder_id == ladder_id, Check.status.in_(WAITING))
    session.scalars(locking(checks, Check)).all()
    tests = sa.select(StrengthTest.id).where(*_waiting_tests(ladder_id))
    tournaments = sa.select(Tournament.id).where(*_waiting_tournaments(ladder_id))
    which = sa.or_(
        Competition.id == ladder_id, Competition.id.in_(tests), Competition.id.in_(tournaments)
    )
    session.scalars(locking(sa.select(Competition).where(which), Competition)).all()


def begin_again(session: Session, past: Ladder, keep: float, at: datetime, now: datetime) -> Ladder:
    """Has a ladder begin again, and gives its new season; the past is closed, if it was not.

    Args:
        past: locked, and what moves of it.
        keep: how much of what each rating is off a new bot's it is off that at the start, from 0
            to 1.
        at: when the season begins.
    """
    name, number = past.name, past.season or 1
    if past.state is not CompetitionState.CLOSED:
        state = {"state": str(CompetitionState.CLOSED)}
        ladder_settings.change(session, ARENA, past, state, now)
        past.finished = at
    title = past.title
    past.series_id, past.season = past.series_id or past.id, number
    past.name = free_name(session, name, f"-season-{number}")
    past.title = f"{cut(title, 100)}, season {number}"
    taken = _taken_over(past)
    session.flush()
    new = Ladder(
        **taken | {"title": title},
        name=name,
        state=CompetitionState.OPEN,
        seed=derive(past.seed, "season", number + 1),
        created=now,
        series_id=past.series_id,
        season=number + 1,
        head_start=fair_start(session, past.weight),
    )
    session.add(new)
    session.flush()
    _enter(session, past, new, keep, now)
    _move(session, past, new, now)
    return new


def _taken_over(past: Ladder) -> dict[str, Any]:
    """The columns of the new season that are those of the past; what one alone can have is gone
    from the past by then."""
    found = {}
    for one in Ladder.__mapper__.column_attrs:
        if one.key not in ITS_OWN:
            found[one.key] = getattr(past, one.key)
            if one.columns[0].unique:
                setattr(past, one.key, None)
    return found


def _enter(session: Session, past: Ladder, new: Ladder, keep: float, now: datetime) -> None:
    """Enters all that were active and can play, in their order; in an anonymous one by lot, as the
    names of the past season are known by then."""
    last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
    there = session.scalars(
        sa.select(Entrant)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .where(
            Entrant.competition_id == past.id,
            Entrant.state == EntrantState.ACTIVE,
            BotVersion.status == VersionStatus.READY,
            Bot.deleted.is_(None),
        )
        .order_by(Entrant.id)
    )
    for one in in_lots(there.all()) if new.anonymous else there.all():
        start = drawn_in(Rating(one.mu, one.sigma), keep)
        session.add(
            Entrant(
                competition=new,
                version=masked(session, new, one.version.real, now),
                state=EntrantState.ACTIVE,
                entered=now,
                entered_after=last,
                start_mu=start.mu if keep else None,
                start_sigma=start.sigma if keep else None,
                mu=start.mu,
                sigma=start.sigma,
            )
        )
    session.flush()


def drawn_in(rating: Rating, keep: float) -> Rating:
    """A rating, of which a share is kept of what it is off that of a new bot."""
    return Rating(
        NEW.mu + keep * (rating.mu - NEW.mu), NEW.sigma + keep * (rating.sigma - NEW.sigma)
    )


def _move(session: Session, past: Ladder, new: Ladder, now: datetime) -> None:
    """What was handed in, or is tested first, enters the new season, and tournaments whose field is
    not drawn have theirs from it; who hears of the ladder, or belongs to it, does so of that, names
    that it had lead there, and rounds and divisions go on, but for divisions of masks."""
    if new.anonymous:  # who was where is known by then
        masks = sa.select(Bot.id).where(Bot.masked_in == past.id)
        theirs = DivisionPlace.competition_id == past.id, DivisionPlace.bot_id.in_(masks)
        session.execute(sa.delete(DivisionPlace).where(*theirs))
    for kind in (Follow, FormerName, Membership, DivisionPlace):
        of_it = sa.update(kind).where(kind.competition_id == past.id)
        session.execute(of_it.values(competition_id=new.id))
    coming = find_date(session, past, DateKind.ROUND)
    if coming is not None:
        if coming.happened is not None:  # the past was closed by then
            coming.at, coming.happened, coming.outcome = next_moment(coming, now), None, ""
        coming.competition = new
    for repository in session.scalars(sa.select(Repository)):
        if past.id in repository.ladders:
            others = [one for one in repository.ladders if one != past.id]
            repository.ladders = [*others, new.id]
    # Who belongs to the ladder belongs to its past.
    within = sa.update(Competition).where(Competition.within_id == past.id)
    session.execute(within.values(within_id=new.id))
    make_part(past, new)
    for check in session.scalars(
        sa.select(Check).where(Check.ladder_id == past.id, Check.status.in_(WAITING))
    ):
        check.ladder = new
    for test in session.scalars(sa.select(StrengthTest).where(*_waiting_tests(past.id))):
        test.ladder_id = new.id
    for tournament in session.scalars(sa.select(Tournament).where(*_waiting_tournaments(past.id))):
        tournament.ladder_id = new.id
    session.flush()


def _waiting_tests(ladder_id: int) -> tuple[sa.ColumnElement[bool], ...]:
    return StrengthTest.ladder_id == ladder_id, StrengthTest.verdict == TestVerdict.RUNNING


def _waiting_tournaments(ladder_id: int) -> tuple[sa.ColumnElement[bool], ...]:
    return Tournament.ladder_id == ladder_id, Tournament.signing_up.is_(True)
