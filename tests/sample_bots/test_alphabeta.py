"""Alpha-beta skips only what can't matter: a plain search of every move finds the same value."""

from __future__ import annotations

from random import Random

import pytest

from engine.game import Seat, State
from engine.games import find_variant
from tests.sample_bots.play import load, random_moves

alphabeta = load("alphabeta")


def plain(state: State, depth: int, side: int, counts: dict[Seat, int]) -> float:
    """What a position of two sides is worth to one, looking at every move so many plies deep.

    Args:
        counts: how many moves each seat had at its last turn on the way here.
    """
    sides = state.variant.side_of
    if state.to_move is None:
        ours, theirs = (
            min(rank for rank, of in zip(state.ranks(), sides, strict=True) if (of == side) is own)
            for own in (True, False)
        )
        return ((ours < theirs) - (ours > theirs)) * (100 + depth)
    mine = sides[state.to_move] == side
    moves = state.legal_moves()
    if depth == 0 and (outlook := state.outlook()) is not None:
        hopes = [hope for hope, of in zip(outlook, sides, strict=True) if of == side]
        return 2 * sum(hopes) / len(hopes) - 1
    if depth == 0:
        theirs = counts[1 - state.to_move]
        lead = len(moves) - theirs
        return (lead if mine else -lead) / (len(moves) + theirs + 10)
    counts = {**counts, state.to_move: len(moves)}
    values = [plain(state.play(move), depth - 1, side, counts) for move in moves]
    return max(values) if mine else min(values)


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "plies", "depth"),
    [
        ("clobber size=4x4", 2, 4),
        ("clobber size=4x4", 7, 9),
        ("blocco size=4x3", 2, 3),
        ("oxono", 10, 2),
        ("oxoxo", 4, 3),
        ("mijnlieff", 6, 4),
        ("siege seats=2", 40, 2),
        ("siege seats=3", 41, 2),
        ("blokus mode=duel", 44, 2),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_finds_what_a_plain_search_finds(game: str, plies: int, depth: int, seed: int) -> None:
    """The value of the position, and a move that has it."""
    name, *options = game.split()
    variant = find_variant(name, options).drawn(seed)
    state: State = variant.initial()
    for move in random_moves(variant, seed)[:plies]:
        state = state.play(move)
    assert state.to_move is not None
    side = variant.side_of[state.to_move]
    search = alphabeta.Search(state, Random(seed))
    search.run(depth)
    # Of a seat that had no turn yet nothing is known, and the first one's count stands for it.
    counts = dict.fromkeys(range(variant.seats), len(state.legal_moves()))
    assert plain(state, search.depth, side, counts) == pytest.approx(search.value)
    after = state.play(state.word(search.best))
    assert plain(after, search.depth - 1, side, counts) == pytest.approx(search.value)
