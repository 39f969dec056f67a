"""What is added up of a run of games."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.cli.tally import RunTally
from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchResult, MatchSpec, play_match
from engine.record import Fault
from tests.engine.players import FirstMove


@pytest.mark.parametrize(
    ("boxes", "weakest"),
    [(["full", "good"], "good"), (["none", "full"], "none"), (["good", "good"], "good")],
)
def test_a_run_was_as_safe_as_its_weakest_box(boxes: list[str], weakest: str) -> None:
    """Whichever game came last."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000))
    played = play_match(spec, lambda _: FirstMove())
    games = [replace(game, isolation=box) for game, box in zip(played.games, boxes, strict=True)]
    tally = RunTally(variant, spec.entrants)
    assert tally.to_json()["isolation"] is None
    tally.add(spec, MatchResult(tuple(games), played.logs))
    assert tally.to_json()["isolation"] == weakest


def test_the_first_faults_are_told_and_all_are_counted() -> None:
    """Three of each bot, with where they were; the bots take turns to begin."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000))
    played = play_match(spec, lambda _: FirstMove())
    fault = Fault(0, 1, Termination.CRASH, "exit status 1")
    games = (replace(played.games[0], faults=(fault,)),) * 8
    tally = RunTally(variant, spec.entrants)
    tally.add(spec, MatchResult(games, played.logs[:1] * 8))
    assert tally.lines[0].faults == {Termination.CRASH: 4}
    assert tally.lines[0].fault_details == [
        f"game {number}, ply 1: crash, exit status 1" for number in (1, 3, 5)
    ]


@pytest.mark.parametrize(("charge", "ms"), [("cpu", 2.0), ("wall", 300.0)])
def test_the_times_are_those_that_are_charged(charge: str, ms: float) -> None:
    """Of a bot that sleeps CPU time says nothing, where wall time counts."""
    variant = GAMES["clobber"].variant(size="2x3")
    spec = MatchSpec(variant, ("one", "two"), TimeControl(move_ms=1000, charge=charge))
    tally = RunTally(variant, spec.entrants)
    tally.add(spec, play_match(spec, lambda _: FirstMove(cpu_us=2000, wall_us=300_000)))
    assert [(bot["mean_ms"], bot["longest_ms"]) for bot in tally.to_json()["bots"]] == 2 * [
        (ms, ms)
    ]
