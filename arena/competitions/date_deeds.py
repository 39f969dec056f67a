"""What can be changed about dates: one is set or moved, and one is removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena.competitions.date_settings import USUAL_RESERVE
from arena.competitions.dates import (
    find_date,
    kind_named,
    moment_words,
    read_dates,
    read_moment,
    remove_date,
    set_date,
    told_settings,
)
from arena.competitions.founding import find_named
from arena.competitions.kinds import kind_of
from arena.competitions.organised import OrganisedDeed
from arena.deeds import By, Deed, Done, asked
from arena.ground.refusals import NotAllowed
from arena.models import Competition, CompetitionDate, DateKind, Scope
from arena.people.audience import hearers
from arena.people.notifications import notify
from engine.translation import N_, gettext

SETTINGS = (
    "Of final: top (of so many bots), format and its settings, and reserve (percent of the workers "
    "that it has before all others). Of round: every (hour, day or week), size (how many bots a "
    "division has; 0 for no divisions), moves (how many rise and fall), format and its settings. "
    "Of season: keep (percent of what each rating is off that of a "
    "new bot)"
)
DATES = (
    "Its dates by what happens (" + ", ".join(DateKind) + "), each its moment, as "
    "2026-12-24T18:00Z, and settings behind it"
)
MOMENT = "When, as 2026-12-24T18:00Z, or with another zone as 2026-12-24T19:00+01:00"
MOVED = N_("the date %(what)s of %(name)s is moved: it is %(after)s, and was %(before)s")
REMOVED = N_("the date %(what)s of %(name)s is removed, which was %(before)s")


def _tell(session: Session, competition: Competition, message: str, by: By, **places: Any) -> None:
    """Tells all who hear of a competition that a date of it is another."""
    notify(
        session,
        hearers(session, competition) - {by.actor.id},
        message,
        {"name": competition.name, **places},
        f"/competitions/{competition.name}",
        by.now,
        topic=kind_of(competition).topic,
    )


def set_dates(session: Session, competition: Competition, given: Mapping[str, str], by: By) -> None:
    """Sets the dates of a competition that was just made.

    Raises:
        Refusal: one of them can't be.
    """
    for what, (at, settings) in read_dates(given).items():
        set_date(session, competition, what, at, settings, by.now, by.actor)


@dataclass(frozen=True)
class DateDeed(OrganisedDeed):
    """Changes a date of a competition."""

    subject = "competitions"

    name: str = asked("The name of the ladder or the tournament")
    what: str = asked("What happens", choices=tuple(map(str, DateKind)))


@dataclass(frozen=True)
class SetDate(DateDeed):
    """Set a date of a ladder or a tournament, or move one that has not happened.

    What happens then happens by itself. All who take part are told if it is moved.
    """

    address = "POST /competitions/<name>/dates"
    command = "date set NAME WHAT AT"
    example = "blitz closes 2026-12-24T18:00Z"
    answers = CompetitionDate

    at: str = asked(MOMENT, label="When, in UTC", most=40)
    settings: Mapping[str, str] = asked(SETTINGS, default={})

    def do(self, session: Session, by: By) -> Done:
        competition, what = find_named(session, Competition, self.name), kind_named(self.what)
        known = find_date(session, competition, what)
        before = (
            None
            if known is None
            else SetDate(self.name, self.what, known.at.isoformat(), told_settings(known))
        )
        at = read_moment(self.at)
        share_before = _reserve(known)
        found, moved = set_date(session, competition, what, at, self.settings, by.now, by.actor)
        if _reserve(found) > share_before and not by.may(Scope.ORGANISE):
            raise NotAllowed(
                gettext(
                    "a reserve of more than %(most)s percent is for organisers of the site to set",
                    most=share_before,
                )
            )
        if moved is not None and moved != found.at:
            _tell(session, competition, MOVED, by, what=what, before=moved, after=found.at)
        undo: Deed = RemoveDate(self.name, self.what) if before is None else before
        is_other = before is None or before != SetDate(
            self.name, self.what, found.at.isoformat(), told_settings(found)
        )
        its = {"name": self.name, "what": self.what, "moment": moment_words(found.at)}
        if moved is not None:
            said = gettext("the date %(what)s of %(name)s is %(moment)s now", **its)
        else:
            said = gettext("the date %(what)s of %(name)s is set: %(moment)s", **its)
        return Done(said, found, (undo,) if is_other else ())


def _reserve(date: CompetitionDate | None) -> int:
    """The percent of the workers that a date gives; no less than is usual."""
    its = {} if date is None else date.settings or {}
    return max(USUAL_RESERVE, int(its.get("reserve", USUAL_RESERVE)))


@dataclass(frozen=True)
class RemoveDate(DateDeed):
    """Remove a date of a ladder or a tournament that has not happened.

    All who take part are told.
    """

    address = "POST /competitions/<name>/dates/remove"
    command = "date remove NAME WHAT"
    example = "blitz closes"

    def do(self, session: Session, by: By) -> Done:
        competition = find_named(session, Competition, self.name)
        gone = remove_date(session, competition, kind_named(self.what), by.now, by.actor)
        _tell(session, competition, REMOVED, by, what=gone.what, before=gone.at)
        undo = SetDate(self.name, self.what, gone.at.isoformat(), told_settings(gone))
        said = gettext("the date %(what)s of %(name)s is removed", name=self.name, what=self.what)
        return Done(said, undo=(undo,))
