"""Presets of strength tests: what they say, what counts before them, and what none can be."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.bots.furnish import furnish
from arena.competitions.players import NamedPlayer
from arena.competitions.presets import FRESH, KeepPreset, RemovePreset, find
from arena.competitions.strength_deeds import CreateTest
from arena.deeds import By
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import SCOPES, BotVersion, Ladder, Role, TestPreset
from engine.clock import TimeControl
from tests.arena.competitions.strength_simulation import StrengthSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM, START


@pytest.fixture
def arena(sqlite_database: Database) -> StrengthSimulation:
    """An arena with the presets of a fresh one and two more."""
    made = StrengthSimulation(sqlite_database, CALM, "clobber", size="4x4")
    with made.database.begin() as session:
        furnish(session, [], START, games=[])
        do(
            session,
            KeepPreset("odd", elo1=7.0, alpha=0.01, model="logistic", plies=3, move=50),
            START,
        )
    return made


def planned(session: Session, role: Role = Role.ORGANISER, **values: Any) -> Any:
    """What is to be tested by what was said."""
    by = By(Actor(1, "somebody", ""), SCOPES[role], START)
    return CreateTest("bot-0:1", "bot-1:1", ladder="ladder-0", **values).plan(session, by)


USUAL = {
    "elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05, "model": "normalized",
    "max_games": 20_000, "games": None, "plies": None,
}  # fmt: skip
ODD = {"elo1": 7.0, "alpha": 0.01, "model": "logistic", "plies": 3}
MORE = {"alpha": 0.1, "max_games": 900}
FIXED = {"games": 1000, "max_games": None}
SAID: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("nothing", {}, {}, "ladder"),
    ("a preset", {"preset": "odd"}, ODD, "move=50"),
    ("more", {"preset": "odd", **MORE}, ODD | MORE, "move=50"),
    ("another time", {"preset": "odd", "time": "3+0.5"}, ODD, "time=3000 inc=500"),
    ("a game's time", {"preset": "ltc"}, {}, "time=10000 inc=100"),
    ("a move's time", {"preset": "ltc", "move": 20}, {}, "move=20"),
    ("a fixed number", {"preset": "measure"}, FIXED, "ladder"),
    ("not so many", {"preset": "measure", "games": 64}, FIXED | {"games": 64}, "ladder"),
    ("sequentially after all", {"preset": "measure", "elo1": 5.0}, {"elo1": 5.0}, "ladder"),
    ("a number instead", {"preset": "stc", "games": 64}, FIXED | {"games": 64}, "time=1000 inc=10"),
]  # fmt: skip


def test_what_is_said_counts_before_the_preset(
    arena: StrengthSimulation, subtests: pytest.Subtests
) -> None:
    """And what neither says is as usual; of two that exclude each other the one that is said."""
    with arena.database.read() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        for what, values, wanted, time in SAID:
            with subtests.test(what):
                plan = planned(session, **values)
                found = {**plan.terms.to_json(), "plies": plan.plies}
                assert {key: found[key] for key in USUAL} == {**USUAL, **wanted}
                assert plan.time.words == (ladder.time.words if time == "ladder" else time)


def test_anybody_may_take_an_organisers_time(arena: StrengthSimulation) -> None:
    """Though nobody else chooses one."""
    with arena.database.read() as session:
        assert planned(session, Role.PARTICIPANT, preset="odd").time == TimeControl(move_ms=50)
        for own in ({"move": 50}, {"preset": "odd", "time": "1+0"}):
            with pytest.raises(NotAllowed, match="for organisers to make"):
                planned(session, Role.PARTICIPANT, **own)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "Odd one"}, "is no name for a preset"),
        ({"games": 100, "elo0": 1.0, "beta": 0.1}, "leave out elo0, beta"),
        ({"time": "1+0", "move": 5}, "not both"),
        ({"time": "soon"}, "soon"),
        ({"elo0": 10.0}, "elo0 must be less than elo1"),
        ({"alpha": 1.5}, "alpha and beta must be above 0"),
        ({"max_games": 31}, "a test needs 32 games or more"),
        ({"plies": 41}, "plies: give a number from 1 to 40"),
    ],
)
def test_what_no_test_can_be_asked_is_no_preset(
    arena: StrengthSimulation, values: dict[str, Any], words: str
) -> None:
    """One sentence says what is wrong, and nothing is kept."""
    with arena.database.begin() as session:
        with pytest.raises(Refusal, match=words):
            do(session, KeepPreset(**{"name": "wrong", **values}), START)
        with pytest.raises(NotThere, match="there are: ltc, measure, non-regression, odd, stc"):
            find(session, "wrong")


def test_a_preset_is_changed_as_a_whole_and_noted(arena: StrengthSimulation) -> None:
    """What it said before is in the log; what was removed once, a later start does not bring."""
    with arena.database.begin() as session:
        do(session, KeepPreset("odd", games=200), START)
        assert find(session, "odd").chosen == {"games": 200}
        do(session, RemovePreset("stc"), START)
        furnish(session, [], START, games=[])
        names = set(session.scalars(sa.select(TestPreset.name)))
        assert names == {*FRESH, "odd"} - {"stc"}
        kept, _ = audit.entries(session, action="keep preset")
        assert kept.detail == "elo1=7 alpha=0.01 model=logistic plies=3 move=50 → games=200"


def test_every_fresh_preset_can_be_tested_by(arena: StrengthSimulation) -> None:
    """A ladder that is there is tested on."""
    with arena.database.read() as session:
        versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
        for name in FRESH:
            planned(session, preset=name).settings(*map(NamedPlayer, versions))
