"""What every game must keep to, tried on random games of many variants.

A game is tested by being on the shelf. There is no list of exceptions.
"""

from __future__ import annotations

import pytest

from engine.conformance import CHECKS, check_game
from engine.game import Variant
from engine.games import GAMES
from tests.engine.games.random_games import VARIANTS, each_of, trial


@each_of(VARIANTS)
def test_a_variant_keeps_to(variant: Variant, subtests: pytest.Subtests) -> None:
    """What each check says, where it stands in `engine.conformance`."""
    for name, check in CHECKS.items():
        with subtests.test(check=name):
            check(trial(variant))


@pytest.mark.parametrize("game", sorted({variant.game for variant in VARIANTS.values()}))
def test_a_game_keeps_to_its_part(game: str) -> None:
    """Its options, offers and page."""
    check_game(GAMES[game])
