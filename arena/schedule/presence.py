"""Which bots at home are there: what the home worker says of them, and how many games are free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.locks import locking
from arena.models import (
    BotVersion,
    Check,
    Competition,
    Entrant,
    JobStatus,
    Match,
    Place,
    Presence,
    Worker,
)
from arena.schedule import workers
from arena.schedule.needs import met_by, needs_of
from engine.reporting import SignOfLife


def note(session: Session, sign: SignOfLife, now: datetime) -> None:
    """Keeps which bots a home worker says are there; those that it held and says no more are away.

    What it says of versions that are no bots at home is nothing.
    """
    if sign.at_home is None:
        return
    of_it = sa.or_(Presence.worker == sign.worker, Presence.version_id.in_(sign.at_home))
    known = {one.version_id: one for one in session.scalars(sa.select(Presence).where(of_it))}
    for version, one in known.items():
        games = sign.at_home.get(version, 0)
        if bool(games) is not bool(one.games):
            one.since = now
        one.games, one.worker = games, sign.worker
    if new := sign.at_home.keys() - known.keys():
        wanted = sa.select(BotVersion).where(BotVersion.id.in_(new))
        for found in session.scalars(wanted):
            if found.is_at_home:
                games = sign.at_home[found.id]
                session.add(
                    Presence(version_id=found.id, worker=sign.worker, games=games, since=now)
                )


@dataclass(slots=True)
class Room:
    """What home workers could be given now."""

    slots: int
    """How many more jobs at once."""
    free: dict[int, int]
    """How many more games each version takes that is connected."""
    needs: frozenset[str]
    """The needs that they meet (see `arena.schedule.needs`)."""
    platforms: frozenset[str] = frozenset()
    """The platforms of which they keep runtimes for boxed bots."""

    @classmethod
    def read(
        cls, session: Session, minimum_isolation: str, now: datetime, *, locks: bool = False
    ) -> Room | None:
        """What there is now; None if nobody is connected.

        Args:
            locks: whether it locks who is there, and passes over those to whom another recorder
                is just giving something.
        """
        there = sa.select(Presence.version_id, Presence.games, Presence.worker)
        there = there.where(Presence.games > 0)
        query = (
            locking(there, Presence, free=True) if locks else there.order_by(Presence.version_id)
        )
        connected = session.execute(query).all()
        if not connected:
            return None
        able = {
            one.name: one
            for one in workers.living(session, now)
            if one.at_home and one.slots and workers.may_play(one, minimum_isolation)
        }
        if not able:
            return None
        jobs, busy = _issued(session)
        return cls(
            sum(one.slots for one in able.values()) - jobs,
            {version: games - busy[version] for version, games, name in connected if name in able},
            frozenset(needs for one in able.values() for needs in met_by(one)),
            frozenset(platform for one in able.values() for platform in one.platforms or ()),
        )

    def has_room(self, competition: Competition, platforms: frozenset[str] = frozenset()) -> bool:
        """Whether they can play one more match of a competition.

        Args:
            platforms: what the runtimes are made for that they have to keep besides.
        """
        meets = needs_of(competition).words in self.needs and platforms <= self.platforms
        return self.slots > 0 and meets

    def take(self, versions: Collection[int]) -> bool:
        """Counts a job of these bots at home, if all are there and take one more."""
        if self.slots <= 0 or any(self.free.get(version, 0) <= 0 for version in versions):
            return False
        self.slots -= 1
        for version in versions:
            self.free[version] -= 1
        return True


def versions_at_home(job: Match | Check) -> set[int]:
    """The bots at home that are in a job."""
    if isinstance(job, Check):
        return {job.version_id}
    versions = [place.entrant.version for place in job.places]
    return {version.id for version in versions if version.is_at_home}


def _issued(session: Session) -> tuple[int, Counter[int]]:
    """How many jobs home workers have, and in how many of them each version is."""
    matches = (
        sa.select(Match.id, Entrant.version_id)
        .join(Place, Place.match_id == Match.id)
        .join(Entrant, Entrant.id == Place.entrant_id)
        .where(Match.at_home, Match.status == JobStatus.ISSUED)
    )
    checks = sa.select(Check.version_id).where(Check.at_home, Check.status == JobStatus.ISSUED)
    checked = session.scalars(checks).all()
    played = session.execute(matches).all()
    busy = Counter(version for _, version in played)
    return len({match for match, _ in played}) + len(checked), busy + Counter(checked)


class Whereabouts(NamedTuple):
    """Whether a bot at home is there."""

    connected: bool
    since: datetime | None
    """When it came or went; None if it never was there."""


def whereabouts(session: Session, version: BotVersion, now: datetime) -> Whereabouts | None:
    """Whether a version is connected; None for one that is not at home.

    One whose worker is silent is away since that was last heard of.
    """
    if not version.is_at_home:
        return None
    one = session.get(Presence, version.id)
    if one is None:
        return Whereabouts(False, None)
    worker = session.get(Worker, one.worker)
    if one.games and not (worker is not None and workers.is_there(worker, now)):
        return Whereabouts(False, worker.last_seen if worker else one.since)
    return Whereabouts(one.games > 0, one.since)
