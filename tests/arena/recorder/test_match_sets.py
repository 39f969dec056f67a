"""Many matches at once: what deciding about them would change, and that it is what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.competitions.happenings import FAULTY
from arena.deeds import By, look_ahead, perform
from arena.ground.db import Database, count_rows
from arena.ground.refusals import NotAllowed, NotThere, Refusal, WrongField
from arena.models import (
    AuditEntry,
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    MatchOfSet,
    MatchSet,
    MemberState,
    Scope,
    SetState,
)
from arena.operation.maintenance import SetMaintenance
from arena.recorder import match_set_deeds, outlooks
from arena.recorder.claim import Claims
from arena.recorder.fold import Fold
from arena.recorder.match_set_deeds import ChooseMatches, DecideMatches
from arena.recorder.outlooks import SetsAtWork
from arena.recorder.rebuild import Upkeep
from arena.schedule import match_sets
from arena.schedule.match_sets import carry_out
from tests.arena.simulator import CALM, START, Simulation
from tests.conftest import DATABASES
from tests.furnished import furnished_database

BY = By(Actor(None, "olga", "here"), frozenset(Scope), START)
WORKER = "worker=two"


def play(database: Database) -> datetime:
    """Has matches of four bots on two ladders played by three workers, and gives the time then."""
    simulation = Simulation(database, 7, CALM)
    simulation.furnish([("clobber", {"size": "4x3"}), ("clobber", {"size": "3x3"})], bots=4)
    simulation.play(24)
    return simulation.now


@pytest.fixture(params=DATABASES)
def played(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Simulation]:
    """Such an arena, at rest."""
    with furnished_database(request, tmp_path, play) as (database, now):
        simulation = Simulation(database, 7, CALM)
        simulation.now = now
        yield simulation


def choose(database: Database, verdict: str = "void", words: str = WORKER, **more: Any) -> MatchSet:
    note = {} if verdict == "requeue" else {"note": "its fan stood still"}
    deed = look_ahead(database.read, ChooseMatches(verdict, words, **note, **more), BY)
    with database.begin() as session:
        return perform(session, deed, BY).answer


def decide(database: Database, number: int) -> str:
    with database.begin() as session:
        return perform(session, DecideMatches(number), BY).said


def read(database: Database, number: int) -> MatchSet:
    with database.read() as session:
        return session.get_one(MatchSet, number)


def rest(database: Database, sets: SetsAtWork | None = None) -> None:
    """What the recorder does until there is nothing to do."""
    sets, upkeep = sets or SetsAtWork(), Upkeep(3600)
    for _ in range(200):
        if not sets.go_on(database, START) and upkeep.go_on(database, START) is None:
            with database.read() as session:
                waits = session.scalars(sa.select(Ladder.rebuild_due)).all()
                looked_for = session.scalars(sa.select(MatchSet.state)).all()
            if not any(waits) and not {SetState.LOOKING, SetState.DECIDED} & {*looked_for}:
                return
    raise AssertionError("it never comes to rest")


def stands(session: Session) -> dict[str, tuple[Any, ...]]:
    """How everybody stands by what is stored."""
    return {
        f"{one.competition.name} {one.version.label}": (one.mu, one.sigma, one.games)
        for one in session.scalars(sa.select(Entrant))
    }


def told(made: MatchSet) -> dict[str, tuple[Any, ...]]:
    """How those of whom a set says that they change are to stand after it."""
    return {
        f"{each['competition']} {one['label']}": tuple(
            one["after"][key] for key in ("mu", "sigma", "games")
        )
        for each in made.changes
        for one in each["changes"]
    }


@pytest.mark.long
def test_looking_leaves_the_recorder_its_connection(
    played: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between all parts; a second one that claims would wait for the first."""
    monkeypatch.setattr(outlooks, "FEW", 0)
    number = choose(played.database).id
    # Time for one part.
    monkeypatch.setattr(outlooks, "monotonic", count().__next__)
    sets, parts = SetsAtWork(few_seconds=1.5), 0
    with closing(Database(played.database.url)) as claimed:
        Claims(claimed, patience=0)
        while read(claimed, number).state is SetState.LOOKING:
            sets.go_on(claimed, START)
            parts += 1
    assert parts > 2


def test_matches_are_found_before_anything_is_written(played: Simulation) -> None:
    """Whoever may finds them; others write meanwhile, and what changes then stays out of it."""
    database = played.database
    wish = ChooseMatches("void", WORKER, note="why")
    with database.begin() as session:
        # On SQLite nobody else could, if it were written by now.
        deed = look_ahead(database.read, wish, BY)
        found = session.scalars(sa.select(Match).where(Match.played_by == "two")).all()
        found[0].status = JobStatus.VOID
    assert len(found) > 1
    with database.begin() as session:
        made = perform(session, deed, BY).answer
        members = session.scalars(sa.select(MatchOfSet).where(MatchOfSet.set_id == made.id)).all()
        assert {one.match_id: one.state for one in members} == {
            one.id: MemberState.WAITS if number else MemberState.LEFT
            for number, one in enumerate(found)
        }
    with pytest.raises(NotAllowed, match="this takes the scope organise"):
        look_ahead(database.read, wish, replace(BY, scopes=frozenset({Scope.SUBMIT})))


@pytest.mark.parametrize("at_once", [True, False])
def test_ratings_are_what_was_said_before(
    played: Simulation, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are so to the last bit, found in the request or part by part; in one note."""
    database = played.database
    monkeypatch.setattr(outlooks, "FEW", 1000 if at_once else 0)
    monkeypatch.setattr(match_sets, "BATCH", 3)
    monkeypatch.setattr(match_set_deeds, "BATCH", 3)
    with database.read() as session:
        before = stands(session)
        its = session.scalars(sa.select(Match.id).where(Match.played_by == "two")).all()
        ranks = session.scalars(sa.select(Entrant.conservative).order_by(Entrant.id)).all()
    made = choose(database)
    assert made.state is (SetState.READY if at_once else SetState.LOOKING)
    if not at_once:
        with pytest.raises(Refusal, match="still being found"):
            decide(database, made.id)
        rest(database, SetsAtWork(part=2))
    made = read(database, made.id)
    with database.read() as session:
        assert stands(session) == before, "nothing is done yet"
        assert session.scalars(sa.select(MatchOfSet.match_id)).all() == sorted(its)
    assert made.state is SetState.READY
    assert (made.matches, made.games) == (len(its), 2 * len(its))
    assert made.looked == made.to_look
    assert decide(database, made.id) == f"{len(its)} matches of set {made.id} are void"
    rest(database)
    with database.read() as session:
        after = stands(session)
        assert {key: one for key, one in after.items() if one != before[key]} == told(made)
        assert ranks != session.scalars(sa.select(Entrant.conservative).order_by(Entrant.id)).all()
        states = session.scalars(sa.select(Match.status).where(Match.id.in_(its))).all()
        assert {*states} == {JobStatus.VOID}
        assert {*session.scalars(sa.select(MatchOfSet.state))} == {MemberState.DONE}
        noted = session.scalars(sa.select(AuditEntry).where(AuditEntry.actor == "olga")).all()
    assert [one.action for one in noted] == ["choose matches", "void matches"]
    assert noted[1].subject == f"match set {made.id}"
    assert noted[1].detail == (f"{len(its)} of {len(its)} matches: {WORKER}; its fan stood still")
    with pytest.raises(Refusal, match="is decided already"):
        decide(database, made.id)


@pytest.mark.long
def test_what_comes_in_later_is_none_of_a_set(
    played: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it hold anything up: what is played meanwhile counts, and the set is as chosen."""
    monkeypatch.setattr(match_set_deeds, "BATCH", 1)
    monkeypatch.setattr(match_sets, "BATCH", 1)
    database = played.database
    made = choose(database)
    with database.read() as session:
        numbers = session.scalars(sa.select(MatchOfSet.match_id)).all()
        last = session.scalar(sa.select(sa.func.max(Match.seq)))
    with database.begin() as session:
        session.execute(sa.update(Ladder).values(state=CompetitionState.OPEN))
    played.alive()
    played.tick()
    played.run(6)
    decide(database, made.id)
    sets = SetsAtWork(few_seconds=0.0)
    while sets.go_on(database, START):
        played.run(1)
    played.play(6)
    rest(database)
    with database.read() as session:
        void = session.scalars(sa.select(Match.id).where(Match.status == JobStatus.VOID)).all()
        assert sorted(void) == sorted(numbers)
        newer = (Match.seq > last, Match.played_by == "two", Match.status == JobStatus.FIXED)
        assert count_rows(session, Match, *newer) > 0
        assert {*session.scalars(sa.select(Ladder.alarm))} == {""}
    assert all(one["last"] <= last for one in made.changes)


def test_nothing_is_carried_out_during_maintenance(
    played: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided before is done when it is over."""
    database = played.database
    monkeypatch.setattr(match_set_deeds, "BATCH", 1)
    made = choose(database)
    decide(database, made.id)
    with database.begin() as session:
        perform(session, SetMaintenance(True), BY)
    assert not SetsAtWork().go_on(database, START)
    with database.read() as session:
        assert {*session.scalars(sa.select(MatchOfSet.state))} == {MemberState.WAITS}
    with database.begin() as session:
        perform(session, SetMaintenance(False), BY)
    rest(database)
    assert read(database, made.id).state is SetState.DONE


def test_what_goes_wrong_with_one_set_holds_up_no_other(
    played: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays as it is, with the reason: a match of which that is so, or a set that can't be
    looked at."""
    database = played.database
    monkeypatch.setattr(match_set_deeds, "BATCH", 1)
    first = choose(database)
    decide(database, first.id)
    with database.read() as session:
        wrong = session.scalars(sa.select(MatchOfSet.match_id)).all()[1]
    make_void, fold = match_sets.make_all_void, Fold.of

    def fails_with_one(session: Session, matches: Sequence[Match], why: str) -> None:
        make_void(session, matches, why)
        if any(match.id == wrong for match in matches):
            raise ValueError("a fault of the program")

    def fails_for_one(competition: Ladder, *, without: int | None = None) -> Fold:
        if without == first.id + 1:
            raise ValueError("a fault of the program")
        return fold(competition, without=without)

    monkeypatch.setattr(match_sets, "make_all_void", fails_with_one)
    monkeypatch.setattr(Fold, "of", fails_for_one)
    monkeypatch.setattr(outlooks, "FEW", 0)
    second, third = (choose(database, words="worker=one") for _ in range(2))
    rest(database)
    with database.read() as session:
        left = sa.select(MatchOfSet).where(MatchOfSet.state == MemberState.LEFT)
        its = {(one.set_id, one.match_id): one.why for one in session.scalars(left)}
        void = session.scalars(sa.select(Match.id).where(Match.status == JobStatus.VOID)).all()
        assert {*session.scalars(sa.select(Ladder.rebuild_due))} == {False}
    assert {set_id for set_id, _ in its} == {first.id, second.id}
    assert [match for set_id, match in its if set_id == first.id] == [wrong]
    assert {*its.values()} == {FAULTY}
    assert len(void) == first.matches - 1
    assert read(database, first.id).state is SetState.DONE
    assert {one["left"] > 0 for one in read(database, second.id).changes} == {True}
    assert {one["matches"] > 0 for one in read(database, third.id).changes} == {True}
    with pytest.raises(Refusal, match="nothing can be done to any match"):
        decide(database, second.id)


def test_a_set_that_was_broken_off_is_gone_on_with(
    played: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash between two batches, or in one: each match is done once, and all are."""
    database = played.database
    monkeypatch.setattr(match_set_deeds, "BATCH", 1)
    made = choose(database, "replay", words="")
    decide(database, made.id)
    with database.begin() as session:
        assert carry_out(session, made.id, START, 2)
    with database.begin() as session:
        carry_out(session, made.id, START, 2)
        session.rollback()  # as if the power were cut
    with database.read() as session:
        assert count_rows(session, MatchOfSet, MatchOfSet.state == MemberState.DONE) == 2
    assert read(database, made.id).state is SetState.DECIDED
    rest(database)
    assert read(database, made.id).state is SetState.DONE
    with database.read() as session:
        rows = session.scalars(sa.select(MatchOfSet)).all()
        again = [session.get_one(Match, one.replayed_as) for one in rows]
        assert len({one.id for one in again}) == made.matches
        assert {one.status for one in again} == {JobStatus.OPEN}
        assert [one.opening for one in again] == [one.match.opening for one in rows]
        assert {*session.scalars(sa.select(Entrant.games))} == {0}


def test_what_can_not_be_void_stays(played: Simulation) -> None:
    """It is said of which and why, before and where it comes up only then."""
    database = played.database
    with database.begin() as session:
        first, second = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        first.state, second.state = CompetitionState.CLOSED, CompetitionState.FROZEN
    made = choose(database, "replay", words="")
    closed, frozen = made.changes
    assert (closed["matches"], frozen["matches"]) == (0, 0)
    assert "is closed: nothing is played there" in closed["why"]
    assert "is frozen: nothing is played there" in frozen["why"]
    with pytest.raises(Refusal, match="nothing can be done"):
        decide(database, made.id)
    made = choose(database, words="")
    with database.begin() as session:
        number = session.scalar(
            sa.select(MatchOfSet.match_id).where(
                MatchOfSet.set_id == made.id, MatchOfSet.state == MemberState.WAITS
            )
        )
        session.get_one(Match, number).status = JobStatus.VOID
    decide(database, made.id)
    rest(database)
    with database.read() as session:
        late = session.get_one(MatchOfSet, (made.id, number))
        assert (late.state, late.why) == (MemberState.LEFT, f"match {number} is void already")


def test_matches_that_were_set_aside_are_tried_again(played: Simulation) -> None:
    """Those of a bot or a competition; no rating changes by that."""
    database = played.database
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).first()
        for match in session.scalars(sa.select(Match).limit(3)):
            match.status, match.seq, match.failures = JobStatus.SET_ASIDE, None, 3
            match.competition_id = ladder.id
    made = choose(database, "requeue", words=f"competition={ladder.name}")
    assert made.matches == 3
    assert not made.changes[0]["changes"]
    assert decide(database, made.id) == f"3 matches of set {made.id} are tried again"
    with database.read() as session:
        found = session.scalars(sa.select(Match).join(MatchOfSet)).all()
        assert {(one.status, one.failures) for one in found} == {(JobStatus.OPEN, 0)}


@pytest.mark.parametrize(
    ("verdict", "words", "more", "kind", "said"),
    [
        ("void", WORKER, {"note": " "}, Refusal, "say why"),
        ("void", "worker=nobody", {}, Refusal, "no match that was played is so"),
        ("void", "bot=nobody", {}, NotThere, "there is no bot nobody"),
        ("void", "ending=boredom", {}, WrongField, "it is one of"),
        ("requeue", "", {}, Refusal, "no match that was set aside is so"),
        ("requeue", "ending=timeout", {}, Refusal, "leave out ending"),
        ("void", WORKER, {"stand": "set aside"}, Refusal, "leave out worker"),
    ],
)
def test_what_can_not_be_chosen_is_refused(
    played: Simulation, verdict: str, words: str, more: Any, kind: type[Exception], said: str
) -> None:
    """It is refused in one line, and nothing is kept of it."""
    with played.database.begin() as session, pytest.raises(kind, match=said):
        perform(session, ChooseMatches(verdict, words, **{"note": "x", **more}), BY)
    with played.database.read() as session:
        assert count_rows(session, MatchSet) == 0


def test_there_is_an_end_to_sets(played: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of too many matches is refused, and one that nobody decides on is forgotten."""
    monkeypatch.setattr(match_sets, "MOST_MATCHES", 5)
    with pytest.raises(Refusal, match="at most 5 matches: say more"):
        choose(played.database, words="")
    monkeypatch.undo()
    made = choose(played.database)
    SetsAtWork().go_on(played.database, START + outlooks.KEPT)
    assert read(played.database, made.id)
    SetsAtWork().go_on(played.database, START + 2 * outlooks.KEPT)
    with played.database.read() as session:
        assert session.get(MatchSet, made.id) is None
