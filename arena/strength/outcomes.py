"""What a match says of two bots that share out its places: candidate and baseline.

Who sits where. A match is one opening, played once from every seating that shares the places as
evenly as their number allows: with two entrants a game pair, with four the six ways of giving
two places to each, with three the three ways of giving the candidate one and the three of
giving it two. Every place is then held by either bot equally often, whatever a place is worth.

How it is scored. In each game every seat of the candidate meets every seat of the baseline that
is of another side (an entrant's several seats count as one); it gets 1 for the better rank and
1/2 for the same. The score of a match is the sum: for two entrants the five scores of a game
pair, for four entrants 24 meetings and 49 scores. The meetings of one match depend on each
other; as for game pairs, it is whole matches that are counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Protocol

from engine.game import Seat, Termination, Variant
from engine.record import Fault

CANDIDATE, BASELINE = 0, 1

Faults = Mapping[Termination, int]
"""How many a bot made, by kind."""


@cache
def seatings(variant: Variant) -> tuple[tuple[int, ...], ...]:
    """Who holds each entrant's place in each game of a match, in the order they are played."""
    count = max(variant.entrant_of) + 1
    return tuple(
        sorted(
            tuple(CANDIDATE if place in places else BASELINE for place in range(count))
            for share in {count // 2, count - count // 2}
            for places in combinations(range(count), share)
        )
    )


def meetings(variant: Variant, holders: Sequence[int]) -> list[tuple[Seat, Seat]]:
    """A seat of the candidate and one of the baseline, for all that meet in a game."""
    # An entrant with several seats holds them for one side, so any of them stands for it.
    seats = {entrant: seat for seat, entrant in enumerate(variant.entrant_of)}
    return [
        (seats[mine], seats[theirs])
        for mine, holder in enumerate(holders)
        for theirs, other in enumerate(holders)
        if (holder, other) == (CANDIDATE, BASELINE)
        and variant.side_of[seats[mine]] != variant.side_of[seats[theirs]]
    ]


@cache
def cells(variant: Variant) -> int:
    """How many scores a match can have: from 0, in halves, to its number of meetings."""
    return 1 + 2 * sum(len(meetings(variant, holders)) for holders in seatings(variant))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a match says of the two bots."""

    half_points: int
    """The candidate's, over all meetings."""
    wins: int
    """Games in which the candidate took more than half of the meetings."""
    draws: int
    losses: int
    faults: tuple[Faults, Faults]
    """The faults of candidate and baseline; resigning is none."""
    digest: str
    """SHA-256 over the games' own digests."""


def add_faults(one: Faults, other: Faults) -> dict[Termination, int]:
    """The faults of both, by kind."""
    return dict(Counter(one) + Counter(other))


def faults_json(faults: Faults) -> dict[str, int]:
    """Faults as JSON's types."""
    return {str(kind): count for kind, count in faults.items()}


class FinishedGame(Protocol):
    """A game that was played: a record, or what is stored of one."""

    @property
    def ranks(self) -> tuple[int, ...]: ...
    @property
    def faults(self) -> tuple[Fault, ...]: ...
    def digest(self) -> str: ...


def outcome(variant: Variant, records: Sequence[FinishedGame]) -> Outcome:
    """The outcome of a match from its games, which are in the order of `seatings`."""
    half_points = 0
    results: Counter[int] = Counter()
    faults: tuple[Counter[Termination], Counter[Termination]] = Counter(), Counter()
    digest = hashlib.sha256()
    for record, holders in zip(records, seatings(variant), strict=True):
        ahead = margin(variant, record, holders)
        half_points += len(meetings(variant, holders)) + ahead
        results[(ahead > 0) - (ahead < 0)] += 1
        for fault in record.faults:
            if fault.termination.is_failure:
                faults[holders[variant.entrant_of[fault.seat]]][fault.termination] += 1
        digest.update(record.digest().encode())
    return Outcome(half_points, results[1], results[0], results[-1], faults, digest.hexdigest())


def margin(variant: Variant, record: FinishedGame, holders: Sequence[int]) -> int:
    """How many meetings of a game the candidate won, less those that it lost."""
    return sum(
        (record.ranks[mine] < record.ranks[theirs]) - (record.ranks[mine] > record.ranks[theirs])
        for mine, theirs in meetings(variant, holders)
    )
