"""What is an alarm, and what is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions.ladder_settings import change
from arena.models import (
    Competition,
    Entrant,
    JobStatus,
    Ladder,
    Mark,
    Match,
    Worker,
)
from arena.operation import alarms, health
from arena.schedule import occurrences
from tests.arena.operation.conftest import SETTINGS


def idle(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.execute(
        sa.update(Ladder)
        .where(Ladder.name == "ladder-0")
        .values(last_game=now - timedelta(seconds=601))
    )


def idle_since_the_clock_was_set_back(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.execute(sa.update(Ladder).values(last_game=now + timedelta(days=1)))


def aside(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    match = session.scalars(sa.select(Match).where(Match.status == JobStatus.FIXED)).first()
    match.status, match.seq = JobStatus.SET_ASIDE, None


def differs(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.execute(sa.update(Competition).values(alarm="3 ratings differ"))


def distrusted(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.get(Worker, "one").set_aside = now


def vanished(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.get(Worker, "one").last_seen = now - timedelta(hours=5)


def away(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note_tick(session, now - timedelta(seconds=31))


def behind(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note_tick(session, now, now - timedelta(seconds=61))


def full(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note(session, health.BROKER_MARK, "the broker is full: 255 of 256 MiB")


def without_indexes(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note(session, health.LOST_MARK, "the database has lost uq_match_seq: stop the arena")


def undumped(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note(session, health.DUMP_MARK, "the dump of the day could not be made: no room")


def uncooled(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note(session, health.COLD_MARK, "something is wrong with cold records: no room")


def ahead(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    session.get(Worker, "one").clock_ahead = 7200.5


def forged(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note_tick(session, now, None, {"forged": 2, "stale": 40, "unreadable": 1})


def untaken(session: sa.orm.Session, now) -> None:  # type: ignore[no-untyped-def]
    health.note_tick(session, now, None, {"not taken up": 5, "waited": 100})


ALARMS = {
    behind: ("recorder", "the recorder is 61 s behind with what workers say"),
    full: ("broker", "the broker is full: 255 of 256 MiB"),
    without_indexes: ("indexes", "the database has lost uq_match_seq"),
    undumped: ("dump", "the dump of the day could not be made: no room"),
    uncooled: ("cold records", "something is wrong with cold records: no room"),
    ahead: ("clock", "the clock of the worker one is 2 hours ahead: set it by NTP"),
    forged: ("messages", "among the messages of the last minutes were some that no worker"),
    untaken: ("not taken up", "5 jobs of the last minutes were taken from the queue, and nobody"),
    idle: ("idle ladder", "no game was played on the ladder ladder-0 for 10 minutes"),
    idle_since_the_clock_was_set_back: ("idle ladder", "no game was played on the ladder ladder-0"),
    aside: ("set aside", "1 match is set aside"),
    differs: ("differs", "ladder-0: 3 ratings differ"),
    distrusted: ("worker", "the worker one is given no jobs, it is set aside"),
    vanished: ("worker", "the worker one vanished 5 hours ago: start it again, or if it is gone"),
    away: ("recorder", "the recorder was not heard of for 31 s"),
}


@pytest.mark.parametrize(
    ("spoil", "alarm"), ALARMS.items(), ids=[kind for kind, _ in ALARMS.values()]
)
def test_what_is_wrong_is_an_alarm(  # type: ignore[no-untyped-def]
    played: SimpleNamespace, spoil, alarm: tuple[str, str], caplog
) -> None:
    """One of its kind; in the log once, and once more when it is over."""
    with played.database.begin() as session:
        spoil(session, played.now)
    with played.database.read() as session:
        (found,) = alarms.find(session, SETTINGS, played.now)
    assert (found.kind, found.words.startswith(alarm[1])) == (alarm[0], True), found.words
    for _ in range(2):
        with played.database.begin() as session:
            alarms.write_to_log(session, SETTINGS, played.now)
    assert [record.alarm for record in caplog.records] == [alarm[0]]
    with played.database.begin() as session:
        session.execute(sa.update(Competition).values(alarm="", last_game=played.now))
        session.execute(sa.update(Match).where(Match.status == "set aside").values(status="void"))
        mended = {"set_aside": None, "last_seen": played.now, "clock_ahead": 0.0}
        session.execute(sa.update(Worker).values(mended))
        for mark in (health.BROKER_MARK, health.LOST_MARK, health.DUMP_MARK, health.COLD_MARK):
            health.note(session, mark, "")
        session.execute(sa.delete(Mark).where(Mark.key == occurrences.MARK))
        health.note_tick(session, played.now, played.now)
        alarms.write_to_log(session, SETTINGS, played.now)
    assert "the alarm is over" in caplog.records[-1].message


@pytest.mark.long
@pytest.mark.parametrize(
    ("since", "tick", "slots", "silent"),
    [(3600, 0, 0, 3000), (3600, 0, 2, 8 * 86_400), (3600, 31, 2, 3000), (30, 0, 2, 3000)],
    ids=["stopped", "for long", "the recorder is away", "the recorder was away"],
)
def test_who_was_stopped_is_no_alarm(
    played: SimpleNamespace, since: int, tick: int, slots: int, silent: int
) -> None:
    """Nor who is gone for a week, or could not be heard."""
    seen = played.now - timedelta(seconds=silent)
    with played.database.begin() as session:
        health.note_tick(session, played.now - timedelta(seconds=since))
        for second in range(since, tick - 1, -10):
            health.note_tick(session, played.now - timedelta(seconds=second))
        one = sa.update(Worker).where(Worker.name == "one")
        session.execute(one.values(last_seen=seen, slots=slots))
        found = alarms.find(session, SETTINGS, played.now)
    assert [alarm.subject for alarm in found] == (["recorder"] if tick else [])


def test_an_alarm_is_a_line_whatever_a_worker_is_called(
    played: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    """Names are not proven, and a log is read by people and programs."""
    with played.database.begin() as session:
        session.get_one(Worker, "one").set_aside = played.now
        session.get_one(Worker, "one").name = "a\nalarm: b"
        session.flush()
        for _ in range(2):
            alarms.write_to_log(session, SETTINGS, played.now)
    assert [record.getMessage() for record in caplog.records] == [
        r"alarm: the worker a\nalarm: b is given no jobs, it is set aside"
    ]


@pytest.mark.parametrize(
    ("off", "later", "count"),
    [
        (3600, 0, 0),
        (3600, 599, 0),
        (3600, 600, 1),
        (29, 0, 1),
        (-86_400, 599, 0),
        (-86_400, 600, 1),
    ],
)
def test_an_arena_that_was_off_has_time_to_play(
    played: SimpleNamespace, off: int, later: int, count: int
) -> None:
    """Its ladders are idle ten minutes after it came back; a pause of the recorder is nothing.

    A clock that is set back is as if it had been off.
    """
    before = played.now - timedelta(seconds=off)
    with played.database.begin() as session:
        for tick in range(600, -1, -20):
            health.note_tick(session, before - timedelta(seconds=tick))
        for tick in range(0, later + 1, 20):
            health.note_tick(session, played.now + timedelta(seconds=tick))
        idle(session, played.now)
        now = played.now + timedelta(seconds=later)
        found = [one.kind for one in alarms.find(session, SETTINGS, now)]
    assert found.count("idle ladder") == count


def test_a_ladder_that_cannot_play_is_no_alarm(played: SimpleNamespace) -> None:
    """Paused, or with nobody to play."""
    with played.database.begin() as session:
        idle(session, played.now)
        session.execute(sa.update(Ladder).values(state="paused"))
        assert alarms.find(session, SETTINGS, played.now) == ()


@pytest.mark.parametrize(
    ("sigma", "aside", "count"), [(0.9, 0, 0), (1.1, 0, 1), (0.9, 3, 0), (0.9, 4, 1)]
)
def test_a_ladder_that_rests_is_no_alarm(
    played: SimpleNamespace, sigma: float, aside: int, count: int
) -> None:
    """Unless its last matches could not be played, as many as it has bots."""
    settings = replace(SETTINGS, trickle_seconds=1800)
    with played.database.begin() as session:
        idle(session, played.now)
        session.execute(sa.update(Entrant).values(games=100, wins=100, draws=0, losses=0))
        session.execute(sa.update(Entrant).values(sigma=sigma, games_before=0))
        session.execute(sa.update(Ladder).values(last_match=played.now))
        last = sa.select(Match).order_by(Match.id.desc()).limit(aside)
        for match in session.scalars(last):
            match.end_lease(JobStatus.SET_ASIDE, "it failed")
            match.seq = None
        session.flush()
        found = [one.kind for one in alarms.find(session, settings, played.now)]
    assert found.count("idle ladder") == count


@pytest.mark.parametrize(("ago", "count"), [(0, 0), (599, 0), (601, 1)])
def test_a_ladder_that_was_paused_has_time_to_play(
    played: SimpleNamespace, ago: int, count: int
) -> None:
    """However long it was paused, it is idle ten minutes after it was opened again."""
    with played.database.begin() as session:
        session.execute(sa.update(Ladder).values(last_game=played.now - timedelta(days=9)))
        ladder = session.scalars(sa.select(Ladder)).one()
        for state, seconds in (("paused", 86_400), ("open", ago)):
            change(
                session, ARENA, ladder, {"state": state}, played.now - timedelta(seconds=seconds)
            )
        found = [one.kind for one in alarms.find(session, SETTINGS, played.now)]
    assert found.count("idle ladder") == count
