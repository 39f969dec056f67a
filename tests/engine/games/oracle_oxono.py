"""Oxono once more, slowly: squares in a dict, every rule as a loop, for comparison in tests."""

from __future__ import annotations

from dataclasses import dataclass

SQUARES = [file + rank for file in "abcdef" for rank in "123456"]
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1))
SYMBOL_OF = {"X": "X", "x": "X", "O": "O", "o": "O"}
TOTEM = {"X": "*", "O": "@"}


def step(square: str, direction: tuple[int, int]) -> str | None:
    """The next square in a direction, None past the rim."""
    name = chr(ord(square[0]) + direction[0]) + chr(ord(square[1]) + direction[1])
    return name if name in SQUARES else None


@dataclass
class Position:
    """What stands on each occupied square, as in a position text, and the seat to move (1, 2)."""

    board: dict[str, str]
    seat: int
    winner: int | None = None

    def moves(self) -> dict[str, tuple[str, str, str]]:
        """Every legal move: its word, and totem, square of the totem, square of the piece."""
        if self.winner:
            return {}
        found = {}
        for symbol, totem in TOTEM.items():
            if self.in_hand(symbol) == 0:
                continue
            for to in self.landings(totem):
                after = {square: what for square, what in self.board.items() if what != totem}
                after[to] = totem
                free = [square for square in SQUARES if square not in after]
                beside = [square for square in free if square in neighbours(to)]
                for put in beside or free:
                    found[symbol + to + put] = (totem, to, put)
        return found

    def in_hand(self, symbol: str) -> int:
        piece = symbol if self.seat == 1 else symbol.lower()
        return 8 - list(self.board.values()).count(piece)

    def landings(self, totem: str) -> list[str]:
        (start,) = [square for square, what in self.board.items() if what == totem]
        if any(square not in self.board for square in neighbours(start)):
            slides = []
            for direction in DIRECTIONS:
                square = step(start, direction)
                while square and square not in self.board:
                    slides.append(square)
                    square = step(square, direction)
            return slides
        jumps = []
        for direction in DIRECTIONS:
            square = step(start, direction)
            while square and square in self.board:
                square = step(square, direction)
            if square:
                jumps.append(square)
        return jumps or [square for square in SQUARES if square not in self.board]

    def play(self, word: str) -> Position:
        totem, to, put = self.moves()[word]
        board = {square: what for square, what in self.board.items() if what != totem}
        board[to] = totem
        board[put] = word[0] if self.seat == 1 else word[0].lower()
        after = Position(board, 3 - self.seat)
        own = str.isupper if self.seat == 1 else str.islower
        if after.row_through(put, lambda piece: own(piece)) or after.row_through(
            put, lambda piece: SYMBOL_OF.get(piece) == word[0]
        ):
            after.winner = self.seat
        return after

    def row_through(self, put: str, counts) -> bool:
        for axis in (((1, 0), (-1, 0)), ((0, 1), (0, -1))):
            length = 1
            for direction in axis:
                square = step(put, direction)
                while square and counts(self.board.get(square, " ")):
                    length += 1
                    square = step(square, direction)
            if length >= 4:
                return True
        return False

    def scores(self) -> tuple[float, float] | None:
        """The scores, None while the game goes on."""
        if self.winner:
            return (1.0, 0.0) if self.winner == 1 else (0.0, 1.0)
        return None if self.moves() else (0.5, 0.5)

    def text(self) -> str:
        ranks = []
        for rank in "654321":
            row = "".join(self.board.get(file + rank, ".") for file in "abcdef")
            for length in range(6, 0, -1):
                row = row.replace("." * length, str(length))
            ranks.append(row)
        return "/".join(ranks) + f" {self.seat}"


def neighbours(square: str) -> list[str]:
    return [name for direction in DIRECTIONS if (name := step(square, direction))]


def initial(totems: str) -> Position:
    """The set-up with the X totem on c4 (``xc4``) or d3 (``xd3``)."""
    return Position({"c4": "*", "d3": "@"} if totems == "xc4" else {"c4": "@", "d3": "*"}, 1)


def read(text: str) -> Position:
    """A position from its text, in which nobody has won."""
    ranks, seat = text.split(" ")
    board = {}
    for rank, row in zip("654321", ranks.split("/"), strict=True):
        for digit in "123456":
            row = row.replace(digit, "." * int(digit))
        board |= {
            file + rank: what for file, what in zip("abcdef", row, strict=True) if what != "."
        }
    return Position(board, int(seat))


def perft(position: Position, depth: int) -> int:
    """The number of leaves of the tree of legal moves."""
    moves = position.moves()
    if depth == 1:
        return len(moves)
    return sum(perft(position.play(word), depth - 1) for word in moves)
