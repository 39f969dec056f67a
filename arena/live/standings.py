"""How matches that are watched stand, by the database."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.orm import load_only

from arena.ground.db import Database
from arena.keeping.reading import record_of
from arena.live.shows import BEGUN, WAITING, LiveShow, LiveStanding
from arena.models import JobStatus, Match, PlayedGame
from arena.schedule.jobs import spec_of, variant_of
from arena.schedule.leases import counts
from arena.web import queries
from engine.live import LiveWord
from engine.translation import N_

SOONEST_SECONDS = 0.2
"""How soon a match may be looked up again, of whose worker another tells than was known."""


class Standings:
    """The standings of an arena's matches; for one thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._matches: dict[int, Match] = {}
        """The matches as they were last read."""
        self._read: dict[int, float] = {}

    def show(self, number: int) -> LiveShow | None:
        """As `Stands.show`."""
        with self._database.read() as session:
            match = queries.match(session, number)
            if match is None:
                return None
            spec, variant = spec_of(match), variant_of(match)
            return LiveShow(LiveStanding(spec, variant, match.attempt, *_words(match)))

    def look(self, shows: Mapping[int, LiveShow]) -> set[int]:
        """As `Stands.look`."""
        for gone in self._matches.keys() - shows.keys():
            del self._matches[gone], self._read[gone]
        self._look_up(shows)
        return {number for number, show in shows.items() if self._stand(number, show)}

    def take(self, show: LiveShow, told: LiveWord) -> None:
        """As `Stands.take`: it is proven by the ticket of the attempt that counts."""
        number = told.lease.job
        if not self._counts(told):
            if time.monotonic() - self._read.get(number, 0.0) < SOONEST_SECONDS:
                return
            self._look_up([number])
            if not self._counts(told):
                return
        self._stand(number, show)
        show.take(told)

    def _counts(self, told: LiveWord) -> bool:
        match = self._matches.get(told.lease.job)
        return match is not None and counts(match, told.lease)

    def _look_up(self, numbers: Iterable[int]) -> None:
        columns = (Match.status, Match.attempt, Match.ticket, Match.worker, Match.problem)
        query = sa.select(Match).options(load_only(*columns, Match.failures))
        now = time.monotonic()
        with self._database.read() as session:
            for match in session.scalars(query.where(Match.id.in_(list(numbers)))):
                self._matches[match.id] = match
                self._read[match.id] = now

    def _stand(self, number: int, show: LiveShow) -> bool:
        """Tells a show how its match stands, and whether that is something new."""
        match, before = self._matches.get(number), show.standing
        if match is None:
            return False
        is_over = match.status not in (JobStatus.OPEN, JobStatus.ISSUED)
        words, places = _words(match)
        now = replace(before, attempt=match.attempt, words=words, places=places, is_over=is_over)
        if now == before:
            return False
        if is_over:
            game = PlayedGame
            games = sa.select(game.id, game.record).where(game.match_id == number)
            with self._database.read() as session:
                rows = session.execute(games.order_by(game.number)).all()
                records = tuple(record_of(session, row.id, row.record) for row in rows)
            now = replace(now, records=records)
        show.stand(now)
        return True


def _words(match: Match) -> tuple[str, Mapping[str, object]]:
    """How it stands, as `gettext` takes it."""
    if match.status is JobStatus.FIXED:
        return N_("Finished."), {}
    if match.status is JobStatus.VOID:
        words = N_("Void, so that it counts for nothing: %(reason)s")
        return words, {"reason": match.problem}
    if match.status is JobStatus.SET_ASIDE:
        words = N_("Set aside, for it failed %(number)s times.")
        return words, {"number": match.failures}
    return BEGUN if match.worker else WAITING, {}
