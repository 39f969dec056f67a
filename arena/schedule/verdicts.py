"""What an organiser decides about a match: void, replayed, or to be tried again.

The unit is the match and never a single game of it: an opening is fair only when it is played
from every seat, so that a match of which one game does not count would favour somebody.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.kinds import kind_of
from arena.competitions.voids import make_void
from arena.deeds import LONGEST_NOTE, By, Deed, Done, asked
from arena.ground import bot_names, locks, texts
from arena.ground.bot_names import Named
from arena.ground.db import is_id
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    JobStatus,
    Match,
    Place,
    Scope,
)
from engine.translation import gettext, ngettext, pgettext, translated

J = TypeVar("J", bound=Match | Check)


class Voided(NamedTuple):
    """A match that is void now."""

    match: Match
    replayed_as: Annotated[int | None, "The number of the match that replays it"]


@dataclass(frozen=True)
class VoidMatch(Deed):
    """Make a match void: its games stay to be seen and count for nothing.

    The recorder makes the ratings anew without it. In a tournament it is played again.
    """

    scope = Scope.ORGANISE
    address = "POST /matches/<int:number>/void"
    command = "match void NUMBER"
    example = '17 --note "the machine was overloaded" --replay'
    subject = "games"
    answers = Voided
    lasting = (
        "The match counts for nothing any more, its games stay to be seen, and ratings are made "
        "anew without it. This can't be undone."
    )

    number: int = asked("The match's number")
    note: str = asked("Why, for everybody to read", most=LONGEST_NOTE)
    replay: bool = asked(
        "On a ladder: play it again, with the same bots, opening and dice",
        label="Play it again: the same bots, opening and dice",
        default=False,
    )

    def concerns(self, session: Session) -> Competition | None:
        return _competition_of(session, self.number)

    def do(self, session: Session, by: By) -> Done:
        again = void(session, by.actor, self.number, self.note, replay=self.replay, now=by.now)
        replayed_as = None if again is None else again.id
        match = session.get_one(Match, self.number)
        if again is None:
            said = gettext("match %(number)s is void", number=self.number)
        else:
            said = gettext(
                "match %(number)s is void; it is replayed as match %(again)s",
                number=self.number,
                again=replayed_as,
            )
        return Done(said, Voided(match, replayed_as))


@dataclass(frozen=True)
class RequeueMatch(Deed):
    """Try a match again that was set aside because it failed too often."""

    scope = Scope.ORGANISE
    address = "POST /matches/<int:number>/requeue"
    subject = "games"
    answers = Match
    adds = True

    number: int = asked("The match's number")

    def concerns(self, session: Session) -> Competition | None:
        return _competition_of(session, self.number)

    def do(self, session: Session, by: By) -> Done:
        requeue(session, by.actor, Match, self.number, by.now)
        return Done(
            gettext("match %(number)s is tried again", number=self.number),
            session.get_one(Match, self.number),
        )


@dataclass(frozen=True)
class RequeueChecks(Deed):
    """Try checks again that were set aside because workers failed at them too often."""

    scope = Scope.ORGANISE
    address = "POST /checks/requeue"
    subject = "submissions"
    adds = True

    bots: tuple[str, ...] = asked(
        "Of these bots, or of versions of them as greedy:2; by default of all",
        default=(),
        most=1000,
    )

    def do(self, session: Session, by: By) -> Done:
        aside = Check.status == JobStatus.SET_ASIDE
        numbers = [] if self.bots else list(session.scalars(checks_of(aside)))
        for name in self.bots:
            found = list(session.scalars(checks_of(aside, bot_names.read(name))))
            if not found:
                raise Refusal(gettext("no check of %(bot)s is set aside", bot=name))
            numbers += [number for number in found if number not in numbers]
        for number in sorted(numbers):  # as all lock checks
            requeue(session, by.actor, Check, number, by.now)
        return Done(
            ngettext(
                "%(number)s check is to be tried again",
                "%(number)s checks are to be tried again",
                len(numbers),
                number=len(numbers),
            )
        )


def checks_of(which: sa.ColumnElement[bool], named: Named | None = None) -> sa.Select[int]:
    """The numbers of such checks, of one bot or version if it is named."""
    query = sa.select(Check.id).join(Check.version).join(BotVersion.bot).where(which)
    if named is not None:
        query = query.where(Bot.named(named.name))
        if named.version is not None:
            query = query.where(BotVersion.number == named.version)
    return query.order_by(Check.id)


def hold(session: Session, numbers: Collection[int]) -> None:
    """Locks matches, and then their competitions.

    To be called before several of them are decided on in one transaction.
    """
    known = [number for number in numbers if is_id(number)]
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
        Refusal: there is no such match, it can't be void, or a word on why is missing.
    """
    match = _find(session, Match, number)
    competition = match.competition
    lock(session, competition)  # the recorder may be closing it
    note = texts.typed(note)
    if not note:
        raise Refusal(gettext("say why the match is to be void"))
    if problem := why_not_void(match):
        raise Refusal(problem)
    kind = kind_of(competition)
    if replay and (problem := why_not_replayed(match)):
        raise Refusal(problem)
    make_void(session, match, note)
    kind.end_or_reopen(session, competition, now)
    again = play_again(session, match, now) if replay and kind.replays else None
    detail = match.problem + (f"; replayed as match {again.id}" if again else "")
    audit.note(session, actor, "void match", f"match {match.id}", detail, now=now)
    return again


def why_not_void(match: Match) -> str | None:
    """Why a match can't be made void, in a sentence; None if it can."""
    if match.status is JobStatus.VOID:
        return gettext("match %(number)s is void already", number=match.id)
    if match.status not in (JobStatus.FIXED, JobStatus.SET_ASIDE):
        return gettext("match %(number)s is not played yet", number=match.id)
    return kind_of(match.competition).why_not_void(match.competition, match)


def why_not_replayed(match: Match) -> str | None:
    """Why a match that is made void can't be played again, in a sentence; None if it can, or if
    that is not for who asks."""
    competition = match.competition
    kind = kind_of(competition)
    its = {"kind": translated(kind.word), "name": competition.name}
    if competition.state is CompetitionState.FROZEN:
        return gettext("the %(kind)s %(name)s is frozen: nothing is played there", **its)
    if kind.replays and competition.state is CompetitionState.CLOSED:
        return gettext("the %(kind)s %(name)s is closed: nothing is played there", **its)
    return None


def play_again(session: Session, match: Match, now: datetime) -> Match:
    """Makes a match anew that is to be played once more."""
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


def requeue(session: Session, actor: Actor, kind: type[J], number: int, now: datetime) -> None:
    """Has a match or a check tried again that was set aside.

    Raises:
        Refusal: there is no such one, or it is not set aside.
    """
    job = _find(session, kind, number)
    name = f"{_word(kind)} {number}"
    if job.status is not JobStatus.SET_ASIDE:
        its = {"number": number, "status": _stands(job)}
        if kind is Match:
            words = gettext("match %(number)s is %(status)s, and not set aside", **its)
        else:
            words = gettext("check %(number)s is %(status)s, and not set aside", **its)
        raise Refusal(words)
    try_again(job)
    audit.note(session, actor, f"requeue {_word(kind)}", name, job.problem, now=now)


def try_again(job: Match | Check) -> None:
    """Has what was set aside tried once more."""
    job.status, job.failures = JobStatus.OPEN, 0


def _stands(job: Match | Check) -> str:
    """How a match or a check stands, in the reader's words."""
    match = {
        JobStatus.OPEN: pgettext("a match", "open"),
        JobStatus.ISSUED: pgettext("a match", "issued"),
        JobStatus.FIXED: pgettext("a match", "fixed"),
        JobStatus.SET_ASIDE: pgettext("a match", "set aside"),
        JobStatus.VOID: pgettext("a match", "void"),
    }
    check = {
        JobStatus.OPEN: pgettext("a check", "open"),
        JobStatus.ISSUED: pgettext("a check", "issued"),
        JobStatus.FIXED: pgettext("a check", "fixed"),
        JobStatus.SET_ASIDE: pgettext("a check", "set aside"),
        JobStatus.VOID: pgettext("a check", "void"),
    }
    return (match if isinstance(job, Match) else check)[job.status]


def _find(session: Session, kind: type[J], number: int) -> J:
    job = locks.find(session, kind, number, to_change=True)
    if job is None:
        if kind is Match:
            raise _no_match(number)
        raise NotThere(gettext("there is no check %(number)s", number=number))
    return job


def _competition_of(session: Session, number: int) -> Competition:
    """The competition of a match.

    Raises:
        NotThere: there is no such match.
    """
    match = locks.find(session, Match, number)
    if match is None:
        raise _no_match(number)
    return match.competition


def _no_match(number: int) -> NotThere:
    return NotThere(gettext("there is no match %(number)s", number=number))


def _word(kind: type[J]) -> str:
    return kind.__name__.lower()
