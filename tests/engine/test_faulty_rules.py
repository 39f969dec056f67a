"""Games whose rules hang or raise are found, and all else goes on without them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable

import pytest

from engine import faulty_rules
from engine.clock import TimeControl
from engine.faulty_rules import HangingRulesError, break_off_hangs, fault_of, take_off_if_raised
from engine.game import State, line_of
from engine.games import GAMES
from engine.openings import is_open
from engine.player import Choice, Turn
from engine.referee import play_game
from engine.shelf import UnknownGameError
from tests import faulty
from tests.engine.players import FirstMove
from tests.packages import Installer

LISTING = """
    def codes(self):
        {codes}
        return ()
"""


@pytest.fixture
def position(packages: Installer) -> Callable[[str], State]:
    """Makes the first position of a game that has certain lines where it lists its moves."""

    def make(codes: str) -> State:
        code = faulty.CODE.format(methods=LISTING.format(codes=codes))
        packages.install("faulty-games", code, faulty.ENTRY)
        return GAMES["faulty"].variant().initial()

    return make


@pytest.mark.long
@pytest.mark.parametrize(
    ("codes", "use"),
    [
        ("while True: pass", lambda state: state.codes()),
        ("while True: pass", lambda state: is_open(state, 1, 8)),
        ("while True: pass", lambda state: State.playout(state, None)),
        ("__import__('time').sleep(600)", lambda state: state.codes()),
        ("__import__('os').read(__import__('os').pipe()[0], 1)", lambda state: state.codes()),
    ],
    ids=["by itself", "below us", "below a method that all games share", "asleep", "waiting"],
)
def test_a_call_that_hangs_is_broken_off(
    position: Callable[[str], State],
    monkeypatch: pytest.MonkeyPatch,
    codes: str,
    use: Callable[[State], object],
) -> None:
    """The game is off the shelf with the line at which it was; the others stay."""
    monkeypatch.setattr(faulty_rules, "LOOK_SECONDS", 0.05)
    state = position(codes)
    ended = break_off_hangs(GAMES, 0.2)
    try:
        with pytest.raises(HangingRulesError, match="the rules of this game hang"):
            use(state)
    finally:
        ended.set()
    assert GAMES.faults["faulty"].startswith("its rules hang: for 0.2 s in ")
    assert "faulty_games.py:" in GAMES.faults["faulty"]
    with pytest.raises(UnknownGameError, match="the game faulty of faulty-games"):
        GAMES["faulty"]
    assert "clobber" in GAMES


def test_calls_that_are_short_are_no_hang(
    position: Callable[[str], State], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks sees the rules at work each time, and never the same call as before."""
    monkeypatch.setattr(faulty_rules, "LOOK_SECONDS", 1.0)
    state = position("LOOK()")
    watch = faulty_rules.HangWatch(2.0)
    found: list[object] = []
    rules = sys.modules["faulty_games"]
    monkeypatch.setattr(rules, "LOOK", lambda: found.append(watch.look()), raising=False)
    for _ in range(4):
        state.codes()
    assert found == [[]] * 4
    monkeypatch.setattr(rules, "LOOK", lambda: [found.append(watch.look()) for _ in range(3)])
    state.codes()
    assert [len(one) for one in found[4:]] == [0, 0, 1]


def test_bots_may_think_as_long_as_they_like() -> None:
    """The referee, who has the variant in hand all the while, is not the rules."""
    watch = faulty_rules.HangWatch(2.0)
    found: list[object] = []

    class Slow(FirstMove):
        def choose(self, turn: Turn) -> Choice:
            found.extend(watch.look() for _ in range(6))
            return super().choose(turn)

    play_game(GAMES["clobber"].variant(size="3x2"), [Slow(), Slow()], time=TimeControl(move_ms=1))
    assert len(found) > 6
    assert not any(found)


@pytest.mark.parametrize("word", ["a b", "a\nlegal b", "a\0", "\u00e9", ""])
def test_what_is_no_line_is_the_games_mistake(position: Callable[[str], State], word: str) -> None:
    """No bot is sent, nor blamed for, what is no word in a line."""
    state = position("pass")
    wrong = dataclasses.replace(state)
    with pytest.raises(ValueError, match="no word of printable ASCII") as raised:
        line_of(wrong, " ".join(["a1a2", word, "b1b2"]), 3)
    found = fault_of(raised.value)
    assert found is not None
    assert found.game == "faulty"
    assert line_of(wrong, "a1a2 b1b2", 2) == line_of(wrong, "a1a2 b1b2") == "a1a2 b1b2"


def test_what_raises_is_told_with_its_line(position: Callable[[str], State]) -> None:
    """A mistake of the rules is one; what they refuse is none, nor is what others do wrong."""
    state = position("1 // 0")
    with pytest.raises(ZeroDivisionError) as raised:
        is_open(state, 1, 8)
    found = fault_of(raised.value)
    assert found is not None
    assert str(found).startswith("the game faulty: its rules raise ZeroDivisionError: ")
    for use in (lambda: state.play("z9z8"), lambda: {}["x"]):
        with pytest.raises(Exception, match=r"z9z8|x") as refused:
            use()
        take_off_if_raised(GAMES, refused.value)
        assert "faulty" in GAMES
    take_off_if_raised(GAMES, raised.value)
    assert "faulty" not in GAMES
