"""Trees of moves that somebody tried: written and read, every move proved, taken away again."""

from __future__ import annotations

from random import Random

import pytest

from engine.analysis import AnalysisError, Tree, checked_comments, stretches
from engine.clock import TimeControl
from engine.game import CHANCE, GameError, IllegalMoveError, PositionError
from engine.games import GAMES, find_variant
from engine.record import states

SMALL = find_variant("clobber", ["size=3x2"])
TIME = TimeControl(move_ms=100)


def grown(variant, seed, moves=40):
    """A random tree, of which each move follows any before it."""
    dice, tree = Random(seed), Tree.begin(variant)
    for _ in range(moves):
        parent = dice.choice([len(tree.nodes), dice.randrange(len(tree.states))])
        state = tree.states[parent]
        if state.to_move is not None:
            leaves = state.to_move != CHANCE and dice.random() < 0.03
            tree = tree.played(parent, "resign" if leaves else dice.choice(state.legal_moves()))
    return tree


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("game", list(GAMES.singles.values()), ids=lambda one: one.name)
def test_there_and_back(game, seed):
    """What is written is read as the same tree, from anywhere in it."""
    tree = grown(game.offered[0], seed)
    read = Tree.begin(tree.variant).reading(tree.text())
    assert (read.nodes, read.states, read.keys) == (tree.nodes, tree.states, tree.keys)
    half = len(tree.nodes) // 2
    first = Tree.begin(tree.variant).reading(" ".join(tree.text().split()[:half]))
    assert first.reading(tree.text(half)).nodes == tree.nodes
    # Each move once, and read in an order in which it comes after what it follows.
    order = [node.number for stretch in stretches(tree) for node in stretch.nodes]
    assert sorted(order) == [node.number for node in tree.nodes]
    place = {0: -1} | {number: at for at, number in enumerate(order)}
    assert all(place[node.parent] < place[node.number] for node in tree.nodes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("game", list(GAMES.singles.values()), ids=lambda one: one.name)
def test_what_a_bot_is_told(game, seed):
    """The moves that lead to a node are a game by the rules, with who left it."""
    tree = grown(game.offered[0], seed)
    for number in (0, len(tree.nodes) // 2, len(tree.nodes)):
        *_, state = states(tree.game(number, TIME))
        assert state == tree.states[number]


def test_the_form():
    """By hand: two answers to White's first move, and another first move."""
    tree = Tree.begin(SMALL).reading("b1c1 a1a2 1:b2a2 0:a2a1")
    assert [(one.parent, one.seat, one.move) for one in tree.nodes] == [
        (0, 0, "b1c1"),
        (1, 1, "a1a2"),
        (1, 1, "b2a2"),
        (0, 0, "a2a1"),
    ]
    assert tree.text() == "b1c1 a1a2 1:b2a2 0:a2a1"
    assert [one.move for one in tree.path(3)] == ["b1c1", "b2a2"]
    assert [one.move for one in tree.line(0)] == ["b1c1", "a1a2"]
    assert [(one.depth, [node.number for node in one.nodes]) for one in stretches(tree)] == [
        (0, [1]),
        (1, [4]),
        (0, [2]),
        (1, [3]),
    ]
    assert tree.played(1, "b2a2") is tree


def test_a_move_is_taken_away_with_what_follows():
    tree = Tree.begin(SMALL).reading("b1c1 a1a2 1:b2a2 2:c2b2 0:a2a1")
    less, numbers = tree.without(2)
    assert less.text() == "b1c1 b2a2 0:a2a1"
    assert numbers == {0: 0, 1: 1, 3: 2, 5: 3}
    assert less.states == Tree.begin(SMALL).reading(less.text()).states


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a1a2", "move 1: 'a1a2' is not legal"),
        ("b1c1 7:a1a2", "move 2 follows 7, and there is none"),
        ("b1c1 -1:a1a2", "'-1:a1a2' is not legal"),
        ("resign a2a1", "the game is over there"),
        ("x" * 20_001, "at most 20,000 characters"),
        ("\x1b[2J", "is not legal"),
    ],
)
def test_what_is_no_analysis(text, words):
    with pytest.raises(GameError, match=words.replace("[", r"\[")):
        Tree.begin(SMALL).reading(text)


def test_an_analysis_has_its_measure():
    """600 moves, and comments of a thousand characters on moves that are there."""
    tree = Tree.begin(find_variant("clobber", ["size=8x8"]))
    dice = Random(1)
    while len(tree.nodes) < 600:
        parent = dice.randrange(len(tree.states))
        if tree.states[parent].to_move is not None:
            tree = tree.played(parent, dice.choice(tree.states[parent].legal_moves()))
    assert tree.played(0, tree.nodes[0].move) is tree
    with pytest.raises(AnalysisError, match="at most 600 moves"):
        tree.played(0, "resign")
    assert checked_comments(tree, {600: " good ", 0: "", 3: "why?"}) == {3: "why?", 600: "good"}
    for comments in ({601: "x"}, {1: "x" * 1001}, dict.fromkeys(range(30), "x" * 900)):
        with pytest.raises(AnalysisError, match="comment"):
            checked_comments(tree, comments)


def test_positions():
    """One is read as its game's page says; with some a game can begin, and bots are told of it."""
    after = SMALL.initial().play("b1c1").text()
    tree = Tree.begin(SMALL, f" {after} ")
    assert tree.states[0].to_move == 1
    with pytest.raises(AnalysisError, match="no game begins at this position"):
        tree.game(0, TIME)
    with pytest.raises(PositionError):
        Tree.begin(SMALL, "wbw")
    with pytest.raises(IllegalMoveError):
        tree.played(0, "b1c1")
