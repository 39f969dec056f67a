"""Mijnlieff once more, slowly: squares in a dict, every rule as a loop, for comparison in tests."""

from __future__ import annotations

from dataclasses import dataclass, replace

TYPES = ("+", "x", "><", "<>")
SIGN = {"+": "+", "x": "x", "><": "o", "<>": "O"}

# Drawn by hand, the top rank first.
SHAPES = {
    "ell": ["11..", "11..", "11..", "11..", "1111", "1111"],
    "tee": ["111111", "111111", "..11..", "..11.."],
    "zig": ["1111..", "1111..", "..1111", "..1111"],
}


def board_of(size: str, shape: str) -> list[tuple[int, int]]:
    """The squares of a board, as file and rank counted from 1."""
    if shape == "square":
        width, height = map(int, size.split("x"))
        return [(file, rank) for rank in range(1, height + 1) for file in range(1, width + 1)]
    return [
        (file, rank)
        for rank, row in enumerate(reversed(SHAPES[shape]), start=1)
        for file, there in enumerate(row, start=1)
        if there == "1"
    ]


def name(square: tuple[int, int]) -> str:
    return "abcdefgh"[square[0] - 1] + str(square[1])


def allows(kind: str, piece: tuple[int, int], square: tuple[int, int]) -> bool:
    """Whether a piece lets the opponent play on a square."""
    across, up = abs(piece[0] - square[0]), abs(piece[1] - square[1])
    adjacent = across <= 1 and up <= 1
    return {
        "+": piece[0] == square[0] or piece[1] == square[1],
        "x": across == up,
        "><": adjacent,
        "<>": not adjacent,
    }[kind]


@dataclass
class Position:
    """Squares of the board, pieces (seat and type) on them, and what binds the next move."""

    squares: list[tuple[int, int]]
    first: str
    pieces: dict[tuple[int, int], tuple[int, str]]
    seat: int = 1
    bound: tuple[int, int] | None = None
    over: bool = False

    def hand(self, seat: int, kind: str) -> int:
        return len(self.squares) // 8 - list(self.pieces.values()).count((seat, kind))

    def holds(self, seat: int) -> bool:
        return any(self.hand(seat, kind) for kind in TYPES)

    def open(self) -> list[tuple[int, int]]:
        """Free squares that the binding piece allows."""
        free = [square for square in self.squares if square not in self.pieces]
        if not self.pieces and self.first == "edge":
            return [square for square in free if self.neighbours(square) < 8]
        if self.bound is None:
            return free
        _, kind = self.pieces[self.bound]
        return [square for square in free if allows(kind, self.bound, square)]

    def neighbours(self, square: tuple[int, int]) -> int:
        return sum(allows("><", square, other) for other in self.squares if other != square)

    def moves(self) -> dict[str, tuple[tuple[int, int], str]]:
        if self.over:
            return {}
        return {
            name(square) + kind: (square, kind)
            for square in self.open()
            for kind in TYPES
            if self.hand(self.seat, kind)
        }

    def play(self, word: str) -> Position:
        square, kind = self.moves()[word]
        pieces = self.pieces | {square: (self.seat, kind)}
        other = 3 - self.seat
        after = replace(self, pieces=pieces, seat=other, bound=square)
        if not after.holds(other):
            # The other seat had played its last piece; this was the one more.
            return replace(after, over=True)
        if after.open():
            return after
        if not after.holds(self.seat):
            # The other seat's one more, and it has no square for it.
            return replace(after, over=True)
        passed = replace(after, seat=self.seat, bound=None)
        return replace(passed, over=not passed.open())

    def scores(self) -> tuple[float, float]:
        return self.points(1), self.points(2)

    def points(self, seat: int) -> float:
        """Walks every maximal run once, from the end that has no own piece before it."""
        own = {square for square, (owner, _) in self.pieces.items() if owner == seat}
        total = 0
        for file, rank in own:
            for across, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                if (file - across, rank - up) in own:
                    continue
                length = 1
                while (file + across * length, rank + up * length) in own:
                    length += 1
                if length >= 3:
                    total += length - 2
        return float(total)

    def text(self) -> str:
        ranks = []
        for rank in range(max(rank for _, rank in self.squares), 0, -1):
            row = ""
            for file in range(1, max(file for file, _ in self.squares) + 1):
                if (file, rank) not in self.squares:
                    row += "##"
                elif (file, rank) in self.pieces:
                    seat, kind = self.pieces[file, rank]
                    row += " WB"[seat] + SIGN[kind]
                else:
                    row += ".."
            ranks.append(row)
        binding = name(self.bound) + SIGN[self.pieces[self.bound][1]] if self.bound else "-"
        hands = "/".join("".join(str(self.hand(seat, kind)) for kind in TYPES) for seat in (1, 2))
        return f"{'/'.join(ranks)} {self.seat} {binding} {hands}"


def initial(size: str = "4x4", shape: str = "square", first: str = "any") -> Position:
    return Position(board_of(size, shape), first, {})


def perft(position: Position, depth: int) -> int:
    """The number of leaves of the tree of legal moves."""
    moves = position.moves()
    if depth == 1:
        return len(moves)
    return sum(perft(position.play(word), depth - 1) for word in moves)
