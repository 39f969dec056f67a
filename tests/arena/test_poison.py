"""Bots with which no match can be played, through no fault that they could be blamed for."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from arena.competitions import ladders
from arena.ground.db import Database
from arena.models import (
    HOUSE,
    BotVersion,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    User,
    Worker,
)
from arena.recorder import recording
from arena.schedule import leases
from arena.schedule.idle import why_idle
from arena.schedule.jobs import spec_of
from engine import jobs, reporting
from tests.arena.simulator import CALM, Simulation

VARIANTS = [("clobber", {"size": "4x3"})]


class Poisoned(Simulation):
    """Every match in which a poisonous bot sits, or of the poisonous game, fails, whoever tries it.

    So does every match at the broken worker, if there is one.
    """

    workers = ("one", "two", "three")
    poison: frozenset[str] = frozenset()
    broken = ""
    game = ""

    def finish(self, job: jobs.Job, worker: str) -> reporting.MatchReport | None:
        poisonous = job.spec.variant.game == self.game
        if poisonous or worker == self.broken or self.poison.intersection(job.spec.entrants):
            lease, problem = job.lease, "it can't be run"
            self.tell(lambda s: recording.record_void(s, lease, problem, self.settings, self.now))
            return None
        return super().finish(job, worker)


CASES = [
    # Which database it is matters only to what is asked of it, and in the last case that is all.
    pytest.param("sqlite", 1, 6, "", id="one bot"),
    pytest.param("sqlite", 0, 6, "two", id="a worker"),
    pytest.param("postgresql", 5, 10, "two", id="five bots and a worker"),
]


@pytest.mark.long
@pytest.mark.parametrize(("database", "poisonous", "bots", "broken"), CASES, indirect=["database"])
def test_poison_does_not_stop_the_others(
    database: Database, poisonous: int, bots: int, broken: str
) -> None:
    """Its matches are set aside, and no other; the others play on; no good worker is sent away."""
    simulation = Poisoned(database, 2, CALM)
    simulation.furnish(VARIANTS, bots)
    simulation.poison = frozenset(f"bot-{number} v1" for number in range(poisonous))
    simulation.broken = broken
    with database.begin() as session:
        # Whose bots are all checked at once; another's are one after the other.
        session.scalars(sa.select(User)).one().name = HOUSE
    simulation.alive()
    simulation.tick()
    simulation.run(45)
    with database.read() as session:
        matches = session.scalars(sa.select(Match)).all()
        aside = [match for match in matches if match.status is JobStatus.SET_ASIDE]
        assert len(aside) >= poisonous
        for match in aside:
            assert simulation.poison.intersection(spec_of(match).entrants)
            assert match.failures == leases.FAILURES_ALLOWED + 1
        gone = session.scalars(sa.select(Worker.name).where(Worker.set_aside.is_not(None))).all()
        assert gone == ([broken] if broken else [])
        entrants = session.scalars(sa.select(Entrant).join(BotVersion)).all()
        games = {entrant.id: entrant.games for entrant in entrants}
        healthy = [
            games[entrant.id]
            for entrant in entrants
            if entrant.version.label not in simulation.poison
        ]
        assert len(healthy) == bots - poisonous
        assert min(healthy) >= 2
        assert sum(games.values()) == sum(healthy)


@pytest.mark.long
def test_a_ladder_of_which_nothing_comes_stops_no_other(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though its bots have played there; its page says why it rests, and mended it goes on."""
    database = sqlite_database
    # Longer than it is looked at while it is broken, and every second more is simulated.
    monkeypatch.setattr(ladders, "UNPLAYABLE_SECONDS", 40.0)
    simulation = Poisoned(database, 1, CALM)
    simulation.furnish([*VARIANTS, ("oxoxo", {})], bots=3)
    simulation.workers = ("one", "two")
    simulation.alive()
    simulation.tick()
    simulation.run(6)

    def games() -> dict[str, int]:
        with database.read() as session:
            return {one.game: one.games for one in session.scalars(sa.select(Ladder))}

    simulation.game = "clobber"
    simulation.run(20)
    before = games()
    simulation.run(10)
    assert games()["clobber"] == before["clobber"] > 0
    assert games()["oxoxo"] > before["oxoxo"] + 4
    with database.begin() as session:
        broken, other = session.scalars(sa.select(Ladder).order_by(Ladder.game))
        assert why_idle(session, broken, simulation.settings, simulation.now) == ladders.UNPLAYABLE
        other.state = CompetitionState.PAUSED
    simulation.game = ""
    tried = broken.last_match + timedelta(seconds=ladders.UNPLAYABLE_SECONDS)
    simulation.run((tried - simulation.now).total_seconds() + 6)
    assert games()["clobber"] > before["clobber"]
