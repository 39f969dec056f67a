"""What an organiser decides about a match: void, replayed, or to be tried again.

The unit is the match and never a single game of it: an opening is fair only when it is played
from every seat, so that a match of which one game does not count would favour somebody.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, locks, texts
from arena.audit import Actor
from arena.competitions.kinds import kind_of
from arena.competitions.voiding import make_void
from arena.db import LARGEST_ID
from arena.locks import lock
from arena.models import (
    Check,
    Competition,
    CompetitionState,
    JobStatus,
    Match,
    Place,
)


class VerdictError(ValueError):
    """What can't be decided about a match; one sentence that says what to do."""


def hold(session: Session, numbers: Collection[int]) -> None:
    """Locks matches, and then their competitions.

    To be called before several of them are decided on in one transaction.
    """
    known = [number for number in numbers if 0 < number <= LARGEST_ID]
    its = sa.select(Match.competition_id).where(Match.id.in_(known))
    ids = set(session.scalars(locks.locking(its, Match)))
    theirs = sa.select(Competition).where(Competition.id.in_(ids))
    session.scalars(locks.locking(theirs, Competition, anew=True)).all()


def void(
    session: Session, actor: Actor, number: int, note: str, *, replay: bool = False, now: datetime
) -> Match | None:
    """Makes a match void: its games stay to be seen and count for nothing.

    What was counted is made anew by the recorder. In a tournament its fixture is due again, with
    the same opening and dice, and one that was over goes on; what was played in later rounds of
    a knockout stands as long as the same bots go on.

    Args:
        number: the match's.
        note: why, for everybody.
        replay: plays it again on a ladder: the same entrants, opening and dice.

    Returns:
        The match that replays it, if one was made.

    Raises:
        VerdictError: there is no such match, it can't be void, or a word on why is missing.
    """
    match = _find(session, number)
    competition = match.competition
    lock(session, competition)  # the recorder may be closing it
    note = texts.typed(note, VerdictError)
    if not note:
        raise VerdictError("say why the match is to be void")
    if match.status not in (JobStatus.FIXED, JobStatus.SET_ASIDE):
        known = "is void already" if match.status is JobStatus.VOID else "is not played yet"
        raise VerdictError(f"match {number} {known}")
    kind = kind_of(competition)
    if problem := kind.why_not_void(competition, match):
        raise VerdictError(problem)
    if replay and competition.state is CompetitionState.FROZEN:
        raise VerdictError(f"the {kind.word} {competition.name} is frozen: nothing is played there")
    make_void(session, match, note)
    kind.settle(session, competition, now)
    again = _again(session, match, now) if replay and kind.replays else None
    detail = match.problem + (f"; replayed as match {again.id}" if again else "")
    audit.note(session, actor, "void match", f"match {match.id}", detail, now=now)
    return again


def _again(session: Session, match: Match, now: datetime) -> Match:
    """The same match to be played once more."""
    again = Match(
        competition_id=match.competition_id,
        status=JobStatus.OPEN,
        round=match.round,
        leg=match.leg,
        rated=match.rated,
        requester_id=match.requester_id,
        options=dict(match.options),
        opening=list(match.opening),
        seed=match.seed,
        created=now,
        places=[Place(number=one.number, entrant_id=one.entrant_id) for one in match.places],
    )
    session.add(again)
    # By the database, which may know of matches that this transaction has not seen.
    match.competition.matches_made = Competition.matches_made + 1
    session.flush()
    return again


def requeue(session: Session, actor: Actor, number: int, now: datetime) -> None:
    """Has a match tried again that was set aside.

    Raises:
        VerdictError: there is no such match, or it is not set aside.
    """
    match = _find(session, number)
    if match.status is not JobStatus.SET_ASIDE:
        raise VerdictError(f"match {number} is {match.status}, and not set aside")
    match.status, match.failures = JobStatus.OPEN, 0
    audit.note(session, actor, "requeue match", f"match {number}", match.problem, now=now)


def requeue_check(session: Session, actor: Actor, number: int, now: datetime) -> None:
    """Has a check tried again that was set aside.

    Raises:
        VerdictError: there is no such check, or it is not set aside.
    """
    check = locks.find(session, Check, number, to_change=True)
    if check is None:
        raise VerdictError(f"there is no check {number}")
    if check.status is not JobStatus.SET_ASIDE:
        raise VerdictError(f"check {number} is {check.status}, and not set aside")
    check.status, check.failures = JobStatus.OPEN, 0
    audit.note(session, actor, "requeue check", f"check {number}", check.problem, now=now)


def _find(session: Session, number: int) -> Match:
    match = locks.find(session, Match, number, to_change=True)
    if match is None:
        raise VerdictError(f"there is no match {number}")
    return match
