"""Oxoxo solved backwards from its ends, all faces of the same pieces at once.

Pieces never leave the board. Where those of both seats lie is a *placement*, and which of them
show X are its *faces*, a number of 16 bits. A set of faces is an integer of 2^16 bits; to turn the
piece on a square over is to exchange bits of it that lie a power of two apart. So all positions of
a placement are solved together, by some hundred operations on long integers, from the placements
with one piece more.

A seat wins from where it can force its goal in some number of plies: from the positions one ply
before it, two before it and so on until there are no more, as endgame tables are made
(T. Ströhlein, 1970). For that it needs no position twice. So what was seen before forbids it at
most to reach positions that would end the game by repetition, and where it can't force a win
without these, it can't at all; and the limit of plies forbids it to take too many.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import count

from engine.board import bits_of
from engine.game import Seat
from engine.games.oxoxo import BOARD, COLOUR, FORM, HAND, LINES, SQUARES
from engine.truth import Budget, OutOfSteps

SEATS = (FORM, COLOUR)

Faces = int
"""A set of faces: a bit for each."""
Placement = tuple[int, int]
"""The squares of Form's pieces, and of Colour's."""
BySeat = tuple[Faces, Faces]
ALL = (1 << (1 << SQUARES)) - 1
STEPS = 25
"""What a placement costs: so many positions are looked at one by one in the same time."""


def _with_o(bit: int) -> Faces:
    """The faces of which the piece on a square shows O, or of which there is none."""
    faces, length = (1 << (1 << bit)) - 1, 2 << bit
    while length < 1 << SQUARES:
        faces |= faces << length
        length *= 2
    return faces


WITH_O = tuple(_with_o(bit) for bit in range(SQUARES))
WITH_X = tuple(ALL ^ faces for faces in WITH_O)


def _turned(faces: Faces, bit: int) -> Faces:
    """The sets of faces with the piece on a square turned over."""
    apart = 1 << bit
    return faces >> apart & WITH_O[bit] | (faces & WITH_O[bit]) << apart


def _goals(placement: Placement) -> BySeat:
    """The sets of faces with which each seat's goal stands."""
    form, colour = placement
    by_sign = by_shade = 0
    for line in LINES:
        if line & ~(form | colour):
            continue
        signs = [ALL, ALL]
        shades = [ALL, ALL]
        for bit in bits_of(line):
            shown = WITH_O[bit], WITH_X[bit]
            is_colours = colour >> bit & 1
            for kind in (0, 1):
                signs[kind] &= shown[kind]
                shades[kind] &= shown[kind ^ is_colours]
        by_sign |= signs[0] | signs[1]
        by_shade |= shades[0] | shades[1]
    return by_sign, by_shade


def _ends(goals: BySeat) -> tuple[BySeat, BySeat]:
    """The sets of faces with which either has won, by who wins and who has moved there.

    Whoever makes both goals at once loses.
    """
    form, colour = goals
    return (form & ~colour, form), (colour, colour & ~form)


def _puts(placement: Placement, mover: Seat) -> Iterator[tuple[int, Placement]]:
    """The squares on which a seat may put a piece down, and the placement that makes."""
    form, colour = placement
    if placement[mover].bit_count() < HAND:
        for bit in bits_of(BOARD ^ form ^ colour):
            square = 1 << bit
            yield bit, (form, colour | square) if mover else (form | square, colour)


def _either(faces: Faces, bit: int) -> Faces:
    """Adds what comes of a set by turning the piece on a square over."""
    some = (faces | faces >> (1 << bit)) & WITH_O[bit]
    return some | some << (1 << bit)


def _both(faces: Faces, bit: int) -> Faces:
    """Leaves of a set what is in it with the piece on a square turned over, too."""
    both = faces & faces >> (1 << bit) & WITH_O[bit]
    return both | both << (1 << bit)


@dataclass(frozen=True, slots=True)
class _Solved:
    """The faces of a placement from which either seat wins."""

    won: tuple[BySeat, BySeat]
    """The sets with which somebody wins, by who does, and who is to move or, where the game may
    have ended, who has moved there."""
    longest: BySeat
    """The most plies in which either wins."""


class FaceSolver:
    """Solves placements, and keeps them for those from which they are reached."""

    MOST_KEPT = 2_500
    """Placements; one takes some 48 kB."""

    def __init__(self) -> None:
        self._reached: dict[Placement, _Solved] = {}

    def missing(self, placement: Placement, most: int) -> int:
        """How many placements must be solved for one, itself among them; counted to ``most``."""
        seen, later = set[Placement](), [placement]
        while later and len(seen) < most:
            one = later.pop()
            if one not in seen and one not in self._reached:
                seen.add(one)
                later += [after for mover in SEATS for _, after in _puts(one, mover)]
        return len(seen)

    def forget(self) -> None:
        """Drops what is kept, if that is much."""
        if len(self._reached) > self.MOST_KEPT:
            self._reached.clear()

    def winner(
        self, placement: Placement, faces: int, mover: Seat, barred: Set[int], budget: Budget
    ) -> tuple[Seat | None, int]:
        """Who wins a position, if anybody, and in how many plies at most.

        Args:
            faces: the squares whose pieces show X.
            mover: the seat to move.
            barred: faces of the same placement; whoever reaches them draws.

        Raises:
            OutOfSteps: it takes more than is granted.
        """
        if barred:
            solved, who = self._solve(placement, _goals(placement), barred, budget), mover
        else:
            solved, who = self._of(placement, budget), 1 - mover
        for winner in SEATS:
            if solved.won[winner][who] >> faces & 1:
                return winner, solved.longest[winner]
        return None, 0

    def _of(self, placement: Placement, budget: Budget) -> _Solved:
        """Solves a placement by who has moved there."""
        if placement not in self._reached:
            goals = _goals(placement)
            solved, ends = self._solve(placement, goals, frozenset(), budget), _ends(goals)
            form, colour = (
                (ends[winner][FORM] | to_move[COLOUR], ends[winner][COLOUR] | to_move[FORM])
                for winner, to_move in enumerate(solved.won)
            )
            self._reached[placement] = _Solved((form, colour), solved.longest)
        return self._reached[placement]

    def _solve(
        self, placement: Placement, goals: BySeat, barred: Set[int], budget: Budget
    ) -> _Solved:
        """Solves a placement by who is to move."""
        later = [
            [(bit, self._of(after, budget)) for bit, after in _puts(placement, mover)]
            for mover in SEATS
        ]
        if not budget.step(STEPS):
            raise OutOfSteps
        live = ALL & ~(goals[FORM] | goals[COLOUR])
        open_ = live & ~sum(1 << faces for faces in barred)
        won, longest = [], []
        for winner, ends in enumerate(_ends(goals)):
            other = 1 - winner
            # What putting a piece down brings: that some way of it wins, or that all of them lose.
            some, all_ = 0, ALL
            for bit, after in later[winner]:
                some |= _either(after.won[winner][winner], bit)
            for bit, after in later[other]:
                all_ &= _both(after.won[winner][other], bit)
            found, last = [0, 0], 0
            for ply in count(1):
                mover = other if ply % 2 == 0 else winner
                goal = ends[mover] | found[1 - mover] & open_
                now = some if mover == winner else all_
                for bit in bits_of(placement[mover]):
                    turned = _turned(goal, bit)
                    now = now | turned if mover == winner else now & turned
                now &= live
                if now != found[mover]:
                    found[mover], last = now, ply
                elif mover == other:
                    break
            won.append((found[FORM], found[COLOUR]))
            puts = max((one.longest[winner] for both in later for _, one in both), default=0)
            longest.append(last + puts if last else 0)
        return _Solved((won[FORM], won[COLOUR]), (longest[FORM], longest[COLOUR]))
