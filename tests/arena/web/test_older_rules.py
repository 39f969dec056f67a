"""Games that were recorded under rules by which they went on longer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.web.films import animate
from arena.web.games import position
from engine.clock import TimeControl
from engine.games import GAMES
from engine.record import Ply, RecordError, replay, states_known
from engine.referee import play_game
from tests.engine.players import FirstMove


def test_they_are_shown_as_far_as_the_rules_of_now_go() -> None:
    """Nobody who looks at one meets an error; that it is not confirmed is said on asking."""
    variant = GAMES["clobber"].variant(size="4x4")
    record = play_game(variant, [FirstMove(), FirstMove()], time=TimeControl(move_ms=20_000))
    plies = len(record.plies)
    longer = replace(record, plies=(*record.plies, Ply(0, "a1a2"), Ply(1, "a2a1")))
    with pytest.raises(RecordError):
        replay(longer)
    assert [*states_known(longer)] == [*states_known(record)]
    *_, before, last = states_known(record)
    assert last == replay(record)
    end = last, record.plies[-1].move, before
    assert [position(longer, plies + more) for more in (0, 1, 2)] == [end] * 3
    assert position(longer, plies - 1) == position(record, plies - 1)
    assert animate(longer, most=4).startswith(b"GIF89a")
