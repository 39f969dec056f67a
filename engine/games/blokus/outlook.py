"""What a position of Blokus promises, by plain facts: for searches that can't see the end.

A colour has the squares that it covers, and the room that its next piece may take: the squares
within a piece's length of those that touch it corner to corner. They count for more while the
colour is yet to play in this round, so that positions with different seats to move can be
compared. The weights are no rule: with them the sample bots that search beat those that don't.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.games.blokus.board import LARGEST
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
    edges = position.board.edges
    room, reach = position.room(colour, start)
    for _ in range(LARGEST - 1):
        reach |= edges(reach) & room
    return covered + (REACHED + TO_PLAY * to_play) * reach.bit_count()


def hopes(squares: Sequence[float | None], sides: Sequence[int]) -> tuple[float, ...]:
    """For each seat how far its side is ahead of the others, as a hope from 0 to 1.

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
    shares = {
        side: min(1.0, max(0.0, 0.5 + (mean - (total - mean) / rivals) / (2 * EVERYTHING)))
        for side, mean in means.items()
    }
    return tuple(
        0.0 if hoped_for is None else shares[side]
        for side, hoped_for in zip(sides, squares, strict=True)
    )
