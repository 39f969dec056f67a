"""The moves of the Siege of Paris, a direction at a time.

A move is known by its step, the mask of the two places it joins: the mover's piece stands on
one of them. Each function here yields its moves in bundles ``(lows, pair)``, none of them empty:
``low * pair`` is a step for each single bit ``low`` of ``lows``. A step along an axis joins a
place with the one ``shift`` bits above it, so ``pair`` is ``1 << shift | 1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from engine.board import bits_of
from engine.games.siege.board import (
    BITS,
    DARK,
    GATE_LINKS,
    INSIDE,
    LIGHT,
    LINKS,
    OUTSIDE,
    PITCH,
    PLACES,
    SEGMENT_LINKS,
    WHITE,
    YELLOW,
    Board,
    Links,
)

Bundle = tuple[int, int]

AXES = ((1, False), (PITCH, False), (PITCH - 1, True), (PITCH + 1, True))
"""The shift of each axis, and whether it is a diagonal."""
FARTHEST = 3
"""How many squares a piece goes at most."""
SOLDIERS_OF_A_COLOUR = 3
"""So many Yellow soldiers may stand outside on squares of one colour."""
GATES_FROM_BELOW, GATES_FROM_ABOVE = (BITS[name] // PITCH for name in ("c8", "c9"))
"""The ranks, from 0, of the gates that White comes to first, and Black."""


def attackers_moves(board: Board, army: int, heading: int) -> Iterator[Bundle]:
    """The moves of White or Black, demands apart.

    Args:
        heading: 1 for an army that may not lower its rank, -1 for one that may not raise it,
            0 for one that may do both.
    """
    own = board[army]
    free = PLACES ^ (board.yellow | board.white | board.black)
    squares = free & OUTSIDE
    # The first, second and third square of a ray are for fewer pieces each.
    kinds = (PLACES, board.far, board.generals)
    for shift, is_diagonal in AXES:
        movers = own & OUTSIDE & (board.diagonal if is_diagonal else board.orthogonal)
        sideways = shift == 1
        if sideways or heading >= 0:
            able = movers
            for squares_away, kind in enumerate(kinds, 1):
                reach = shift * squares_away
                able &= kind & squares >> reach
                if not able:
                    break
                yield able, 1 << reach | 1
        if sideways or heading <= 0:
            able = movers
            for squares_away, kind in enumerate(kinds, 1):
                reach = shift * squares_away
                able &= kind & squares << reach
                if not able:
                    break
                yield able >> reach, 1 << reach | 1
    yield from _along(LINKS, own, free)


def captures(board: Board, *, able_only: bool) -> Iterator[Bundle]:
    """Yellow's captures; with ``able_only`` a piece protects only along its own lines."""
    movers = board.yellow & OUTSIDE
    prey = board.attackers & OUTSIDE
    if not movers:
        return
    for shift, is_diagonal in AXES:
        kind = board.diagonal if is_diagonal else board.orthogonal
        hunters = movers & kind
        guards = prey & kind if able_only else prey
        pair = 1 << shift | 1
        if lows := hunters & (prey & ~(guards >> shift)) >> shift:
            yield lows, pair
        if lows := prey & ~(guards << shift) & hunters >> shift:
            yield lows, pair


def yellow_moves(board: Board, *, able_only: bool) -> Iterator[Bundle]:
    """All of Yellow's moves where no capture is demanded."""
    outside = board.yellow & OUTSIDE
    inside = board.yellow & INSIDE
    free = PLACES ^ (board.yellow | board.white | board.black)
    squares = free & OUTSIDE
    must_step_out = outside != 0
    for shift, is_diagonal in AXES:
        movers = outside & (board.diagonal if is_diagonal else board.orthogonal)
        if lows := movers & squares >> shift | squares & movers >> shift:
            must_step_out = False
            yield lows, 1 << shift | 1
    for bundle in chain(
        captures(board, able_only=able_only), _along(GATE_LINKS, outside, free & INSIDE)
    ):
        must_step_out = False
        yield bundle
    if not must_step_out:
        yield from _along(SEGMENT_LINKS, inside, free)
    yield from _along(GATE_LINKS, inside & ~board.soldiers, squares)
    for colour in (DARK, LIGHT):
        if (outside & board.soldiers & colour).bit_count() < SOLDIERS_OF_A_COLOUR:
            yield from _along(GATE_LINKS, inside & board.soldiers, free & colour)


def _along(links: Links, movers: int, free: int) -> Iterator[Bundle]:
    """Moves from one end of a link to the other."""
    for shift, starts in links.items():
        if lows := starts & (movers & free >> shift | free & movers >> shift):
            yield lows, 1 << shift | 1


def pairs() -> Iterator[tuple[int, int]]:
    """Every two places between which a piece may go on some board, by their bits; both ways."""
    for shift, _ in AXES:
        able = OUTSIDE
        for squares_away in range(1, FARTHEST + 1):
            able &= OUTSIDE >> squares_away * shift
            for low in bits_of(able):
                high = low + squares_away * shift
                yield from ((low, high), (high, low))
    for shift, starts in LINKS.items():
        for low in bits_of(starts):
            yield from ((low, low + shift), (low + shift, low))


def steps_of(bundles: Iterable[Bundle]) -> list[int]:
    """The steps of all bundles, one by one."""
    steps = []
    for lows, pair in bundles:
        while lows:
            low = lows & -lows
            steps.append(low * pair)
            lows ^= low
    return steps


def has_step(bundles: Iterable[Bundle], step: int) -> bool:
    """Whether the bundles hold this step."""
    low = step & -step
    wanted = step // low
    return any(pair == wanted and lows & low for lows, pair in bundles)


def brings_on(army: int, start: int, end: int) -> bool:
    """Whether to go there is progress: an attacker's, outside, as far as the gates.

    Who may not retreat can't undo it: the fortress has no way back to an earlier rank.
    """
    if army == YELLOW or (start | end) & INSIDE:
        return False
    rank, there = _rank(start), _rank(end)
    if army == WHITE:
        return rank < there <= GATES_FROM_BELOW
    return rank > there >= GATES_FROM_ABOVE


def _rank(place: int) -> int:
    return (place.bit_length() - 1) // PITCH
