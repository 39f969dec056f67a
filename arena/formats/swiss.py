"""Swiss: in every round those meet who have about as many points and have not met before.

A round is a matching of least cost: a gap in points costs its square, two that are both due in
the same seat cost something, and among equals the upper half is to meet the lower half in
order. It is set when the round before is complete, and depends on the rounds before alone.

Two meet again only if no pairing does without. To be paired with who was withdrawn is to meet
nobody, as a bye is, and who has had that once is spared it like one it has met. In the first half
as many rounds as there are entrants there always is a pairing without (Dirac, 1952: a graph in
which everybody still has half of the others as possible opponents has a cycle through all, and so
a perfect matching).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2
from typing import ClassVar

from arena.formats.fixtures import EntrantNumber, Fixture, Result
from arena.formats.format import InTurn, OpenRound
from arena.formats.settings import FormatSetting
from engine.seeds import derive
from engine.translation import N_

NEAREST = 6
"""How many opponents of least cost are looked at for each entrant at first, and how many that
are nearest in the ranking."""

# Costs are whole numbers, for which the matching is exact. Each kind outweighs those below it.
REMATCH = 10**9
GAP = 10_000
"""The cost of a gap of one full win; that of others goes by its square."""
SEAT = (0, 60, 300, 10**6)
"""The cost of two that are due in the same seat, by the weaker claim."""
ORDER = 50
"""The cost of meeting somebody half a group away from whom one should."""


@dataclass(frozen=True, slots=True)
class Swiss(InTurn):
    """A number of rounds, each of which pairs the whole field; two seats.

    Of an odd field one sits out each round and is given the points of a win: who did so least
    often, of these who has least points, and of these the last by seeding. In a field of more
    than two rounds' opponents nobody sits first more than twice oftener than second, or the
    reverse, as long as there is another pairing without rematches.

    The seed draws who of the first pair sits first. Who has left comes last and sits out first.
    """

    name = "swiss"
    title = N_("Swiss")
    words = N_(
        "In each round those meet who have about as many points. A few rounds do for many bots."
    )
    settings: ClassVar = {
        "rounds": FormatSetting(
            N_("how many rounds"),
            lambda frame: ceil(log2(frame.size)),
            # Beyond these everybody has met everybody.
            most=lambda frame: frame.size - 1 + frame.size % 2,
        )
    }
    tie_breaks = ("buchholz", "sonneborn-berger", "head-to-head", "wins")

    def pair(self, open_round: OpenRound) -> Sequence[Fixture]:
        return _paired(self, open_round)


@lru_cache(maxsize=8)
def _paired(swiss: Swiss, open_round: OpenRound) -> tuple[Fixture, ...]:
    """The fixtures of a round among those who have none yet.

    Kept for a while, since whoever sets the fixtures of a round one by one asks for each.
    """
    number, entrants, past_results, free = open_round
    gone = [entrant for entrant, last in swiss.withdrawn.items() if last < number]
    past = _Standing(entrants, past_results, swiss, gone)
    ranking = past.ranked(free)
    swapped = derive(swiss.seed, "swiss") % 2
    fixtures = []
    for a, b in _pairs(past, ranking):
        claim, other = past.claim(ranking[a]), past.claim(ranking[b])
        if claim != other:
            first = claim > other
        elif claim:
            first = claim > 0
        else:
            first = a % 2 == swapped
        pair = (ranking[a], ranking[b])
        fixtures.append(Fixture(number, pair if first else pair[::-1]))
    return tuple(fixtures)


class _Standing:
    """What a pairing needs to know of the rounds before."""

    def __init__(
        self,
        entrants: Sequence[EntrantNumber],
        past: Sequence[Result],
        swiss: Swiss,
        withdrawn: Collection[EntrantNumber],
    ) -> None:
        self.points = dict.fromkeys(entrants, 0.0)
        self.games = games = swiss.games
        self.withdrawn = frozenset(withdrawn)
        self.seats: dict[EntrantNumber, list[int]] = {entrant: [] for entrant in entrants}
        """Round by round, 1 for the first seat and -1 for the second."""
        self._met: Counter[frozenset[EntrantNumber]] = Counter()
        self._unmet: Counter[EntrantNumber] = Counter()
        """How often each was paired with who had left."""
        for result in sorted(past, key=lambda result: result.fixture.round):
            (a, b), round_ = result.fixture.entrants, result.fixture.round
            for one, other in ((a, b), (b, a)):
                self._unmet[one] += swiss.withdrawn.get(other, round_) < round_
            self._met[frozenset((a, b))] += 1
            self.seats[a].append(1)
            self.seats[b].append(-1)
            for entrant, points in zip((a, b), result.points, strict=True):
                self.points[entrant] += points
        rounds = len({result.fixture.round for result in past})
        self.byes = {entrant: rounds - len(seats) for entrant, seats in self.seats.items()}
        for entrant, byes in self.byes.items():
            self.points[entrant] += byes * games
        for entrant in withdrawn:
            # Below everybody, so that they meet each other, or whoever would else sit out.
            self.points[entrant] = self.byes[entrant] = -1

    def met(self, one: EntrantNumber, other: EntrantNumber) -> int:
        """How often two have met; of who has left, how often the other has met nobody."""
        if self.withdrawn.isdisjoint((one, other)):
            return self._met[frozenset((one, other))]
        there = {one, other} - self.withdrawn
        return sum(self._unmet[entrant] + self.byes[entrant] for entrant in there)

    def ranked(self, entrants: Sequence[EntrantNumber]) -> list[EntrantNumber]:
        """The entrants by points, and those of equal points as they are seeded."""
        return sorted(entrants, key=lambda entrant: -self.points[entrant])

    def claim(self, entrant: EntrantNumber) -> int:
        """How strongly it is due in the first seat, or below 0 in the second; 3 is absolute.

        The degrees are those of FIDE's Dutch system, C.04.3 A.6.
        """
        seats = self.seats[entrant]
        balance = sum(seats)
        if abs(balance) > 1:
            return -3 if balance > 0 else 3
        if len(seats) > 1 and seats[-1] == seats[-2]:
            return -3 * seats[-1]
        if balance:
            return -2 * balance
        return -seats[-1] if seats else 0


Pair = tuple[int, int]
"""Places in a ranking, the better first."""


def _pairs(past: _Standing, ranking: Sequence[EntrantNumber]) -> list[Pair]:
    """Pairs of all, or of all but the one who sits out."""
    places = list(range(len(ranking)))
    if len(places) % 2 == 0:
        fresh = _matching(past, ranking, places)
        return fresh if fresh is not None else _rematches(past, ranking, places)
    fewest = min(past.byes[entrant] for entrant in ranking)
    outs = [place for place in reversed(places) if past.byes[ranking[place]] == fewest]
    for out in outs:
        fresh = _matching(past, ranking, [place for place in places if place != out])
        if fresh is not None:
            return fresh
    return _rematches(past, ranking, [place for place in places if place != outs[0]])


def _matching(
    past: _Standing, ranking: Sequence[EntrantNumber], places: Sequence[int]
) -> list[Pair] | None:
    """The cheapest pairs of those who have not met, or None if somebody would be left over.

    Most edges of a large field join those who will never be paired, so they are left out at
    first.
    """
    costs = _costs(past, ranking, places)
    fresh = {pair: cost for pair, cost in costs.items() if cost < REMATCH}
    found = _cheapest(_nearest(fresh, places), len(places))
    if found is None:
        found = _cheapest(fresh, len(places))
    return found


def _rematches(
    past: _Standing, ranking: Sequence[EntrantNumber], places: Sequence[int]
) -> list[Pair]:
    """The pairs with the fewest rematches."""
    found = _cheapest(_costs(past, ranking, places), len(places))
    assert found is not None, "an even number can be paired if anybody may meet anybody"
    return found


def _costs(
    past: _Standing, ranking: Sequence[EntrantNumber], places: Sequence[int]
) -> dict[Pair, int]:
    """What it costs to let two meet."""
    points = [past.points[entrant] / past.games for entrant in ranking]
    claims = [past.claim(entrant) for entrant in ranking]
    sizes = Counter(points[place] for place in places)
    costs = {}
    for i, a in enumerate(places):
        size = sizes[points[a]]
        for j in range(i + 1, len(places)):
            b = places[j]
            cost = REMATCH * past.met(ranking[a], ranking[b])
            if claims[a] * claims[b] > 0:
                cost += SEAT[min(abs(claims[a]), abs(claims[b]))]
            if points[a] == points[b]:
                cost += ORDER * 2 * abs(j - i - size // 2) // size
            else:
                cost += round(GAP * (points[a] - points[b]) ** 2)
            costs[a, b] = cost
    return costs


def _nearest(costs: dict[Pair, int], places: Sequence[int]) -> dict[Pair, int]:
    """Those pairs that are among the cheapest of one of the two, or next to each other.

    The cheapest are often all of the same points; an odd group needs ways to those below.
    """
    orders: list[Callable[[Pair], int]] = [costs.__getitem__, lambda pair: pair[1] - pair[0]]
    kept: dict[Pair, int] = {}
    for order in orders:
        taken = dict.fromkeys(places, 0)
        for pair in sorted(costs, key=order):
            a, b = pair
            if taken[a] < NEAREST or taken[b] < NEAREST:
                kept[pair] = costs[pair]
                taken[a] += 1
                taken[b] += 1
    return kept


def _cheapest(costs: dict[Pair, int], size: int) -> list[Pair] | None:
    """The perfect matching of least cost, in order; None if there is none."""
    # Its import takes as long as a pairing, and most programs that import this never pair.
    import networkx

    graph = networkx.Graph()
    graph.add_weighted_edges_from((a, b, -cost) for (a, b), cost in costs.items())
    matching = networkx.max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) < size:
        return None
    return sorted((min(pair), max(pair)) for pair in matching)
