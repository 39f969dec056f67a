"""Games of other packages: who is given their jobs, what waits, and what a new version changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Check, Entrant, JobStatus, Ladder, Match, Worker
from arena.operation import alarms
from arena.recorder import recording
from arena.recorder.rebuild import rebuild
from arena.schedule import allocation, leases
from arena.schedule.idle import note_taken_off, why_idle, why_it_waits
from engine import jobs
from engine.game import OptionError
from engine.games import GAMES
from engine.record import GameRecord, RecordError, replay
from engine.shelf import UnknownGameError
from tests.arena.simulator import CALM, START, Simulation, give_sign, report_of
from tests.packages import Installer

NOW = START + timedelta(days=1)
SETTINGS = Settings(data=Path("/nowhere"))
OWN = str(GAMES.edition("clobber"))
OTHER = "other-games 1.5"
GAME = ("other-games", "ONE = game('one')", "one = other_games:ONE")


def furnish(database: Database) -> None:
    """A ladder of our own and one of another's game, with the same bots."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"}), ("one", {})], bots=6)
    with database.begin() as session:
        session.execute(sa.delete(Check))


def games_issued(database: Database) -> list[list[str]]:
    """The games of each batch that is issued now."""
    with database.begin() as session:
        found = allocation.fill(session, SETTINGS, NOW)
    return [[jobs.variant_of(job).game for job in batch] for batch in found]


def test_a_job_goes_to_workers_that_have_its_game(
    sqlite_database: Database, packages: Installer
) -> None:
    """It waits in a queue of its own, no more than these can take, and never with others."""
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "big", NOW, slots=6, games=(OWN,))
        give_sign(session, "old", NOW, slots=1, games=None)
        give_sign(session, "able", NOW, slots=1, games=(OWN, OTHER))
    batches = games_issued(sqlite_database)
    assert len(batches) == 8 * allocation.AHEAD
    assert all(len(set(batch)) == 1 for batch in batches)
    assert [batch[0] for batch in batches].count("one") == allocation.AHEAD
    assert jobs.queue_of(GAMES.edition("one")) == "matches.other-games-1.5"
    assert jobs.queue_of(GAMES.edition("siege")) == "matches"


def test_what_nobody_has_waits_and_says_so(sqlite_database: Database, packages: Installer) -> None:
    """Its page and an alarm do; of the other games there is as much as ever."""
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "big", NOW, slots=2, games=(OWN, "other-games 1.4"))
    assert games_issued(sqlite_database) == [["clobber"]] * 2 * allocation.AHEAD
    words = f"No worker has the game one by the rules of {OTHER}: its matches wait for one"
    with sqlite_database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.game == "one")).one()
        assert why_idle(session, ladder, SETTINGS, NOW) == f"{words}."
        found = alarms.find(session, SETTINGS, NOW)
        assert [(one.subject, one.words) for one in found if one.kind == "game"] == [("one", words)]


def test_a_match_under_way_by_other_rules_is_played_again(
    sqlite_database: Database, packages: Installer
) -> None:
    """A new version came meanwhile: nobody is blamed, and what was recorded is not proven by it."""
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=(OTHER,))
        batches = allocation.fill(session, SETTINGS, NOW)
    reports = [report_of(batch[0], "able") for batch in batches[:2]]
    sent = batches[2][0].to_json()
    assert {game.rules for one in reports for game in one.games} == {OTHER}
    with sqlite_database.begin() as session:
        assert recording.take_in(session, reports[:1], SETTINGS, NOW) == [leases.Fate.FIXED]
    packages.install("other-games", "ONE = game('one')", "one = other_games:ONE", version="1.6")
    with sqlite_database.begin() as session:
        (fate,) = recording.take_in(session, reports[1:], SETTINGS, NOW)
        assert fate is leases.Fate.ROLLED_BACK
        match = session.get_one(Match, reports[1].lease.job)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
        assert f"played by the rules of {OTHER}; here are those of other-games 1.6" in match.problem
        assert session.get_one(Worker, "able").failed == []
    with pytest.raises(
        OptionError, match=r"by the rules of other-games 1\.5 is needed; here is other-g"
    ):
        jobs.Job.from_json(sent)
    record = GameRecord.from_json(reports[0].games[0].to_json())
    with pytest.raises(RecordError, match=r"here are those of other-games 1\.6"):
        replay(record)
    for rules in ("", "other-games 1.6"):
        assert replay(replace(record, rules=rules)).to_move is None


def test_a_package_that_is_gone_loses_nothing(
    sqlite_database: Database, packages: Installer
) -> None:
    """Its ladder waits, its ratings stay as they are, and all goes on when it is back."""
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=(OTHER, OWN))
        batches = allocation.fill(session, SETTINGS, NOW)
        reports = [report_of(job, "able") for batch in batches for job in batch]
        recording.take_in(session, reports, SETTINGS, NOW)

    def look(session: Session) -> tuple[Ladder, list[tuple[float | None, int]]]:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.game == "one")).one()
        its = sa.select(Entrant).where(Entrant.competition_id == ladder.id).order_by(Entrant.id)
        return ladder, [(one.mu, one.games) for one in session.scalars(its)]

    packages.uninstall("other-games")
    assert {game for batch in games_issued(sqlite_database) for game in batch} == {"clobber"}
    with sqlite_database.begin() as session:
        ladder, rated = look(session)
        assert sum(games for _, games in rated) > 0
        words = why_idle(session, ladder, SETTINGS, NOW) or ""
        assert words.startswith("There is no game 'one'; there are: blocco")
        assert str(ladder.variant) == "one size=4x3"
        with pytest.raises(UnknownGameError, match="there is no game 'one'"):
            rebuild(session, ladder, write=True)
    packages.install(*GAME, version="1.5.0")
    with sqlite_database.begin() as session:
        rebuild(session, look(session)[0], write=True)
        assert look(session)[1] == rated


RAISING = """
class Raising(Clobber):
    def initial(self, seed=0):
        1 // 0
ONE = game('one', Raising)
"""


def test_a_game_whose_rules_raise_stops_no_other(
    sqlite_database: Database, packages: Installer
) -> None:
    """Where matches are made it is taken off the shelf, and every process says why it waits."""
    packages.install("other-games", RAISING, GAME[2])
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=(OWN, OTHER))
    with pytest.raises(ZeroDivisionError):
        games_issued(sqlite_database)
    assert games_issued(sqlite_database) == [["clobber"]] * 2 * allocation.AHEAD
    with sqlite_database.begin() as session:
        note_taken_off(session)
    GAMES.look_again()  # as another process knows it
    words = "Matches of one wait until the arena is started again: its rules raise ZeroDivisionErr"
    with sqlite_database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.game == "one")).one()
        assert str(why_idle(session, ladder, SETTINGS, NOW)).startswith(words)
        found = alarms.find(session, SETTINGS, NOW)
        assert any(one.words.startswith(words) for one in found)


NARROWER = """
import dataclasses
ONE = dataclasses.replace(game('one'), options={'size': board_size('5x5', 5, 9)})
"""
UNBUILT = """
class Unbuilt(Clobber):
    def __init__(self, options):
        1 // 0
ONE = game('one', Unbuilt)
"""


@pytest.mark.parametrize(
    ("code", "words"), [(NARROWER, "one has no size=4x3"), (UNBUILT, "ZeroDivisionError")]
)
def test_a_version_that_lacks_a_ladders_variant_stops_no_other(
    sqlite_database: Database, packages: Installer, code: str, words: str
) -> None:
    """No more of its matches are made, and it is said why."""
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=(OTHER, OWN))
    packages.install("other-games", code, GAME[2], version="1.6")
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=("other-games 1.6", OWN))
    assert {game for batch in games_issued(sqlite_database) for game in batch} == {"clobber"}
    with sqlite_database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.game == "one")).one()
        assert str(ladder.variant) == "one size=4x3"
        said = str(why_idle(session, ladder, SETTINGS, NOW))
        assert said.startswith(
            "Matches of one size=4x3 wait for other rules than those of other-games 1.6: "
        )
        assert words in said
        found = alarms.find(session, SETTINGS, NOW)
        assert any(words in one.words for one in found)


def test_what_was_made_of_a_variant_that_is_lacked_waits(
    sqlite_database: Database, packages: Installer
) -> None:
    """Its matches and checks are given to nobody, fail nowhere, say why, and go on once it is back.

    In a queue behind them nobody waits: neither other matches, nor an owner's other checks.
    """
    packages.install(*GAME)
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=2, games=(OTHER, OWN))
        allocation.fill(session, SETTINGS, NOW)
        version = session.scalars(sa.select(Entrant)).first().version
        for ladder in session.scalars(sa.select(Ladder).order_by(Ladder.game.desc())):
            its = {"version": version, "ladder": ladder, "status": JobStatus.OPEN, "created": NOW}
            session.add(Check(**its, findings=[]))
        leases.roll_back_all(session)
        made = session.scalars(sa.select(Match.id).where(Match.competition.has(game="one"))).all()
    assert made
    packages.install("other-games", NARROWER, GAME[2], version="1.6")
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=40, games=("other-games 1.6", OWN))
    issued = games_issued(sqlite_database)
    assert {game for batch in issued for game in batch} == {"clobber"}
    with sqlite_database.begin() as session:
        (issued_check,) = session.scalars(sa.select(Check).where(Check.attempt > 0))
        assert issued_check.ladder.game == "clobber"
        lacked = [session.get_one(Match, one) for one in made]
        lacked += session.scalars(sa.select(Check).where(Check.attempt == 0)).all()
        for job in lacked:
            assert (job.status, job.failures) == (JobStatus.OPEN, 0)
            words = str(why_it_waits(session, job, SETTINGS, NOW))
            assert words.startswith("Matches of one size=4x3 wait for other rules than those of o")
            assert "one has no size=4x3" in words
        leases.roll_back_all(session)
    packages.uninstall("other-games", "1.6")
    with sqlite_database.begin() as session:
        give_sign(session, "able", NOW, slots=40, games=(OTHER, OWN))
        allocation.fill(session, SETTINGS, NOW)
        assert {session.get_one(Match, one).status for one in made} == {JobStatus.ISSUED}
