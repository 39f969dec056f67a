"""How long a tournament is likely to take, by how long such matches took workers so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.results import Results
from arena.formats.format import Format
from arena.ground.db import is_lately
from arena.models import ALIVE_SECONDS, JobStatus, Ladder, Worker
from engine.plurals import counted, time_span
from engine.translation import gettext


@dataclass(frozen=True, slots=True)
class TournamentForecast:
    """What is to be expected of a tournament, or of the rest of one."""

    matches: int
    is_least: bool
    """Whether it may be more, by results."""
    match_seconds: float | None
    """How long a worker takes for one; None where none was played yet."""
    workers: int
    """How many workers are there."""
    slots: int
    """How many matches they play at a time."""

    @property
    def seconds(self) -> float | None:
        """How long it takes; None if that can't be told."""
        if self.match_seconds is None or not self.slots:
            return None
        return self.matches * self.match_seconds / self.slots

    @property
    def words(self) -> str:
        """``45 matches, about 12 min with 2 workers``"""
        matches = counted(self.matches, "match", "matches")
        if self.is_least:
            matches = gettext("at least %(matches)s", matches=matches)
        if self.match_seconds is None:
            return gettext(
                "%(matches)s; how long one takes is known once some were played", matches=matches
            )
        if self.seconds is None:
            return gettext("%(matches)s; no worker is there to play them", matches=matches)
        about = gettext(
            "%(matches)s, about %(time)s with %(workers)s",
            matches=matches,
            time=time_span(self.seconds),
            workers=counted(self.workers, "worker"),
        )
        if self.slots == self.workers:
            return about
        return gettext("%(about)s, %(slots)s at a time", about=about, slots=self.slots)


def of_new(
    session: Session, form: Format, size: int, ladder: Ladder | None, now: datetime
) -> TournamentForecast:
    """What a tournament takes of which nothing was played.

    Args:
        size: how many play.
        ladder: whose bots they are, on which such matches were played.
    """
    planned = form.planned(size)
    seconds = ladder.match_seconds(0) if ladder is not None and ladder.worker_seconds else None
    fewest = form.fewest(size) if planned is None else planned
    return TournamentForecast(fewest, planned is None, seconds, *_workers(session, now))


def of_rest(session: Session, found: Results, now: datetime) -> TournamentForecast | None:
    """What is left of a tournament; None if nothing is, or if nobody knows how much."""
    if found.planned is None or found.tournament.finished is not None:
        return None
    played = found.count(JobStatus.FIXED)
    seconds = found.tournament.worker_seconds / played if played else None
    return TournamentForecast(found.planned - played, False, seconds, *_workers(session, now))


def _workers(session: Session, now: datetime) -> tuple[int, int]:
    """How many boxed workers are given work, and how many matches at a time."""
    alive = is_lately(Worker.last_seen, timedelta(seconds=ALIVE_SECONDS), now)
    query = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(Worker.slots), 0))
    query = query.where(alive, Worker.set_aside.is_(None), sa.not_(Worker.at_home))
    workers, slots = session.execute(query).one()
    return workers, int(slots)
