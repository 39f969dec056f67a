"""The Siege of Paris once more, slowly: letters in a dict, every rule as it is told.

It shares nothing with engine.games.siege: no table, no function, no idea of how to look for
moves. Each rule is one function, and what the rules say in one sentence stands in one place.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import permutations

CELLS = ["d9", "f9", "g9", "i9", "d8", "f8", "g8", "i8"]
SEGMENTS = ["d9-f9", "f9-g9", "g9-i9", "d8-f8", "f8-g8", "g8-i8"]
SEGMENTS += ["d8-d9", "f8-f9", "g8-g9", "i8-i9"]
GATES = ["c9-d9", "c8-d8", "j9-i9", "j8-i8"]
ROUND = ["y1", "w", "y2", "b"]
DEFAULTS = {
    "seats": "3",
    "setup": "free",
    "soldiers": "2",
    "retreat": "no",
    "protection": "any",
    "demand": "yes",
}


def is_square(file: int, rank: int) -> bool:
    """Whether there is a square: files and ranks count from 1, d6 to i11 are missing."""
    return 1 <= file <= 12 and 1 <= rank <= 16 and not (4 <= file <= 9 and 6 <= rank <= 11)


def name_of(file: int, rank: int) -> str:
    return "abcdefghijkl"[file - 1] + str(rank)


def place_of(name: str) -> tuple[int, int]:
    return "abcdefghijkl".index(name[0]) + 1, int(name[1:])


SQUARES = [
    name_of(file, rank) for rank in range(1, 17) for file in range(1, 13) if is_square(file, rank)
]


def joined(links: list[str], place: str) -> list[str]:
    """The other ends of the links that end at a place."""
    ends = [link.split("-") for link in links]
    return [b for a, b in ends if a == place] + [a for a, b in ends if b == place]


def first_pieces() -> dict[str, str]:
    """The attackers at the start."""
    white = {"b1": "L", "l1": "L", "d1": "K", "j1": "K", "f1": "G", "h1": "C"}
    white |= {f"{file}2": "S" for file in "acegik"} | {f"{file}3": "S" for file in "bdfhjl"}
    black = {f"{name[0]}{17 - int(name[1:])}": letter.lower() for name, letter in white.items()}
    return white | black


def army_of(letter: str) -> str:
    if letter in ("Y", "Z", "y"):
        return "yellow"
    return "white" if letter.isupper() else "black"


def kind_of(letter: str) -> str:
    if army_of(letter) == "yellow":
        return {"Y": "general", "Z": "colonel", "y": "soldier"}[letter]
    return {"g": "general", "c": "colonel", "k": "captain", "l": "lieutenant", "s": "soldier"}[
        letter.lower()
    ]


def lines_of(kind: str) -> list[tuple[int, int]]:
    """The directions that a kind moves in, retreats included."""
    straight = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    slanted = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    if kind == "general":
        return straight + slanted
    return straight if kind in ("colonel", "captain") else slanted


def reach_of(kind: str, army: str) -> int:
    if army == "yellow":
        return 1
    return {"general": 3, "colonel": 2, "lieutenant": 2}.get(kind, 1)


def new_game(**options: str) -> Oracle:
    """The first position of a variant."""
    oracle = Oracle(DEFAULTS | options, first_pieces(), "setup", False, 0, 0, ())
    if oracle.options["setup"] == "fixed":
        pieces = oracle.pieces | dict(zip(CELLS, "YyyyyyyZ", strict=True))
        oracle = replace(oracle, pieces=pieces, turn="y1")
        oracle = replace(oracle, history=(oracle.standing(),))
    return oracle


@dataclass(frozen=True)
class Oracle:
    """A position of the Siege, and all that has stood before it."""

    options: dict[str, str]
    pieces: dict[str, str]
    turn: str
    demand: bool
    quiet: int
    plies: int
    history: tuple[object, ...] = field(repr=False)

    # What there is.

    def army(self) -> str:
        return {"w": "white", "b": "black"}.get(self.turn, "yellow")

    def places(self, army: str) -> list[str]:
        return [place for place, letter in self.pieces.items() if army_of(letter) == army]

    def is_inside(self, place: str) -> bool:
        return place in CELLS

    def standing(self) -> object:
        return frozenset(self.pieces.items()), self.turn, self.demand

    # Moves.

    def link_moves(self, place: str) -> list[str]:
        """One step along a segment or a gate, to a free place."""
        return [place + end for end in joined(SEGMENTS + GATES, place) if end not in self.pieces]

    def attacker_moves(self, place: str) -> list[str]:
        army, kind = army_of(self.pieces[place]), kind_of(self.pieces[place])
        found = self.link_moves(place)
        if self.is_inside(place):
            return found
        file, rank = place_of(place)
        for step_file, step_rank in lines_of(kind):
            retreats = step_rank < 0 if army == "white" else step_rank > 0
            if retreats and self.options["retreat"] == "no":
                continue
            for steps in range(1, reach_of(kind, army) + 1):
                there = file + steps * step_file, rank + steps * step_rank
                if not is_square(*there) or name_of(*there) in self.pieces:
                    break
                found.append(place + name_of(*there))
        return found

    def is_protected(self, file: int, rank: int, direction: tuple[int, int]) -> bool:
        """Whether a piece guards the attacker on this square against this direction."""
        behind = file + direction[0], rank + direction[1]
        if not is_square(*behind) or name_of(*behind) not in self.pieces:
            return False
        letter = self.pieces[name_of(*behind)]
        if army_of(letter) == "yellow":
            return False
        return self.options["protection"] == "any" or direction in lines_of(kind_of(letter))

    def yellow_captures(self, place: str) -> list[str]:
        if self.is_inside(place):
            return []
        file, rank = place_of(place)
        found = []
        for direction in lines_of(kind_of(self.pieces[place])):
            there = file + direction[0], rank + direction[1]
            if not is_square(*there) or name_of(*there) not in self.pieces:
                continue
            taken = army_of(self.pieces[name_of(*there)])
            if taken != "yellow" and not self.is_protected(*there, direction):
                found.append(place + name_of(*there))
        return found

    def colour_is_full(self, square: str) -> bool:
        """Whether three Yellow soldiers stand outside on squares of this one's colour."""
        colour = sum(place_of(square)) % 2
        standing = [
            place
            for place, letter in self.pieces.items()
            if letter == "y" and place not in CELLS and sum(place_of(place)) % 2 == colour
        ]
        return len(standing) >= 3

    def steps_out(self, place: str) -> list[str]:
        """A Yellow piece's steps from the fortress through a gate."""
        return [
            move
            for move in self.link_moves(place)
            if self.is_inside(place)
            and not self.is_inside(move[2:])
            and not (self.pieces[place] == "y" and self.colour_is_full(move[2:]))
        ]

    def yellow_outside_moves(self, place: str) -> list[str]:
        file, rank = place_of(place)
        found = self.link_moves(place) + self.yellow_captures(place)
        for step_file, step_rank in lines_of(kind_of(self.pieces[place])):
            there = file + step_file, rank + step_rank
            if is_square(*there) and name_of(*there) not in self.pieces:
                found.append(place + name_of(*there))
        return found

    def yellow_moves(self) -> list[str]:
        outside = [place for place in self.places("yellow") if not self.is_inside(place)]
        inside = [place for place in self.places("yellow") if self.is_inside(place)]
        if self.demand:
            return [move for place in outside for move in self.yellow_captures(place)]
        abroad = [move for place in outside for move in self.yellow_outside_moves(place)]
        sorties = [move for place in inside for move in self.steps_out(place)]
        if outside and not abroad:
            return sorties
        within = [
            move for place in inside for move in self.link_moves(place) if self.is_inside(move[2:])
        ]
        return abroad + sorties + within

    def plain_moves(self) -> list[str]:
        """The moves of whoever's turn it is, without demands and whether or not it is over."""
        if self.turn == "setup":
            return sorted({"=" + "".join(letters) for letters in permutations("GCSSSSSS")})
        if self.army() == "yellow":
            return self.yellow_moves()
        return [move for place in self.places(self.army()) for move in self.attacker_moves(place)]

    def legal_moves(self) -> list[str]:
        if self.result():
            return []
        found = self.plain_moves()
        if self.turn in ("w", "b") and self.options["demand"] == "yes":
            for move in list(found):
                after = self.after(move + "!")
                has_capture = any(after.yellow_captures(p) for p in after.places("yellow"))
                if has_capture and not after.result():
                    found.append(move + "!")
        return sorted(found)

    def after(self, move: str) -> Oracle:
        """The position after a move that is legal but for its demand, perhaps."""
        if self.turn == "setup":
            letters = move[1:].replace("G", "Y").replace("C", "Z").replace("S", "y")
            pieces = self.pieces | dict(zip(CELLS, letters, strict=True))
            placed = replace(self, pieces=pieces, turn="y1", plies=1)
            return replace(placed, history=(placed.standing(),))
        demand = move.endswith("!")
        start, end = next(
            (move.rstrip("!")[:cut], move.rstrip("!")[cut:])
            for cut in (2, 3)
            if move.rstrip("!")[cut].isalpha()
        )
        pieces = dict(self.pieces)
        captured = pieces.pop(end, None)
        pieces[end] = pieces.pop(start)
        progress = captured is not None or self.approaches(start, end)
        moved = replace(
            self,
            pieces=pieces,
            turn=ROUND[(ROUND.index(self.turn) + 1) % 4],
            demand=demand,
            quiet=0 if progress else self.quiet + 1,
            plies=self.plies + 1,
        )
        if moved.army() != "yellow" and not moved.plain_moves():
            moved = replace(moved, turn=ROUND[(ROUND.index(moved.turn) + 1) % 4])
        return replace(moved, history=(*self.history, moved.standing()))

    def approaches(self, start: str, end: str) -> bool:
        """An attacker's move outside the fortress to a rank further on, as far as the gates."""
        if self.army() == "yellow" or self.is_inside(start) or self.is_inside(end):
            return False
        before, now = place_of(start)[1], place_of(end)[1]
        return before < now <= 8 if self.army() == "white" else before > now >= 9

    # The end.

    def attackers(self, *, inside: bool) -> Counter[str]:
        """How many soldiers and officers of either attacking army are inside, or anywhere."""
        return Counter(
            "soldier" if kind_of(letter) == "soldier" else "officer"
            for place, letter in self.pieces.items()
            if army_of(letter) != "yellow" and (self.is_inside(place) or not inside)
        )

    def result(self) -> tuple[str, float] | None:
        """Why it is over and what Yellow scores; None while it goes on."""
        if self.turn == "setup":
            return None
        entered = self.attackers(inside=True)
        left = self.attackers(inside=False)
        if entered["soldier"] >= int(self.options["soldiers"]) and entered["officer"] >= 1:
            return "normal", 0.0
        if self.army() == "yellow" and not self.yellow_moves():
            return "normal", 0.0
        if left["soldier"] == 0 and 12 - left["officer"] >= 6:
            return "normal", 0.5 if entered else 1.0
        if self.history.count(self.standing()) >= 3:
            return "repetition", 0.5
        if self.quiet >= 100 or self.plies >= 2000:
            return "plylimit", 0.5
        return None

    def scores(self) -> tuple[float, ...]:
        ended = self.result()
        assert ended is not None
        others = int(self.options["seats"]) - 1
        return (ended[1], *[1 - ended[1]] * others)

    # The position text.

    def text(self) -> str:
        ranks = []
        for rank in range(16, 0, -1):
            row, run = "", 0
            for file in range(1, 13):
                name = name_of(file, rank)
                if is_square(file, rank) and name in self.pieces:
                    row += (str(run) if run else "") + self.pieces[name]
                    run = 0
                else:
                    run += 1
            ranks.append(row + (str(run) if run else ""))
        inside = "".join(self.pieces.get(cell, ".") for cell in CELLS)
        sign = "!" if self.demand else "-"
        return f"{'/'.join(ranks)} {inside} {self.turn} {sign} {self.quiet} {self.plies}"


def perft(oracle: Oracle, depth: int) -> int:
    """The number of leaf nodes of the tree of legal moves."""
    if depth == 0:
        return 1
    return sum(perft(oracle.after(move), depth - 1) for move in oracle.legal_moves())


def read(text: str, **options: str) -> Oracle:
    """The position of a well-formed text."""
    ranks, inside, turn, sign, quiet, plies = text.split(" ")
    pieces = {}
    for rank, row in zip(range(16, 0, -1), ranks.split("/"), strict=True):
        spread = row
        for run in range(12, 0, -1):
            spread = spread.replace(str(run), "." * run)
        assert len(spread) == 12
        for file, letter in enumerate(spread, 1):
            if letter != ".":
                pieces[name_of(file, rank)] = letter
    pieces |= {cell: letter for cell, letter in zip(CELLS, inside, strict=True) if letter != "."}
    oracle = Oracle(DEFAULTS | options, pieces, turn, sign == "!", int(quiet), int(plies), ())
    return replace(oracle, history=(oracle.standing(),))
