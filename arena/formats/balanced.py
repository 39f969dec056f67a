"""Games of three and four seats: who sits with whom, and where.

In each round the field is dealt to tables at random and then improved: two entrants of different
tables change places as long as that evens out how often everybody has met everybody. Later
passes over all rounds do the same with hindsight. Nothing depends on results.

Seats come last, and exactly. Each entrant's fixtures are cut into blocks of as many as there are
seats; then every block and every table has at most that many fixtures or entrants, and so the
seats can be given out like the colours of the edges of a bipartite graph (Kőnig, 1916), no block
and no table having a colour twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import ClassVar, Self

from arena.formats.fixtures import EntrantNumber, Fixture, check_field
from arena.formats.format import AtOnce
from arena.formats.settings import FormatSetting, FormatSettings, Frame
from engine.seeds import derive
from engine.translation import N_

DEALS = 200
"""How many random entrants' worth of deals a round is chosen from."""
PASSES = 20
"""How often the whole schedule is gone over at most."""

LARGE_FIELD = 40
"""The largest field whose rounds are sought at length: in a larger one so many pairs meet that it
takes long to find the rounds for the last few."""

Tables = list[list[int]]
"""The tables of one round: the places in the field of those who sit together."""


@dataclass(frozen=True, slots=True)
class Balanced(AtOnce):
    """A number of rounds in which everybody plays, but for those left over.

    Those sit out who have done so least often. Everybody meets everybody about as often, and of
    any of its first fixtures sits in each seat as often as in any other, give or take one.
    """

    name = "balanced"
    title = N_("Balanced schedule")
    words = N_("For three or four at a board: everybody meets everybody about equally often.")
    settings: ClassVar = {
        "rounds": FormatSetting(
            N_("how many rounds"),
            lambda frame: rounds_until_met(frame.size, frame.seats, frame.seed),
            most=1000,
        )
    }
    for_seats = range(3, 5)
    tie_breaks = ("head-to-head", "wins")
    by_share = True

    seats: int
    rounds: int
    seed: int = 0

    @classmethod
    def build(cls, frame: Frame, settings: FormatSettings) -> Self:
        return cls(frame.seats, settings["rounds"], frame.seed)

    def schedule(self, entrants: Sequence[EntrantNumber]) -> list[Fixture]:
        check_field(entrants, least=self.seats)
        return [
            Fixture(number, tuple(entrants[place] for place in table))
            for number, tables in enumerate(
                schedule(len(entrants), self.seats, self.rounds, self.seed), 1
            )
            for table in tables
        ]

    def planned(self, size: int) -> int:
        return self.rounds * (size // self.seats)


def rounds_to_meet(size: int, seats: int, times: int = 1) -> int:
    """The fewest rounds that have enough places for everybody to meet everybody so many times."""
    pairs = times * size * (size - 1) // 2
    met = (size // seats) * (seats * (seats - 1) // 2)
    return -(-pairs // met)


def rounds_until_met(size: int, seats: int, seed: int) -> int:
    """The fewest rounds of this schedule in which everybody meets everybody.

    Few fields come out with nobody met twice, so it is mostly more than `rounds_to_meet`, which
    is what a large field has: there all but a few meet.
    """
    rounds = rounds_to_meet(size, seats)
    while size <= LARGE_FIELD and not _all_meet(schedule(size, seats, rounds, seed), size):
        rounds += 1
    return rounds


def _all_meet(tables_by_round: Iterable[Iterable[Sequence[int]]], size: int) -> bool:
    met = {
        frozenset(pair)
        for tables in tables_by_round
        for table in tables
        for pair in combinations(table, 2)
    }
    return len(met) == size * (size - 1) // 2


@lru_cache(maxsize=32)
def schedule(
    size: int, seats: int, rounds: int, seed: int
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The tables of each round, each with the places in the field seat by seat."""
    random = Random(derive(seed, "schedule", size, seats, rounds))
    met = [[0] * size for _ in range(size)]
    played = [0] * size
    dealt: list[Tables] = []
    for _ in range(rounds):
        deals = [_dealt(played, seats, random) for _ in range(1 + DEALS // size)]
        for tables in deals:
            _improve(tables, met)
        best = min(deals, key=lambda tables: _meetings(tables, met))
        _count(best, met, 1)
        for place in (place for table in best for place in table):
            played[place] += 1
        dealt.append(best)
    for _ in range(PASSES):
        changed = False
        for tables in dealt:
            _count(tables, met, -1)
            changed |= _improve(tables, met)
            _count(tables, met, 1)
        if not changed:
            break
    return _seated(dealt, seats)


def _dealt(played: list[int], seats: int, random: Random) -> Tables:
    """Random tables of those who have played least."""
    places = list(range(len(played)))
    random.shuffle(places)
    places.sort(key=played.__getitem__)
    seated = places[: len(places) // seats * seats]
    random.shuffle(seated)
    return [seated[start : start + seats] for start in range(0, len(seated), seats)]


def _meetings(tables: Tables, met: list[list[int]]) -> int:
    """How often those at a table have met before, in all."""
    return sum(met[a][b] for table in tables for a, b in combinations(table, 2))


def _count(tables: Tables, met: list[list[int]], times: int) -> None:
    for table in tables:
        for a, b in combinations(table, 2):
            met[a][b] += times
            met[b][a] += times


def _improve(tables: Tables, met: list[list[int]]) -> bool:
    """Swaps entrants of a round as long as the sum of squared meetings falls.

    A meeting more adds 2 m + 1 to m squared, so what counts is how often those at a table have
    met in the other rounds.
    """
    changed = False
    better = True
    while better:
        better = False
        for one, other in combinations(tables, 2):
            for i, a in enumerate(one):
                met_a = met[a]
                for j, b in enumerate(other):
                    met_b = met[b]
                    gain = 2 * met_a[b]
                    for place in one:
                        gain += met_a[place] - met_b[place]
                    for place in other:
                        gain += met_b[place] - met_a[place]
                    if gain > 0:
                        one[i], other[j] = b, a
                        a, met_a = b, met_b
                        better = changed = True
    return changed


Block = tuple[int, int]
"""An entrant and the number of a run of its fixtures, of as many as there are seats."""


def _seated(dealt: Sequence[Tables], seats: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Tables in the order of seats."""
    at_block: dict[Block, dict[int, dict[int, Block]]] = {}
    """The table for each block, itself a map from seats to blocks, where it has a seat."""
    played: Counter[int] = Counter()
    rounds = []
    for tables in dealt:
        seated: list[dict[int, Block]] = []
        for places in tables:
            table: dict[int, Block] = {}
            for place in places:
                block = (place, played[place] // seats)
                played[place] += 1
                _take_seat(table, block, at_block, seats)
            seated.append(table)
        rounds.append(seated)
    return tuple(
        tuple(tuple(table[seat][0] for seat in range(seats)) for table in tables)
        for tables in rounds
    )


def _take_seat(
    table: dict[int, Block],
    block: Block,
    at_block: dict[Block, dict[int, dict[int, Block]]],
    seats: int,
) -> None:
    """Gives a block a seat at a table that neither has yet.

    If they have none in common, two seats are exchanged all along the path that starts at the
    block with the table's free one. It never comes to the table, which it could only enter by
    that seat.
    """
    mine = at_block.setdefault(block, {})
    free = next(seat for seat in range(seats) if seat not in table)
    other = next(seat for seat in range(seats) if seat not in mine)
    path = []
    here: Block | None = block if free != other else None
    while here is not None and free in at_block[here]:
        across = at_block[here][free]
        path.append((across, here, free, other))
        here = across.get(other)
        if here is not None:
            path.append((across, here, other, free))
    for across, one, old, _ in path:
        del across[old], at_block[one][old]
    for across, one, _, new in path:
        across[new] = one
        at_block[one][new] = across
    table[free] = block
    mine[free] = table
