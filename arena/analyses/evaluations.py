"""What was said of the positions of a line, by who played it and by who was asked, and its swings.

All of it is a share of one side. Between two sides what one expects the other does not, so that
everything is told for the first of them; among more each speaks for its own side alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.game import Seat, Variant

SWING = 0.15
"""So much of the game a side gives away by a move that is marked."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What somebody expects in a position for the side to move."""

    who: str
    place: int
    """How many moves of the line lead to the position."""
    seat: Seat
    share: float
    move: str = ""
    """What it plays there."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one of them expects for one side along the line."""

    who: str
    side: int
    points: Sequence[tuple[int, float]]
    """The place and the side's share, in order."""


@dataclass(frozen=True, slots=True)
class Swing:
    """A move by which, as somebody sees it, the side that made it gave a part of the game away."""

    who: str
    place: int
    """How many moves lead to the position before it."""
    seat: Seat
    before: float
    after: float
    better: str
    """What who says so would have played."""

    @property
    def lost(self) -> float:
        """How much was given away."""
        return self.before - self.after


def expectations(variant: Variant, said: Iterable[Evaluation]) -> list[Expectation]:
    """What each of them expects, side by side."""
    sides = variant.side_of
    points: defaultdict[tuple[str, int], dict[int, float]] = defaultdict(dict)
    for one in said:
        side = sides[one.seat]
        if len(set(sides)) == 2:
            first = sides[0]
            its = one.share if side == first else 1 - one.share
            points[one.who, first][one.place] = its
        else:
            points[one.who, side][one.place] = one.share
    return [Expectation(who, side, sorted(its.items())) for (who, side), its in points.items()]


def swings(variant: Variant, said: Iterable[Evaluation], movers: Sequence[Seat]) -> list[Swing]:
    """The moves after which somebody expects less for the side that made them, worst first.

    Who speaks of every second position only, as the player of one seat does, is taken to mean its
    own move between the two.

    Args:
        movers: who made each move of the line.
    """
    sides, found = variant.side_of, list[Swing]()
    by_who: defaultdict[str, dict[int, Evaluation]] = defaultdict(dict)
    for one in said:
        by_who[one.who][one.place] = one
    for who, places in by_who.items():
        known = sorted(places)
        for here, there in pairwise(known):
            before, after = places[here], places[there]
            if there - here > len(sides) or here >= len(movers) or movers[here] != before.seat:
                continue
            side = sides[before.seat]
            if sides[after.seat] == side:
                share = after.share
            elif len(set(sides)) == 2 and there == here + 1:
                share = 1 - after.share
            else:
                continue
            if before.share - share >= SWING:
                found.append(Swing(who, here, before.seat, before.share, share, before.move))
    return sorted(found, key=lambda one: -one.lost)


def bar(variant: Variant, drawn: Sequence[Expectation], place: int) -> Mapping[int, float] | None:
    """Each side's share in a position, in all 1: the mean of what is expected there.

    Among more than two sides the last that each expected counts, for each speaks of itself alone.
    None if nobody said anything.
    """
    sides = list(dict.fromkeys(variant.side_of))
    if len(sides) < 2:
        return None
    known: defaultdict[int, list[float]] = defaultdict(list)
    for one in drawn:
        its = [share for at, share in one.points if at == place or (len(sides) > 2 and at < place)]
        if its:
            known[one.side].append(its[-1])
    mean = {side: sum(its) / len(its) for side, its in known.items()}
    if len(sides) == 2:
        return {sides[0]: mean[sides[0]], sides[1]: 1 - mean[sides[0]]} if mean else None
    total = sum(mean.values())
    return (
        {side: mean[side] / total for side in sides} if len(mean) == len(sides) and total else None
    )


def agreed(said: Iterable[Evaluation]) -> dict[int, str]:
    """The places in which at least two were asked and all would play the same move, and that."""
    moves: defaultdict[int, list[str]] = defaultdict(list)
    for one in said:
        if one.move:
            moves[one.place].append(one.move)
    return {place: its[0] for place, its in moves.items() if len(its) > 1 and len(set(its)) == 1}
