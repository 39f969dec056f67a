"""Ways in which a worker's report of a match can be wrong, or a lie."""

from __future__ import annotations

from math import inf
from typing import Any

from engine.openings import opening
from engine.record import GameRecord
from engine.referee import play_game
from tests.arena.simulator import LotPlayer


def half_a_character(data: dict[str, Any]) -> None:
    """No database keeps that, and no rule of the game refutes it."""
    data["logs"][0][0] = "\ud800"


def no_games(data: dict[str, Any]) -> None:
    data["games"] = []


def games_of_another_kind(data: dict[str, Any]) -> None:
    data["games"] = 7


def no_time(data: dict[str, Any]) -> None:
    data["seconds"] = "NaN"


def less_than_no_time(data: dict[str, Any]) -> None:
    data["seconds"] = -1e9


def for_ever(data: dict[str, Any]) -> None:
    data["seconds"] = inf


def another_ticket(data: dict[str, Any]) -> None:
    data["lease"]["ticket"] = "0" * 32


def no_ticket(data: dict[str, Any]) -> None:
    data["lease"]["ticket"] = "\N{SNOWMAN}"


def attempt_to_come(data: dict[str, Any]) -> None:
    data["lease"]["attempt"] += 1


def nobodys_match(data: dict[str, Any]) -> None:
    data["lease"]["job"] += 1000


def another_winner(data: dict[str, Any]) -> None:
    for game in data["games"]:
        game["scores"].reverse()
        game["ranks"].reverse()


def a_game_of_its_own(data: dict[str, Any]) -> None:
    data["games"][0]["seed"] += 1


def options_that_nobody_chose(data: dict[str, Any]) -> None:
    data["games"][1]["chosen"] = [{"depth": "8"}, {}]


def a_text_too_long(data: dict[str, Any]) -> None:
    data["games"][0]["texts"] = {"0": "x" * 5000}


def a_text_for_terminals(data: dict[str, Any]) -> None:
    data["games"][1]["texts"] = {"0": "\x1b[2J"}


def values_with_odd_names(data: dict[str, Any]) -> None:
    data["games"][0]["values"] = {"0": {"x" * 1000: 1.0}}


def values_too_many(data: dict[str, Any]) -> None:
    """The protocol has sixteen of a ply kept."""
    data["games"][1]["values"] = {"0": {f"n{number}": 1.0 for number in range(17)}}


def tags_of_many_words(data: dict[str, Any]) -> None:
    data["games"][0]["tags"] = {"0": ["two words"]}


def tags_too_many(data: dict[str, Any]) -> None:
    """The protocol has sixteen of a ply kept."""
    data["games"][1]["tags"] = {"0": [f"word{number}" for number in range(17)]}


def a_line_of_many_moves(data: dict[str, Any]) -> None:
    """The protocol has sixty moves of a line kept."""
    data["games"][0]["pv"] = {"0": ["a1"] * 61}


def a_line_that_is_none(data: dict[str, Any]) -> None:
    data["games"][1]["pv"] = {"0": ["a1 \x1b[2J"]}


def a_box_of_many_words(data: dict[str, Any]) -> None:
    data["games"][0]["run"]["isolation"] = "full" * 100


def another_opening(data: dict[str, Any]) -> None:
    """A game by the rules, of the right bots, but not from where they were to begin."""
    game = GameRecord.from_json(data["games"][1])
    start = opening(game.variant, 1, plies=game.opening)
    assert start.moves != game.moves[: game.opening]
    forged = play_game(
        game.variant,
        [LotPlayer(), LotPlayer()],
        time=game.time,
        seed=game.seed,
        opening=start.moves,
        names=game.players,
    )
    data["games"][1] = forged.to_json()


def a_log_too_few(data: dict[str, Any]) -> None:
    data["logs"][1].pop()


def logs_of_one_game(data: dict[str, Any]) -> None:
    data["logs"].pop()


def logs_of_three_games(data: dict[str, Any]) -> None:
    data["logs"].append(data["logs"][0])


FORGERIES = {
    a_text_too_long: "game 1 is refuted by the rules: at ply 0: no bot can say such a text",
    a_text_for_terminals: "game 2 is refuted by the rules: at ply 0: no bot can say such a text",
    values_with_odd_names: "game 1 is refuted by the rules: at ply 0: no bot can give such values",
    values_too_many: "game 2 is refuted by the rules: at ply 0: no bot can give such values",
    tags_of_many_words: "game 1 is refuted by the rules: at ply 0: no bot can give such tags",
    a_line_of_many_moves: "game 1 is refuted by the rules: at ply 0: no bot can expect so many",
    a_line_that_is_none: "game 2 is refuted by the rules: at ply 0: no bot can expect such moves",
    tags_too_many: "game 2 is refuted by the rules: at ply 0: no bot can give such tags",
    a_box_of_many_words: "its beginning or its isolation is no word, or too long a one",
    another_ticket: "the ticket is wrong",
    no_ticket: "the ticket is wrong",
    attempt_to_come: "its attempt 2 was never issued",
    nobodys_match: "it was never made",
    another_winner: "game 1 is refuted by the rules",
    a_game_of_its_own: "game 1 is not the one that was issued",
    options_that_nobody_chose: "game 2 is not the one that was issued",
    another_opening: "game 2 is not the one that was issued",
    a_log_too_few: "game 2 has 1 logs",
    logs_of_one_game: "the logs of 1 game reported of a match of 2",
    logs_of_three_games: "the logs of 3 games reported of a match of 2",
}
"""Lies, and what is said of the worker that told them."""
