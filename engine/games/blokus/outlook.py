"""What a position of Blokus promises, by plain facts: for searches that can't see the end.

A colour has the squares that it covers, and the room that its next piece may take: the squares
within a piece's length of those that touch it corner to corner. They count for more while the
colour is yet to play in this round, so that positions with different seats to move can be
compared. The weights are no rule: with them the sample bots that search beat those that don't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.games.blokus.board import LARGEST, Board
from engine.games.blokus.polyominoes import ALL, squares_in
from engine.games.blokus.position import Position

REACHED, TO_PLAY = 0.5, 0.2
"""What a square that can be reached is worth beside one that is covered, and a turn for each."""
EVERYTHING = squares_in(ALL)


def squares_hoped_for(position: Position, colour: int, start: int, *, to_play: bool) -> float:
    """The squares that a colour covers, and a part of those that its next piece could reach.

    Args:
        start: where its first piece must lie.
        to_play: whether it is yet to play in this round.
    """
    covered = position.covered[colour].bit_count()
    reach = reach_in(position.board, *position.room(colour, start))
    return covered + worth_of_reach(to_play=to_play) * reach.bit_count()


def worth_of_reach(*, to_play: bool) -> float:
    """What a square is worth that a colour can reach, which may be yet to play in this round."""
    return REACHED + TO_PLAY * to_play


def reach_in(board: Board, room: int, seeds: int) -> int:
    """The squares of ``room`` within a piece's length of ``seeds``; so too in rows of boards."""
    reach = seeds
    for _ in range(LARGEST - 1):
        reach |= board.edges(reach) & room
    return reach


def hopes_after(
    placements: Sequence[int],
    mover: int,
    position: Position,
    starts: Sequence[int],
    shares: Mapping[int, float],
    weights: Sequence[float],
) -> list[float]:
    """What a side may hope for after each of some placements of the colour to move.

    All are looked at together, on boards in a row; for what another colour can reach only those
    that take of it.

    Args:
        starts: where the first piece of each colour must lie.
        shares: how much a square of each colour counts for its lead, below 0 for its rivals'.
        weights: for each colour what a square that it can reach is worth.
    """
    board = position.board
    lead = 0.0
    gains = [shares.get(mover, 0.0) * size for size in map(int.bit_count, placements)]
    for colour, share in shares.items():
        lead += share * position.covered[colour].bit_count()
        weight = share * weights[colour]
        if not weight:
            continue
        room, seeds = position.room(colour, starts[colour])
        reach = reach_in(board, room, seeds)
        before = reach.bit_count()
        lead += weight * before
        if colour == mover:
            touching: Sequence[int] = range(len(placements))
            row = board.row(placements)
            taken, begun = row | board.edges(row), board.diagonals(row)
            seeds = seeds if position.covered[colour] else 0
        else:
            touching = [number for number, mask in enumerate(placements) if mask & reach]
            taken, begun = board.row([placements[number] for number in touching]), 0
        rooms = board.copies(room, len(touching)) & ~taken
        seeds_left = (board.copies(seeds, len(touching)) | begun) & rooms
        after = board.counts(reach_in(board, rooms, seeds_left), len(touching))
        for number, count in zip(touching, after, strict=True):
            gains[number] += weight * (count - before)
    return [hope(lead + gain) for gain in gains]


def hopes(squares: Sequence[float | None], sides: Sequence[int]) -> tuple[float, ...]:
    """How far each seat's side is ahead of the others, as a hope from 0 to 1.

    Args:
        squares: what each seat hopes to cover, in the mean of its colours; None if it left.
        sides: the side of each seat.
    """
    of_side: dict[int, list[float]] = {side: [] for side in sides}
    for side, hoped_for in zip(sides, squares, strict=True):
        if hoped_for is not None:
            of_side[side].append(hoped_for)
    means = {side: sum(found) / len(found) for side, found in of_side.items() if found}
    total, rivals = sum(means.values()), max(1, len(means) - 1)
    shares = {side: hope(mean - (total - mean) / rivals) for side, mean in means.items()}
    return tuple(
        0.0 if hoped_for is None else shares[side]
        for side, hoped_for in zip(sides, squares, strict=True)
    )


def hope(lead: float) -> float:
    """A lead in squares as a hope from 0 to 1."""
    return min(1.0, max(0.0, 0.5 + lead / (2 * EVERYTHING)))
