"""The compiled samples: their rules are the engine's, move by move, and they keep to their time."""

from __future__ import annotations

import subprocess

import pytest

from engine.clock import TimeControl
from engine.game import State
from engine.games import GAMES, find_variant
from tests.sample_bots.play import SAMPLES, ask, random_moves, sample, start, talk

COMPILED = {entry["games"][0]: entry["name"] for entry in SAMPLES if entry["file"].endswith(".cpp")}
"""The compiled sample of each game that has one."""
GAMES_TRIED = {
    "clobber": ("", "size=3x2", "size=5x6", "size=10x10", "size=26x2"),
    "blokus": ("mode=classic", "mode=duel", "mode=teams corners=fixed", "mode=trio"),
    "oxono": ("", "", "", "", "", ""),
    "siege": (
        "seats=3",
        "seats=2 setup=fixed soldiers=3",
        "retreat=yes protection=able",
        "seats=2 demand=no",
    ),
}
"""The variants of each game of which a random game each is followed."""


def test_every_game_is_tried() -> None:
    assert COMPILED.keys() == GAMES_TRIED.keys()


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES_TRIED)
def test_their_rules_are_the_engines(game: str) -> None:
    """At every ply of random games the same moves are legal, and at the end none."""
    told, expected = [], []
    for seed, options in enumerate(GAMES_TRIED[game]):
        variant = find_variant(game, options.split()).drawn(seed)
        moves = random_moves(variant, seed)
        keys = " ".join(f"{key}={value}" for key, value in variant.options.items())
        told.append(f"{keys} moves {' '.join(moves)}\n")
        state: State = variant.initial()
        for move in moves:
            expected.append(state.legal_moves())
            state = state.play(move)
        expected.append([])
    done = subprocess.run(
        sample(COMPILED[game], "rules"),
        input="".join(told),
        capture_output=True,
        text=True,
        check=True,
    )
    found = [sorted(line.split()) for line in done.stdout.splitlines()]
    assert found == expected


@pytest.mark.long
@pytest.mark.parametrize("name", COMPILED.values())
def test_they_keep_within_a_short_time(name: str) -> None:
    """In the first position of every ladder, where most can be done, and late in the longest."""
    (game,) = (game for game, its in COMPILED.items() if its == name)
    bot = start(sample(name))
    for variant in GAMES[game].offered:
        for moves in ([], random_moves(variant.drawn(1), 1)[:-1]):
            choice = ask(bot, variant.drawn(1), moves, TimeControl(move_ms=100))
            assert choice.cpu_us <= 100_000
    bot.close()


def test_who_has_left_is_left_out() -> None:
    """In Blokus among more than two sides: after blue's move yellow leaves, red is next."""
    talked = """\
hello 1
newgame blokus mode=classic corners=fixed seats=4 you=3 move=1000 seed=1
go 1 clocks=1000,1000,1000,1000 out=2@1 moves 1:blue:a20
quit
"""
    lines, errors = talk(sample(COMPILED["blokus"], "30"), talked)
    assert lines[-1].startswith("move red:")
    assert errors == ""


@pytest.mark.parametrize("name", COMPILED.values())
def test_they_say_what_they_do_not_play(name: str) -> None:
    """A bot that is asked for another game ends with a line that says so."""
    asked = "hello 1\nnewgame puzzle task=full seats=1 you=1 move=1000 seed=1\n"
    done = subprocess.run(sample(name), input=asked, capture_output=True, text=True)
    assert done.returncode != 0
    assert "and not puzzle" in done.stderr
