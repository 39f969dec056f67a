"""Every game of OpenSpiel from the making of a match to its ratings made anew.

Matches are made and issued by the recorder, travel as JSON, are played by the referee, come back as
JSON, are replayed and stored; then records are read back, and ratings folded anew to the last bit.
"""

from __future__ import annotations

import json
from itertools import islice

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.models import Check, Ladder, Match, PlayedGame
from arena.recorder import recording
from arena.recorder.rebuild import rebuild
from arena.schedule import leases
from arena.schedule.jobs import jobs_of
from arena.schedule.matchmaking import new_matches
from engine import jobs, reporting
from engine.games import GAMES
from engine.record import replay
from tests.arena.simulator import CALM, START, Simulation, give_sign, report_of
from tests.requirements import need_openspiel


def through_json(job: jobs.AnyJob) -> reporting.MatchReport:
    """What a worker elsewhere says of a match."""
    told = jobs.Job.from_json(json.loads(json.dumps(job.to_json())))
    report = report_of(told, "one")
    return reporting.MatchReport.from_json(json.loads(json.dumps(report.to_json())))


@pytest.mark.long
@pytest.mark.timeout(300)  # on a busy machine
def test_all_of_them_are_played_and_come_out_the_same(sqlite_database: Database) -> None:
    need_openspiel()
    names = [name for name in GAMES if name.startswith("openspiel:")]
    assert len(names) >= 40
    simulation = Simulation(sqlite_database, 1, CALM)
    simulation.furnish([(name, {}) for name in names], bots=2)

    def issue(session: Session) -> list[jobs.AnyJob]:
        session.execute(sa.delete(Check))
        give_sign(session, "one", START, slots=2)
        made = list(islice(new_matches(session, START), len(names)))
        for match in made:
            leases.issue(match, simulation.settings, START)
        assert {match.competition.game for match in made} == set(names)
        return jobs_of(session, made, simulation.settings, START)

    reports = [through_json(job) for job in sqlite_database.run(issue)]
    fates = sqlite_database.run(
        lambda session: recording.take_in(session, reports, simulation.settings, START)
    )
    assert set(fates) == {leases.Fate.FIXED}
    with sqlite_database.read() as session:
        for ladder in session.scalars(sa.select(Ladder)):
            found = rebuild(session, ladder, write=False)
            assert (found.differences, found.games > 0) == ((), True), ladder.game
        for game in session.scalars(sa.select(PlayedGame).join(Match)):
            record = unpack(game.record)
            assert replay(record).ranks() == record.ranks
