"""A recorded game asked again: the same bot gives the same answers, another one is told where."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.clock import TimeControl
from engine.game import Move
from engine.games import find_variant
from engine.player import Choice, CrashError, GameEnd, GameSetup, LogSoFar, StartError, Turn
from engine.record import RecordError
from engine.referee import play_game
from engine.reproduction import ReproducedMove, reproduce

SMALL = find_variant("clobber", ["size=3x3"])
CLOCK = TimeControl(time_ms=60_000, inc_ms=100)


class Scripted:
    """Plays the legal move of its number at each turn; an exception in its place is raised."""

    isolation = "none"

    def __init__(self, *script: int | Move | Exception, cost_us: int = 0) -> None:
        self.script = list(script)
        self.cost_us = cost_us
        self.closed = False
        self.setups: list[GameSetup] = []
        self.turns: list[Turn] = []
        self.ends: list[GameEnd] = []

    def new_game(self, setup: GameSetup) -> None:
        self.setups.append(setup)
        if self.script and isinstance(self.script[0], StartError):
            raise self.script[0]

    def choose(self, turn: Turn) -> Choice:
        self.turns.append(turn)
        answer = self.script.pop(0) if self.script else 0
        if isinstance(answer, Exception):
            raise answer
        move = turn.state.legal_moves()[answer] if isinstance(answer, int) else answer
        return Choice(move, "", self.cost_us, 2 * self.cost_us)

    def end_turn(self) -> None:
        pass

    def end_game(self, end: GameEnd) -> None:
        self.ends.append(end)

    def take_log(self) -> str:
        return ""

    def log_so_far(self) -> LogSoFar:
        return str

    def close(self, *, kill: bool = False) -> None:
        self.closed = True


def record_of(*players: Scripted, opening: Sequence[Move] = ("a2a1",)):
    return play_game(SMALL, players, time=CLOCK, seed=5, opening=opening)


def test_the_requests_are_those_of_then() -> None:
    """Setup, positions, history and clocks, seat by seat; and the answers agree."""
    then = [Scripted(1, cost_us=3000), Scripted(2, cost_us=7000)]
    record = record_of(*then)
    now = [Scripted(1), Scripted(2)]
    answers = list(reproduce(record, dict(enumerate(now))))
    assert [answer.now for answer in answers] == list(record.moves[1:])
    assert all(answer.same for answer in answers)
    for before, after in zip(then, now, strict=True):
        assert after.setups == before.setups
        assert [turn.history for turn in after.turns] == [turn.history for turn in before.turns]
        assert [turn.clock for turn in after.turns] == [turn.clock for turn in before.turns]
        assert [turn.ply for turn in after.turns] == [turn.ply for turn in before.turns]
        assert after.ends == before.ends


def test_another_answer_changes_nothing_of_the_game() -> None:
    """One seat alone is asked, and told at which ply it differs."""
    record = record_of(Scripted(), Scripted())
    (ply,) = [n for n, one in enumerate(record.plies) if one.seat == 1 and n >= record.opening][:1]
    now = Scripted(-1)
    answers = list(reproduce(record, {1: now}))
    assert [answer.seat for answer in answers] == [1] * len(now.turns)
    assert [answer.same for answer in answers] == [False] + [True] * (len(answers) - 1)
    assert answers[0].ply == ply
    assert answers[0].recorded == record.plies[ply].move != answers[0].now


@pytest.mark.parametrize(
    ("script", "recorded", "same"),
    [
        ([0, CrashError("exit 1")], "crash", True),
        ([0, "a1a1"], "illegal", True),
        ([0, "resign"], "resign", True),
    ],
)
def test_a_fault_is_asked_for_again(script: list, recorded: str, same: bool) -> None:
    """The situation in which the bot failed is the one that its author wants."""
    record = record_of(Scripted(), Scripted(*script))
    again = list(reproduce(record, {1: Scripted(*script)}))
    assert (again[-1].recorded, again[-1].now, again[-1].same) == (recorded, recorded, same)
    assert again[-1].ply == len(record.plies)
    mended = list(reproduce(record, {1: Scripted()}))[-1]
    assert (mended.recorded, mended.same) == (recorded, False)
    assert len(mended.now) == 4


def test_one_position_alone() -> None:
    """Whoever was asked there is asked as then, though without the moves before; nobody else is."""
    then = [Scripted(), Scripted(0, CrashError("exit 1"))]
    record = record_of(*then)
    for turn in then[1].turns:
        now = [Scripted(), Scripted()]
        (answer,) = reproduce(record, dict(enumerate(now)), only=turn.ply)
        assert (answer.ply, answer.seat) == (turn.ply, 1)
        assert [(one.ply, one.history, one.clock) for one in now[1].turns] == [
            (turn.ply, turn.history, turn.clock)
        ]
        assert now[0].turns == []


def test_a_fault_of_now_is_the_last_answer() -> None:
    """The seat is asked no more; the others are."""
    record = record_of(Scripted(), Scripted())
    answers = list(reproduce(record, {0: Scripted(), 1: Scripted(CrashError("exit 9"))}))
    failed = [answer for answer in answers if answer.seat == 1]
    assert [(one.now, one.detail, one.same) for one in failed] == [("crash", "exit 9", False)]
    assert len([answer for answer in answers if answer.seat == 0]) > 1


def test_a_bot_that_did_not_start() -> None:
    record = record_of(Scripted(), Scripted(StartError("too late")))
    assert list(reproduce(record, {1: Scripted(StartError("too late"))})) == [
        ReproducedMove(0, 1, "start", "start", "too late")
    ]
    assert list(reproduce(record, {1: Scripted()})) == []


def test_others_left_before() -> None:
    """Four play Blokus: `out` says who left, and when."""
    variant = find_variant("blokus", [])
    script = [Scripted(), Scripted(0, CrashError("gone")), Scripted(), Scripted()]
    record = play_game(variant, script, time=CLOCK, seed=1)
    now = Scripted()
    assert all(answer.same for answer in reproduce(record, {0: now}))
    assert [list(turn.out) for turn in now.turns][:3] == [[], [], [(1, 5)]]


def test_a_forged_record_is_refused() -> None:
    record = record_of(Scripted(), Scripted())
    forged = type(record).from_json(record.to_json() | {"ranks": list(reversed(record.ranks))})
    with pytest.raises(RecordError, match="the result is"):
        reproduce(forged, {0: Scripted()})
