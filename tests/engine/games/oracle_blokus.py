"""Blokus and its puzzles a second time: slow, from the rules alone, with sets of squares.

A square is (file, rank), both counted from 1. Nothing here comes from the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

Square = tuple[int, int]
Area = frozenset[Square]

FILES = "abcdefghijklmnopqrstuvwxyz"
ORDER = ("blue", "yellow", "red", "green")

# One drawing of each piece, in the order of the position text.
DRAWN = {
    "1": ["#"],
    "2": ["##"],
    "I3": ["###"],
    "V3": ["#.", "##"],
    "I4": ["####"],
    "L4": ["#.", "#.", "##"],
    "O4": ["##", "##"],
    "T4": [".#.", "###"],
    "Z4": ["##.", ".##"],
    "F": [".##", "##.", ".#."],
    "I5": ["#####"],
    "L5": ["#.", "#.", "#.", "##"],
    "N": [".#", ".#", "##", "#."],
    "P": ["##", "##", "#."],
    "T5": ["###", ".#.", ".#."],
    "U": ["#.#", "###"],
    "V5": ["#..", "#..", "###"],
    "W": ["#..", "##.", ".##"],
    "X": [".#.", "###", ".#."],
    "Y": [".#", "##", ".#", ".#"],
    "Z5": ["##.", ".#.", ".##"],
}
SIZE = {name: "".join(rows).count("#") for name, rows in DRAWN.items()}


def to_the_corner(cells: set[Square]) -> Area:
    """The same form with its lowest file and its lowest rank at 1."""
    file, rank = min(x for x, _ in cells), min(y for _, y in cells)
    return frozenset((x - file + 1, y - rank + 1) for x, y in cells)


@cache
def orientations(name: str) -> frozenset[Area]:
    """The piece turned and mirrored in every way."""
    cells = {
        (x, y) for y, row in enumerate(DRAWN[name]) for x, mark in enumerate(row) if mark == "#"
    }
    found = set()
    for turned in (cells, {(y, x) for x, y in cells}):
        for across in (1, -1):
            for up in (1, -1):
                found.add(to_the_corner({(across * x, up * y) for x, y in turned}))
    return frozenset(found)


@cache
def all_placements(width: int, height: int) -> dict[Area, str]:
    """The squares of every piece everywhere on the board, with its name."""
    return {
        frozenset((x + dx, y + dy) for x, y in form): name
        for name in DRAWN
        for form in orientations(name)
        for dx in range(width)
        for dy in range(height)
        if all(x + dx <= width and y + dy <= height for x, y in form)
    }


def beside(area: Area) -> set[Square]:
    """The squares that share an edge with one of the area's."""
    return {(x + dx, y + dy) for x, y in area for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}


def cornerwise(area: Area) -> set[Square]:
    """The squares that share a corner and no edge with one of the area's."""
    return {(x + dx, y + dy) for x, y in area for dx in (1, -1) for dy in (1, -1)}


@cache
def notation(colour: str, area: Area) -> str:
    """The squares in order of file, then rank, after the colour's name."""
    return f"{colour}:{','.join(FILES[x - 1] + str(y) for x, y in sorted(area))}"


def area_of(move: str) -> Area:
    """The squares of a move's notation."""
    squares = move.partition(":")[2].split(",")
    return frozenset((FILES.index(square[0]) + 1, int(square[1:])) for square in squares)


class Table:
    """A board, and what each colour placed on it, in order."""

    def __init__(self, width: int, height: int, pieces: list[str]) -> None:
        self.width, self.height, self.pieces = width, height, pieces
        self.placed: dict[str, list[tuple[str, Area]]] = {colour: [] for colour in ORDER}

    def covered(self, *colours: str) -> Area:
        return frozenset().union(*(area for colour in colours for _, area in self.placed[colour]))

    def left(self, colour: str) -> list[str]:
        gone = [name for name, _ in self.placed[colour]]
        return [name for name in self.pieces if name not in gone]

    def fitting(self, names: list[str], forbidden: set[Square]) -> Iterator[Area]:
        return (
            area
            for area, name in all_placements(self.width, self.height).items()
            if name in names and area.isdisjoint(forbidden)
        )

    def by_blokus_rules(
        self, colour: str, names: list[str], corners: set[Square]
    ) -> Iterator[Area]:
        """First in a corner, then corner to corner, never edge to edge, with its own colour."""
        own = self.covered(colour)
        forbidden = self.covered(*ORDER) | beside(own)
        wanted = cornerwise(own) if own else corners
        return (area for area in self.fitting(names, forbidden) if not area.isdisjoint(wanted))

    def put(self, colour: str, move: str) -> None:
        """Places the piece of a move's notation."""
        area = area_of(move)
        self.placed[colour].append((all_placements(self.width, self.height)[area], area))

    def text(self, turn: str, seats: str) -> str:
        owner = {square: colour[0].upper() for colour in ORDER for square in self.covered(colour)}
        ranks = []
        for y in range(self.height, 0, -1):
            rank, run = "", 0
            for x in range(1, self.width + 1):
                if (x, y) in owner:
                    rank, run = rank + (str(run) if run else "") + owner[x, y], 0
                else:
                    run += 1
            ranks.append(rank + (str(run) if run else ""))
        lefts = [",".join(self.left(colour)) or "-" for colour in ORDER]
        lasts = [self.placed[colour][-1][0] if self.placed[colour] else "-" for colour in ORDER]
        return f"{'/'.join(ranks)} {turn} {'/'.join(lefts)} {'/'.join(lasts)} {seats}"


class BlokusOracle:
    """A game of Blokus in progress."""

    def __init__(self, mode: str = "classic", corners: str = "free") -> None:
        self.mode = mode
        self.table = Table(20, 20, list(DRAWN))
        four = {"blue": (1, 20), "yellow": (20, 20), "red": (20, 1), "green": (1, 1)}
        self.corners = {
            colour: {four[colour]} if corners == "fixed" else set(four.values()) for colour in ORDER
        }
        self.seats = {"classic": 4, "teams": 4, "duel": 2, "trio": 3}[mode]
        self.gone: list[int] = []
        self.colour: str | None = "blue"

    def owner(self, colour: str) -> int | None:
        """The seat (from 1) whose own colour this is; nobody's for the shared one."""
        if self.mode == "duel":
            return {"blue": 1, "red": 1, "yellow": 2, "green": 2}[colour]
        if self.mode == "trio":
            return {"blue": 1, "yellow": 2, "red": 3, "green": None}[colour]
        return ORDER.index(colour) + 1

    def placements(self, colour: str) -> Iterator[Area]:
        if self.owner(colour) in self.gone:
            return iter(())
        table = self.table
        return table.by_blokus_rules(colour, table.left(colour), self.corners[colour])

    def is_out(self, colour: str) -> bool:
        return not any(self.placements(colour))

    def legal_moves(self) -> list[str]:
        if self.colour is None:
            return []
        return sorted(notation(self.colour, area) for area in self.placements(self.colour))

    def to_move(self) -> int | None:
        if self.colour is None:
            return None
        seat = self.owner(self.colour)
        if seat is None:
            seat = len(self.table.placed["green"]) % 3 + 1
            while seat in self.gone:
                seat = seat % 3 + 1
        return seat

    def pass_turn(self, colour: str) -> None:
        """Gives the turn to ``colour``, or to the next after it that is not out."""
        start = ORDER.index(colour)
        self.colour = None
        if len(self.gone) < self.seats - 1:
            turns = [ORDER[(start + later) % 4] for later in range(4)]
            self.colour = next((turn for turn in turns if not self.is_out(turn)), None)

    def play(self, move: str) -> None:
        assert self.colour is not None
        self.table.put(self.colour, move)
        self.pass_turn(ORDER[(ORDER.index(self.colour) + 1) % 4])

    def retire(self, seat: int) -> None:
        """A seat of `classic` or `trio` leaves by its fault."""
        if self.colour is not None and seat not in self.gone:
            self.gone.append(seat)
            self.pass_turn(self.colour)

    def colour_score(self, colour: str) -> int:
        left = self.table.left(colour)
        if left:
            return -sum(SIZE[name] for name in left)
        return 20 if self.table.placed[colour][-1][0] == "1" else 15

    def scores(self) -> list[int]:
        return [
            sum(self.colour_score(colour) for colour in ORDER if self.owner(colour) == seat)
            for seat in range(1, self.seats + 1)
        ]

    def ranks(self) -> list[int]:
        scores = self.scores()
        if self.mode == "teams":
            scores = [scores[0] + scores[2], scores[1] + scores[3]] * 2
        ranks = [0] * self.seats
        stayed = [seat for seat in range(self.seats) if seat + 1 not in self.gone]
        for seat in stayed:
            ranks[seat] = 1 + sum(scores[other] > scores[seat] for other in stayed)
        if self.mode == "teams":
            # Partners share the rank of their team, and there are two teams.
            return [min(rank, 2) for rank in ranks]
        for place, seat in enumerate(reversed(self.gone), start=len(stayed) + 1):
            ranks[seat - 1] = place
        return ranks

    def text(self) -> str:
        turn = self.colour[0] if self.colour else "-"
        return self.table.text(turn, ",".join(map(str, self.gone)) or "-")


class PuzzleOracle:
    """A puzzle in progress."""

    def __init__(self, task: str = "full", hard: str = "no") -> None:
        self.task, self.hard = task, hard == "yes"
        width, height, sizes = {
            "full": (20, 20, (1, 2, 3, 4, 5)),
            "tetrominoes": (8, 10, (4,)),
            "pentominoes": (15, 16, (5,)),
        }[task]
        self.table = Table(width, height, [name for name in DRAWN if SIZE[name] in sizes])
        self.colour = "blue"
        self.over = False

    def placements(self, colour: str) -> Iterator[Area]:
        table = self.table
        names = table.left(colour)
        if self.task == "full":
            if self.hard:
                largest = max((SIZE[name] for name in names), default=0)
                names = [name for name in names if SIZE[name] == largest]
            return table.by_blokus_rules(colour, names, {(1, 1), (1, 20), (20, 1), (20, 20)})
        forbidden = set(table.covered(*ORDER))
        if self.hard:
            forbidden |= beside(table.covered(colour))
        return table.fitting(names, forbidden)

    def legal_moves(self) -> list[str]:
        if self.over:
            return []
        colours = [self.colour] if self.task == "full" else list(ORDER)
        return sorted(
            ["stop", *(notation(its, area) for its in colours for area in self.placements(its))]
        )

    def play(self, move: str) -> None:
        if move == "stop":
            self.over = True
            return
        colour = move.partition(":")[0]
        self.table.put(colour, move)
        start = ORDER.index(colour)
        turns = [ORDER[(start + later) % 4] for later in (1, 2, 3, 4)]
        going = next((turn for turn in turns if any(self.placements(turn))), None)
        self.over = going is None
        self.colour = going or colour

    def score(self) -> int:
        return len(self.table.covered(*ORDER))

    def text(self) -> str:
        turn = "-" if self.over else self.colour[0] if self.task == "full" else "*"
        return self.table.text(turn, "-")
