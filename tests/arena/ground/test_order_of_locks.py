"""Who changes several rows at once locks them in one order, so that nobody waits for whom it
holds up: matches, then competitions, then entrants, each by their numbers.

What is locked beyond that is left alone where somebody else has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.bots import entries, lost_bundles, submissions
from arena.bots.submissions import enter
from arena.competitions import strength_plans, strength_tests, tournament_fields, tournaments
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.tournament_matches import SetMatch, matches_of
from arena.competitions.tournament_progress import progress_of
from arena.competitions.tournaments import Tournaments, call_off
from arena.deeds import By, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    Scope,
    StrengthTest,
    TestVerdict,
    Tournament,
    VersionStatus,
)
from arena.recorder import recording
from arena.schedule import allocation, verdicts
from arena.schedule.matchmaking import new_matches
from engine import jobs
from engine.reporting import Finding
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.meanwhile import Deed, Pause, at_once, give_way, in_a_transaction
from tests.arena.simulator import CALM, START, Simulation, give_sign

WHY = "the hall burned down"


def the_cup(session: Session) -> Tournament:
    """The only tournament."""
    return session.scalars(sa.select(Tournament)).one()


def a_cup(database: Database, format_: str, seconds: float) -> TournamentSimulation:
    """A tournament of four bots that was played for so long."""
    arena = TournamentSimulation(database, 1, CALM, "clobber", 4, size="4x3")
    arena.create("cup", format_)
    arena.alive()
    arena.tick()
    arena.run(seconds)
    return arena


def _call_off(session: Session) -> None:
    call_off(session, the_cup(session), WHY, START, ORGANISER)


def _withdraw(session: Session) -> None:
    """Takes the one out who is in the final from the second match."""
    cup = the_cup(session)
    *_, second, final = matches_of(session, cup)
    both = set(second.result.fixture.entrants) & set(final.result.fixture.entrants)
    entrant = session.get_one(Entrant, progress_of(session, cup).ids[both.pop()])
    tournament_fields.withdraw(session, cup, entrant, WHY, START, ORGANISER)


@pytest.mark.long
@pytest.mark.parametrize("leave", [_call_off, _withdraw])
def test_a_final_is_withdrawn_as_others_get_into_it(database: Database, leave: Deed) -> None:
    """It is void, whoever says so."""
    arena = a_cup(database, "knockout", 0)
    for _ in range(60):
        arena.run(1)
        with database.read() as session:
            played = matches_of(session, the_cup(session))
        if played[-1].result.fixture.round == 2:
            break
    first, final = played[0], played[-1]
    assert final.status is JobStatus.ISSUED

    def play_anew(session: Session) -> None:
        session.get_one(Match, first.id, with_for_update=True)
        lock(session, the_cup(session))
        _turn(session, first, final)

    def end(session: Session) -> None:
        Tournaments().end_or_reopen(session, the_cup(session), START)

    at_once(database, play_anew, leave, rest=end)
    with database.read() as session:
        assert session.get_one(Match, final.id).status is JobStatus.VOID


def _turn(session: Session, first: SetMatch, final: SetMatch) -> None:
    """Lets the other one win a match, as if it had been played anew."""
    games = sa.select(PlayedGame.id).where(PlayedGame.match_id == first.id)
    ids = progress_of(session, the_cup(session)).ids
    for number in first.result.fixture.entrants:
        points = float(number not in final.result.fixture.entrants)
        its = GameSeat.entrant_id == ids[number], GameSeat.game_id.in_(games)
        session.execute(sa.update(GameSeat).where(*its).values(points=points))


@pytest.mark.long
def test_a_match_is_void_as_the_last_is_recorded(database: Database) -> None:
    """The tournament goes on, though it was over for a moment."""
    arena = a_cup(database, "round-robin", 0)
    arena.play_out(1)
    with database.begin() as session:
        cup = the_cup(session)
        cup.state, cup.finished = CompetitionState.OPEN, None
        first, *_, last = session.scalars(sa.select(Match.id).order_by(Match.id))

    def record(session: Session) -> None:
        session.get_one(Match, last, with_for_update=True)
        lock(session, the_cup(session))
        Tournaments().end_or_reopen(session, the_cup(session), START)

    def make_void(session: Session) -> None:
        verdicts.void(session, ORGANISER, first, WHY, now=START)

    at_once(database, record, make_void)
    with database.read() as session:
        assert the_cup(session).state is CompetitionState.OPEN


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_who_is_withdrawn_as_its_next_match_is_played(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one was made too late to be void, and counts."""
    arena = TournamentSimulation(database, 1, CALM, "clobber", 4, size="4x3")
    arena.create("cup", "round-robin")
    with database.begin() as session:
        first = next(new_matches(session, START))
        entrant = first.places[0].entrant_id
        session.flush()
    with ThreadPoolExecutor(1) as pool:
        made, recording_it = list[int](), list[Future[None]]()

        def record(session: Session) -> None:
            session.get_one(Match, made[0], with_for_update=True)
            lock(session, the_cup(session))

        def lock_late(session: Session, cup: Tournament) -> None:
            with database.begin() as other:
                for match in new_matches(other, START):
                    if entrant in [place.entrant_id for place in match.places]:
                        other.flush()
                        made.append(match.id)
                        break
            lock(session, cup)
            recording_it.append(pool.submit(in_a_transaction, database, record))
            give_way(database, recording_it[0].done)

        monkeypatch.setattr(tournament_fields, "lock", lock_late)
        with database.begin() as session:
            gone = session.get_one(Entrant, entrant)
            tournament_fields.withdraw(session, the_cup(session), gone, WHY, START, ORGANISER)
        recording_it[0].result(60)
    with database.read() as session:
        its = sa.select(Match.status).where(Match.id.in_([first.id, *made])).order_by(Match.id)
        assert session.scalars(its).all() == [JobStatus.VOID, JobStatus.OPEN]


@pytest.fixture
def arena(database: Database) -> Simulation:
    """Two ladders with two bots each, of whom one crashes in most of its games."""
    simulation = Simulation(database, 1, replace(CALM, faulty_bots=True))
    simulation.furnish([("clobber", {"size": "4x3"}), ("clobber", {"size": "5x3"})], bots=2)
    with database.begin() as session:
        session.execute(sa.delete(Check))
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        give_sign(session, "one", START, slots=8)
    return simulation


def the_bot(session: Session) -> Bot:
    """The one that does not crash."""
    return session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one()


def ladders(session: Session) -> Sequence[Ladder]:
    """Both."""
    return session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()


def another_version(session: Session, number: int) -> BotVersion:
    """One more of the bot, which is ready to play."""
    version = BotVersion(
        bot=the_bot(session),
        number=number,
        digest=str(number) * 64,
        size=1,
        language="Python",
        note="",
        status=VersionStatus.READY,
        created=START,
    )
    session.add(version)
    session.flush()
    return version


def withdraw_bot(session: Session) -> None:
    """What its owner does."""
    entries.withdraw(session, ARENA, the_bot(session), START)


def fill(session: Session) -> None:
    """What the recorder does when it has recorded something."""
    allocation.fill(session, Settings(), START)


def demand_withdrawn(database: Database) -> None:
    """Sees that no version of the bot plays on a ladder."""
    with database.read() as session:
        its = sa.select(Entrant.state).join(Entrant.version)
        its = its.join(Ladder, Ladder.id == Entrant.competition_id)
        found = its.where(BotVersion.bot_id == the_bot(session).id)
        assert set(session.scalars(found)) == {EntrantState.RETIRED}


def test_a_bot_is_withdrawn_as_matches_are_made(arena: Simulation) -> None:
    """Two tests were under way after which it was to enter; something of one was just recorded."""
    with arena.database.begin() as session:
        (old,) = named_players(session, ["bot-0"])
        new = another_version(session, 2)
        findings = [Finding(True, "played").to_json()]
        for ladder in ladders(session):
            done = {"status": JobStatus.FIXED, "created": START, "findings": findings}
            session.add(Check(version=new, ladder=ladder, **done))
            plan = strength_plans.StrengthPlan.on(ladder)
            strength_tests.create(session, plan, NamedPlayer(new), old, START, ARENA, ladder=ladder)

    def record(session: Session) -> None:
        *_, last = session.scalars(sa.select(StrengthTest).order_by(StrengthTest.id))
        lock(session, last)

    at_once(arena.database, record, withdraw_bot, rest=fill)
    demand_withdrawn(arena.database)
    with arena.database.read() as session:
        assert set(session.scalars(sa.select(StrengthTest.verdict))) == {TestVerdict.STOPPED}


def test_matches_are_void_as_others_are_made(arena: Simulation) -> None:
    """They are of both ladders, and something of one was just recorded."""
    with arena.database.begin() as session:
        fill(session)
        session.flush()
        aside = {"status": JobStatus.SET_ASIDE, "ticket": None, "lease_ends": None}
        session.execute(sa.update(Match).values(**aside))
        numbers = session.scalars(sa.select(Match.id).order_by(Match.id)).all()

    def record(session: Session) -> None:
        lock(session, ladders(session)[1])

    def make_void(session: Session) -> None:
        verdicts.hold(session, numbers)
        for number in numbers:
            verdicts.void(session, ARENA, number, WHY, now=START)

    at_once(arena.database, record, make_void, rest=fill)
    with arena.database.read() as session:
        those = sa.select(Match.status).where(Match.id.in_(numbers))
        assert set(session.scalars(those)) == {JobStatus.VOID}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_checks_are_tried_again_as_they_were_before(database: Database) -> None:
    """Whoever names their bots in another order may; whose are tried already is told so."""
    arena = Simulation(database, 1, CALM)
    arena.furnish([("clobber", {"size": "4x3"})], bots=2)
    with database.begin() as session:
        (ladder,) = ladders(session)
        its = {"status": JobStatus.SET_ASIDE, "created": START, "findings": []}
        checks = [
            Check(version=version, ladder=ladder, **its)
            for version in session.scalars(sa.select(BotVersion).order_by(BotVersion.id))
        ]
        session.add_all(checks)
        session.flush()
        names = tuple(check.version.bot.name for check in reversed(checks))
        first, second = (check.id for check in checks)

    def try_again(session: Session) -> None:
        by = By(ARENA, frozenset(Scope), START)
        with pytest.raises(Refusal, match="is open, and not set aside"):
            perform(session, verdicts.RequeueChecks(names), by)

    at_once(
        database,
        lambda session: verdicts.requeue(session, ARENA, Check, first, START),
        try_again,
        rest=lambda session: verdicts.requeue(session, ARENA, Check, second, START),
    )


def test_a_bot_is_withdrawn_as_its_matches_are_recorded(
    arena: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those on the second ladder came first, and somebody crashed in one of them."""
    with arena.database.begin() as session:
        issued = [job for batch in allocation.fill(session, Settings(), START) for job in batch]
        ladder_of = {one.id: one.competition_id for one in session.scalars(sa.select(Match))}
    assert len(set(ladder_of.values())) == 2
    played = [arena.finish(job, "one") for job in issued if isinstance(job, jobs.Job)]
    reports = sorted(filter(None, played), key=lambda one: -ladder_of[one.lease.job])

    def record(session: Session) -> None:
        assert set(recording.take_in(session, reports, Settings(), START)) == {"fixed"}

    pause = Pause(recording.suspend_if_faulty)
    monkeypatch.setattr(recording, "suspend_if_faulty", pause)
    pause.between(arena.database, record, withdraw_bot)
    demand_withdrawn(arena.database)


def test_a_bot_is_withdrawn_as_a_version_of_it_comes_back(
    arena: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one is suspended on the second ladder, and enters the first; which of them was the
    last says what it comes to."""
    with arena.database.begin() as session:
        version = another_version(session, 2)
        enter(session, ladders(session)[1], version, START).state = EntrantState.SUSPENDED

    def come_back(session: Session) -> None:
        (player,) = named_players(session, ["bot-0:2"])
        enter(session, ladders(session)[0], player.version, START)

    pause = Pause(submissions.bring_back)
    monkeypatch.setattr(submissions, "bring_back", pause)
    pause.between(arena.database, come_back, withdraw_bot)
    with arena.database.read() as session:
        (player,) = named_players(session, ["bot-0"])
        its = sa.select(Entrant.state).where(Entrant.version_id == player.version.id)
        second = its.where(Entrant.competition_id == ladders(session)[1].id)
        assert session.scalars(second).one() is EntrantState.RETIRED


def test_a_bot_is_withdrawn_as_its_files_are_lost(
    arena: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of two versions, which are on a ladder each, and meet in a tournament."""
    (tmp_path / "others").write_bytes(b"others")
    with arena.database.begin() as session:
        session.execute(sa.update(Ladder).values(state=CompetitionState.PAUSED))
        both = ladders(session)
        field = [another_version(session, 2), another_version(session, 3)]
        for ladder, version in zip(both, reversed(field), strict=True):
            enter(session, ladder, version, START)
        plan = tournaments.TournamentPlan("cup", both[0].variant, both[0].time, "round-robin")
        tournaments.create(session, plan, [*map(NamedPlayer, field)], START, ARENA)
        (match,) = new_matches(session, START)
    problem = " ".join(version.digest for version in field)

    def fail(session: Session) -> None:
        failed = session.get_one(Match, match.id, with_for_update=True)
        assert lost_bundles.suspend_lost(session, failed, problem, tmp_path, START)

    pause = Pause(lost_bundles._unplayed)
    monkeypatch.setattr(lost_bundles, "_unplayed", pause)
    pause.between(arena.database, fail, withdraw_bot)
    demand_withdrawn(arena.database)
    with arena.database.read() as session:
        assert session.get_one(Match, match.id).status is JobStatus.VOID
