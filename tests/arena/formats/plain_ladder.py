"""The pairing of a ladder as it is said, by going through everybody each time: what the quick one
(`arena.formats.ladder`) has to come out like."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from itertools import combinations
from random import Random

from arena.formats.ladder import AHEAD_GAMES, FORGETTING, LEAST_MET_SHARE, MODEL, NEAREST, SPREAD
from arena.formats.roster import PLACEMENT_GAMES, Had, Rival

Times = dict[frozenset[int], int]
"""How many matches two have."""


def plain_match(
    rivals: Sequence[Rival],
    met: Times,
    had: Had,
    *,
    seats: int,
    random: Random,
    rematches: bool,
    one_of: Set[int] | None,
    can_meet: Callable[[Sequence[int]], bool],
) -> list[int] | None:
    """Who meets next, as `next_match` has it, but in no order."""

    def times(*pair: Rival) -> int:
        return met.get(frozenset(one.id for one in pair), 0)

    def of(one: Rival) -> int:
        return had.get(one.person, 0)

    def may(pair: Sequence[Rival]) -> bool:
        return can_meet([one.id for one in pair])

    firsts = [one for one in rivals if one_of is None or one.id in one_of]
    if len(rivals) < seats or not firsts:
        return None
    chosen: Sequence[Rival] | None = None
    if seats == 2 and random.random() < LEAST_MET_SHARE:
        near = [one for one in rivals if of(one) <= min(map(of, rivals)) + AHEAD_GAMES]
        pairs = [pair for pair in combinations(near, 2) if any(one in firsts for one in pair)]
        unmet = [
            (one, other) for one in near if one in firsts for other in near if other is not one
            if not times(one, other)
        ]  # fmt: skip
        if unmet:
            # Whom it may meet is asked once the first of the two is drawn.
            first, _ = random.choice(unmet)
            its = [pair for pair in unmet if pair[0] is first and may(pair)]
            chosen = random.choice(its) if its else None
        elif pairs := [pair for pair in pairs if may(pair)]:
            least = min(times(*pair) for pair in pairs)
            chosen = random.choice([pair for pair in pairs if times(*pair) == least])

    def turn(one: Rival) -> tuple[float, ...]:
        before = PLACEMENT_GAMES if one.in_placement else 0
        return of(one) - before, one.games, -one.rating.sigma, one.id

    for due in sorted(firsts, key=turn):
        if chosen is not None:
            break
        found = [due]
        while len(found) < seats:
            others = [one for one in rivals if one not in found and may([*found, one])]
            fresh = [one for one in others if rematches or not times(due, one)]
            if not others:
                break
            found.append(_opponent(found, fresh or others, times, had, random))
        else:
            chosen = found
    if chosen is None:
        return None
    if not rematches and any(times(*pair) for pair in combinations(chosen, 2)):
        fresh_pairs = [
            pair for pair in combinations(rivals, 2)
            if any(one in firsts for one in pair) and may(pair) and not times(*pair)
        ]  # fmt: skip
        if not fresh_pairs:
            return None
        chosen = min(
            fresh_pairs, key=lambda pair: (sum(map(of, pair)), sum(one.games for one in pair))
        )
    return [one.id for one in chosen]


def _opponent(
    chosen: Sequence[Rival],
    others: Sequence[Rival],
    times: Callable[[Rival, Rival], int],
    had: Had,
    random: Random,
) -> Rival:
    due, most = chosen[0], had.get(chosen[0].person, 0) + AHEAD_GAMES
    there = [*chosen, *others]
    others = [
        one for one in others
        if had.get(one.person, 0) <= most
        and one.games <= min(x.games for x in there if x.person == one.person) + AHEAD_GAMES
    ] or others  # fmt: skip

    def met(one: Rival) -> int:
        return sum(times(other, one) for other in chosen)

    def evenness(one: Rival) -> tuple[float, ...]:
        quality = MODEL.quality(due.rating, one.rating)
        return quality * FORGETTING ** met(one), -one.games, random.random()

    if due.in_placement:
        return max(others, key=evenness)
    k = math.ceil(NEAREST / (1 - random.random()) ** SPREAD)
    mu = due.rating.mu
    above = sorted(
        (one for one in others if one.rating.mu >= mu), key=lambda one: (one.rating.mu, one.id)
    )
    below = sorted(
        (one for one in others if one.rating.mu < mu), key=lambda one: (-one.rating.mu, one.id)
    )
    near = above[: max(k // 2, k - len(below))]
    near += below[: max(k - len(near), 0)]
    return min(near, key=lambda one: (met(one), one.games, random.random()))
