"""The pairing of a ladder: which match would teach most about whom we know least.

The entrant with the fewest games is due (ties: the larger sigma). While it is in placement it
meets whoever makes the most even match, less and less likely whom it has met; after that one
of the k nearest by mu, where k is drawn so that it is mostly small and sometimes the whole
field, and of these the one least met. One match in ten is between those who met least of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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
CanMeet = Callable[[Sequence[int]], bool]
"""Whether there is somebody who can play these entrants in one match, by their ids."""
# How even a match would be does not depend on how likely draws are.
MODEL = TrueSkill(draw_probability=0.0)


class Met:
    """How many matches every two entrants have, played and due, by their ids."""

    def __init__(self, meetings: Iterable[tuple[int, int, int]] = ()) -> None:
        """Of each meeting the two, and in how many matches; nobody met before the first."""
        self._times: dict[int, dict[int, int]] = {}
        for one, other, matches in meetings:
            self.add(one, other, matches)

    def add(self, one: int, other: int, matches: int = 1) -> None:
        """Counts so many more."""
        if matches:
            for first, second in ((one, other), (other, one)):
                times = self._times.setdefault(first, {})
                times[second] = times.get(second, 0) + matches

    def times(self, one: Rival, other: Rival) -> int:
        """How many matches these two have."""
        return self._times.get(one.id, _NOBODY).get(other.id, 0)

    def strangers(self, one: Rival, field: Set[int]) -> int:
        """How many others of a field it has not met."""
        return len(field) - 1 - len(field & self._times.get(one.id, _NOBODY).keys())


_NOBODY: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)
class Rival:
    """An active entrant of a ladder."""

    id: int
    rating: Rating
    games: int
    """Since it came or came back: finished, and due in matches that are not."""

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
    field = {rival.id for rival in rivals}
    return not any(met.strangers(rival, field) for rival in rivals)


def next_match(
    rivals: Sequence[Rival],
    met: Met,
    *,
    seats: int,
    random: Random,
    rematches: bool = True,
    one_of: Set[int] | None = None,
    can_meet: CanMeet | None = None,
) -> tuple[int, ...] | None:
    """The entrants of the next match in a random order, or None if none can be made.

    Args:
        seats: how many entrants a match has.
        rematches: whether two that met may meet again; puzzles give the same result again.
        one_of: entrants of whom one is to be in it; by default anybody may be.
        can_meet: asked of those who come into question; by default all can meet.
    """
    firsts = [one for one in rivals if one_of is None or one.id in one_of]
    if len(rivals) < seats or not firsts:
        return None
    chosen = None
    if seats == 2 and random.random() < LEAST_MET_SHARE:
        chosen = _least_met_pair(rivals, firsts, met, random, can_meet)
    # It may have chosen one of whom only those were left that it can't meet.
    chosen = chosen or _around_the_due(rivals, firsts, met, seats, random, rematches, can_meet)
    if chosen is None:
        return None
    if not rematches and any(met.times(a, b) for a, b in combinations(chosen, 2)):
        fresh = [pair for pair in _pairs(rivals, firsts, can_meet) if not met.times(*pair)]
        if not fresh:
            return None
        a, b = min(fresh, key=lambda pair: (pair[0].games + pair[1].games, pair[0].id))
        chosen = [a, b]
    order = [rival.id for rival in chosen]
    random.shuffle(order)
    return tuple(order)


def _pairs(
    rivals: Sequence[Rival], firsts: Sequence[Rival], can_meet: CanMeet | None
) -> Iterable[tuple[Rival, Rival]]:
    """Every two of some rivals that can meet, and of whom one is among the first ones."""
    ids = {first.id for first in firsts}
    found = (pair for pair in combinations(rivals, 2) if pair[0].id in ids or pair[1].id in ids)
    return found if can_meet is None else (pair for pair in found if _can(can_meet, pair))


def _can(can_meet: CanMeet | None, rivals: Iterable[Rival]) -> bool:
    return can_meet is None or can_meet([rival.id for rival in rivals])


def _least_met_pair(
    rivals: Sequence[Rival],
    firsts: Sequence[Rival],
    met: Met,
    random: Random,
    can_meet: CanMeet | None,
) -> list[Rival] | None:
    """One of the pairs that met least, each equally likely; None if those can't meet."""
    field = {rival.id for rival in rivals}
    strangers = [met.strangers(rival, field) for rival in firsts]
    if any(strangers):
        # A large field has hundreds of thousands of pairs: they are not looked at one by one.
        (first,) = random.choices(firsts, strangers)
        unmet = [other for other in rivals if other is not first and not met.times(first, other)]
        unmet = [other for other in unmet if _can(can_meet, (first, other))]
        return [first, random.choice(unmet)] if unmet else None
    pairs = list(_pairs(rivals, firsts, can_meet))
    if not pairs:
        return None
    least = min(met.times(*pair) for pair in pairs)
    return list(random.choice([pair for pair in pairs if met.times(*pair) == least]))


def _around_the_due(
    rivals: Sequence[Rival],
    firsts: Sequence[Rival],
    met: Met,
    seats: int,
    random: Random,
    rematches: bool,
    can_meet: CanMeet | None,
) -> list[Rival] | None:
    """A match of whoever is due first of those who can have one; None if nobody can."""
    for due in sorted(firsts, key=lambda rival: (rival.games, -rival.rating.sigma, rival.id)):
        chosen, others = [due], list(rivals)
        while len(chosen) < seats:
            others.remove(chosen[-1])
            able = [rival for rival in others if _can(can_meet, [*chosen, rival])]
            if not able:
                break
            fresh = [] if rematches else [rival for rival in able if not met.times(due, rival)]
            chosen.append(_opponent(chosen, fresh or able, met, random))
        else:
            return chosen
    return None


def _opponent(chosen: Sequence[Rival], others: Sequence[Rival], met: Met, random: Random) -> Rival:
    """One more for a match of the first of ``chosen``.

    Whoever is far ahead of it in games is left out while others are there: a bot in the middle
    of the field would otherwise be everybody's best match, and play twice as much as the rest.
    """
    due = chosen[0]
    others = [other for other in others if other.games <= due.games + AHEAD_GAMES] or others

    def times(other: Rival) -> int:
        return sum(met.times(one, other) for one in chosen)

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
