"""What is only declared is in the catalogues, too, where it is looked up by the declared words."""

from __future__ import annotations

import pytest
from babel.messages.pofile import read_po

from arena.ground.catalogues import FOLDER, languages
from engine.games import GAMES
from engine.options import Option
from engine.shelf import OWN, Missing

SEVERAL = {"openspiel:chinese_checkers": {"players": "6"}}
"""The options of a game that has more seats by them than by default."""
MISSING = Missing("go:fish", {}, 4, "nobody has it")


def is_list(option: Option) -> bool:
    """Whether its words are the values themselves, which are the same in every language."""
    return all(map(option.takes, option.allowed.split(", ")))


@pytest.mark.parametrize("language", languages()[1:])
def test_each_catalogue_has_what_games_declare(language: str) -> None:
    with (FOLDER / f"{language}.po").open("rb") as file:
        known = {one.id for one in read_po(file) if one.string and not one.context}
    said = set(MISSING.seat_names)
    for game in GAMES.values():
        if GAMES.declared[game.name.partition(":")[0]].package != OWN:
            continue
        said.update(game.variant(**SEVERAL.get(game.name, {})).seat_names)
        # What is said of others is made of a text when it is said.
        plain = (one for one in game.options.values() if one.tell is None)
        said.update(one.allowed for one in plain if not is_list(one))
    assert said - known == set()
