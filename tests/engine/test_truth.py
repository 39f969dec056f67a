"""What is said of positions is certain: it is what trying every move by the rules alone gives."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from engine.game import Move, State, Variant
from engine.games import GAMES, find_variant
from engine.truth import Budget, Judgement, Truth, choices, judge, value_of
from tests.engine.games.test_puzzle import answer_moves

PLENTY = 1_000_000


@cache
def truth_of(variant: Variant) -> Truth:
    truth = variant.truth()
    assert truth is not None
    return truth


def brute(state: State, known: dict[object, float]) -> float:
    """The lead of the first seat by trying every move, as games of two seats are scored."""
    if state.to_move is None:
        first, second = state.scores()
        return first - second
    key = state, getattr(state, "past", None)
    if key not in known:
        values = [brute(state.play(move), known) for move in state.legal_moves()]
        known[key] = max(values) if state.to_move == 0 else min(values)
    return known[key]


def late(variant: Variant, seed: int, plies: int) -> State:
    """The position after so many random moves that don't end the game, or as many as there are."""
    state, dice = variant.initial(seed), Random(seed)
    for _ in range(plies):
        afters = [
            after for code in state.codes() if (after := state.play_code(code)).to_move is not None
        ]
        if not afters:
            break
        state = dice.choice(afters)
    return state


@pytest.mark.parametrize(
    ("name", "plies", "seeds"),
    [
        ("clobber size=3x3", 0, 1),
        ("clobber size=4x3", 0, 1),
        ("clobber size=2x5", 0, 1),
        ("clobber size=4x4", 4, 4),
        ("clobber size=5x6", 15, 8),
        ("clobber size=10x10", 66, 8),
        ("blocco size=3x3", 0, 1),
        ("blocco size=3x4", 2, 3),
        ("blocco size=6x7", 20, 8),
        ("mijnlieff", 12, 30),
        ("mijnlieff first=edge", 11, 6),
        ("mijnlieff shape=tee", 12, 10),
        ("mijnlieff shape=zig", 12, 10),
        ("mijnlieff size=5x5", 20, 10),
        ("oxono", 30, 12),
    ],
)
def test_values_are_those_of_brute_force(name: str, plies: int, seeds: int) -> None:
    """They are those of the position, and of each that a move leads to."""
    variant = find_variant(*_words(name))
    truth, found = truth_of(variant), set()
    for seed in range(seeds):
        state, known = late(variant, seed, plies), dict[object, float]()
        value = truth.value(state, Budget(PLENTY))
        assert value == brute(state, known)
        for choice in choices(truth, state, Budget(PLENTY)):
            assert choice.value == brute(state.play(choice.move), known)
        found.add(value)
    assert len(found) > 1 or seeds < 8


def _words(name: str) -> tuple[str, list[str]]:
    game, *options = name.split()
    return game, options


@pytest.mark.parametrize(("plies", "seeds"), [(196, 12), (197, 12)])
def test_the_limit_of_plies_of_oxoxo_counts(plies: int, seeds: int) -> None:
    """The last plies are known to their end, whatever may be turned over and over."""
    variant = GAMES["oxoxo"].variant()
    found = set()
    for seed in range(seeds):
        state = late(variant, seed, 11 + plies % 2)
        board, seat, _ = state.text().split()
        state = variant.read(f"{board} {seat} {plies + (plies + int(seat) + 1) % 2}")
        value = truth_of(variant).value(state, Budget(PLENTY))
        assert value == brute(state, {})
        found.add(value)
    assert len(found) > 1


def test_repetition_in_oxoxo_counts() -> None:
    """What was seen twice is a draw the third time: the same pieces can be won and not won.

    Form wins at once here by turning a piece of its own; the value is that, unless the position
    that wins is one that ends the game before.
    """
    variant = GAMES["oxoxo"].variant()
    dice = Random(5)
    checked = 0
    for seed in range(12):
        state = late(variant, seed, 12)
        for _ in range(6):  # turn pieces over, so that something was seen before
            turned = [
                after
                for move in state.legal_moves()
                if move[0] == "F" and (after := state.play(move)).to_move is not None
            ]
            if turned:
                state = dice.choice(turned)
        forced = wins_in(state, 3)
        value = truth_of(variant).value(state, Budget(3000))
        if forced:
            assert value in (forced, None)
            checked += value == forced
        elif value is not None:
            assert wins_in(state, 1) != -value
    assert checked >= 3


def wins_in(state: State, plies: int) -> int:
    """1 if the first seat forces a win in so many plies, -1 if the second does, else 0."""
    if state.to_move is None:
        first, second = state.scores()
        return round(first - second)
    if plies == 0:
        return 0
    sign = 1 if state.to_move == 0 else -1
    return sign * max(sign * wins_in(state.play_code(code), plies - 1) for code in state.codes())


def solvable(state: State, goal: float) -> bool:
    """Whether some moves solve a puzzle, by trying every one."""
    if state.to_move is None:
        return state.scores() == (goal,)
    return any(solvable(state.play(move), goal) for move in state.legal_moves())


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("puzzle task=tetrominoes hard=yes", answer_moves()),
        ("puzzle task=tetrominoes", answer_moves()[::-1]),
    ],
    ids=["hard", "easy"],
)
def test_a_puzzle_can_be_solved_or_not(name: str, moves: list[Move]) -> None:
    """Along an answer, and after each way to leave it near its end."""
    variant = find_variant(*_words(name))
    truth, state, found = truth_of(variant), variant.initial(), set()
    for ply, move in enumerate(moves):
        if len(moves) - ply <= 10:
            assert value_of(truth, state, Budget(PLENTY)) == 1
        if len(moves) - ply <= 2:
            for choice in choices(truth, state, Budget(PLENTY)):
                after = state.play(choice.move)
                assert choice.value == solvable(after, variant.solved_score or 0)
                found.add(choice.value)
        state = state.play(move)
    assert value_of(truth, state, Budget(0)) == 1
    assert found == {0, 1}


@pytest.mark.parametrize(
    ("name", "known"), [("clobber size=4x3", 2), ("mijnlieff", 12), ("blocco size=3x4", 2)]
)
def test_moves_are_judged_as_brute_force_does(name: str, known: int) -> None:
    """What random games gave away, and what would have kept it."""
    variant = find_variant(*_words(name))
    judged = lost = 0
    for seed in range(4):
        dice, states, moves = Random(seed), [variant.initial()], list[Move]()
        while legal := states[-1].legal_moves():
            moves.append(dice.choice(legal))
            states.append(states[-1].play(moves[-1]))
        found = judge(truth_of(variant), states[known:], moves[known:], PLENTY)
        values = dict[object, float]()
        expected = [
            one
            for ply in range(known, len(moves))
            if (one := _by_force(states[ply], moves[ply], ply - known, values)) is not None
        ]
        assert found == expected
        judged += len(found)
        lost += sum(one.lost > 0 for one in found)
    assert judged > lost > 0


def _by_force(state: State, move: Move, ply: int, known: dict[object, float]) -> Judgement | None:
    values = {each: brute(state.play(each), known) for each in state.legal_moves()}
    if len(set(values.values())) == 1:
        return None
    seat = state.to_move
    assert seat is not None
    best = max(values.values()) if seat == 0 else min(values.values())
    better = [] if values[move] == best else [each for each in values if values[each] == best]
    return Judgement(ply, seat, round(best), round(values[move]), tuple(better[:6]))


def test_a_game_that_a_fault_ended_is_judged_as_far_as_it_was_played() -> None:
    """The last move, after which somebody left, is judged like any other."""
    variant = find_variant("clobber", ["size=3x3"])
    states: list[State] = [variant.initial()]
    for move in ("a2a1", "a3b3", "b1c1"):
        states.append(states[-1].play(move))
    whole = judge(truth_of(variant), states, ["a2a1", "a3b3", "b1c1"])
    left = [*states[:-1], states[-1].retire(states[-1].to_move or 0)]
    assert judge(truth_of(variant), left, ["a2a1", "a3b3", "b1c1"]) == whole
    assert whole[-1].ply == 2


def test_what_takes_too_long_is_not_known() -> None:
    """Nothing is guessed where the steps do not suffice."""
    for name in ("mijnlieff", "clobber size=6x7", "blocco", "oxono totems=xc4", "oxoxo", "puzzle"):
        variant = find_variant(*_words(name))
        truth = variant.truth()
        assert truth is not None
        budget = Budget(30)
        assert truth.value(variant.initial(), budget) is None
        assert budget.used == 30


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("mijnlieff", [1, 12, 220]),
        ("clobber size=4x4", [1, 6]),
        ("clobber size=5x4", [1, 17]),
        ("oxoxo", [1, 6]),
    ],
)
def test_positions_alike_have_one_key(name: str, counts: list[int]) -> None:
    """Counted by hand: Mijnlieff has three kinds of squares and four types of pieces. 4x4 squares
    have 24 steps, each of which is one of four by the symmetries that keep the colours; of the 31
    on 5x4 three are their own mirror images."""
    variant = find_variant(*_words(name))
    truth = truth_of(variant)
    layer = {truth.key(variant.initial()): variant.initial()}
    for count in counts:
        assert len(layer) == count
        afters = [state.play(move) for state in layer.values() for move in state.legal_moves()]
        layer = {truth.key(after): after for after in afters}
