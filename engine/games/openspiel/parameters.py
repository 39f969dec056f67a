"""Which of OpenSpiel's parameters are options here, and which values they take.

Left out are those that change no rule (colours, the shape of observations) and those with which a
game of OpenSpiel 2.0.2 goes wrong. Bounds are where whole random games still went well and squares
still have names: beyond some of them OpenSpiel ends the whole process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.options import Option, choice, whole_number
from engine.translation import N_, gettext

NO, YES = "false", "true"
PILES = Option(
    "1;3;5;7",
    N_("up to 10 piles of 1 to 99, joined by ';'"),
    lambda value: re.fullmatch(r"[1-9][0-9]?(;[1-9][0-9]?){0,9}", value, re.ASCII) is not None,
)
KOMI = Option(
    "7.5",
    N_("points from 0 to 99.5 in steps of 0.5, as in 7 or 7.5"),
    lambda value: re.fullmatch(r"(0|[1-9][0-9]?)(\.5)?", value, re.ASCII) is not None,
)

PARAMETERS: Mapping[str, Mapping[str, Option]] = {
    "amazons": {"board_size": choice("10", "8", "6")},
    "breakthrough": {"columns": whole_number(8, 3, 26), "rows": whole_number(8, 5, 9)},
    "chinese_checkers": {
        "players": choice("2", "3", "4", "6"),
        "max_moves": whole_number(1000, 10, 1000),
    },
    "cliff_walking": {
        "height": whole_number(4, 2, 20),
        "width": whole_number(8, 3, 20),
        "horizon": whole_number(100, 10, 1000),
    },
    "clobber": {"columns": whole_number(6, 2, 9), "rows": whole_number(5, 2, 9)},
    "connect_four": {
        "columns": whole_number(7, 3, 20),
        "rows": whole_number(6, 3, 20),
        "x_in_row": whole_number(4, 3, 10),
    },
    "crazyhouse": {"king_of_hill": choice(NO, YES), "sticky_promotions": choice(NO, YES)},
    "cursor_go": {
        "board_size": whole_number(9, 5, 19),
        "komi": KOMI,
        "max_cursor_moves": whole_number(100, 10, 100),
    },
    "dots_and_boxes": {
        "num_cols": whole_number(2, 1, 9),
        "num_rows": whole_number(2, 1, 9),
        "utility_margin": choice(NO, YES),
    },
    "go": {
        "board_size": whole_number(9, 5, 19),
        "komi": KOMI,
        "handicap": choice("0", "2", "3", "4", "5", "6", "7", "8", "9"),
    },
    "gomoku": {
        "size": whole_number(15, 3, 19),
        "connect": whole_number(5, 3, 9),
        "anti": choice(NO, YES),
        "wrap": choice(NO, YES),
    },
    "havannah": {"board_size": whole_number(8, 3, 13), "swap": choice(NO, YES)},
    "hex": {
        "num_cols": whole_number(11, 3, 19),
        "num_rows": whole_number(11, 3, 19),
        "swap": choice(NO, YES),
    },
    "hive": {
        "uses_ladybug": choice(YES, NO),
        "uses_mosquito": choice(YES, NO),
        "uses_pillbug": choice(YES, NO),
    },
    "lines_of_action": {"max_game_length": whole_number(1000, 50, 1000)},
    "mnk": {
        "m": whole_number(15, 3, 19),
        "n": whole_number(15, 3, 19),
        "k": whole_number(5, 3, 9),
    },
    "nim": {"is_misere": choice(YES, NO), "pile_sizes": PILES},
    "oware": {
        "num_houses_per_player": whole_number(6, 2, 10),
        "num_seeds_per_house": whole_number(4, 1, 6),
    },
    "twixt": {"board_size": whole_number(8, 5, 24)},
    "y": {"board_size": whole_number(19, 3, 19)},
}

SILENT: Mapping[str, Mapping[str, bool]] = {"twixt": {"ansi_color_output": False}}
"""Parameters that are always set: texts without colours."""


def together(name: str, options: Mapping[str, str]) -> str | None:
    """What is wrong with values that are allowed one by one; None if nothing is."""
    if name == "go" and options["handicap"] != "0" and options["board_size"] != "19":
        return gettext("handicap=%(handicap)s needs board_size=19", handicap=options["handicap"])
    return None


def given(name: str, options: Mapping[str, str]) -> dict[str, bool | int | float | str]:
    """OpenSpiel's parameters for checked options."""
    parameters: dict[str, bool | int | float | str] = dict(SILENT.get(name, {}))
    for key, value in options.items():
        if value in (NO, YES):
            parameters[key] = value == YES
        elif PARAMETERS[name][key] is KOMI:
            parameters[key] = float(value)
        elif PARAMETERS[name][key] is PILES:
            parameters[key] = value
        else:
            parameters[key] = int(value)
    return parameters


def is_usual(name: str, options: Mapping[str, str]) -> bool:
    """Whether all options are at their defaults."""
    return all(PARAMETERS[name][key].default == value for key, value in options.items())


def longest(name: str, options: Mapping[str, str]) -> int | None:
    """How many plies a game may have, where OpenSpiel's own word is wrong."""
    if name == "dots_and_boxes":
        rows, columns = int(options["num_rows"]), int(options["num_cols"])
        return rows * (columns + 1) + columns * (rows + 1)
    return None
