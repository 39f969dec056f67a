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
from collections.abc import Callable, Iterable, Sequence, Set
from heapq import merge
from itertools import combinations, islice
from random import Random

from arena.formats.roster import Met, Rival, Roster
from arena.ratings.trueskill import TrueSkill

FORGETTING = 0.7
"""What a meeting leaves of an opponent's quality, in placement."""
NEAREST = 5
SPREAD = 0.65
LEAST_MET_SHARE = 0.1
AHEAD_GAMES = 4
"""Whoever has so many games more than the due one is nobody's opponent while others are there."""
DRAWS = 20
"""Pairs that are drawn for one that never met, before all are looked at."""
CanMeet = Callable[[Sequence[int]], bool]
"""Whether there is somebody who can play these entrants in one match, by their ids."""
Fits = Callable[[Rival], bool]
# How even a match would be does not depend on how likely draws are.
MODEL = TrueSkill(draw_probability=0.0)
ROUNDING = 1e-12
"""How much too low what bounds a quality may be computed, relative to it."""


def all_met(rivals: Sequence[Rival], met: Met) -> bool:
    """Whether every two have met."""
    field = {rival.id for rival in rivals}
    met.know_all()
    return not any(met.strangers(rival, field) for rival in rivals)


def next_match(
    roster: Roster,
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
    firsts = None if one_of is None else {one for one in one_of if one in roster}
    if len(roster) < seats or (firsts is not None and not firsts):
        return None
    chosen = None
    if seats == 2 and random.random() < LEAST_MET_SHARE:
        chosen = _least_met_pair(roster, firsts, met, random, can_meet)
    # It may have chosen one of whom only those were left that it can't meet.
    chosen = chosen or _around_the_due(roster, firsts, met, seats, random, rematches, can_meet)
    if chosen is None:
        return None
    if not rematches and any(met.times(a, b) for a, b in combinations(chosen, 2)):
        met.know_all()
        pairs = _pairs(roster.all, firsts, can_meet)
        fresh = [pair for pair in pairs if not met.times(*pair)]
        if not fresh:
            return None
        a, b = min(
            fresh,
            key=lambda pair: (
                sum(roster.had.get(one.person, 0) for one in pair),
                sum(one.games for one in pair),
                pair[0].id,
            ),
        )
        chosen = [a, b]
    order = [rival.id for rival in chosen]
    random.shuffle(order)
    return tuple(order)


def _pairs(
    rivals: Sequence[Rival], firsts: Set[int] | None, can_meet: CanMeet | None
) -> Iterable[tuple[Rival, Rival]]:
    """Every two of some rivals that can meet, and of whom one is among the first ones."""
    for pair in combinations(rivals, 2):
        is_theirs = firsts is None or pair[0].id in firsts or pair[1].id in firsts
        if is_theirs and _can(can_meet, pair):
            yield pair


def _can(can_meet: CanMeet | None, rivals: Iterable[Rival]) -> bool:
    return can_meet is None or can_meet([rival.id for rival in rivals])


def _least_met_pair(
    roster: Roster,
    firsts: Set[int] | None,
    met: Met,
    random: Random,
    can_meet: CanMeet | None,
) -> list[Rival] | None:
    """One of the pairs that met least, each equally likely; None if those can't meet.

    Of those whose person is not far ahead of whoever had the fewest games. Where few have met, of
    two that are drawn hardly any have: so the others are not looked at, of which a large field has
    millions. Two that met are drawn again, which leaves all that never did equally likely.

    Args:
        firsts: of whom one is to be in it; None for anybody.
    """
    most = roster.least_had() + AHEAD_GAMES
    had = roster.had
    ordered = None if firsts is None else sorted(firsts)
    for _ in range(DRAWS):
        first = roster.draw(random) if ordered is None else roster[random.choice(ordered)]
        other = roster.draw(random)
        if other is first or max(had.get(one.person, 0) for one in (first, other)) > most:
            continue
        if not met.times(first, other):
            if can_meet is None:
                return [first, other]
            near = [one for one in roster.all if had.get(one.person, 0) <= most]
            return _with_a_stranger(first, near, met, random, can_meet)
    near = [one for one in roster.all if had.get(one.person, 0) <= most]
    theirs = near if firsts is None else [one for one in near if one.id in firsts]
    met.know_all()
    field = {rival.id for rival in near}
    strangers = [met.strangers(rival, field) for rival in theirs]
    if any(strangers):
        (first,) = random.choices(theirs, strangers)
        return _with_a_stranger(first, near, met, random, can_meet)
    pairs = list(_pairs(near, firsts, can_meet))
    if not pairs:
        return None
    least = min(met.times(*pair) for pair in pairs)
    return list(random.choice([pair for pair in pairs if met.times(*pair) == least]))


def _with_a_stranger(
    first: Rival, near: Sequence[Rival], met: Met, random: Random, can_meet: CanMeet | None
) -> list[Rival] | None:
    """A match of an entrant with one that it has not met; None if it can meet none of those."""
    unmet = [one for one in near if one is not first and not met.times(first, one)]
    unmet = [one for one in unmet if _can(can_meet, (first, one))]
    return [first, random.choice(unmet)] if unmet else None


def _around_the_due(
    roster: Roster,
    firsts: Set[int] | None,
    met: Met,
    seats: int,
    random: Random,
    rematches: bool,
    can_meet: CanMeet | None,
) -> list[Rival] | None:
    """A match of whoever is due first of those who can have one; None if nobody can.

    Args:
        firsts: of whom it is to be one; None for anybody.
    """
    for due in roster.in_turn(firsts):
        chosen = [due]
        while len(chosen) < seats:
            able = None if can_meet is None else _able(chosen, can_meet)
            fits = able if rematches else _fresh(due, met, able)
            found = _opponent(roster, chosen, met, random, fits)
            if found is None and fits is not able:
                found = _opponent(roster, chosen, met, random, able)
            if found is None:
                break
            chosen.append(found)
        else:
            return chosen
    return None


def _able(chosen: Sequence[Rival], can_meet: CanMeet) -> Fits:
    return lambda rival: can_meet([*(one.id for one in chosen), rival.id])


def _fresh(due: Rival, met: Met, able: Fits | None) -> Fits:
    return lambda rival: not met.times(due, rival) and (able is None or able(rival))


def _opponent(
    roster: Roster, chosen: Sequence[Rival], met: Met, random: Random, fits: Fits | None
) -> Rival | None:
    """One more for a match of the first of ``chosen``; None if there is nobody.

    Whose person is far ahead of its own in games, and who is far ahead of its person's others, is
    left out while others are there: a bot in the middle of the field would otherwise be
    everybody's best match, and play twice as much as the rest.

    Args:
        fits: whether somebody comes into question; by default all do.
    """
    due = chosen[0]
    most = roster.had.get(due.person, 0) + AHEAD_GAMES
    taken = {one.id for one in chosen}
    fewest: dict[int, int] = {}

    def comes(other: Rival) -> bool:
        return other.id not in taken and (fits is None or fits(other))

    def fewest_games(person: int) -> int:
        if fits is None:
            return roster.fewest_games(person)
        if person not in fewest:
            its = (one for one in roster.of(person) if one.id in taken or fits(one))
            fewest[person] = min(one.games for one in its)
        return fewest[person]

    def is_near(other: Rival) -> bool:
        return (
            roster.had.get(other.person, 0) <= most
            and comes(other)
            and other.games <= fewest_games(other.person) + AHEAD_GAMES
        )

    choose = _most_even if due.in_placement else _least_met_of_the_nearest
    return choose(roster, chosen, met, random, is_near, comes)


def _times(chosen: Sequence[Rival], other: Rival, met: Met) -> int:
    return sum(met.times(one, other) for one in chosen)


def _most_even(
    roster: Roster,
    chosen: Sequence[Rival],
    met: Met,
    random: Random,
    is_near: Fits,
    comes: Fits,
) -> Rival | None:
    """The one with whom a match of somebody in placement is most even, as little as they have met.

    They are looked at from its mu to both sides, until nobody further away could be as even.
    """
    due = chosen[0]
    mu = due.rating.mu
    variances = _variances(roster, due)

    def distance(other: Rival) -> float:
        return abs(other.rating.mu - mu)

    for fits in (is_near, comes):
        best: tuple[float, int] | None = None
        found: list[Rival] = []
        for other in merge(roster.above(mu), roster.below(mu), key=distance):
            if best is not None and _most_quality(distance(other), *variances) < best[0]:
                break
            quality = MODEL.quality(due.rating, other.rating)
            # Who is no better though they may never have met is not looked at further.
            if (best is not None and quality < best[0]) or not fits(other):
                continue
            value = quality * FORGETTING ** _times(chosen, other, met), -other.games
            if best is None or value > best:
                best, found = value, []
            if value == best:
                found.append(other)
        if found:
            return random.choice(sorted(found, key=lambda one: one.id))
    return None


NOISE = 2 * MODEL.beta**2
"""What is added to the variance of what is known of two, in a game between them."""


def _variances(roster: Roster, due: Rival) -> tuple[float, float]:
    """The least and the most that the variance of a game can be with anybody of a roster."""
    known = NOISE + due.rating.sigma**2
    return known + roster.least_sigma**2, known + roster.most_sigma**2


def _most_quality(distance: float, least: float, most: float) -> float:
    """The most that the quality of a match can be with anybody so far away in mu.

    By its derivative it grows with the variance of a game up to the distance's square.

    Args:
        least, most: between which that variance is.
    """
    total = min(max(distance**2, least), most)
    found = math.sqrt(NOISE / total) * math.exp(-(distance**2) / (2 * total))
    return found * (1 + ROUNDING)


def _least_met_of_the_nearest(
    roster: Roster,
    chosen: Sequence[Rival],
    met: Met,
    random: Random,
    is_near: Fits,
    comes: Fits,
) -> Rival | None:
    """The one least met among the k nearest of somebody placed."""
    mu = chosen[0].rating.mu
    # 1 - random() is in (0, 1], so that k is finite.
    k = min(math.ceil(NEAREST / (1 - random.random()) ** SPREAD), len(roster))
    for fits in (is_near, comes):
        above, below = (
            list(islice(filter(fits, side), k)) for side in (roster.above(mu), roster.below(mu))
        )
        # Half from either side; where one side is short the other makes up for it.
        near = above[: max(k // 2, k - len(below))]
        near += below[: max(k - len(near), 0)]
        if near:
            return min(
                near, key=lambda other: (_times(chosen, other, met), other.games, random.random())
            )
    return None
