"""Clobber as arrays: many boards at once, each as whoever is to move there sees it."""

from __future__ import annotations

import numpy as np

from engine.game import State
from engine.scene import Paint

Boards = tuple[np.ndarray, np.ndarray]
"""The stones of who is to move, and the other's: each of shape (boards, cells), of truth values."""


class Rules:
    """The rules on boards of one size. A cell is a square, or of the empty rim around the board."""

    def __init__(self, width: int, height: int) -> None:
        self.across = width + 2
        self.cells = self.across * (height + 2)
        self.steps = np.array([1, -1, self.across, -self.across])
        self.squares = np.array(
            [self.cell(file, rank) for rank in range(height) for file in range(width)]
        )

    def cell(self, file: int, rank: int) -> int:
        """The cell of a square, both counted from 0."""
        return (rank + 1) * self.across + file + 1

    def number(self, move: str) -> int:
        """The number of a move such as ``b2c2``: its step, and where it begins."""
        file, rank = ord(move[0]) - 97, int("".join(filter(str.isdigit, move[1:3])))
        rest = move[1 + len(str(rank)) :]
        start = self.cell(file, rank - 1)
        end = self.cell(ord(rest[0]) - 97, int(rest[1:]) - 1)
        return int(np.flatnonzero(self.steps == end - start)[0]) * self.cells + start

    def boards_of(self, state: State, count: int) -> Boards:
        """A position as so many equal boards."""
        stones = np.zeros((2, self.cells), bool)
        for piece in state.scene().pieces:
            seat = 0 if piece.paint is Paint.WHITE else 1
            for name in piece.squares:
                stones[seat, self.cell(ord(name[0]) - 97, int(name[1:]) - 1)] = True
        own = state.to_move or 0
        return np.tile(stones[own], (count, 1)), np.tile(stones[1 - own], (count, 1))

    def planes(self, boards: Boards) -> np.ndarray:
        """Boards as a network takes them: the own stones of each square, then the other's."""
        return np.concatenate([one[:, self.squares] for one in boards], axis=1, dtype=np.float32)

    def legal(self, boards: Boards) -> np.ndarray:
        """Which moves there are, by their numbers: of shape (boards, moves)."""
        own, other = boards
        return np.concatenate(
            [own & np.roll(other, -step, axis=1) for step in self.steps.tolist()], axis=1
        )

    def play(self, boards: Boards, moves: np.ndarray) -> Boards:
        """The boards after a move on each, as who is next to move sees them."""
        own, other = boards[0].copy(), boards[1].copy()
        start = moves % self.cells
        end = start + self.steps[moves // self.cells]
        each = np.arange(len(moves))
        own[each, start] = False
        own[each, end] = True
        other[each, end] = False
        return other, own

    def playouts(self, boards: Boards, rng: np.random.Generator) -> np.ndarray:
        """Plays each board to its end at random: whether who is to move there wins."""
        won = np.zeros(len(boards[0]), bool)
        left = np.arange(len(won))
        mine = True
        while len(left):
            legal = self.legal(boards)
            counts = legal.sum(axis=1)
            over = counts == 0
            # Who can't move has lost.
            won[left[over]] = not mine
            left, legal, counts = left[~over], legal[~over], counts[~over]
            chosen = (rng.random(len(left)) * counts).astype(np.int64)
            moves = (legal.cumsum(axis=1, dtype=np.int16) > chosen[:, None]).argmax(axis=1)
            boards = self.play((boards[0][~over], boards[1][~over]), moves)
            mine = not mine
        return won
