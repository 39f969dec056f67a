"""A game that a bot follows: the position is the referee's, and the clock is shared out by hand."""

from __future__ import annotations

import io
import sys
import time
from random import Random

import pytest

from engine.following import Followed, follow
from engine.game import State
from engine.games import GAMES

NEW = "clobber size=6x7 seats=2 you=2 {} seed=7"


def begun(clock: str = "move=100") -> Followed:
    """A game of Clobber as seat 2, on such a clock."""
    return Followed(NEW.format(clock).split())


def test_the_position_is_the_referees() -> None:
    """In Blokus with two seats that leave, however many plies are told of at a time."""
    variant = GAMES["blokus"].variant(mode="classic")
    state: State = variant.initial()
    words = "blokus mode=classic corners=free seats=4 you=4 move=100 seed=1"
    game = Followed(words.split())
    dice, told, out = Random(2), [], []
    for ply in range(24):
        if ply in (6, 13):
            seat = 0 if ply == 6 else 2
            state = state.retire(seat)
            out.append(f"{seat + 1}@{ply}")
        seat, moves = state.to_move, state.legal_moves()
        assert seat is not None
        if ply % 3 == 0:
            said = f"{ply} clocks=100,100,100,100 {'out=' + ','.join(out) if out else ''} moves"
            game.take_in([*said.split(), *told])
            assert game.state == state
            assert len(game.moves) == ply
        told.append(f"{seat + 1}:{dice.choice(moves)}")
        state = state.play(told[-1].partition(":")[2])


SECONDS = [
    # The clock, what seat 2 has left in ms, and the seconds: 0.95 of it less 0.025 at most, or a
    # 25th of it and three quarters of the increment.
    ("move=100", 100, 0.07),
    ("move=20", 20, 0.019 - 0.008),
    ("time=10000", 10000, 0.4),
    ("time=10000 inc=1000", 10000, 1.15),
    ("time=10000 inc=1000", 1000, 0.79),
    ("time=10000 inc=1000", 500, 0.45),
]


@pytest.mark.parametrize(("clock", "left", "seconds"), SECONDS)
def test_a_clock_is_shared_out(clock: str, left: int, seconds: float) -> None:
    """It is the seat's own."""
    game = begun(clock)
    game.take_in(f"0 clocks=5,{left} moves".split())
    assert game.seconds(most=0.95, margin=0.025, moves=25) == pytest.approx(seconds)


MOVES = [
    # A position, the part of the plies left that it is likely to last, and its own moves by hand:
    # 42 stones of which each move takes one, 32 and 16 pieces, and a game that may go on for long.
    ("clobber size=6x7", 0, 0.5, 41 / 4),
    ("clobber size=6x7", 1, 1.0, 20.0),
    ("clobber size=10x10", 0, 1.0, 25.0),
    ("oxono", 0, 0.5, 8.0),
    ("mijnlieff", 0, 1.0, 8.0),
    ("mijnlieff", 14, 1.0, 1.0),
    ("mijnlieff", 15, 0.5, 1.0),
    ("siege seats=2", 0, 0.5, 25.0),
]


@pytest.mark.parametrize(("words", "plies", "part", "moves"), MOVES)
def test_how_many_moves_a_clock_is_shared_among(
    words: str, plies: int, part: float, moves: float
) -> None:
    """As many as the limit of plies lets the game last for one side, or a part of them."""
    game = Followed([*words.split(), "you=1", "time=1000", "seed=7"])
    for _ in range(plies):
        game.moves.append(game.state.legal_moves()[0])
        game.state = game.state.play(game.moves[-1])
    assert game.moves_left(part) == pytest.approx(moves)


def test_what_is_charged_is_counted() -> None:
    """CPU time since the last answer, however long that took; or wall time from the request on."""
    now, spent = time.monotonic(), time.process_time()
    for clock, came, answered, seconds in [
        ("move=100", now, spent - 3, 3.0),
        ("move=100", now - 2, spent, 0.0),
        ("move=100 clock=wall", now - 2, spent - 3, 2.0),
    ]:
        game = begun(clock)
        game.start_stopwatch(came, answered)
        assert seconds <= game.stopwatch() < seconds + 0.4


def test_the_referee_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Line by line until it says quit; what is not known, and a turn before a game, is passed."""
    lines = [
        "go 0 clocks=1,1 moves",
        "hello protocol=1",
        "",
        "weather fine",
        f"newgame {NEW.format('move=100')}",
        "legal a2a1",
        "go 1 clocks=100,100 moves 1:a2a1",
        "end ranks=1,2 scores=1,0 cause=normal",
        "quit",
        "go 1 clocks=100,100 moves 1:a2a1",
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    follow("it", lambda game: [game], lambda kept: f"move after {kept[0].moves}")
    assert capsys.readouterr().out.splitlines() == ["ready it", "ok", "move after ['a2a1']"]
