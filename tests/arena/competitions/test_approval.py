"""Strength tests that a second person has to approve before workers play them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.gauntlet_deeds import CreateGauntlet
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.rules import CreateByRules
from arena.competitions.strength_deeds import (
    ApproveTest,
    CloneTest,
    CreateTest,
    ExtendTest,
    StopTest,
)
from arena.competitions.strength_reports import Wanted, listed_tests
from arena.competitions.tuning_deeds import CreateTuning, ExtendTuning
from arena.deeds import By, Deed
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    SCOPES,
    WAITS,
    Approval,
    Bot,
    BotVersion,
    CompetitionState,
    Ladder,
    Match,
    Role,
    StrengthTest,
    TestVerdict,
    User,
)
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import START

MACHINE = [{"machine": "own"}, {"machine": "reference"}]
PLAYED: dict[type[CreateByRules], tuple[Any, ...]] = {
    CreateTest: ("bot-0:1", "bot-1:1"),
    CreateTuning: ("bot-0:1", ("width",)),
    CreateGauntlet: ("bot-0:1", "bot-0:1:width=2", ("bot-1:1",)),
}
MAKER, OTHER = By(Actor(1, "somebody", ""), SCOPES[Role.ORGANISER], START), "olga"


def other(session: Session) -> By:
    """Another organiser."""
    user = session.scalar(sa.select(User).where(User.name == OTHER))
    if user is None:
        user = User(name=OTHER, role=Role.ORGANISER, created=START)
        session.add(user)
        session.flush()
    return replace(MAKER, actor=Actor(user.id, OTHER, ""))


def made(session: Session, by: By = MAKER, *, game: bool = False) -> StrengthTest:
    """A test by the rules of the ladder, which asks for approval, or of its game."""
    ladder = session.scalars(sa.select(Ladder)).one()
    ChangeLadder(ladder.name, {"approval": "needed"}).do(session, MAKER)
    rules = {"game": str(ladder.variant)} if game else {"ladder": ladder.name}
    test = CreateTest("bot-0:1", "bot-1:1", max_games=64, elo1=100.0, **rules).do(session, by)
    assert isinstance(test.answer, StrengthTest)
    return test.answer


@pytest.mark.parametrize("game", [False, True])
def test_nothing_is_played_before_somebody_else_approves(
    arena: StrengthSimulation, game: bool
) -> None:
    """Whichever rules it was made by, it is then played as any, and it is told who approved."""
    with arena.database.begin() as session:
        test = made(session, game=game)
        number = test.id
        assert (test.state, test.standing) == (CompetitionState.PAUSED, WAITS)
        assert [one.test.id for one in listed_tests(session, Wanted(waits=True))] == [number]
    arena.alive()
    arena.tick()
    arena.run(60)
    with arena.database.begin() as session:
        assert session.scalar(sa.select(Match.id)) is None
        with pytest.raises(NotAllowed, match="ask another organiser"):
            ApproveTest(number).do(session, MAKER)
        ApproveTest(number).do(session, other(session))
        with pytest.raises(Refusal, match="does not wait for approval: it is running"):
            ApproveTest(number).do(session, other(session))
        (noted,) = audit.entries(session, action="approve test")
        assert (noted.actor, noted.subject) == (OTHER, f"test {number}")
    assert arena.play_out(number) is not TestVerdict.RUNNING
    with arena.database.read() as session:
        (found,) = listed_tests(session)
        said = found.to_json()
        assert (said["approval"], said["approver"], found.stands) == (
            "given",
            OTHER,
            said["verdict"],
        )
        assert listed_tests(session, Wanted(waits=True)) == []


def test_who_has_no_account_approves_nothing_of_their_own(arena: StrengthSimulation) -> None:
    """At the arena's machine it is one person, for all that is known."""
    machine = By(Actor(None, "root", ""), frozenset(MAKER.scopes), START, at_machine=True)
    with arena.database.begin() as session:
        test = made(session, machine)
        with pytest.raises(NotAllowed, match="ask another organiser"):
            ApproveTest(test.id).do(session, machine)
        ApproveTest(test.id).do(session, MAKER)
        ApproveTest(made(session).id).do(session, machine)


def test_a_ladder_that_does_not_ask_lets_tests_begin(arena: StrengthSimulation) -> None:
    """Those that wait keep waiting; a clone of one waits, too."""
    with arena.database.begin() as session:
        waiting = made(session)
        ladder = session.scalars(sa.select(Ladder)).one()
        ChangeLadder(ladder.name, {"approval": "no"}).do(session, MAKER)
        free = CreateTest("bot-0:1", "bot-1:1", ladder=ladder.name).do(session, MAKER).answer
        clone = CloneTest(waiting.id).do(session, MAKER).answer
        assert [test.waits for test in (waiting, free, clone)] == [True, False, True]
        assert free.approval is Approval.NO


def test_every_ladder_of_its_boards_may_ask(arena: StrengthSimulation) -> None:
    """Not that alone whose time and limits it has."""
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        CreateLadder("other", "clobber", {"size": "4x5"}).do(session, MAKER)
        made = [
            CreateTest("bot-0:1", "bot-1:1", ladder=ladder.name, also=("other",), games=games)
            for games in (8, 16)
        ]
        free = made[0].do(session, MAKER).answer
        ChangeLadder("other", {"approval": "needed"}).do(session, MAKER)
        asking = made[1].do(session, MAKER).answer
        assert [test.waits for test in (free, asking)] == [False, True]


def test_a_ladder_that_asks_since_then_is_asked_for_more(arena: StrengthSimulation) -> None:
    """A test that began before it did plays on, but a clone of it waits, and more of it does."""
    with arena.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        test = CreateTest("bot-0:1", "bot-1:1", ladder=ladder.name, max_games=64).do(session, MAKER)
        test = test.answer
        ChangeLadder(ladder.name, {"approval": "needed"}).do(session, MAKER)
        assert not test.waits
        assert CloneTest(test.id).do(session, MAKER).answer.waits
        ExtendTest(test.id, 128).do(session, MAKER)
        assert test.waits


def test_more_of_a_tuning_is_for_organisers_where_tests_are_to_be_approved(
    arena: StrengthSimulation,
) -> None:
    with arena.database.begin() as session:
        session.execute(sa.update(BotVersion).values(options=["width float 0 2 1"]))
        session.execute(sa.update(Bot).values(open_source=True))
        ladder = session.scalars(sa.select(Ladder)).one()
        by = replace(other(session), scopes=SCOPES[Role.PARTICIPANT])
        tuning = CreateTuning("bot-0:1", ("width",), ladder=ladder.name, games=32).do(session, by)
        ExtendTuning(tuning.answer.id, 64).do(session, by)
        ChangeLadder(ladder.name, {"approval": "needed"}).do(session, MAKER)
        with pytest.raises(NotAllowed, match="for organisers to allow"):
            ExtendTuning(tuning.answer.id, 96).do(session, by)
        ExtendTuning(tuning.answer.id, 96).do(session, MAKER)


@pytest.mark.parametrize("rule", [{"game": "clobber"}, {"move": 100}, {"time": "1+1"}, *MACHINE])
@pytest.mark.parametrize("kind", [CreateTest, CreateTuning, CreateGauntlet])
def test_rules_that_are_no_ladders_are_for_organisers(
    arena: StrengthSimulation, kind: type[CreateByRules], rule: dict[str, Any]
) -> None:
    """Whatever is played by them, and whichever of the rules it is."""
    with arena.database.begin() as session:
        session.execute(sa.update(BotVersion).values(options=["width float 0 2 1"]))
        session.execute(sa.update(Bot).values(open_source=True))
        ladder = {} if "game" in rule else {"ladder": session.scalars(sa.select(Ladder)).one().name}
        deed = kind(*PLAYED[kind], **ladder, **rule)
        with pytest.raises(NotAllowed, match="by other rules than a ladder's"):
            deed.do(session, replace(other(session), scopes=SCOPES[Role.PARTICIPANT]))


@pytest.mark.parametrize(
    "deed",
    [
        CreateGauntlet("bot-0:1", "bot-0:1:width=2", ("bot-1:1",), ladder="ladder-0"),
        CreateTuning("bot-0:1", ("width",), ladder="ladder-0"),
    ],
    ids=lambda deed: type(deed).__name__,
)
def test_nothing_else_is_a_way_around(arena: StrengthSimulation, deed: Deed) -> None:
    with arena.database.begin() as session:
        session.execute(sa.update(BotVersion).values(options=["width float 0 2 1"]))
        session.execute(sa.update(Bot).values(open_source=True))
        made(session)
        with pytest.raises(NotAllowed, match="approval"):
            deed.do(session, replace(other(session), scopes=SCOPES[Role.PARTICIPANT]))
        deed.do(session, MAKER)


def test_more_of_it_is_to_be_approved_anew(arena: StrengthSimulation) -> None:
    """When its maker asks for it; an organiser who does approves by that. Stopping is always one's
    own, and does not begin it.
    """
    with arena.database.begin() as session:
        test, olga = made(session), other(session)
        ApproveTest(test.id).do(session, olga)
        ExtendTest(test.id, 128).do(session, MAKER)
        assert (test.waits, test.state) == (True, CompetitionState.PAUSED)
        ExtendTest(test.id, 256).do(session, olga)
        assert (test.waits, test.state, test.approver_id) == (
            False,
            CompetitionState.OPEN,
            olga.actor.id,
        )
        StopTest(test.id).do(session, MAKER)
        assert (test.waits, test.state) == (False, CompetitionState.CLOSED)
        ExtendTest(test.id, 512).do(session, MAKER)
        assert (test.waits, test.state) == (True, CompetitionState.PAUSED)
        StopTest(test.id).do(session, MAKER)
        with pytest.raises(Refusal, match="it is stopped"):
            ApproveTest(test.id).do(session, olga)
