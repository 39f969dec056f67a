"""Bots at home are paired while they are there, with as many games as they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.bots.home_deeds import ConnectBot
from arena.bots.submissions import SubmissionError, enter, submit
from arena.competitions.fields import demand_proven, field_of
from arena.competitions.ladders import Ladders
from arena.competitions.players import NamedPlayer
from arena.deeds import By, perform
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    SCOPES,
    BotVersion,
    Check,
    Entrant,
    HomeRule,
    Ladder,
    Match,
    Presence,
    Role,
    User,
    VersionStatus,
    Worker,
)
from arena.recorder import noting, recording
from arena.recorder.dispatch import _queue_of
from arena.schedule import allocation, leases, presence
from arena.schedule.requests import request_matches
from engine import jobs
from engine.games import GAMES
from engine.reporting import SignOfLife
from tests.arena.simulator import CALM, START, Simulation, give_sign, report_of

NOW = START + timedelta(days=1)
SETTINGS = Settings(data=Path("/nowhere"))
LADDER = "ladder-0"
EDITIONS = tuple(map(str, GAMES.editions()))


@pytest.fixture
def arena(sqlite_database: Database) -> SimpleNamespace:
    """A ladder with three boxed bots, and two at home that have passed their checks."""
    Simulation(sqlite_database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with sqlite_database.begin() as session:
        session.execute(sa.delete(Check))
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.home = HomeRule.BESIDE
        homes = []
        for name in ("near", "far"):
            entry = connect(session, name)
            version = session.get_one(BotVersion, entry.version)
            version.status = VersionStatus.READY
            session.execute(sa.delete(Check))
            enter(session, ladder, version, NOW)
            homes.append(version.id)
    return SimpleNamespace(database=sqlite_database, near=homes[0], far=homes[1])


def connect(session: Session, name: str, **more: str) -> object:
    user = session.scalars(sa.select(User).where(User.name == "somebody")).one()
    by = By(Actor(user.id, user.name, ""), SCOPES[Role.PARTICIPANT], NOW)
    return perform(session, ConnectBot(name, LADDER, **more), by).answer


def sign(
    session: Session, at_home: Mapping[int, int], *, slots: int = 100, worker: str = "home"
) -> None:
    """A home worker says who is connected to it."""
    told = SignOfLife(worker, slots, "good", games=EDITIONS, at_home=at_home)
    told = SignOfLife.from_json(told.to_json())
    assert noting.note(session, [told], SETTINGS, NOW) == [leases.Fate.NOTED]


def issued(database: Database) -> list[jobs.AnyJob]:
    """What is issued now, each job with its queue asked for."""
    with database.begin() as session:
        batches = allocation.fill(session, SETTINGS, NOW)
    for batch in batches:
        at_home = {jobs.is_at_home(job) for job in batch}
        assert len(at_home) == 1
        if at_home == {True}:
            assert len(batch) == 1
            assert _queue_of(batch[0]) == jobs.HOME_QUEUE
        else:
            assert _queue_of(batch[0]) == jobs.MATCHES_QUEUE
    return [job for batch in batches for job in batch]


def homes_in(found: list[jobs.AnyJob]) -> Counter[int]:
    """How many jobs each bot at home is in."""
    return Counter(
        bot.at_home
        for job in found
        if isinstance(job, jobs.Job)
        for bot in job.bots
        if bot.at_home is not None
    )


def test_who_is_away_is_paired_with_nobody(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        give_sign(session, "boxes", NOW, slots=2)
    found = issued(arena.database)
    assert found
    assert homes_in(found) == {}


def test_who_is_there_plays_as_many_games_as_it_takes(arena: SimpleNamespace) -> None:
    """Without a slot of those who play in boxes, and with none of them as well as beside them."""
    with arena.database.begin() as session:
        sign(session, {arena.near: 3})
    found = issued(arena.database)
    assert homes_in(found) == {arena.near: 3}
    assert len(found) == 3
    assert issued(arena.database) == [], "it has all it takes"
    with arena.database.begin() as session:
        give_sign(session, "boxes", NOW, slots=2)
        assert presence.Room.read(session, "good", NOW).free == {arena.near: 0}  # type: ignore[union-attr]
    boxed = issued(arena.database)
    assert homes_in(boxed) == {}
    assert len(boxed) == 2 * allocation.AHEAD


def test_a_match_that_is_over_makes_room_for_the_next(arena: SimpleNamespace) -> None:
    """And its seconds are nobody's share of the workers."""
    with arena.database.begin() as session:
        sign(session, {arena.near: 1})
    (job,) = issued(arena.database)
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        before = ladder.head_start + ladder.worker_seconds
        session.get_one(Match, job.lease.job).created -= timedelta(hours=1)
        report = report_of(job, "home", 7.0)
        assert recording.take_in(session, [report], SETTINGS, NOW) == [leases.Fate.FIXED]
        assert ladder.worker_seconds == 7.0
        assert ladder.head_start + ladder.worker_seconds == before
    assert homes_in(issued(arena.database)) == {arena.near: 1}


@pytest.mark.parametrize(
    ("home", "boxed", "at_home"),
    [(HomeRule.NO, True, False), (HomeRule.BESIDE, True, True), (HomeRule.ONLY, False, True)],
)
def test_a_ladder_says_who_may_play(
    arena: SimpleNamespace, home: HomeRule, boxed: bool, at_home: bool
) -> None:
    """Those who were there before stay, and are paired no more."""
    with arena.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().home = home
        sign(session, {arena.near: 1, arena.far: 1})
        give_sign(session, "boxes", NOW, slots=2)
    found = [job for job in issued(arena.database) if isinstance(job, jobs.Job)]
    kinds = {jobs.is_at_home(job) for job in found}
    assert kinds == {kind for kind, may in ((False, boxed), (True, at_home)) if may}
    if home is HomeRule.ONLY:
        assert all(bot.at_home for job in found for bot in job.bots)
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        user = session.scalars(sa.select(User).where(User.name == "somebody")).one()
        told = {"digest": "1" * 64, "size": 1, "language": "Python", "ladder": ladder, "now": NOW}
        if boxed:
            submit(session, user, "newcomer", **told)
        else:
            with pytest.raises(SubmissionError, match="takes only bots at home: connect the bot"):
                submit(session, user, "newcomer", **told)
        if at_home:
            connect(session, "third")
        else:
            with pytest.raises(SubmissionError, match="takes no bots at home: submit the bot"):
                connect(session, "third")


def test_its_check_waits_until_it_is_there(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        version = connect(session, "third").version  # type: ignore[attr-defined]
        give_sign(session, "boxes", NOW, slots=2)
    assert not [job for job in issued(arena.database) if job.lease.kind == "check"]
    with arena.database.begin() as session:
        sign(session, {version: 1})
    (job,) = [job for job in issued(arena.database) if job.lease.kind == "check"]
    assert homes_in([job]) == {version: 2}, "against itself"


def test_what_was_rolled_back_waits_until_all_of_them_are_back(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().home = HomeRule.ONLY
        sign(session, {arena.near: 1, arena.far: 1})
    (job,) = issued(arena.database)
    with arena.database.begin() as session:
        void = recording.record_void(
            session, job.lease, "the bot at home is away", SETTINGS, NOW, failed=False
        )
        assert void is leases.Fate.ROLLED_BACK
        sign(session, {arena.near: 1})
    assert issued(arena.database) == []
    with arena.database.begin() as session:
        sign(session, {arena.near: 1, arena.far: 1})
    (again,) = issued(arena.database)
    assert (again.lease.job, again.lease.attempt) == (job.lease.job, 2)
    with arena.database.read() as session:
        assert session.get_one(Match, job.lease.job).failures == 0


def test_presence_follows_what_home_workers_say(arena: SimpleNamespace) -> None:
    """The last word of who last had the bot holds; of what is no bot at home nothing is kept."""

    def there(session: Session) -> dict[int, int]:
        rows = session.execute(sa.select(Presence.version_id, Presence.games))
        return dict(rows.all())

    with arena.database.begin() as session:
        boxed = session.scalars(sa.select(BotVersion.id).where(BotVersion.language != "home"))
        sign(session, {arena.near: 2, boxed.first() or 0: 1, 999: 1})
        assert there(session) == {arena.near: 2}
        sign(session, {arena.near: 1, arena.far: 1})
        assert there(session) == {arena.near: 1, arena.far: 1}
        sign(session, {arena.far: 1}, worker="another")
        sign(session, {arena.near: 1})
        assert there(session) == {arena.near: 1, arena.far: 1}, "another has it by now"
        sign(session, {})
        assert there(session) == {arena.near: 0, arena.far: 1}
        version = session.get_one(BotVersion, arena.far)
        assert presence.whereabouts(session, version, NOW) == (True, NOW)
        later = NOW + timedelta(minutes=5)
        assert presence.whereabouts(session, version, later) == (False, NOW), "its worker is silent"
        assert presence.Room.read(session, "good", later) is None
        boxed_version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).first()
        assert boxed_version is not None
        assert presence.whereabouts(session, boxed_version, NOW) is None


def test_a_home_worker_has_no_slots_for_others(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        sign(session, {}, slots=256)
        assert session.get_one(Worker, "home").at_home
    assert issued(arena.database) == []


def test_a_ladder_says_that_its_bots_are_away(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        ladder.home = HomeRule.ONLY
        sign(session, {arena.near: 1})
        words = Ladders().why_idle(session, ladder, NOW, 0.0)
        assert words == "A match takes 2 active bots, and there is one. 1 bot at home is away."


@pytest.mark.parametrize(
    ("new_version", "status", "number"),
    [
        (None, VersionStatus.READY, 1),
        ("", VersionStatus.READY, 2),
        ("a deeper one", VersionStatus.READY, 2),
        # Who was refused mends it, and connects again.
        (None, VersionStatus.REFUSED, 2),
    ],
)
def test_it_is_the_version_that_it_was_unless_its_owner_says_else(
    arena: SimpleNamespace, new_version: str | None, status: VersionStatus, number: int
) -> None:
    with arena.database.begin() as session:
        session.get_one(BotVersion, arena.near).status = status
        more = {} if new_version is None else {"new_version": new_version}
        entry = connect(session, "near", **more)
        version = session.get_one(BotVersion, entry.version)  # type: ignore[attr-defined]
        assert (version.number, version.note) == (number, new_version or "")
        assert entry.active is (number == 1)  # type: ignore[attr-defined]
        checks = session.scalars(sa.select(Check).where(Check.version_id == version.id)).all()
        assert [check.at_home for check in checks] == [True] * (number - 1)


def test_what_waits_for_its_bots_takes_none_at_home(arena: SimpleNamespace) -> None:
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        version = session.get_one(BotVersion, arena.near)
        assert NamedPlayer(version) not in field_of(session, ladder)
        with pytest.raises(Refusal, match=r"near v1 is at home, and can't play"):
            demand_proven(session, "clobber", [version])
        user = session.scalars(sa.select(User).where(User.name == "somebody")).one()
        with pytest.raises(Refusal, match=r"near v1 is at home, and plays whom its ladder pairs"):
            request_matches(session, user, ladder, ("near", "bot-0"), NOW, quota=None, form="")
        assert session.scalar(sa.select(sa.func.count()).select_from(Match)) == 0
        assert {e.state for e in session.scalars(sa.select(Entrant))} == {"active"}
