"""Which jobs are issued, how many of them at once, and what is rolled back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import sittings
from arena.bots.submissions import submit
from arena.competitions.pairings import Pairing
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import (
    HOUSE,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    User,
    VersionStatus,
    Worker,
)
from arena.models.competitions import FIRST_GUESS_SECONDS
from arena.recorder import recording
from arena.schedule import allocation, leases
from arena.schedule.load import Load, Reach, open_requests
from arena.schedule.matchmaking import make, new_matches
from arena.sittings import Person, Wish
from engine import jobs, reporting
from tests.arena.issuing import issued
from tests.arena.simulator import CALM, START, Simulation, give_sign

NOW = START + timedelta(days=1)
SETTINGS = Settings(data=Path("/nowhere"))
ANY_REACH = Reach(None, None)
SMALL = ("clobber", {"size": "4x3"})


def furnish(database: Database, *, ladders: int = 1, bots: int = 6) -> None:
    """Ladders of the same bots, which wait for no check."""
    Simulation(database, 0, CALM).furnish([SMALL] * ladders, bots)
    with database.begin() as session:
        session.execute(sa.delete(Check))


def ladders_of(session: Session) -> Sequence[Ladder]:
    return session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()


def some(
    session: Session, ladder: Ladder, number: int, requester: User | None = None
) -> list[Match]:
    """New matches of the first two bots of a ladder."""
    its = sa.select(Entrant.id).where(Entrant.competition_id == ladder.id).order_by(Entrant.id)
    pairing = Pairing(tuple(session.scalars(its.limit(2))))
    made = [make(session, ladder, pairing, NOW, requester=requester) for _ in range(number)]
    session.flush()
    return made


@pytest.mark.parametrize(
    ("seconds", "played", "waiting", "together"),
    [
        (0.25, 4, 0, 4),
        # The mean is of those that were played, not of all that were made.
        (0.25, 4, 8, 4),
        (0.25, 1, 0, 4),
        (0.5, 10, 0, 2),
        (1.0, 10, 0, 1),
        (100.0, 10, 0, 1),
        (0.001, 10, 0, jobs.MOST_MATCHES),
    ],
)
def test_short_matches_are_issued_together(
    sqlite_database: Database, seconds: float, played: int, waiting: int, together: int
) -> None:
    """As many as take a second, and never more than a message may have; two turns for a slot."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=2)
        (ladder,) = ladders_of(session)
        some(session, ladder, waiting)
        ladder.matches_made += played
        ladder.worker_seconds = seconds * played
        session.flush()
        batches = allocation.fill(session, SETTINGS, NOW)
        assert [len(batch) for batch in batches] == [together] * 2 * allocation.AHEAD


@pytest.mark.long
@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_requests_go_round_by_who_asked(database: Database, at_once: int) -> None:
    """Forty of one person's, of which ten were played today; then three and one of others, and one
    from the day before yesterday: nobody waits for the heap.
    """
    furnish(database)
    with database.begin() as session:
        (ladder,) = ladders_of(session)
        people = [User(name=name, created=NOW) for name in ("heap", "three", "one", "old")]
        session.add_all(people)
        session.flush()
        asked = {
            who.name: some(session, ladder, count, who)
            for who, count in zip(people, (40, 3, 1, 1), strict=True)
        }
        for seq, match in enumerate(asked["heap"][:10], 1):
            match.status, match.seq = JobStatus.FIXED, seq
        asked["old"][0].created = NOW - timedelta(days=2)
        session.flush()
        order = []
        while found := list(
            islice(open_requests(session, at_once, sa.true(), ANY_REACH, NOW), at_once)
        ):
            order += [match.requester_id for match in found]
            for match in found:
                issued(session, match, SETTINGS, NOW)
            session.flush()
        names = {who.id: who.name for who in people}
        # What is read at once may come in any order.
        first = Counter(names[who] for who in order[: -(-5 // at_once) * at_once])
        assert first - Counter(heap=30) == Counter(old=1, one=1, three=3)
        assert len(order) == 30 + 5


def test_load_is_counted_in_turns(sqlite_database: Database) -> None:
    """One ladder's matches take a quarter of one, and of another's nothing is known."""
    furnish(sqlite_database, ladders=2)
    with sqlite_database.begin() as session:
        short, long = ladders_of(session)
        user = session.scalars(sa.select(User)).one()
        for ladder, own, asked in ((short, (4, 3), (2, 1)), (long, (1, 1), (1, 2))):
            for (under_way, still_open), who in ((own, None), (asked, user)):
                for match in some(session, ladder, under_way + still_open, who)[:under_way]:
                    issued(session, match, SETTINGS, NOW)
        short.matches_made += 8
        short.worker_seconds = 2.0
        session.flush()
        load = Load.read(session, NOW)
        assert (load.matches, load.requests) == (6 * 0.25 + 2, 2 * 0.25 + 1)
        assert (load.open_matches, load.open_requests) == (3 + 1, 1 + 2)
        assert long.match_seconds(0) == FIRST_GUESS_SECONDS
        for ladder, who, turn, requests in (
            (short, None, 0.25, 1.5),
            (short, user, 0.25, 1.75),
            (long, user, 1.0, 2.75),
        ):
            (match,) = some(session, ladder, 1, who)
            issued(session, match, SETTINGS, NOW)
            assert load.add(match) == turn
            assert load.requests == requests
        assert load.matches == 3.5 + 1.5


@pytest.mark.long
@pytest.mark.parametrize("checks", [0, 20])
def test_what_waits_leaves_room_for_checks(database: Database, checks: int) -> None:
    """Matches that were rolled back go before new ones, and not before half of the checks, here
    of bots of the house: of people's one of each owner is checked at a time."""
    Simulation(database, 0, CALM).furnish([SMALL], bots=20)
    with database.begin() as session:
        session.execute(sa.update(User).values(name=HOUSE))
        session.execute(sa.delete(Check).where(Check.id > checks))
        give_sign(session, "w", NOW, slots=8)
        waiting = some(session, ladders_of(session)[0], 20)
        held = [job.lease for batch in allocation.fill(session, SETTINGS, NOW) for job in batch]
        assert [its.kind for its in held].count("check") == (8 if checks else 0)
        matches = [its.job for its in held if its.kind == "match"]
        assert matches == [match.id for match in waiting[: 8 if checks else 16]]


def test_requests_do_not_take_the_place_of_what_waits(sqlite_database: Database) -> None:
    """Though they were made before: of sixteen turns they have half, and new matches the rest."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=8)
        (ladder,) = ladders_of(session)
        asked = some(session, ladder, 20, session.scalars(sa.select(User)).one())
        waiting = some(session, ladder, 4)
        batches = allocation.fill(session, SETTINGS, NOW)
        numbers = [job.lease.job for batch in batches for job in batch]
        assert numbers[:12] == [match.id for match in waiting + asked[:8]]
        assert len(numbers) == 16
        assert not {match.id for match in asked[8:]}.intersection(numbers)


@pytest.mark.long
def test_fewer_slots_get_nothing_more(database: Database) -> None:
    """Whatever waits, while more is under way than the workers that are left should have."""
    Simulation(database, 0, CALM).furnish([SMALL], bots=40)
    with database.begin() as session:
        give_sign(session, "w", NOW, slots=8)
        (ladder,) = ladders_of(session)
        some(session, ladder, 20)
        some(session, ladder, 20, session.scalars(sa.select(User)).one())
        assert len(allocation.fill(session, SETTINGS, NOW)) == 8 * allocation.AHEAD
        give_sign(session, "w", NOW, slots=2)
        session.flush()
        assert allocation.fill(session, SETTINGS, NOW) == []


def test_checks_count_among_what_waits(sqlite_database: Database) -> None:
    """A worker of eight slots has sixteen turns; twelve under way are enough, eleven are not."""
    Simulation(sqlite_database, 0, CALM).furnish([SMALL], bots=20)
    with sqlite_database.begin() as session:
        session.execute(sa.update(User).values(name=HOUSE))
        session.execute(sa.delete(Check).where(Check.id > 3))
        give_sign(session, "w", NOW, slots=8)
        assert len(allocation.fill(session, SETTINGS, NOW)) == 16
        matches = session.scalars(sa.select(Match)).all()
        for match in matches[9:]:
            match.end_lease(JobStatus.VOID)
        session.flush()
        assert allocation.fill(session, SETTINGS, NOW) == []
        matches[8].end_lease(JobStatus.VOID)
        session.flush()
        assert len(allocation.fill(session, SETTINGS, NOW)) == 5


@pytest.mark.parametrize("asked", [False, True], ids=["a check", "a match on request"])
def test_the_slot_that_is_left_is_for_who_waits(sqlite_database: Database, asked: bool) -> None:
    """One of two is, while a person plays; the ladder's own matches come later."""
    Simulation(sqlite_database, 0, CALM).furnish([SMALL], bots=2)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=2)
        (ladder,) = ladders_of(session)
        user = session.scalars(sa.select(User)).one()
        version = session.scalars(sa.select(BotVersion)).first()
        assert version is not None
        version.status = VersionStatus.READY
        wish = Wish(ladder, 0, (version.id,), random_opening=False, form="a form", seed=5)
        sittings.begin(session, Person(user.name, user.id), wish, NOW, most_open=1)
        if asked:
            session.execute(sa.delete(Check))
            waiting = some(session, ladder, 1, user)[0].id
        else:
            waiting = session.scalars(sa.select(Check.id).order_by(Check.id)).all()[0]
        ((job,),) = allocation.fill(session, SETTINGS, NOW)
        assert (job.lease.kind, job.lease.job) == ("match" if asked else "check", waiting)


def test_a_check_that_is_over_holds_up_no_other(sqlite_database: Database) -> None:
    """One check at a time of a version and game is issued; the next when that is set aside."""
    Simulation(sqlite_database, 0, CALM).furnish([SMALL, SMALL], bots=1)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=8)
        for check in session.scalars(sa.select(Check).order_by(Check.id)).all():
            ((job,),) = allocation.fill(session, SETTINGS, NOW)
            assert (job.lease.kind, job.lease.job) == ("check", check.id)
            assert allocation.fill(session, SETTINGS, NOW) == []
            check.end_lease(JobStatus.SET_ASIDE)
            session.flush()


def hand_in(session: Session, *owners: str) -> dict[int, str]:
    """A bot of each of these owners in turn, to be checked; whose each check is."""
    (ladder,) = ladders_of(session)
    session.execute(sa.delete(Check))
    found = {}
    for number, name in enumerate(owners):
        owner = session.scalar(sa.select(User).where(User.name == name))
        owner = owner or User(name=name, created=NOW)
        files = {"digest": f"{number:064}", "size": 1, "language": "C"}
        version = submit(session, owner, f"{name}-{number}", **files, ladder=ladder, now=NOW)
        (check,) = session.scalars(sa.select(Check.id).where(Check.version_id == version.id))
        found[check] = name
    return found


def served(session: Session, owner_of: dict[int, str], now: datetime = NOW, slots: int = 1) -> str:
    """The owners whose checks are issued now, by their first letters."""
    give_sign(session, "w", now, slots=slots)
    issued = [job.lease for batch in allocation.fill(session, SETTINGS, now) for job in batch]
    return "".join(owner_of[one.job][0] for one in issued if one.kind == "check")


def end_check(session: Session, owner_of: dict[int, str], name: str, seconds: float = 0.0) -> None:
    """The check of an owner's that is under way is over, after so many seconds of its build."""
    now = NOW + timedelta(seconds=seconds)
    for check in session.scalars(sa.select(Check).where(Check.status == JobStatus.ISSUED)):
        if owner_of[check.id] == name:
            lease = jobs.Lease("check", check.id, check.attempt, check.ticket or "")
            found = reporting.Finding(False, "it does not build", "build")
            built = reporting.Built(lease, "w", check.version.digest, seconds)
            assert recording.record_build(session, built, now) is leases.Fate.NOTED
            report = reporting.CheckReport(lease, "w", (found,), "")
            assert recording.record_check(session, report, now) is leases.Fate.FIXED


@pytest.mark.parametrize(("slots", "first", "then"), [(1, "ab", "c"), (4, "abc", "a")])
def test_checks_go_round_by_owner(database: Database, slots: int, first: str, then: str) -> None:
    """Whoever has a heap of them has one at a time: on a worker of one slot, too, another's is
    next, and whoever comes later still waits for no more than what is under way."""
    Simulation(database, 0, CALM).furnish([SMALL], bots=1)
    with database.begin() as session:
        owner_of = hand_in(session, "ada", "ada", "ada", "ada", "bob", "cyd")
        assert served(session, owner_of, slots=slots) == first
        assert served(session, owner_of, slots=slots) == ""
        end_check(session, owner_of, "ada", 118)
        session.flush()
        assert served(session, owner_of, slots=slots) == then


def test_who_built_for_long_waits(database: Database) -> None:
    """Until an hour after: 900 s by default, which eight builds of 118 s exceed; others do not."""
    Simulation(database, 0, CALM).furnish([SMALL], bots=1)
    with database.begin() as session:
        owner_of = hand_in(session, *["ada"] * 9, "bob")
        session.execute(sa.update(Check).values(created=NOW - timedelta(hours=1)))
        for number in range(8):
            assert served(session, owner_of) == ("ab" if number == 0 else "a")
            end_check(session, owner_of, "ada", 118)
            session.flush()
        assert served(session, owner_of) == ""
        hour = timedelta(hours=1, seconds=118)
        assert served(session, owner_of, NOW + hour) == ""
        assert served(session, owner_of, NOW + hour + timedelta(seconds=1)) == "a"


def test_settings_say_what_is_played(sqlite_database: Database) -> None:
    """One competition alone, if it is named; a converged ladder now and then."""
    furnish(sqlite_database, ladders=2)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=8)
        session.execute(sa.update(Entrant).values(games=100, wins=100, sigma=0.9))
        settings = replace(SETTINGS, only="ladder-1", trickle_seconds=60)
        for seconds, issued in ((0, 1), (59, 0), (61, 1)):
            now = NOW + timedelta(seconds=seconds)
            give_sign(session, "w", now, slots=8)
            assert len(allocation.fill(session, settings, now)) == issued
        names = {match.competition.name for match in session.scalars(sa.select(Match))}
        assert names == {"ladder-1"}


def test_a_tick_calls_off_and_rolls_back_before_it_issues(database: Database) -> None:
    """What nobody took up is issued again at once, but not on a ladder that was frozen."""
    furnish(database, ladders=2)
    with database.begin() as session:
        give_sign(session, "w", NOW, slots=1)
        frozen, other = ladders_of(session)
        (called_off,), (overdue,) = some(session, frozen, 1), some(session, other, 1)
        for match in (called_off, overdue):
            issued(session, match, SETTINGS, NOW)
        frozen.state = CompetitionState.FROZEN
        late = NOW + timedelta(seconds=SETTINGS.take_up_seconds + 1)
        give_sign(session, "w", late, slots=1)
        session.flush()
        leases.call_off(session)
        leases.roll_back_overdue(session, SETTINGS, late, late)
        allocation.schedule(session, SETTINGS, late)
        assert (called_off.status, called_off.failures) == (JobStatus.VOID, 0)
        assert (overdue.status, overdue.attempt) == (JobStatus.ISSUED, 2)
        # Nor does it cost the ladder anything.
        assert frozen.head_start == 0


def test_a_start_is_no_failure_of_any_job(sqlite_database: Database) -> None:
    """However often an arena is started anew."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        matches = some(session, ladders_of(session)[0], 2)
        for _ in range(5):
            for match in matches:
                issued(session, match, SETTINGS, NOW)
            session.flush()
            assert leases.roll_back_all(session) == 2
        assert {(one.status, one.failures) for one in matches} == {(JobStatus.OPEN, 0)}
        assert next(new_matches(session, NOW)).competition.head_start == 0


@pytest.mark.parametrize(
    ("said", "plays"),
    [
        ({}, True),
        ({"isolation": "reduced"}, False),
        ({"format": jobs.FORMAT + 1}, False),
        ({"set_aside": NOW}, False),
    ],
    ids=["as it should be", "too weak", "of another release", "set aside"],
)
def test_who_is_given_no_jobs_takes_none_up(
    sqlite_database: Database, said: dict[str, object], plays: bool
) -> None:
    """Another gets it, and it is no failure of the job."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        give_sign(session, "w", NOW, slots=1)
        worker = session.get_one(Worker, "w")
        for name, value in said.items():
            setattr(worker, name, value)
        (match,) = some(session, ladders_of(session)[0], 1)
        issued(session, match, SETTINGS, NOW)
        assert leases.take_up(match, "w", worker, SETTINGS, NOW) is plays
        assert (match.status, match.worker, match.failures) == (
            (JobStatus.ISSUED, "w", 0) if plays else (JobStatus.OPEN, None, 0)
        )
        # From now on the worker has to show that it lives.
        lease = timedelta(seconds=SETTINGS.lease_seconds)
        assert match.lease_ends == (NOW + lease if plays else None)
