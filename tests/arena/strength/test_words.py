"""What is said of how fast a test is played."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.strength.sequential import SequentialTest, StrengthSettings, Version
from arena.strength.terms import StrengthTerms
from arena.strength.words import pace_words, rate_words
from engine.clock import TimeControl
from engine.games import GAMES
from engine.plurals import time_span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3570, "1 h"),
        (4800, "1 h 20 min"),
        (48 * 3600, "2 days"),
    ],
)
def test_lengths_of_time(seconds: float, words: str) -> None:
    """As people say them."""
    assert time_span(seconds) == words


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (19.24, "19.2 games a second"),
        (0.5, "30.0 games a minute"),
        (0.01, "36.0 games an hour"),
    ],
)
def test_rates(rate: float, words: str) -> None:
    """They go by the length of time in which there are some."""
    assert rate_words(rate) == words


def test_the_time_left() -> None:
    """20 of 40 pairs are left: two minutes at 20 games a minute; early on none is told."""
    settings = StrengthSettings(
        GAMES["clobber"].variant(),
        Version("one", "1"),
        Version("two", "2"),
        TimeControl(move_ms=100),
        terms=StrengthTerms(games=80),
    )
    test = replace(SequentialTest.begin(settings), counts=(5, 0, 10, 0, 5), wins=20, losses=20)
    assert pace_words(test, 20, 60) == "20.0 games a minute, about 2 min left"
    early = replace(test, counts=(2, 0, 5, 0, 2))
    assert pace_words(early, 20, 60) == "20.0 games a minute"
    assert pace_words(test, 0, 60) == "no game yet"
