"""What a game says of itself, looked at before it is on the shelf.

A game may be a stranger's, and its words go where they must be words: into lines of the protocol,
names of ladders, pages and texts of a database. What its positions say is for others to look at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine.game import Game
from engine.options import Option, fault_of_line

KEY = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
"""What an option may be called."""
TAKEN = frozenset({"you", "time", "inc", "move", "clock", "seed"})
"""Keys of the protocol's ``newgame``, beside which the options stand there."""
LONGEST_TITLE, LONGEST_VALUES, LONGEST_PAGE = 80, 500, 200_000
"""Letters of a title, of what an option says of its values, and of a rules page."""


def in_a_line(error: BaseException) -> str:
    """An error of a game in a line, whatever its words are."""
    try:
        words = " ".join(str(error).split())[:200]
    except Exception:
        words = "it can't be told"
    printable = "".join(one if one.isprintable() else "?" for one in words)
    return f"{type(error).__name__}: {printable}"


def fault_of_game(game: Game) -> str:
    """What is wrong with what a game says of itself; empty if nothing is."""
    if wrong := fault_of_line(game.title, LONGEST_TITLE):
        return f"its title {wrong}"
    options: object = game.options
    if not isinstance(options, Mapping):
        return f"its options are {type(options).__name__}, and no mapping"
    for key, option in game.options.items():
        if wrong := _fault_of_option(key, option):
            return wrong
    offers = game.offers
    if not isinstance(offers, Sequence) or not all(isinstance(one, Mapping) for one in offers):
        return "its offers are no sequence of mappings of options"
    if not all(map(callable, (game.build, game.rules, game.check))):
        return "its build, rules and check are not all functions"
    return ""


def _fault_of_option(key: object, option: object) -> str:
    if not isinstance(key, str) or not KEY.fullmatch(key) or key in TAKEN:
        return (
            f"its option {key!r:.60} can't be called so: up to 40 small letters, digits and _, a "
            f"letter first, and none of {', '.join(sorted(TAKEN))}"
        )
    if not isinstance(option, Option) or not callable(option.accepts):
        return f"its option {key} is {type(option).__name__}, and no Option"
    if wrong := fault_of_line(option.allowed, LONGEST_VALUES):
        return f"what its option {key} says of its values {wrong}"
    if not option.takes(option.default):
        return f"its option {key} does not take its own default {option.default!r:.60}"
    return ""
