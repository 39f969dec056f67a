"""Oxoxo solved backwards is what its rules say, position by position."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from random import Random

import pytest

from engine.game import State
from engine.games import GAMES
from engine.games.oxoxo import Oxoxo, OxoxoState, goals, new_state
from engine.games.oxoxo.truth import OxoxoTruth
from engine.truth import Budget
from tests.requirements import need

PLENTY = 1_000_000
Key = tuple[int, int, int, int]


@pytest.fixture(scope="module")
def variant() -> Oxoxo:
    found = GAMES["oxoxo"].variant()
    assert isinstance(found, Oxoxo)
    return found


def afresh(state: State, past: tuple[int, ...] = ()) -> OxoxoState:
    """The same position as if only that had been seen, and the game had just begun."""
    assert isinstance(state, OxoxoState)
    pieces = state.form, state.colour, state.crosses
    return new_state(state.variant, *pieces, state.mover, past=past)


def key(state: State) -> Key:
    assert isinstance(state, OxoxoState)
    return state.form, state.colour, state.crosses, state.mover


def crowded(variant: Oxoxo, seed: int, free: int) -> OxoxoState | None:
    """A position after random moves with so many free squares, if they lead to one."""
    state, dice = variant.initial(), Random(seed)
    while state.to_move is not None and state.text().split()[0].count("/") == 3:
        assert isinstance(state, OxoxoState)
        if 16 - (state.form | state.colour).bit_count() == free:
            return afresh(state)
        puts = [move for move in state.legal_moves() if move[0] != "F"] or state.legal_moves()
        afters = [state.play(move) for move in puts]
        open_ = [after for after in afters if after.to_move is not None]
        if not open_:
            return None
        state = dice.choice(open_)
    return None


def all_from(start: OxoxoState) -> dict[Key, OxoxoState]:
    """Every position that the rules lead to, each as if only the start's past had been seen."""
    found, later = {key(start): start}, [start]
    while later:
        state = later.pop()
        for after in map(state.play_code, state.codes()):
            if after.to_move is not None and key(after) not in found:
                one = found[key(after)] = afresh(after, start.past)
                later.append(one)
    return found


def solved(positions: dict[Key, OxoxoState]) -> dict[Key, int]:
    """Who wins each, by looking at all moves of all positions again and again."""
    moves = {
        one: [
            (key(after), None if after.to_move is not None else round(1 - 2 * after.scores()[1]))
            for after in map(state.play_code, state.codes())
        ]
        for one, state in positions.items()
    }
    won: dict[Key, int] = {}
    while True:
        before = len(won)
        for one, afters in moves.items():
            if one in won:
                continue
            wanted = -1 if one[3] else 1
            values = [won.get(after) if end is None else end for after, end in afters]
            if wanted in values:
                won[one] = wanted
            elif all(value == -wanted for value in values):
                won[one] = -wanted
        if len(won) == before:
            return won


@pytest.mark.long
@pytest.mark.parametrize(("free", "seeds"), [(0, 4), (1, 2), (2, 1)])
def test_positions_are_won_as_the_rules_have_it(variant: Oxoxo, free: int, seeds: int) -> None:
    """Every position that can be reached from some in which few squares are free."""
    found, tried, seed = set[int](), 0, 0
    while tried < seeds:
        seed += 1
        start = crowded(variant, seed, free)
        if start is None:
            continue
        tried += 1
        truth, positions = OxoxoTruth(variant), all_from(start)
        won = solved(positions)
        for one, state in positions.items():
            assert truth.value(state, Budget(PLENTY)) == won.get(one, 0), state.text()
            found.add(won.get(one, 0))
    assert {-1, 1} <= found


@pytest.mark.long
def test_what_was_seen_twice_is_reached_no_more(variant: Oxoxo) -> None:
    """Whoever reaches it draws by the rules; other wins there may be, or none."""
    start = next(filter(None, (crowded(variant, seed, 0) for seed in range(1, 100))))
    free = solved(all_from(start))
    dice, lost = Random(2), set[int]()
    for _ in range(3):
        seen = [one[2] for one in dice.sample(sorted(free), 40)]
        positions = all_from(afresh(start, tuple(2 * seen)))
        won, truth = solved(positions), OxoxoTruth(variant)
        others = [one for one in free if one in positions and free[one] != won.get(one, 0)]
        lost.update(free[one] for one in others)
        for one in (*others[:20], *dice.sample(sorted(won), 20)):
            value = truth.value(positions[one], Budget(PLENTY))
            assert value == won.get(one, 0), positions[one].text()
    assert lost == {-1, 1}


def test_the_program_in_c_agrees(variant: Oxoxo) -> None:
    """It does on positions with free squares, on full boards, and where some was seen before."""
    need(shutil.which("c++") is not None, "a C++ compiler")
    dice, found = Random(3), set[tuple[int, int | None]]()
    truth = OxoxoTruth(variant)
    with truth.quicker(lambda _what, _done, _total: None) as compiled:
        assert type(compiled) is not type(truth)
        for free in (0, 2, 4, 5):
            start = next(filter(None, (crowded(variant, seed, free) for seed in range(50, 200))))
            pieces = start.form | start.colour
            past = tuple(2 * list({dice.getrandbits(16) & pieces for _ in range(3000)}))
            for state in (*turned(start, dice, 60), *turned(afresh(start, past), dice, 20)):
                value = compiled.value(state, Budget(0))
                assert value == truth.value(state, Budget(PLENTY)), state.text()
                found.add((free, value))
    assert len(found) >= 9


def turned(state: OxoxoState, dice: Random, number: int) -> Iterator[OxoxoState]:
    """Positions of the same pieces with other faces up, in which the game goes on."""
    while number:
        crosses = dice.getrandbits(16) & (state.form | state.colour)
        if not any(goals(state.form | state.colour, crosses, state.colour)):
            pieces = state.form, state.colour, crosses
            yield new_state(state.variant, *pieces, dice.randrange(2), past=state.past)
            number -= 1
