"""A bot with which no match can be played, through no fault that it could be blamed for."""

from __future__ import annotations

import sqlalchemy as sa

from arena import recording, scheduling
from arena.db import Database
from arena.models import BotVersion, Entrant, JobStatus, Match, Worker
from engine import jobs
from tests.arena.simulator import CALM, Simulation

VARIANTS = [("clobber", {"size": "4x3"})]
BOTS = 6


class Poisoned(Simulation):
    """Every match in which a poisonous bot sits fails, whoever tries it."""

    poison: frozenset[str] = frozenset()

    def finish(self, job: jobs.Job, worker: str) -> None:
        if self.poison.intersection(job.spec.entrants):
            lease = job.lease
            self.tell(lambda s: recording.record_void(s, lease, "it can't be run", self.now))
            return
        super().finish(job, worker)


def test_poison_does_not_stop_the_others(database: Database) -> None:
    """Its matches are set aside; the others play on, and no good worker is sent away for it."""
    simulation = Poisoned(database, 1, CALM)
    simulation.furnish(VARIANTS, BOTS)
    simulation.poison = frozenset(["bot-0 v1"])
    simulation.alive()
    simulation.tick()
    simulation.run(30)
    with database.read() as session:
        matches = session.scalars(sa.select(Match)).all()
        aside = [match for match in matches if match.status is JobStatus.SET_ASIDE]
        assert aside
        for match in aside:
            assert simulation.poison.intersection(scheduling.spec_of(match).entrants)
            assert match.failures == scheduling.FAILURES_ALLOWED + 1
        assert session.scalars(sa.select(Worker.set_aside)).all() == [None, None]
        entrants = session.scalars(sa.select(Entrant).join(BotVersion)).all()
        games = {entrant.id: entrant.games for entrant in entrants}
        healthy = [
            games[entrant.id]
            for entrant in entrants
            if entrant.version.label not in simulation.poison
        ]
        assert len(healthy) == BOTS - 1
        assert min(healthy) >= 4
        assert sum(games.values()) == sum(healthy)
