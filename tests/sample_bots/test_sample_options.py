"""The options of the samples: declared as the protocol has it, and each of them matters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from engine.bot_options import read_options
from engine.following import NODES
from engine.game import State
from engine.games import GAMES, find_variant
from tests.sample_bots.play import SAMPLES, load, random_moves, sample, talk

greedy, alphabeta = load("greedy"), load("alphabeta")
SIEGE = "siege seats=2 setup=fixed soldiers=2 retreat=no protection=any demand=yes"
NODES_TOLD = re.compile(r"^# nodes (\d+)$", re.MULTILINE)
DECLARED = {
    "greedy": read_options(line.removeprefix("# option ") for line in greedy.options()),
    "alphabeta": read_options(alphabeta.OPTIONS),
}


@pytest.mark.parametrize("name", DECLARED)
def test_they_are_declared_before_ready(name: str) -> None:
    """As they stand in the file, and a value that is chosen is no reason to say more."""
    chosen = "".join(f"set {its.name} {its.other}\n" for its in DECLARED[name].values())
    lines, errors = talk(sample(name), f"hello 1\n{chosen}quit\n")
    *options, ready = lines
    assert options == [f"# option {its.declaration}" for its in DECLARED[name].values()]
    assert ready.split()[:2] == ["ready", name]
    assert errors == ""
    assert {"greedy", "alphabeta"} <= {entry["name"] for entry in SAMPLES}


@pytest.mark.parametrize(
    ("name", "game", "nodes"),
    [
        ("alphabeta", "clobber size=5x6", 150),
        ("mcts", "clobber size=5x6", 60),
        ("mcts", "blokus mode=duel corners=free", 10),
        ("clobber-expert", "clobber size=8x8", 60),
        ("mijnlieff-expert", "mijnlieff size=4x4 shape=square first=any", 60),
        ("blokus-cpp", "blokus mode=duel corners=free", 20),
        pytest.param("clobber-cpp", "clobber size=8x8", 1000, marks=pytest.mark.long),
        pytest.param("oxono-cpp", "oxono totems=xc4", 2000, marks=pytest.mark.long),
        pytest.param("siege-cpp", SIEGE, 1000, marks=pytest.mark.long),
    ],
)
def test_by_nodes_no_clock_is_looked_at(name: str, game: str, nodes: int) -> None:
    """With a millisecond as with an hour for a move, in a second game as in the first.

    So a machine that is as much slower changes nothing. Of fewer nodes fewer are looked at.
    """
    rules, *options = game.split()
    told = []
    for number, move in ((nodes, 3_600_000), (nodes, 1), (nodes // 2, 1)):
        seats = find_variant(rules, options).seats
        new = f"newgame {game} seats={seats} you=1 move={move} seed=7"
        turn = f"go 0 clocks={','.join([str(move)] * seats)} moves"
        talked = f"hello 1\nset nodes {number}\n" + f"{new}\n{turn}\n" * 2 + "quit\n"
        lines, errors = talk(sample(name), talked)
        assert errors == ""
        assert f"# option {NODES}" in lines
        first, second = "\n".join(lines).split("\nok\n")[1:]
        assert first == second
        told.append(first)
    hour, moment, half = told
    assert hour == moment
    counted = [int(NODES_TOLD.findall(one)[0]) for one in (hour, half)]
    assert counted[0] > counted[1]


def ranking(
    game: str, moves: Sequence[str], legal: Sequence[str], chosen: Mapping[str, float]
) -> list[str]:
    """The legal moves as `greedy` orders them, the best first."""
    keys = GAMES[game].variant().drawn(1).options | {"you": str(len(moves) % 2 + 1)}
    judge = greedy.JUDGES[game](keys, chosen)
    for ply, move in enumerate(moves):
        judge.follow(ply % 2 + 1, move)
    return sorted(legal, key=judge.value, reverse=True)


@pytest.mark.parametrize("option", DECLARED["greedy"])
def test_each_weight_of_greedy_changes_what_it_likes(option: str) -> None:
    """It does in the middle of a game of those that the option is called by."""
    game, _, name = option.partition(".")
    variant = GAMES[game].variant().drawn(1)
    found = set()
    for seed in range(6):
        moves = random_moves(variant, seed)[: 5 + seed]
        state: State = variant.initial()
        for move in moves:
            state = state.play(move)
        legal = state.legal_moves()
        its = DECLARED["greedy"][option]
        other = {name: its.least if float(its.default) != its.least else its.most}
        found.add(ranking(game, moves, legal, other) == ranking(game, moves, legal, {}))
    assert False in found


@pytest.mark.parametrize("game", ["clobber size=5x6", "blocco size=5x6", "oxoxo"])
@pytest.mark.parametrize("option", ["few", "others"])
def test_each_option_of_alphabeta_changes_what_it_thinks(option: str, game: str) -> None:
    """Where it goes by mobility, a position is worth something else, and never as a won one."""
    name, *options = game.split()
    variant = GAMES[name].variant(**dict(word.split("=") for word in options))
    state: State = variant.initial()
    for move in random_moves(variant, 3)[:3]:
        state = state.play(move)
    values = set()
    for text in (DECLARED["alphabeta"][option].default, DECLARED["alphabeta"][option].other, "0.7"):
        search = alphabeta.Search(state, Random(1), **{option: float(text)})
        search.run(2)
        values.add(search.value)
    assert len(values) == 3
    assert max(map(abs, values)) <= 1


def test_alphabeta_shares_its_clock_as_it_is_told() -> None:
    """Of a second among 25 moves of Oxono, or among 3: it looks further where these are fewer."""
    new = "newgame oxono totems=xc4 seats=2 you=1 time=1000 seed=1 game=1"
    nodes = []
    for lasts in ("3", "0.2"):
        asked = f"hello 1\nset lasts {lasts}\n{new}\ngo 0 clocks=1000,1000 moves\nquit\n"
        lines, errors = talk(sample("alphabeta"), asked)
        assert errors == ""
        nodes += [int(line.split()[-1]) for line in lines if line.startswith("# nodes")]
    assert len(nodes) == 2
    assert nodes[0] < nodes[1]
