"""Plays the move that looks best at once; it has no rules, only the words of the moves.

The referee lists the legal moves (`want=legal`) and tells the whole game so far. For each game
it knows, a `Judge` sets up the board, follows the moves, and puts a value on every legal one;
the best is played, and dice decide among equals. In a game it does not know it plays at random.

The weights of a value are options (see docs/protocol.md), called by their game: `clobber.threats`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import count, product
from random import Random
from typing import ClassVar, NamedTuple

Square = tuple[int, int]
"""File and rank, both counted from 1."""

STRAIGHT = ((1, 0), (0, 1))
LINES = (*STRAIGHT, (1, 1), (1, -1))
WIN = 1000.0


def squares_in(text: str) -> list[Square]:
    """The squares that a text names, in its order."""
    return [(ord(file) - 96, int(rank)) for file, rank in re.findall(r"([a-z])(\d+)", text)]


def board_of(size: str) -> list[Square]:
    """Every square of a board `WxH`."""
    width, height = map(int, size.split("x"))
    return list(product(range(1, width + 1), range(1, height + 1)))


def near(square: Square) -> list[Square]:
    """The squares beside a square, on the board or not."""
    x, y = square
    return [(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)]


def rows_of_four(squares: Iterable[Square], steps: Iterable[Square]) -> list[list[Square]]:
    """Every four squares of a board that lie in a row along one of the steps."""
    board = set(squares)
    rows = [[(x + i * dx, y + i * dy) for i in range(4)] for x, y in board for dx, dy in steps]
    return [row for row in rows if board.issuperset(row)]


class Weight(NamedTuple):
    """How much something counts: by default, and between which values."""

    default: float
    least: float
    most: float


class Judge:
    """Judges moves in a game that it does not know: all are alike."""

    WEIGHTS: ClassVar[Mapping[str, Weight]] = {}

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        """Sets up the board of a game.

        Args:
            keys: those of `newgame`.
            chosen: weights that are not as by default.
        """
        self.me = int(keys["you"])
        self.weights = {name: weight.default for name, weight in self.WEIGHTS.items()} | chosen

    def follow(self, seat: int, move: str) -> None:
        """Takes in a move that was played."""

    def rough(self, move: str) -> float:
        """A value that is quickly found; only the moves that it likes best are judged closely."""
        return 0.0

    def value(self, move: str) -> float:
        """How good a move is: higher is better."""
        return 0.0


def mobility(moves: float, threats: float, targets: float) -> Mapping[str, Weight]:
    """What counts beside each stone of its own that can move.

    Moves of its own, moves of the other seat, and that seat's stones that can move. Moves of
    either side count a little against a position: stones that keep to the edge of the fight last
    longer.
    """
    return {
        "moves": Weight(moves, -1, 1),
        "threats": Weight(threats, -1, 1),
        "targets": Weight(targets, -1, 1),
    }


class Clobber(Judge):
    """Likes stones of its own that can move; plays the last moves out in its mind."""

    # Tuned (docs/samples.md).
    WEIGHTS = mobility(moves=-0.2906505, threats=-0.2558818, targets=0.282932)
    MARKS = False
    LAST = 12
    """Stones that can still meet, from which the game is played out."""

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        board = board_of(keys["size"])
        self.mine = {square for square in board if sum(square) % 2 == self.me % 2}
        self.theirs = set(board) - self.mine
        self.marked: set[Square] = set()

    def follow(self, seat: int, move: str) -> None:
        squares = squares_in(move)
        own, other = (self.mine, self.theirs) if seat == self.me else (self.theirs, self.mine)
        own ^= set(squares[:2])
        other ^= {squares[1]}
        self.marked = marked_after(self.marked, own, squares)

    @cached_property
    def is_short(self) -> bool:
        """Whether few enough stones can still meet."""
        mine, theirs = self.mine - self.marked, self.theirs - self.marked
        meeting = {stone for stone in mine if near_by(stone, theirs)}
        return len(connected(meeting, mine | theirs)) <= self.LAST

    def value(self, move: str) -> float:
        squares = squares_in(move)
        start, end = squares[:2]
        mine, theirs = self.mine ^ {start, end}, self.theirs ^ {end}
        marked = marked_after(self.marked, mine, squares)
        if self.is_short:
            lost = mover_wins(*map(frozenset, (theirs, mine, marked)), marks=self.MARKS)
            return -WIN if lost else WIN
        changed = {start, end} | (self.marked ^ marked)
        before = self.freedom(self.mine - self.marked, self.theirs - self.marked, changed)
        return self.freedom(mine - marked, theirs - marked, changed) - before

    def freedom(
        self, mine: Collection[Square], theirs: Collection[Square], changed: set[Square]
    ) -> float:
        """What the stones are worth that can move, on some squares and beside them."""
        spots = changed.union(*(near(square) for square in changed))
        moves = [len(near_by(spot, theirs)) for spot in spots if spot in mine]
        threats = [len(near_by(spot, mine)) for spot in spots if spot in theirs]
        weights = self.weights
        return (
            sum(map(bool, moves))
            + weights["targets"] * sum(map(bool, threats))
            + weights["moves"] * sum(moves)
            + weights["threats"] * sum(threats)
        )


class Blocco(Clobber):
    """Judges as for Clobber, with the marked stones out of play."""

    # Tuned (docs/samples.md).
    WEIGHTS = mobility(moves=-0.3600983, threats=-0.2943133, targets=0.2203115)
    MARKS = True
    LAST = 6

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        self.steps: dict[str, float] = {}

    def rough(self, move: str) -> float:
        """The value of the step alone: only of the best steps every mark is tried."""
        step = move.partition("@")[0]
        if step not in self.steps:
            self.steps[step] = 0.0 if self.is_short else self.value(step)
        return self.steps[step]


def connected(start: set[Square], within: Collection[Square]) -> set[Square]:
    """All that can be reached from some squares by steps within a set."""
    found: set[Square] = set()
    rim = start
    while rim:
        found |= rim
        rim = {beside for square in rim for beside in near_by(square, within)} - found
    return found


def near_by(square: Square, within: Collection[Square]) -> list[Square]:
    """The neighbours of a square that belong to a set."""
    return [beside for beside in near(square) if beside in within]


def marked_after(
    marked: set[Square], own: Collection[Square], squares: Sequence[Square]
) -> set[Square]:
    """The markers after a move. If it names a third square, its group has its only marker there."""
    if len(squares) < 3:
        return marked
    return marked - connected({squares[1]}, own) | {squares[2]}


Stones = frozenset[Square]


@cache
def mover_wins(own: Stones, other: Stones, marked: Stones, *, marks: bool) -> bool:
    """Whether the colour to move makes the last move of a game of Clobber, or of Blocco."""
    for start in own - marked:
        for end in near_by(start, other - marked):
            mine = own ^ {start, end}
            group = connected({end}, mine) if marks else ()
            choices = [marked - group | {stone} for stone in group] if len(group) > 1 else [marked]
            if not all(mover_wins(other - {end}, mine, after, marks=marks) for after in choices):
                return True
    return False


class Blokus(Judge):
    """Places large pieces first, towards the centre."""

    def rough(self, move: str) -> float:
        return move.count(",")

    def value(self, move: str) -> float:
        return -sum(abs(2 * x - 21) + abs(2 * y - 21) for x, y in squares_in(move))


class Puzzle(Judge):
    """Fills a rectangle from its first file on, closely; covers the large board as in Blokus."""

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        self.full = keys["task"] == "full"
        self.covered: set[Square] = set()

    def follow(self, seat: int, move: str) -> None:
        self.covered.update(squares_in(move.partition(":")[2]))

    def rough(self, move: str) -> float:
        if move == "stop":
            return float("-inf")
        if self.full:
            return move.count(",")
        first = move[move.index(":") + 1 :].partition(",")[0]
        return -(32 * ord(first[0]) + int(first[1:]))

    def value(self, move: str) -> float:
        squares = squares_in(move.partition(":")[2])
        return -sum(beside not in self.covered for square in squares for beside in near(square))


class Oxono(Judge):
    """Completes four in a row, leaves no three for the other seat to complete."""

    # Tuned (docs/samples.md).
    WEIGHTS: ClassVar = {
        "danger": Weight(7.882819, 0, 30),
        "twos": Weight(2.714414, 0, 10),
        "threes": Weight(6.70495, 0, 10),
        "block": Weight(1.41855, -5, 5),
    }
    """A three that the other seat may complete; two and three of its own pieces in a row without
    others; and a piece of the other seat in such a row of that seat.
    """
    ROWS = rows_of_four(board_of("6x6"), STRAIGHT)

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        self.pieces: dict[Square, tuple[int, str]] = {}

    def follow(self, seat: int, move: str) -> None:
        self.pieces[squares_in(move)[1]] = (seat, move[0])

    def value(self, move: str) -> float:
        pieces = self.pieces | {squares_in(move)[1]: (self.me, move[0])}
        weights = self.weights
        open_rows = (0.0, 1.0, weights["twos"], weights["threes"], 0.0)
        total = 0.0
        for row in self.ROWS:
            held = [pieces[square] for square in row if square in pieces]
            owners, symbols = {owner for owner, _ in held}, {symbol for _, symbol in held}
            alike = len(symbols) == 1
            if len(held) == 4 and (alike or len(owners) == 1):
                total += WIN
            elif len(held) == 3 and (alike or owners == {3 - self.me}):
                total -= weights["danger"]
            elif owners == {self.me}:
                total += open_rows[len(held)]
            elif owners == {3 - self.me}:
                total -= weights["block"] * len(held)
        return total


class Oxoxo(Judge):
    """Reaches its goal if it can, and leaves the other seat's out of reach."""

    ROWS = rows_of_four(board_of("4x4"), LINES)

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        self.pieces: dict[Square, tuple[int, str]] = {}

    def follow(self, seat: int, move: str) -> None:
        self.pieces = self.after(seat, move)

    def after(self, seat: int, move: str) -> dict[Square, tuple[int, str]]:
        """The pieces after a move, each with its owner and its symbol."""
        (square,) = squares_in(move)
        symbol = move[0]
        if symbol == "F":
            symbol = "X" if self.pieces[square][1] == "O" else "O"
        return self.pieces | {square: (seat, symbol)}

    def value(self, move: str) -> float:
        pieces = self.after(self.me, move)
        total = 0.0
        for row in self.ROWS:
            for goal, weight in ((self.me, 1), (3 - self.me, -10)):
                total += weight * self.nearness(goal, [pieces.get(square) for square in row])
        return total

    @staticmethod
    def nearness(goal: int, row: Sequence[tuple[int, str] | None]) -> float:
        """How near a seat is to its goal in a row: there, one move away, or further."""
        # Form looks for symbols. Colour looks for shades: its O and Form's X are both dark.
        looks = [piece and (piece[1] == "O") ^ (goal == 2 and piece[0] == 2) for piece in row]
        for look in (True, False):
            others = [piece for piece, seen in zip(row, looks, strict=True) if seen is not look]
            if not others:
                return WIN
            if len(others) == 1 and (others[0] is None or others[0][0] == goal):
                return 1
        return 0


TILES = {"ell": "a1 a3 a5 c1", "tee": "a3 c3 e3 c1", "zig": "a3 c3 c1 e1"}
"""The lower left squares of the tiles of 2x2 that make each shape of Mijnlieff."""


class Mijnlieff(Judge):
    """Takes points and room for more of them, and leaves the other seat little of either."""

    WEIGHTS: ClassVar = {
        "answer": Weight(1, 0, 3),
        "deny": Weight(0.3, -0.5, 1.5),
        "promise": Weight(0.1, 0, 0.5),
        "room": Weight(0.01, -0.1, 0.2),
    }
    """The best that the other seat can answer, what the square was worth to it, threes that can
    still be made, and each square where it may answer.
    """

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        tiles = squares_in(TILES.get(keys["shape"], ""))
        self.free = {(x + dx, y + dy) for x, y in tiles for dx in (0, 1) for dy in (0, 1)}
        self.free = self.free or set(board_of(keys["size"]))
        self.pieces: dict[int, set[Square]] = {1: set(), 2: set()}

    def follow(self, seat: int, move: str) -> None:
        (square,) = squares_in(move)
        self.pieces[seat].add(square)
        self.free.discard(square)

    def value(self, move: str) -> float:
        (square,) = squares_in(move)
        allowed = [free for free in self.free if free != square and self.binds(move, square, free)]
        mine, theirs = self.worth[self.me], self.worth[3 - self.me]
        answers = (theirs[free] for free in allowed)
        weights = self.weights
        taken = mine[square] + weights["deny"] * theirs[square]
        answer = weights["answer"] * max(answers, default=-1.0)
        return taken - answer - weights["room"] * len(allowed)

    @cached_property
    def worth(self) -> Mapping[int, Mapping[Square, float]]:
        """What a piece on each free square is worth to each seat."""
        promise = self.weights["promise"]
        return {
            seat: {
                free: self.gain(seat, free) + promise * self.promise(seat, free)
                for free in self.free
            }
            for seat in self.pieces
        }

    @staticmethod
    def binds(move: str, square: Square, free: Square) -> bool:
        """Whether a piece lets the other seat play on a free square."""
        dx, dy = abs(free[0] - square[0]), abs(free[1] - square[1])
        kind = move.lstrip("abcdefgh12345678")
        if kind == "+":
            return dx == 0 or dy == 0
        if kind == "x":
            return dx == dy
        return (max(dx, dy) == 1) == (kind == "><")

    def gain(self, seat: int, square: Square) -> float:
        """The points that a seat wins with a piece on a square."""
        points = 0
        for dx, dy in LINES:
            forth, back = self.run(seat, square, dx, dy), self.run(seat, square, -dx, -dy)
            points += max(0, forth + back - 1) - max(0, forth - 2) - max(0, back - 2)
        return points

    def promise(self, seat: int, square: Square) -> int:
        """The threes that can still be made there, each with twice the pieces it has so far."""
        x, y = square
        mine, found = self.pieces[seat], 0
        for (dx, dy), start in product(LINES, (-2, -1, 0)):
            three = [(x + dx * step, y + dy * step) for step in range(start, start + 3)]
            own = sum(place in mine for place in three)
            if own + sum(place in self.free for place in three) == 3:
                found += 1 + 2 * own
        return found

    def run(self, seat: int, square: Square, dx: int, dy: int) -> int:
        """How many pieces of a seat stand in a row behind a square, in one direction."""
        x, y = square
        return next(
            n for n in count() if (x + dx * n + dx, y + dy * n + dy) not in self.pieces[seat]
        )


class Siege(Judge):
    """Attackers make for the gates and go in; the defender takes what it can, and follows them."""

    GATES = tuple(squares_in("c8 c9 j8 j9"))
    HALL = frozenset(squares_in("d9 f9 g9 i9 d8 f8 g8 i8"))
    START = "b1 l1 d1 j1 f1 h1 a2 c2 e2 g2 i2 k2 b3 d3 f3 h3 j3 l3"

    def __init__(self, keys: Mapping[str, str], chosen: Mapping[str, float]) -> None:
        super().__init__(keys, chosen)
        white = squares_in(self.START)
        self.attackers = {*white, *((x, 17 - y) for x, y in white)}

    def follow(self, seat: int, move: str) -> None:
        if move.startswith("="):
            return
        start, end = squares_in(move)
        if seat == 1:
            self.attackers.discard(end)
        else:
            self.attackers ^= {start, end}

    def value(self, move: str) -> float:
        if move.startswith("="):
            return 0.0
        start, end = squares_in(move)
        if self.me == 1:
            taken = WIN if end in self.attackers else 0.0
            return taken - min((distance(end, square) for square in self.attackers), default=0)
        return self.way(start) - self.way(end) - move.count("!")

    def way(self, square: Square) -> float:
        """How far an attacker has still to go."""
        if square in self.HALL:
            return -abs(square[0] - 6.5) - 10
        return min(distance(square, gate) for gate in self.GATES)


def distance(one: Square, other: Square) -> int:
    """Steps between two squares, diagonal ones allowed."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))


JUDGES: Mapping[str, type[Judge]] = {
    "clobber": Clobber,
    "blocco": Blocco,
    "blokus": Blokus,
    "puzzle": Puzzle,
    "oxono": Oxono,
    "oxoxo": Oxoxo,
    "mijnlieff": Mijnlieff,
    "siege": Siege,
}


def options() -> Iterator[str]:
    """The lines that declare the weights."""
    for game, judge in JUDGES.items():
        for name, (default, least, most) in judge.WEIGHTS.items():
            yield f"# option {game}.{name} float {least} {most} {default}"


def choose(judge: Judge, legal: Sequence[str], dice: Random) -> str:
    """The best legal move; dice decide among equals."""
    rough = [judge.rough(move) for move in legal]
    best = max(rough)
    likely = [move for move, mark in zip(legal, rough, strict=True) if mark == best]
    values = [judge.value(move) for move in likely]
    best = max(values)
    equals = [move for move, value in zip(likely, values, strict=True) if value == best]
    return equals[int(dice.random() * len(equals))]


def main() -> None:
    """Answers the referee until it says quit."""
    game = ""
    keys: dict[str, str] = {}
    legal: list[str] = []
    dice = Random()
    chosen: dict[str, dict[str, float]] = {name: {} for name in JUDGES}
    for line in sys.stdin:
        verb, *words = line.split() or [""]
        if verb == "hello":
            print(*options(), "ready greedy want=legal", sep="\n", flush=True)
        elif verb == "set":
            its, _, name = words[0].partition(".")
            chosen[its][name] = float(words[1])
        elif verb == "newgame":
            game, *rest = words
            keys = dict(word.split("=", 1) for word in rest if "=" in word)
            dice = Random(int(keys.get("seed", 0)))
            mover_wins.cache_clear()
            print("ok", flush=True)
        elif verb == "legal":
            legal = words
        elif verb == "go":
            judge = JUDGES.get(game, Judge)(keys, chosen.get(game, {}))
            for word in words[words.index("moves") + 1 :]:
                seat, _, move = word.partition(":")
                judge.follow(int(seat), move)
            print(f"# depth 1\nmove {choose(judge, legal, dice)}", flush=True)
        elif verb == "quit":
            return


if __name__ == "__main__":
    main()
