"""What a variant says of its seats goes into lines, tables and pages, and is looked at before."""

from __future__ import annotations

import pytest

from engine.faulty_rules import fault_of
from engine.game import OptionError
from engine.games import GAMES
from tests.packages import Installer


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("seats = 400000", "400000 seats, and not 1 to 64"),
        ("seats = 0", "0 seats, and not 1 to 64"),
        ("seats = '2'", "'2' seats, and not 1 to 64"),
        ("seat_names = ('One',)", "2 seats, and names, sides or entrants for others"),
        ("seat_names = ('One', 2)", "a name of a seat of one size=4x3 is int, and no text"),
        (r"seat_names = ('One', 'a\0')", "has letters that can't be seen"),
        ("seat_names = ('One', 'x' * 41)", "has 41 letters, and not 1 to 40"),
        ("entrant_of = (0,)", "2 seats, and names, sides or entrants for others"),
        ("max_plies = property(lambda self: 0, lambda self, plies: None)", "max_plies of one"),
    ],
)
def test_a_variant_that_says_what_can_not_be_is_its_games_fault(
    packages: Installer, words: str, reason: str
) -> None:
    """Before anybody has to do with it."""
    code = f"class Wrong(Clobber):\n    {words}\nONE = game('one', Wrong)"
    packages.install("games-x", code, "one = games_x:ONE")
    with pytest.raises((TypeError, ValueError), match=reason) as raised:
        GAMES["one"].variant()
    found = fault_of(raised.value)
    assert found is not None
    assert found.game == "one"


@pytest.mark.parametrize("value", ["a b", "a\nb", "\u00e9", "", "x" * 201])
def test_a_value_is_a_word_whatever_its_game_accepts(packages: Installer, value: str) -> None:
    """It stands in a line of the protocol, beside others."""
    code = (
        "import dataclasses\nfrom engine.options import Option\n"
        "ANY = {'size': Option('4x3', 'anything', lambda value: True)}\n"
        "ONE = dataclasses.replace(game('one'), options=ANY)"
    )
    packages.install("games-x", code, "one = games_x:ONE")
    assert GAMES["one"].variant(size="5x5").options == {"size": "5x5"}
    with pytest.raises(OptionError, match="one has no size="):
        GAMES["one"].variant(size=value)
