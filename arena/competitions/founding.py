"""What every competition gets: a name, its share of the workers' time, and its end.

One that comes late, or comes back, counts as having had as much of that time as the open one that
had the least: it would else have the workers to itself until it had caught up. For the same
reason, one whose weight is changed counts as having had what it had, by the weight that it has now.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena import naming
from arena.deeds import LONGEST_NAME
from arena.ground import locks
from arena.ground.db import LOOKED_UP, SUGGESTED, count_rows
from arena.ground.guesses import MOST_LOOKED_AT
from arena.ground.refusals import NotThere, Refusal
from arena.models import Competition, CompetitionDate, CompetitionState, DateKind, User
from engine.guesses import instead
from engine.translation import N_, gettext

C = TypeVar("C", bound=Competition)

TEST, TUNING = "test", "tuning"
"""What stands before the number of those that have no name of their own."""
RUNNING_ALLOWED = 5
"""How many tests of one person's may run at the same time; so many tunings, and gauntlets, too."""
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,79}", re.ASCII)
_BY_NUMBER = re.compile(r"(test|tuning)-[0-9]+", re.ASCII)
# What is said of each kind, by what the database knows it by.
_NOT_THERE = {
    "ladder": N_("there is no ladder %(name)r; %(known)s"),
    "tournament": N_("there is no tournament %(name)r; %(known)s"),
    "gauntlet": N_("there is no gauntlet %(name)r; %(known)s"),
}
_NOT_THERE_OF_ANY = N_("there is no competition %(name)r; %(known)s")
_MANY_RUN = {
    "test": N_("%(number)s tests of yours are running: wait for one, or stop it"),
    "tuning": N_("%(number)s tunings of yours are running: wait for one, or stop it"),
    "gauntlet": N_("%(number)s gauntlets of yours are running: wait for one, or stop it"),
}
_MANY_RUN_OF_ANY = N_("%(number)s competitions of yours are running: wait for one, or stop it")
_NO_NAMES = {
    "ladder": N_("%(name)r is no name for a ladder: 1 to 80 small letters, digits and '-'"),
    "tournament": N_("%(name)r is no name for a tournament: 1 to 80 small letters, digits and '-'"),
}
_NO_NAME_OF_ANY = N_("%(name)r is no name for a competition: 1 to 80 small letters, digits and '-'")
_NUMBERED = {
    TEST: N_("%(name)s is what a strength test is called: choose another name"),
    TUNING: N_("%(name)s is what a tuning is called: choose another name"),
}


def find_named(session: Session, kind: type[C], name: str) -> C:
    """The ladder or the tournament of a name.

    Raises:
        NotThere: there is none; it says which there are.
    """
    its = sa.select(kind).where(kind.named(name))
    found = session.scalar(its, execution_options=LOOKED_UP)
    if found is None:
        names = sa.select(kind.name).order_by(kind.id).limit(MOST_LOOKED_AT)
        known = session.scalars(names, execution_options=SUGGESTED)
        words = _NOT_THERE.get(_called(kind), _NOT_THERE_OF_ANY)
        raise NotThere(gettext(words, name=name, known=instead(name[:80], known)))
    naming.note(name, found)
    return found


def demand_few(
    session: Session,
    kind: type[Competition],
    creator_id: int | None,
    *which: sa.ColumnElement[bool],
) -> None:
    """Refuses one more competition of a kind to a person of whom many run.

    Args:
        creator_id: whose it is to be; of nobody's there may be any number.
        which: which of them count, if not all.

    Raises:
        Refusal: so many run as may.
    """
    if creator_id is None:
        return
    # Two forms of one person at the same moment wait for each other here.
    locks.find(session, User, creator_id, to_change=True)
    its = kind.creator_id == creator_id, kind.state != CompetitionState.CLOSED
    if count_rows(session, kind, *its, *which) >= RUNNING_ALLOWED:
        words = _MANY_RUN.get(_called(kind), _MANY_RUN_OF_ANY)
        raise Refusal(gettext(words, number=RUNNING_ALLOWED))


def _called(kind: type[Competition]) -> str:
    return str(kind.__mapper__.polymorphic_identity)


def demand_name(session: Session, name: str, kind: str, *, but: Competition | None = None) -> None:
    """Refuses what is no name, and one that another competition has, had or may get by itself.

    Args:
        kind: what is to be called so, in a word.
        but: what is called so from now on, and may have been before.

    Raises:
        Refusal: it is one of these.
    """
    if not NAME.fullmatch(name):
        raise Refusal(gettext(_NO_NAMES.get(kind, _NO_NAME_OF_ANY), name=name[:60]))
    if its := _BY_NUMBER.fullmatch(name):
        raise Refusal(gettext(_NUMBERED[its[1]], name=name))
    if _is_taken(session, name, but):
        raise Refusal(_taken(name))


def add_named(session: Session, competition: Competition) -> None:
    """Adds a competition, and refuses it if another took its name at the same moment."""
    session.add(competition)
    try:
        session.flush()
    except IntegrityError:
        raise Refusal(_taken(competition.name)) from None
    naming.demand_never(session, competition)


def free_name(session: Session, name: str, end: str = "") -> str:
    """A name that no competition has: this one with its end, or with the first number behind it;
    cut before its end where it would be too long."""
    ends = (end if number == 1 else f"{end}-{number}" for number in count(1))
    named = (name[: LONGEST_NAME - len(one)] + one for one in ends)
    return next(one for one in named if not _is_taken(session, one))


def add_by_number(session: Session, make: Callable[[], C], word: str = TEST) -> C:
    """Adds a competition that is called by its number: the next one whose name is free.

    An arena may have a ladder of such a name, from when none was refused.

    Args:
        make: makes it, but for its name.
        word: what stands before the number.
    """
    without_name: list[C] = []
    while not without_name or _is_taken(session, f"{word}-{without_name[-1].id}"):
        # The last keeps its number meanwhile, or it would be the next one's, too.
        one = make()
        one.name = uuid.uuid4().hex
        session.add(one)
        session.flush()
        without_name.append(one)
    made = without_name.pop()
    made.name = f"{word}-{made.id}"
    for one in without_name:
        session.delete(one)
    session.flush()
    return made


def _is_taken(session: Session, name: str, but: Competition | None = None) -> bool:
    found = session.scalar(sa.select(Competition.id).where(Competition.named(name)))
    return found is not None and (but is None or found != but.id)


def _taken(name: str) -> str:
    return gettext("there is a competition %(name)s already: choose another name", name=name)


def fair_start(session: Session, weight: float, *, but: Competition | None = None) -> float:
    """The workers' time, in seconds, that a competition of a weight is to count as having had.

    Args:
        but: a competition that is not looked at: the one that comes back.
    """
    had = Competition.head_start + Competition.worker_seconds
    share = sa.select(sa.func.min(had / Competition.weight)).where(
        Competition.state == CompetitionState.OPEN
    )
    if but is not None:
        share = share.where(Competition.id != but.id)
    return (session.scalar(share) or 0.0) * weight


def come_back(session: Session, competition: Competition) -> None:
    """Lets a competition that was not open take its place among those that were."""
    start = fair_start(session, competition.weight, but=competition)
    competition.head_start = max(competition.head_start, start - competition.worker_seconds)


def weigh_anew(competition: Competition, before: float) -> None:
    """Leaves a competition its place among the others though its weight was another before."""
    had = competition.head_start + competition.worker_seconds
    competition.head_start = had * competition.weight / before - competition.worker_seconds


def _is_closed_by_date(session: Session, competition: Competition) -> bool:
    its = CompetitionDate.competition_id == competition.id
    happened = its, CompetitionDate.what == DateKind.CLOSES, CompetitionDate.happened.is_not(None)
    return bool(count_rows(session, CompetitionDate, *happened))


def set_over(session: Session, competition: Competition, over: bool, now: datetime) -> None:
    """Closes a competition of which all is played; opens again one of which something is due, but
    for one that its date has closed."""
    if over and competition.state is not CompetitionState.CLOSED:
        competition.state, competition.finished = CompetitionState.CLOSED, now
    elif (
        not over
        and competition.state is CompetitionState.CLOSED
        and not _is_closed_by_date(session, competition)
    ):
        competition.state, competition.finished = CompetitionState.OPEN, None
        competition.placed_games = None
        come_back(session, competition)
