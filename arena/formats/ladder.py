"""The pairing of a ladder: which match would teach most about whom we know least.

People take turns: next is whose bots had the fewest games lately, however many they are, and of
those the entrant with the fewest games is due (ties: the larger sigma). While it is in placement
it meets whoever makes the most even match, less and less likely whom it has met; after that one
of the k nearest by mu, where k is drawn so that it is mostly small and sometimes the whole
field, and of these the one least met. One match in ten is between those who met least of all.
Whoever is in placement goes first, which brings its person as many games forward, once.
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
"""Whoever has so many games more than the due one is nobody's opponent while others are there."""
Had = Mapping[int, int]
"""The games that each person's bots had lately, and have due; none of who is not in it."""
NONE_HAD: Had = {}
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
    person: int = 0
    """Whose it is."""

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


def _in_turn(rivals: Iterable[Rival], had: Had) -> list[Rival]:
    """Entrants in the order in which they are due."""

    def turn(rival: Rival) -> tuple[float, ...]:
        before = PLACEMENT_GAMES if rival.in_placement else 0
        return had.get(rival.person, 0) - before, rival.games, -rival.rating.sigma, rival.id

    return sorted(rivals, key=turn)


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
    had: Had = NONE_HAD,
) -> tuple[int, ...] | None:
    """The entrants of the next match in a random order, or None if none can be made.

    Args:
        seats: how many entrants a match has.
        rematches: whether two that met may meet again; puzzles give the same result again.
        one_of: entrants of whom one is to be in it; by default anybody may be.
        can_meet: asked of those who come into question; by default all can meet.
        had: by which people take turns; by default all entrants do.
    """
    firsts = [one for one in rivals if one_of is None or one.id in one_of]
    if len(rivals) < seats or not firsts:
        return None
    chosen = None
    if seats == 2 and random.random() < LEAST_MET_SHARE:
        near = _not_ahead(rivals, had)
        theirs = [one for one in near if one_of is None or one.id in one_of]
        chosen = _least_met_pair(near, theirs, met, random, can_meet)
    # It may have chosen one of whom only those were left that it can't meet.
    chosen = chosen or _around_the_due(
        rivals, _in_turn(firsts, had), met, seats, random, rematches, can_meet, had
    )
    if chosen is None:
        return None
    if not rematches and any(met.times(a, b) for a, b in combinations(chosen, 2)):
        fresh = [pair for pair in _pairs(rivals, firsts, can_meet) if not met.times(*pair)]
        if not fresh:
            return None
        a, b = min(
            fresh,
            key=lambda pair: (
                sum(had.get(one.person, 0) for one in pair),
                sum(one.games for one in pair),
                pair[0].id,
            ),
        )
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


def _not_ahead(rivals: Sequence[Rival], had: Had) -> list[Rival]:
    """Those whose person is not far ahead of whoever had the fewest games."""
    least = min(had.get(one.person, 0) for one in rivals)
    return [one for one in rivals if had.get(one.person, 0) <= least + AHEAD_GAMES]


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
    had: Had,
) -> list[Rival] | None:
    """A match of whoever is due first of those who can have one; None if nobody can.

    Args:
        firsts: in the order in which they are due.
    """
    for due in firsts:
        chosen, others = [due], list(rivals)
        while len(chosen) < seats:
            others.remove(chosen[-1])
            able = [rival for rival in others if _can(can_meet, [*chosen, rival])]
            if not able:
                break
            fresh = [] if rematches else [rival for rival in able if not met.times(due, rival)]
            chosen.append(_opponent(chosen, fresh or able, met, random, had))
        else:
            return chosen
    return None


def _opponent(
    chosen: Sequence[Rival], others: Sequence[Rival], met: Met, random: Random, had: Had
) -> Rival:
    """One more for a match of the first of ``chosen``.

    Whose person is far ahead of its own in games, and who is far ahead of its person's others, is
    left out while others are there: a bot in the middle of the field would otherwise be
    everybody's best match, and play twice as much as the rest.
    """
    due = chosen[0]
    most = had.get(due.person, 0) + AHEAD_GAMES
    fewest: dict[int, int] = {}
    for one in (*chosen, *others):
        fewest[one.person] = min(one.games, fewest.get(one.person, one.games))
    others = [
        other
        for other in others
        if had.get(other.person, 0) <= most and other.games <= fewest[other.person] + AHEAD_GAMES
    ] or others

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
