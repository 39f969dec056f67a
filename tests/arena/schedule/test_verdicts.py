"""What an organiser decides about matches, and that all tables follow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from arena.audit import ARENA
from arena.ground.db import Database
from arena.ground.refusals import Refusal
from arena.models import (
    AuditEntry,
    Competition,
    CompetitionState,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    PlayedGame,
    User,
)
from arena.ratings.book import NEW
from arena.recorder.rebuild import Rebuilt, Upkeep, rebuild
from arena.schedule import matchmaking, verdicts
from arena.schedule.requests import request_matches
from tests.arena.simulator import CALM, START, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database


def play(database: Database) -> datetime:
    """Has some matches of three bots on a ladder played, and gives the time then."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    simulation.play(6)
    return simulation.now


@pytest.fixture(params=DATABASES)
def played(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Simulation]:
    """A ladder of three bots on which some matches were played; it is at rest."""
    with furnished_database(request, tmp_path, play) as (database, now):
        simulation = Simulation(database, 3, CALM)
        simulation.now = now
        yield simulation


def void(session: sa.orm.Session, number: int, *, replay: bool = False) -> Match | None:
    return verdicts.void(session, ARENA, number, "the lamp fell", replay=replay, now=START)


def look_after(database: Database, now: datetime = START) -> Rebuilt | None:
    """What the recorder does at a tick, who checks every hour."""
    return Upkeep(3600).go_on(database, now)


def the_ladder(session: sa.orm.Session) -> Ladder:
    return session.scalars(sa.select(Ladder)).one()


def test_a_void_match_counts_for_nothing(played: Simulation) -> None:
    """Its games stay, without ratings; everything else is as if it had never been played."""
    with played.database.begin() as session:
        games = the_ladder(session).games
        assert void(session, 2) is None
        assert the_ladder(session).rebuild_due
    assert look_after(played.database) is not None
    assert look_after(played.database) is None
    with played.database.read() as session:
        assert the_ladder(session).games == games - 2
        match = session.get_one(Match, 2)
        assert (match.status, match.problem) == (JobStatus.VOID, "the lamp fell")
        assert len(match.games) == 2
        assert {seat.mu_after for game in match.games for seat in game.seats} == {None}
        noted = session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        assert noted is not None
        assert (noted.action, noted.subject) == ("void match", "match 2")
    played.prove()


def test_all_void_is_a_fresh_ladder(played: Simulation) -> None:
    """Every rating is a new bot's again, every counter nothing."""
    with played.database.begin() as session:
        for number in session.scalars(sa.select(Match.id)).all():
            void(session, number)
    look_after(played.database)
    with played.database.read() as session:
        for entrant in session.scalars(sa.select(Entrant)):
            assert (entrant.mu, entrant.sigma) == (NEW.mu, NEW.sigma)
            assert (entrant.games, entrant.points, entrant.last_game) == (0, 0, None)
        assert {(m.matches, m.games) for m in session.scalars(sa.select(Meeting))} == {(0, 0)}
        ladder = the_ladder(session)
        assert (ladder.games, ladder.neighbours, ladder.last_game) == (0, 0, None)


def test_a_match_is_replayed_as_it_was(played: Simulation) -> None:
    """The same bots in the same seats, the same opening, the same dice: here the same games."""
    with played.database.begin() as session:
        first = session.get_one(Match, 1)
        digests = [game.digest for game in first.games]
        again = void(session, 1, replay=True)
        assert again is not None
        number = again.id
    played.alive()
    played.tick()
    played.run(30)
    with played.database.read() as session:
        again = session.get_one(Match, number)
        first = session.get_one(Match, 1)
        assert again.status is JobStatus.FIXED
        assert [p.entrant_id for p in again.places] == [p.entrant_id for p in first.places]
        assert (again.opening, again.options) == (first.opening, first.options)
        assert [game.digest for game in again.games] == digests
    played.prove()


def close(session: sa.orm.Session) -> None:
    the_ladder(session).state = CompetitionState.CLOSED


def freeze(session: sa.orm.Session) -> None:
    the_ladder(session).state = CompetitionState.FROZEN


def make_void(session: sa.orm.Session) -> None:
    void(session, 1)


def open_one(session: sa.orm.Session) -> None:
    session.get_one(Match, 1).status, session.get_one(Match, 1).seq = JobStatus.OPEN, None


@pytest.mark.parametrize("played", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("arrange", "number", "note", "words"),
    [
        (None, 0, "so", "there is no match 0"),
        (None, 2**40, "so", "there is no match 1099511627776"),
        (None, 1, "  ", "say why the match is to be void"),
        (None, 1, "x" * 2001, "the note has 2001 characters; it may have 2000"),
        (make_void, 1, "so", "match 1 is void already"),
        (open_one, 1, "so", "match 1 is not played yet"),
        (close, 1, "so", "the ladder ladder-0 is closed: nothing is played there"),
        (freeze, 1, "so", "the ladder ladder-0 is frozen: nothing is played there"),
    ],
)
def test_what_cannot_be_void(
    played: Simulation, arrange: object, number: int, note: str, words: str
) -> None:
    """One line says why, and nothing is changed."""
    with played.database.begin() as session:
        if callable(arrange):
            arrange(session)
            session.flush()
        with pytest.raises(Refusal) as refused:
            verdicts.void(session, ARENA, number, note, replay=True, now=START)
        assert str(refused.value) == words
        session.rollback()


def test_what_was_set_aside_is_tried_again(played: Simulation) -> None:
    """With all its attempts; nothing else can be requeued."""
    with played.database.begin() as session:
        match = next(matchmaking.new_matches(session, START), None)
        if match is None:
            the_ladder(session).state = CompetitionState.OPEN
            match = next(matchmaking.new_matches(session, START), None)
        assert match is not None
        match.status, match.failures = JobStatus.SET_ASIDE, 3
        session.flush()
        verdicts.requeue(session, ARENA, Match, match.id, START)
        assert (match.status, match.failures) == (JobStatus.OPEN, 0)
        with pytest.raises(Refusal, match="is open, and not set aside"):
            verdicts.requeue(session, ARENA, Match, match.id, START)


def spoil_rating(session: sa.orm.Session) -> None:
    session.execute(sa.update(Entrant).where(Entrant.id == 2).values(mu=Entrant.mu + 1e-9))


def spoil_seat(session: sa.orm.Session) -> None:
    session.execute(sa.update(GameSeat).where(GameSeat.game_id == 3).values(sigma_after=1.0))


def spoil_counter(session: sa.orm.Session) -> None:
    session.execute(
        sa.update(Entrant)
        .where(Entrant.id == 1)
        .values(games=Entrant.games + 1, wins=Entrant.wins + 1)
    )


def spoil_meeting(session: sa.orm.Session) -> None:
    session.execute(sa.update(Meeting).where(Meeting.first_id == 1).values(draws=1))


def lose_meeting(session: sa.orm.Session) -> None:
    session.execute(sa.delete(Meeting).where(Meeting.first_id == 1, Meeting.second_id == 2))


def spoil_ladder(session: sa.orm.Session) -> None:
    session.execute(sa.update(Competition).values(ties=5))


def spoil_rank(session: sa.orm.Session) -> None:
    session.execute(sa.update(GameSeat).where(GameSeat.game_id == 1).values(rank=1))


MET = "ladder-0: who met whom is not what it was when it was last checked"


@pytest.mark.parametrize("played", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("spoil", "first", "words"),
    [
        (spoil_rating, "bot-1 v1: mu", "bot-1 v1: mu"),
        (spoil_seat, "what is stored of matches 1 to ", "game 3, seat 1:"),
        (spoil_counter, "bot-0 v1: games", "bot-0 v1: games"),
        (spoil_meeting, MET, "the meeting of entrants 1 and 2: draws 1 is stored"),
        (lose_meeting, MET, "the meeting of entrants 1 and 2: matches 0 is stored"),
        (spoil_ladder, "ladder-0: ties 5 is stored", "ladder-0: ties 5 is stored, 0 came out"),
        (spoil_rank, "what is stored of matches 1 to ", "game 1, seat 1:"),
    ],
)
def test_a_check_raises_an_alarm_and_a_rebuild_mends(
    played: Simulation, spoil: object, first: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever differs from the results is found; it is told in the log and on the ladder. The
    check after that says of all what it is."""
    assert callable(spoil)
    later = START + timedelta(days=2)
    found = look_after(played.database, later)
    assert found is not None
    assert found.equal
    assert look_after(played.database, later) is None
    with played.database.begin() as session:
        spoil(session)
    for hours, told in ((2, first), (4, words)):
        found = look_after(played.database, later + timedelta(hours=hours))
        assert found is not None
        assert any(line.startswith(told) for line in found.differences), found.differences
        with played.database.read() as session:
            assert found.differences[0] in the_ladder(session).alarm
            assert the_ladder(session).alarm in caplog.text
    with played.database.begin() as session:
        assert not rebuild(session, the_ladder(session), write=True).equal
    with played.database.begin() as session:
        assert rebuild(session, the_ladder(session), write=False).equal
        assert the_ladder(session).alarm == ""


@pytest.mark.parametrize("played", ["sqlite"], indirect=True)
def test_a_check_keeps_nobody_waiting(played: Simulation) -> None:
    """Of many games it takes long, and people sign in and hand in bots meanwhile."""
    path = sa.make_url(played.database.url).database
    assert path is not None
    written = []

    def write(*told: object) -> None:
        if "FROM game_seat" in str(told[2]):
            with closing(sqlite3.connect(path, timeout=0)) as other, other:
                written.append(other.execute("UPDATE user SET role = role").rowcount)

    event.listen(sa.Engine, "after_cursor_execute", write)
    try:
        assert look_after(played.database, START + timedelta(days=2)) is not None
    finally:
        event.remove(sa.Engine, "after_cursor_execute", write)
    assert len(written) > 1  # as it is folded, and as it is read again


@pytest.mark.parametrize("played", ["sqlite"], indirect=True)
def test_a_rebuild_keeps_nobody_waiting(played: Simulation) -> None:
    """All but the last part of it is folded while others write, too."""
    path = sa.make_url(played.database.url).database
    assert path is not None
    waited = []

    def write(*told: object) -> None:
        if "FROM game_seat" in str(told[2]):
            with closing(sqlite3.connect(path, timeout=0)) as other, other:
                try:
                    other.execute("UPDATE user SET role = role")
                    waited.append(False)
                except sqlite3.OperationalError:
                    waited.append(True)

    with played.database.begin() as session:
        void(session, 2)
    event.listen(played.database.engine, "after_cursor_execute", write)
    assert look_after(played.database) is not None
    assert waited == [False, True]


@pytest.mark.parametrize("meanwhile", ["void", "more", "draws", "made"])
def test_what_happens_during_a_rebuild_is_in_it(played: Simulation, meanwhile: str) -> None:
    """It comes out as if all had been made anew afterwards."""
    with played.database.begin() as session:
        first, second = session.scalars(sa.select(Match.id).order_by(Match.seq).limit(2))
        void(session, second)
        games = the_ladder(session).games
    played.upkeep = upkeep = Upkeep(3600, matches=2)
    assert upkeep.go_on(played.database, START) is None
    with played.database.begin() as session:
        match meanwhile:
            case "void":
                void(session, first)
            case "more":
                the_ladder(session).state = CompetitionState.OPEN
            case "draws":
                the_ladder(session).draw_probability = 0.5
            case "made":
                rebuild(session, the_ladder(session), write=True)
    if meanwhile == "more":
        played.play(3)
    else:
        assert any(upkeep.go_on(played.database, START) for _ in range(100))
    with played.database.read() as session:
        assert (the_ladder(session).games > games) is (meanwhile == "more")
        assert not the_ladder(session).rebuild_due
        assert rebuild(session, the_ladder(session), write=False).equal
    played.prove()


@pytest.mark.parametrize("played", ["sqlite"], indirect=True)
def test_a_check_leaves_what_is_to_be_made_anew(played: Simulation) -> None:
    """A match that is made void meanwhile is no alarm."""
    later, upkeep = START + timedelta(days=2), Upkeep(3600, matches=2)
    assert upkeep.go_on(played.database, later) is None
    with played.database.begin() as session:
        void(session, 1)
    found = [upkeep.go_on(played.database, later) for _ in range(20)]
    assert [one.equal for one in found if one] == [False, True]  # made anew, and then checked
    with played.database.read() as session:
        assert the_ladder(session).alarm == ""


def test_another_draw_probability_has_all_made_anew(played: Simulation) -> None:
    """As if it had been so from the start."""
    with played.database.begin() as session:
        before = {e.id: e.mu for e in session.scalars(sa.select(Entrant))}
        the_ladder(session).draw_probability = 0.5
        the_ladder(session).rebuild_due = True
    assert look_after(played.database) is not None
    with played.database.read() as session:
        assert all(e.mu != before[e.id] for e in session.scalars(sa.select(Entrant)))
    played.prove()


def ask(session: sa.orm.Session, *names: str, quota: int | None = None) -> Match:
    user = session.scalars(sa.select(User)).one()
    return request_matches(session, user, the_ladder(session), names, START, quota=quota)[0]


def test_a_match_on_request_counts_for_nothing(database: Database) -> None:
    """It is played by the ladder's rules; no rating, no counter and no pairing knows of it."""
    simulation = Simulation(database, 3, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        asked = [ask(session, "bot-2", "bot-0:1", quota=2).id for _ in range(2)]
        with pytest.raises(Refusal, match="2 matches may be asked for within 24 hours: the"):
            ask(session, "bot-2", "bot-0", quota=2)
        the_ladder(session).state = CompetitionState.PAUSED
    simulation.alive()
    simulation.tick()
    simulation.run(20)
    with database.read() as session:
        for number in asked:
            match = session.get_one(Match, number)
            assert (match.status, match.rated, len(match.games)) == (JobStatus.FIXED, False, 2)
            assert [place.entrant_id for place in match.places] == [3, 1]
        assert {e.games for e in session.scalars(sa.select(Entrant))} == {0}
        assert session.scalar(sa.select(sa.func.count()).select_from(PlayedGame)) == 4
    simulation.prove()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("bot-0",), "a match of ladder-0 is between 2 bots, not 1"),
        (("bot-0", "bot-1", "bot-2"), "a match of ladder-0 is between 2 bots, not 3"),
        (
            ("bot-0", "bot-0:1"),
            "a bot version sits in a match once: name different ones, or give one other options",
        ),
        (("bot-0", "bot-9"), "there is no active bot 'bot-9' on the ladder ladder-0"),
        (("bot-0", "bot-1:2"), "there is no version 2 of a bot bot-1 on the ladder ladder-0"),
        (
            ("bot-0", "bot-1:x"),
            "'bot-1:x' names no bot: write greedy, greedy:2 for its version 2, or greedy:2:depth=8",
        ),
    ],
)
def test_what_cannot_be_asked_for(database: Database, names: tuple[str, ...], words: str) -> None:
    """One line says why."""
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session, pytest.raises(Refusal) as refused:
        ask(session, *names)
    # Behind that may stand what was likely meant.
    assert str(refused.value).partition("; did you mean")[0] == words


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_heap_of_requests_does_not_stop_a_ladder(database: Database) -> None:
    """They get half of the room while the ladder has matches to play."""
    simulation = Simulation(database, 0, CALM)
    simulation.furnish([("clobber", {"size": "4x3"})], bots=3)
    with database.begin() as session:
        for _ in range(20):
            ask(session, "bot-0", "bot-1")
    simulation.alive()
    simulation.tick()
    simulation.run(2)
    with database.read() as session:
        issued = session.scalars(sa.select(Match).where(Match.status != JobStatus.OPEN)).all()
        unrated = sum(not match.rated for match in issued)
        assert 0 < unrated <= len(issued) - unrated + 1
