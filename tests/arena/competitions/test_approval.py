"""Comparisons that a second person has to approve before workers play them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions.comparisons import ApproveComparison, Approved, approval_of
from arena.competitions.gauntlet_deeds import CreateGauntlet, StopGauntlet
from arena.competitions.gauntlets import verdict
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.rules import CreateByRules
from arena.competitions.strength_deeds import (
    CloneTest,
    CreateTest,
    ExtendTest,
    StopTest,
)
from arena.competitions.strength_reports import Wanted, listed_tests
from arena.competitions.tuning_deeds import (
    CreateTuning,
    ExtendTuning,
    PauseTuning,
    ResumeTuning,
    StopTuning,
)
from arena.deeds import By
from arena.ground.config import Settings
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    SCOPES,
    WAITS,
    Approval,
    Bot,
    BotVersion,
    Comparison,
    CompetitionState,
    Ladder,
    Match,
    Role,
    User,
)
from arena.schedule.idle import why_idle
from arena.web.api.answers import SHAPES
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.simulator import START

MACHINE = [{"machine": "own"}, {"machine": "reference"}]
PLAYED: dict[type[CreateByRules], tuple[Any, ...]] = {
    CreateTest: ("bot-0:1", "bot-1:1"),
    CreateTuning: ("bot-0:1", ("width",)),
    CreateGauntlet: ("bot-0:1", "bot-0:1:width=2", ("bot-1:1",)),
}
MORE: dict[type[CreateByRules], dict[str, Any]] = {
    CreateTest: {"max_games": 64, "elo1": 100.0},
    CreateTuning: {"games": 32, "batch": 4},
    CreateGauntlet: {"games": 16},
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


def made(
    session: Session,
    by: By = MAKER,
    *,
    kind: type[CreateByRules] = CreateTest,
    game: bool = False,
) -> Any:
    """A comparison by the rules of the ladder, which asks for approval, or of its game."""
    session.execute(sa.update(BotVersion).values(options=["width float 0 2 1"]))
    session.execute(sa.update(Bot).values(open_source=True))
    ladder = session.scalars(sa.select(Ladder)).one()
    ChangeLadder(ladder.name, {"approval": "needed"}).do(session, MAKER)
    rules = {"game": str(ladder.variant)} if game else {"ladder": ladder.name}
    done = kind(*PLAYED[kind], **MORE[kind], **rules).do(session, by)
    assert "waits for approval" in done.said
    return done.answer


@pytest.mark.parametrize(
    ("kind", "game"),
    [
        (CreateTest, True),
        (CreateTuning, False),
        pytest.param(CreateTest, False, marks=pytest.mark.long),
        pytest.param(CreateTuning, True, marks=pytest.mark.long),
        pytest.param(CreateGauntlet, False, marks=pytest.mark.long),
        pytest.param(CreateGauntlet, True, marks=pytest.mark.long),
    ],
)
def test_nothing_is_played_before_somebody_else_approves(
    arena: StrengthSimulation, kind: type[CreateByRules], game: bool
) -> None:
    """Whichever rules it was made by, it is then played as any, and it is told who approved."""
    with arena.database.begin() as session:
        comparison = made(session, kind=kind, game=game)
        name, number = comparison.name, comparison.id
        assert (comparison.state, comparison.standing) == (CompetitionState.PAUSED, WAITS)
        waiting = listed_tests(session, Wanted(waits=True))
        assert [one.test.id for one in waiting] == [number] * (kind is CreateTest)
        assert "waits for approval" in why_idle(session, comparison, Settings(), START)
    arena.alive()
    arena.tick()
    arena.run(60)
    with arena.database.begin() as session:
        assert session.scalar(sa.select(Match.id)) is None
        with pytest.raises(NotAllowed, match="ask another organiser"):
            ApproveComparison(name).do(session, MAKER)
        assert not approval_of(session, session.get_one(Comparison, number), MAKER).may_give
        olga = other(session)
        assert approval_of(session, session.get_one(Comparison, number), olga).may_give
        ApproveComparison(name).do(session, olga)
        with pytest.raises(Refusal, match=f"{name} does not wait for approval"):
            ApproveComparison(name).do(session, olga)
        comparison = session.get_one(Comparison, number)
        assert approval_of(session, comparison, olga) == Approved(OTHER, may_give=False)
        (noted,) = audit.entries(session, action=f"approve {comparison.kind}")
        said = (noted.actor, noted.subject, noted.detail)
        assert said == (OTHER, name.replace("test-", "test "), comparison.title)
    arena.run(60)
    with arena.database.read() as session:
        assert session.scalar(sa.select(Match.competition_id)) == number
        (found,) = SHAPES[kind.answers].each(session, [session.get_one(Comparison, number)])
        assert (found.approval, found.approver) == (Approval.GIVEN, OTHER)
        assert listed_tests(session, Wanted(waits=True)) == []


def test_who_has_no_account_approves_nothing_of_their_own(arena: StrengthSimulation) -> None:
    """At the arena's machine it is one person, for all that is known."""
    machine = By(Actor(None, "root", ""), frozenset(MAKER.scopes), START, at_machine=True)
    with arena.database.begin() as session:
        test = made(session, machine)
        with pytest.raises(NotAllowed, match="ask another organiser"):
            ApproveComparison(test.name).do(session, machine)
        ApproveComparison(test.name).do(session, MAKER)
        ApproveComparison(made(session).name).do(session, machine)


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


def test_more_of_a_tuning_is_approved_anew(arena: StrengthSimulation) -> None:
    """As of a test; one that waits does not go on by the word of who made it, nor once stopped."""
    with arena.database.begin() as session:
        tuning, olga = made(session, kind=CreateTuning), other(session)
        with pytest.raises(Refusal, match="waits for approval, which an organiser gives"):
            ResumeTuning(tuning.id).do(session, MAKER)
        with pytest.raises(Refusal, match="is paused"):
            PauseTuning(tuning.id).do(session, MAKER)
        StopTuning(tuning.id).do(session, MAKER)
        assert (tuning.waits, tuning.state) == (False, CompetitionState.CLOSED)
        said = ResumeTuning(tuning.id).do(session, MAKER).said
        assert "goes on once it is approved" in said
        assert (tuning.waits, tuning.state) == (True, CompetitionState.PAUSED)
        ApproveComparison(tuning.name).do(session, olga)
        PauseTuning(tuning.id).do(session, MAKER)
        ResumeTuning(tuning.id).do(session, MAKER)
        assert (tuning.waits, tuning.state) == (False, CompetitionState.OPEN)
        assert "once it is approved" in ExtendTuning(tuning.id, 64).do(session, MAKER).said
        assert (tuning.waits, tuning.state) == (True, CompetitionState.PAUSED)
        ExtendTuning(tuning.id, 96).do(session, olga)
        assert (tuning.waits, tuning.approver_id) == (False, olga.actor.id)
        PauseTuning(tuning.id).do(session, MAKER)
        ExtendTuning(tuning.id, 128).do(session, olga)
        assert (tuning.waits, tuning.state) == (False, CompetitionState.PAUSED)


def test_a_tuning_of_before_is_asked_for_more(arena: StrengthSimulation) -> None:
    """One that began before its ladder asked plays on; and one of which nothing was noted, too."""
    with arena.database.begin() as session:
        tuning = made(session, kind=CreateTuning)
        ladder = session.scalars(sa.select(Ladder)).one()
        tuning.approval, tuning.state = None, CompetitionState.OPEN  # of a release before
        session.flush()
        assert (tuning.waits, tuning.asks_approval) == (False, False)
        ChangeLadder(ladder.name, {"approval": "no"}).do(session, MAKER)
        ExtendTuning(tuning.id, 64).do(session, MAKER)
        assert not tuning.waits
        ChangeLadder(ladder.name, {"approval": "needed"}).do(session, MAKER)
        ExtendTuning(tuning.id, 96).do(session, MAKER)
        assert tuning.waits


def test_a_gauntlet_that_waits_is_stopped(arena: StrengthSimulation) -> None:
    with arena.database.begin() as session:
        gauntlet = made(session, kind=CreateGauntlet)
        assert verdict(session, gauntlet) == "waits for approval"
        StopGauntlet(gauntlet.name).do(session, MAKER)
        assert (gauntlet.waits, gauntlet.state) == (False, CompetitionState.CLOSED)
        with pytest.raises(Refusal, match="does not wait"):
            ApproveComparison(gauntlet.name).do(session, other(session))


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


def test_more_of_it_is_to_be_approved_anew(arena: StrengthSimulation) -> None:
    """When its maker asks for it; an organiser who does approves by that. Stopping is always one's
    own, and does not begin it.
    """
    with arena.database.begin() as session:
        test, olga = made(session), other(session)
        ApproveComparison(test.name).do(session, olga)
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
        with pytest.raises(Refusal, match="does not wait"):
            ApproveComparison(test.name).do(session, olga)
