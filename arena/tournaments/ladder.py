"""The pairing of a ladder: which match would teach most about whom we know least.

The entrant with the fewest games is due (ties: the larger sigma). While it is in placement it
meets whoever makes the most even match, less and less likely whom it has met; after that one
of the k nearest by mu, where k is drawn so that it is mostly small and sometimes the whole
field, and of these the one least met. One match in ten is between those who met least of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from arena.ratings.trueskill import Rating, TrueSkill

PLACEMENT_GAMES = 20
FORGETTING = 0.7
"""What a meeting leaves of an opponent's quality, in placement."""
NEAREST = 5
SPREAD = 0.65
LEAST_MET_SHARE = 0.1
AHEAD_GAMES = 4
SETTLED_SIGMA = 1.0
"""A rating as firm as this is settled: 92 points to each side, on the scale that people see."""
SETTLED_GAMES = 200
"""So is one of so many games: whoever always wins stays less certain for ever."""
# How even a match would be does not depend on how likely draws are.
MODEL = TrueSkill(draw_probability=0.0)

Met = Mapping[tuple[int, int], int]
"""Matches between two entrants, played and due, by their ids, the lower first."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An active entrant of a ladder."""

    id: int
    rating: Rating
    games: int
    """Finished, and due in matches that are not."""

    @property
    def in_placement(self) -> bool:
        """Whether too little is known of it for a place on the board."""
        return self.games < PLACEMENT_GAMES

    @property
    def is_settled(self) -> bool:
        """Whether more games would teach little of it."""
        return not self.in_placement and (
            self.rating.sigma <= SETTLED_SIGMA or self.games >= SETTLED_GAMES
        )


def is_settled(rivals: Sequence[Rival]) -> bool:
    """Whether more games would teach little of anybody."""
    return all(rival.is_settled for rival in rivals)


def all_met(rivals: Sequence[Rival], met: Met) -> bool:
    """Whether every two have met."""
    return all(_times(met, *pair) for pair in combinations(rivals, 2))


def next_match(
    rivals: Sequence[Rival], met: Met, *, seats: int, random: Random, rematches: bool = True
) -> tuple[int, ...] | None:
    """The entrants of the next match in a random order, or None if none can be made.

    Args:
        seats: how many entrants a match has.
        rematches: whether two that met may meet again; puzzles give the same result again.
    """
    if len(rivals) < seats:
        return None
    if seats == 2 and random.random() < LEAST_MET_SHARE:
        chosen = _least_met_pair(rivals, met, random)
    else:
        chosen = _around_the_due(rivals, met, seats, random, rematches)
    if not rematches and any(_times(met, a, b) for a, b in combinations(chosen, 2)):
        fresh = [pair for pair in combinations(rivals, 2) if not _times(met, *pair)]
        if not fresh:
            return None
        a, b = min(fresh, key=lambda pair: (pair[0].games + pair[1].games, pair[0].id))
        chosen = [a, b]
    order = [rival.id for rival in chosen]
    random.shuffle(order)
    return tuple(order)


def _times(met: Met, a: Rival, b: Rival) -> int:
    return met.get((min(a.id, b.id), max(a.id, b.id)), 0)


def _least_met_pair(rivals: Sequence[Rival], met: Met, random: Random) -> list[Rival]:
    """One of the pairs that met least, each equally likely.

    A large field has hundreds of thousands of pairs, and most of them never met: only those that
    did are looked at one by one.
    """
    places = {rival.id: place for place, rival in enumerate(rivals)}
    times = {
        (min(places[a], places[b]), max(places[a], places[b])): count
        for (a, b), count in met.items()
        if count and a in places and b in places
    }
    pairs = len(rivals) * (len(rivals) - 1) // 2
    if unmet := pairs - len(times):
        pair = _nth_unmet(len(rivals), times, random.randrange(unmet))
    else:
        least = min(times.values())
        pair = random.choice(sorted(pair for pair, count in times.items() if count == least))
    return [rivals[place] for place in pair]


def _nth_unmet(size: int, times: Iterable[tuple[int, int]], index: int) -> tuple[int, int]:
    """The pair of that number, from 0, of two places out of so many that are not among these."""
    met: dict[int, set[int]] = {}
    for first, second in times:
        met.setdefault(first, set()).add(second)
    for first in range(size):
        seconds = size - first - 1 - len(met.get(first, ()))
        if index < seconds:
            left = [second for second in range(first + 1, size) if second not in met.get(first, ())]
            return first, left[index]
        index -= seconds
    raise IndexError("there are not so many pairs")


def _around_the_due(
    rivals: Sequence[Rival], met: Met, seats: int, random: Random, rematches: bool
) -> list[Rival]:
    due = min(rivals, key=lambda rival: (rival.games, -rival.rating.sigma, rival.id))
    chosen = [due]
    while len(chosen) < seats:
        others = [rival for rival in rivals if rival not in chosen]
        fresh = [rival for rival in others if not _times(met, due, rival)]
        if not rematches and fresh:
            others = fresh
        chosen.append(_opponent(chosen, others, met, random))
    return chosen


def _opponent(chosen: Sequence[Rival], others: Sequence[Rival], met: Met, random: Random) -> Rival:
    """One more for a match of the first of ``chosen``.

    Whoever is far ahead of it in games is left out while others are there: a bot in the middle
    of the field would otherwise be everybody's best match, and play twice as much as the rest.
    """
    due = chosen[0]
    others = [other for other in others if other.games <= due.games + AHEAD_GAMES] or others

    def times(other: Rival) -> int:
        return sum(_times(met, one, other) for one in chosen)

    if due.in_placement:
        return max(
            others,
            key=lambda other: (
                MODEL.quality(due.rating, other.rating) * FORGETTING ** times(other),
                -other.games,
                random.random(),
            ),
        )
    # 1 - random() is in (0, 1], so that k is finite.
    k = math.ceil(NEAREST / (1 - random.random()) ** SPREAD)
    above = sorted(
        (o for o in others if o.rating.mu >= due.rating.mu), key=lambda o: (o.rating.mu, o.id)
    )
    below = sorted(
        (o for o in others if o.rating.mu < due.rating.mu), key=lambda o: (-o.rating.mu, o.id)
    )
    # Half from either side; where one side is short the other makes up for it.
    half = max(k // 2, k - len(below))
    near = above[:half]
    near += below[: max(k - len(near), 0)]
    return min(near, key=lambda other: (times(other), other.games, random.random()))
