"""Oxoxo once more, slowly: squares in a dict, every rule as a loop, for comparison in tests."""

from __future__ import annotations

from dataclasses import dataclass

FILES, RANKS = "abcd", "1234"
SQUARES = [file + rank for file in FILES for rank in RANKS]
LINES = [
    *([file + rank for file in FILES] for rank in RANKS),
    *([file + rank for rank in RANKS] for file in FILES),
    ["a1", "b2", "c3", "d4"],
    ["a4", "b3", "c2", "d1"],
]
SHADE = {"O": "light", "X": "dark", "o": "dark", "x": "light"}
"""The shade of a piece by its letter in a position text: capitals are Form's."""


@dataclass
class Position:
    """The piece on each occupied square, the plies, and every position of the game so far."""

    board: dict[str, str]
    plies: int
    occurred: tuple[str, ...]

    @property
    def seat(self) -> int:
        return self.plies % 2 + 1

    def own(self, piece: str) -> bool:
        return piece.isupper() if self.seat == 1 else piece.islower()

    def moves(self) -> list[str]:
        if self.ending():
            return []
        own = [square for square, piece in self.board.items() if self.own(piece)]
        flips = ["F" + square for square in own]
        if len(own) == 8:
            return flips
        free = [square for square in SQUARES if square not in self.board]
        return flips + [sign + square for sign in "OX" for square in free]

    def play(self, word: str) -> Position:
        act, square = word[0], word[1:]
        board = dict(self.board)
        if act == "F":
            board[square] = {"O": "X", "X": "O", "o": "x", "x": "o"}[board[square]]
        else:
            board[square] = act if self.seat == 1 else act.lower()
        after = Position(board, self.plies + 1, ())
        after.occurred = (*self.occurred, after.key())
        return after

    def key(self) -> str:
        """The position with the seat to move, without the plies."""
        return " ".join(self.text().split(" ")[:2])

    def goals(self) -> list[int]:
        """The seats whose goal stands on the board."""
        full = [
            [self.board[square] for square in line]
            for line in LINES
            if all(square in self.board for square in line)
        ]
        form = any(len({piece.upper() for piece in line}) == 1 for line in full)
        colour = any(len({SHADE[piece] for piece in line}) == 1 for line in full)
        return [seat for seat, stands in ((1, form), (2, colour)) if stands]

    def ending(self) -> str | None:
        if self.goals():
            return "normal"
        if self.occurred.count(self.key()) >= 3:
            return "repetition"
        return "plylimit" if self.plies >= 200 else None

    def scores(self) -> tuple[float, float] | None:
        """The scores, None while the game goes on."""
        if not self.ending():
            return None
        goals = self.goals()
        if not goals:
            return (0.5, 0.5)
        # With both goals the seat that moved loses; it is the other's turn now.
        winner = self.seat if len(goals) == 2 else goals[0]
        return (1.0, 0.0) if winner == 1 else (0.0, 1.0)

    def text(self) -> str:
        ranks = []
        for rank in reversed(RANKS):
            row = "".join(self.board.get(file + rank, ".") for file in FILES)
            for length in range(4, 0, -1):
                row = row.replace("." * length, str(length))
            ranks.append(row)
        return "/".join(ranks) + f" {self.seat} {self.plies}"


def initial() -> Position:
    return read("4/4/4/4 1 0")


def read(text: str) -> Position:
    ranks, _, plies = text.split(" ")
    board = {}
    for rank, row in zip(reversed(RANKS), ranks.split("/"), strict=True):
        for digit in "1234":
            row = row.replace(digit, "." * int(digit))
        board |= {file + rank: what for file, what in zip(FILES, row, strict=True) if what != "."}
    position = Position(board, int(plies), ())
    position.occurred = (position.key(),)
    return position


def perft(position: Position, depth: int) -> int:
    """The number of leaves of the tree of legal moves."""
    moves = position.moves()
    if depth == 1:
        return len(moves)
    return sum(perft(position.play(word), depth - 1) for word in moves)
