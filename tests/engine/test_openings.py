"""Openings of every variant: legal, open, all different, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

import pytest

from engine.game import IllegalMoveError, OptionError, State, Termination, Variant
from engine.games import GAMES
from engine.openings import Opening, is_open, opening, openings, played, start_at
from engine.scene import Scene

VARIANTS = [variant for game in GAMES.singles.values() for variant in game.offered]


def position(found: Opening) -> State:
    """Where an opening leads, by the rules."""
    state = found.variant.initial()
    for move in found.moves:
        assert move == state.canonical(move)
        state = state.play(move)
    return state


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_openings_of_every_variant(variant):
    """Where several are to be had they differ, and none is over or ends with the next move."""
    found = list(islice(openings(variant, 5), 2))
    assert len(found) == (1 if variant.seats == 1 else 2)
    states = [position(one) for one in found]
    assert len({(state.variant, state) for state in states}) == len(found)
    lots = {variant.drawn(seed) for seed in range(20)}
    for one, state in zip(found, states, strict=True):
        assert one.variant in lots
        assert len(one.moves) == (0 if variant.seats == 1 else variant.opening_plies)
        assert state.to_move is not None
        moves = state.legal_moves()
        assert len(moves) > 1
        if variant.seats > 1 and len(moves) <= 200:
            assert all(state.play(move).to_move is not None for move in moves)


@pytest.mark.parametrize(("plies", "judged"), [(2, False), (3, True)])
def test_where_few_plies_decide_nothing_no_game_tells(plies, judged):
    """Random games on a large board take long."""
    variant = Scripted((0, 1), [(1, 0), (0, 1)])
    variant.harmless_plies = 2
    opening(variant, 1, plies=plies)
    assert (variant.played > 0) == judged


@pytest.mark.parametrize("game", ["blocco", "clobber"])
@pytest.mark.parametrize(("size", "harmless"), [("10x10", 0), ("26x26", 4), ("4x26", 4)])
def test_four_plies_decide_nothing_on_a_large_board(game, size, harmless):
    assert GAMES[game].variant(size=size).harmless_plies == harmless


@pytest.mark.parametrize("name", ["clobber", "oxono", "oxoxo", "mijnlieff"])
def test_a_series_depends_on_its_seed_alone(name):
    """The same seed gives the same series, another one another."""
    variant = GAMES[name].variant()
    series = [list(islice(openings(variant, seed), 5)) for seed in (1, 1, 2)]
    assert series[0] == series[1] != series[2]
    assert opening(variant, 1, 4) == series[0][4]
    assert opening(variant, 1) == series[0][0]


def test_the_lots_are_drawn_with_the_openings():
    """No opening leaves anything to chance, and a series has every outcome."""
    drawn = {
        one.variant.options["totems"]
        for one in islice(openings(GAMES["oxono"].variant(totems="random"), 1), 20)
    }
    assert drawn == {"xc4", "xd3"}


class Scripted(Variant):
    """A game whose random games end as they are told to, one after the other."""

    game = "scripted"
    max_plies = 8

    def __init__(self, sides: Sequence[int], results: Sequence[Sequence[float]]) -> None:
        super().__init__({})
        self.sides, self.seats = tuple(sides), len(sides)
        self.results, self.played = cycle(results), 0

    @property
    def side_of(self) -> tuple[int, ...]:
        return self.sides

    def initial(self, seed: int = 0) -> ScriptedState:
        return ScriptedState(self)

    def read(self, text: str) -> ScriptedState:
        raise NotImplementedError


@dataclass(frozen=True)
class ScriptedState(State):
    """A position with two moves, neither of which ends the game."""

    variant: Scripted
    plies: int = 0

    @property
    def to_move(self) -> int:
        return self.plies % self.variant.seats

    def legal_moves(self) -> Sequence[str]:
        return ["a", "b"]

    def judge(self, move: str, /) -> None:
        pass

    def play(self, move: str) -> ScriptedState:
        return ScriptedState(self.variant, self.plies + 1)

    def playout(self, random: Random) -> tuple[float, ...]:
        self.variant.played += 1
        return tuple(next(self.variant.results))

    def ending(self) -> Termination | None:
        return None

    def scores(self) -> tuple[float, ...]:
        raise NotImplementedError

    def text(self) -> str:
        return str(self.plies)

    def scene(self) -> Scene:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("sides", "results", "verdict", "games"),
    [
        # Of 24 games a side of two must win 6; after 12 that alternate both have.
        ((0, 1), [(1, 0), (0, 1)], True, 12),
        ((0, 1), [(0.5, 0.5)], True, 12),
        # One win in four comes to 6 with the last of them.
        ((0, 1), [(1, 0), (1, 0), (1, 0), (0, 1)], True, 24),
        ((0, 1), [(1, 0), (1, 0), (1, 0), (1, 0), (0, 1)], False, 23),
        # Five games before the end nothing helps who has won none.
        ((0, 1), [(1, 0)], False, 19),
        # Four sides need 3 each.
        ((0, 1, 2, 3), [(9, 1, 1, 1), (1, 9, 1, 1), (1, 1, 9, 1), (1, 1, 1, 9)], True, 12),
        # A team wins by what its seats have together, not by its first one.
        ((0, 1, 0, 1), [(5, 0, 0, 9), (5, 0, 0, 1)], True, 12),
        ((0, 1, 0, 1), [(5, 0, 0, 9), (1, 2, 0, 0)], False, 19),
        # One against two that share their score.
        ((0, 1, 1), [(0.5, 0.5, 0.5)], True, 12),
    ],
)
def test_random_play_tells_a_one_sided_opening(sides, results, verdict, games):
    """Each side must win half of an equal share; no more games are played than it takes."""
    variant = Scripted(sides, results)
    assert is_open(variant.initial(), 1, variant.opening_playouts) == verdict
    assert variant.played == games


@pytest.mark.parametrize(
    ("game", "options", "plies"),
    [("clobber", {"size": "3x3"}, None), ("clobber", {"size": "4x3"}, 5), ("oxoxo", {}, 5)],
)
def test_nobody_ends_the_game_at_once(game, options, plies):
    """Boards are so small, or plies so many, that random moves often lead to that."""
    for one in islice(openings(GAMES[game].variant(**options), 1, plies=plies), 15):
        state = one.variant.initial()
        for move in one.moves:
            state = state.play(move)
        assert all(state.play(move).to_move is not None for move in state.legal_moves())


@pytest.mark.parametrize("size", ["2x2", "2x3", "3x2"])
def test_boards_too_small_for_openings(size):
    """Whatever comes first on them decides, so the series is the empty opening alone."""
    variant = GAMES["clobber"].variant(size=size)
    assert list(openings(variant, 1)) == [Opening(variant, ())]
    with pytest.raises(LookupError, match=f"clobber size={size} has no more than 1 different"):
        opening(variant, 1, 1)


def test_a_small_board_runs_out():
    """First come the long openings, then shorter ones, in the end none; each position once."""
    variant = GAMES["clobber"].variant(size="3x3")
    series = list(openings(variant, 1))
    lengths = [len(one.moves) for one in series]
    assert lengths == sorted(lengths, reverse=True)
    assert (lengths[0], lengths[-1]) == (4, 0)
    assert len({position(one) for one in series}) == len(series)
    # White begins on four squares with three neighbours each, all of them Black's.
    assert lengths.count(1) == 12


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "count", "length"),
    [({"size": "3x3"}, 0, None), ({"size": "3x3"}, 15, None), ({"size": "6x7"}, 5, 8)],
)
def test_a_series_goes_on_after_a_known_part(options, count, length):
    """Whoever kept what was played need not judge it again."""
    variant = GAMES["clobber"].variant(**options)
    series = list(islice(openings(variant, 1), length))
    assert list(islice(openings(variant, 1, known=series[:count]), length)) == series


@pytest.mark.parametrize(("plies", "length"), [(0, 0), (1, 1), (6, 6)])
def test_the_length_may_be_chosen(plies, length):
    """Instead of the variant's own; without plies there is one opening."""
    variant = GAMES["clobber"].variant(size="6x7")
    series = list(islice(openings(variant, 1, plies=plies), 2))
    assert len(series) == (2 if plies else 1)
    assert {len(one.moves) for one in series} == {length}


@pytest.mark.parametrize(
    ("game", "options", "seed", "drawn", "moves"),
    [
        ("clobber", {}, 1, {}, "e6f6 c7d7 b5c5 a1b1"),
        ("clobber", {}, 2026, {}, "e2e3 c3d3 d5e5 a3b3"),
        (
            "blokus",
            {"corners": "fixed"},
            1,
            {},
            "blue:a20,b20 yellow:s17,s18,s19,t19,t20 red:r1,s1,t1,t2,t3 green:a1,a2",
        ),
        ("oxono", {"totems": "random"}, 1, {"totems": "xd3"}, "Xd5e5 Xa5a4"),
        ("oxono", {"totems": "random"}, 2026, {"totems": "xc4"}, "Xc3c2 Oe3e2"),
        ("oxoxo", {}, 2026, {}, "Xb4 Od3"),
        ("mijnlieff", {}, 1, {}, "d2>< c3x"),
    ],
)
def test_golden_openings(game, options, seed, drawn, moves):
    """A seed means the same opening on every machine and in every release."""
    variant = GAMES[game].variant(**options)
    expected = Opening(GAMES[game].variant(**(options | drawn)), tuple(moves.split()))
    assert opening(variant, seed) == expected


@pytest.mark.parametrize("protection", ["any", "able"])
@pytest.mark.parametrize("setup", ["free", "fixed"])
def test_openings_of_a_game_that_chance_decides_alike(setup, protection):
    """In the Siege with retreat Yellow wins random games; openings are found all the same."""
    variant = GAMES["siege"].variant(retreat="yes", setup=setup, protection=protection)
    found = list(islice(openings(variant, 1), 5))
    assert len(set(found)) == 5
    assert {len(one.moves) for one in found} == {variant.opening_plies}


@pytest.mark.parametrize(
    ("game", "options", "own", "found"),
    [
        ("clobber", {"size": "5x6"}, {}, {"size": "5x6"}),
        ("clobber", {"size": "5x6"}, {"size": "5x6"}, {"size": "5x6"}),
        ("oxono", {}, {"totems": "xc4"}, {"totems": "xc4"}),
        ("oxono", {"totems": "xd3"}, {"totems": "xd3"}, {"totems": "xd3"}),
    ],
)
def test_a_start_that_is_chosen(game, options, own, found):
    """Among those that a variant leaves to the lot."""
    assert dict(start_at(GAMES[game].variant(**options), own).options) == found


@pytest.mark.parametrize(
    ("game", "options", "own", "problem"),
    [
        ("clobber", {}, {"size": "5x6"}, "size=5x6 is no start of clobber size=6x7"),
        ("clobber", {}, {"colour": "red"}, "clobber has no option 'colour'"),
        ("oxono", {"totems": "xd3"}, {"totems": "xc4"}, "totems=xc4 is no start of oxono"),
        ("oxono", {}, {"totems": "xe5"}, "oxono has no totems=xe5"),
    ],
)
def test_what_is_no_start(game, options, own, problem):
    """Nobody gets another board than the variant's by it."""
    with pytest.raises(OptionError, match=problem):
        start_at(GAMES[game].variant(**options), own)


def test_moves_that_are_played():
    """They are in canonical spelling, with every position; up to the end of a game, not beyond."""
    variant = GAMES["clobber"].variant(size="4x3")
    moves = ("a2a1", "c1b1")
    opening, states = played(variant, moves)
    assert opening == Opening(variant, moves)
    assert states == [variant.initial(), states[0].play("a2a1"), states[1].play("c1b1")]
    with pytest.raises(IllegalMoveError, match="'a2a1' is not legal here"):
        played(variant, ("a2a1", "a2a1"))
