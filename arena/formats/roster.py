"""Who can be paired on a ladder, in the orders in which they are looked for, and who met whom.

A field of ten thousand is not gone through for each match: whoever changes takes another place in
each order, which is found by halving, and what is looked for stands at the front of one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from random import Random
from typing import Any, NamedTuple

from arena.ratings.trueskill import Rating

PLACEMENT_GAMES = 20
Had = Mapping[int, int]
"""The games that each person's bots had lately, and have due; none of who is not in it."""
NONE_HAD: Had = {}
CONVERGED_SIGMA = 1.0
"""A rating as firm as this has converged: 92 points to each side, on the scale that people see."""
CONVERGED_GAMES = 200
"""So has one of so many games: whoever always wins stays less certain for ever."""
Meetings = Iterable[tuple[int, int, int]]
"""The ids of two, and how many matches they have against each other; for any pairs of them."""


class Met:
    """How many matches every two entrants have, played and due, by their ids."""

    def __init__(
        self, meetings: Meetings = (), read: Callable[[int | None], Meetings] | None = None
    ) -> None:
        """Takes all meetings, or what reads them as they are asked for.

        Args:
            read: gives those of one, or of all for None; by default there are no others.
        """
        self._times: dict[int, dict[int, int]] = {}
        self._read = read
        self._known: set[int] = set()
        """Whose have been read; those of all once there is nothing to read with."""
        for one, other, matches in meetings:
            self.add(one, other, matches)

    def add(self, one: int, other: int, matches: int = 1) -> None:
        """Counts so many more matches of two."""
        self._add(one, other, matches)
        self._add(other, one, matches)

    def _add(self, one: int, other: int, matches: int) -> None:
        if matches:
            times = self._times.setdefault(one, {})
            times[other] = times.get(other, 0) + matches

    def _of(self, one: int) -> Mapping[int, int]:
        """Whom it has met, and how often."""
        if self._read is not None and one not in self._known:
            met = self._read(one)
            times = {second if first == one else first: matches for first, second, matches in met}
            due = self._times.get(one, _NOBODY)
            times.update((other, matches + times.get(other, 0)) for other, matches in due.items())
            self._times[one] = times
            self._known.add(one)
        return self._times.get(one, _NOBODY)

    def know_all(self) -> None:
        """Reads what is left, at once."""
        if self._read is not None:
            for one, other, matches in self._read(None):
                for first, second in ((one, other), (other, one)):
                    if first not in self._known:
                        self._add(first, second, matches)
            self._read = None

    def times(self, one: Rival, other: Rival) -> int:
        """How many matches these two have."""
        if other.id in self._known and one.id not in self._known:
            one, other = other, one
        return self._of(one.id).get(other.id, 0)

    def strangers(self, one: Rival, field: Set[int]) -> int:
        """How many others of a field it has not met."""
        return len(field) - 1 - len(field & self._of(one.id).keys())


_NOBODY: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)
class Rival:
    """An active entrant of a ladder."""

    id: int
    rating: Rating
    games: int
    """How many it had since it came or came back: finished, and due in matches that are not."""
    person: int = 0
    """Whose it is."""

    @property
    def in_placement(self) -> bool:
        """Whether too little is known of it for a place on the board."""
        return self.games < PLACEMENT_GAMES

    @property
    def is_converged(self) -> bool:
        """Whether more games would teach little of it."""
        return not self.in_placement and (
            self.rating.sigma <= CONVERGED_SIGMA or self.games >= CONVERGED_GAMES
        )


class _Turn(NamedTuple):
    """The place of a bot in the order in which its person's are due."""

    games: int
    certainty: float
    """Its sigma, negated: of as many games the less certain goes first."""
    id: int


class _Due(NamedTuple):
    """The place of the first of a person's bots in the order in which all are due."""

    had: int
    """How many matches its person had, less what a placement brings it forward."""
    turn: _Turn
    person: int
    in_placement: bool


class Roster:
    """The active entrants of a ladder, kept in order as they change."""

    def __init__(self, rivals: Iterable[Rival] = (), had: Had = NONE_HAD) -> None:
        """Takes in who is there.

        Args:
            had: by which people take turns; by default all entrants do.
        """
        self._rivals = {rival.id: rival for rival in rivals}
        self._had: Counter[int] = Counter(had)
        self._turns: dict[tuple[int, bool], list[_Turn]] = {}
        """Each person's bots in placement, and the others."""
        for rival in self._rivals.values():
            self._turns.setdefault((rival.person, rival.in_placement), []).append(_turn(rival))
        for its in self._turns.values():
            its.sort()
        self._due = sorted(self._due_of(person, young) for person, young in self._turns)
        by_mu: list[tuple[float, float]]
        by_mu = [(rival.rating.mu, rival.id) for rival in self._rivals.values()]
        self._up, self._down = sorted(by_mu), sorted((-mu, number) for mu, number in by_mu)
        self._uncertain = {one.id for one in self._rivals.values() if not one.is_converged}
        sigmas = [one.rating.sigma for one in self._rivals.values()]
        self.least_sigma, self.most_sigma = min(sigmas, default=inf), max(sigmas, default=0.0)
        """Nobody's is beyond these."""

    def __len__(self) -> int:
        return len(self._rivals)

    def __contains__(self, entrant: int) -> bool:
        return entrant in self._rivals

    def __getitem__(self, entrant: int) -> Rival:
        return self._rivals[entrant]

    def get(self, entrant: int) -> Rival | None:
        """An entrant; None if it is not there."""
        return self._rivals.get(entrant)

    @property
    def all(self) -> list[Rival]:
        """All rivals, by their ids."""
        return sorted(self._rivals.values(), key=attrgetter("id"))

    @property
    def had(self) -> Had:
        """The games that each person's bots had, by which people take turns."""
        return self._had

    @property
    def people(self) -> int:
        """How many have a bot there."""
        return len({person for person, _ in self._turns})

    @property
    def is_converged(self) -> bool:
        """Whether more games would teach little of anybody."""
        return not self._uncertain

    def draw(self, random: Random) -> Rival:
        """One of them, each as likely."""
        return self._rivals[int(random.choice(self._up)[1])]

    def put(self, rival: Rival) -> None:
        """Takes an entrant as it is now."""
        before = self._rivals.get(rival.id)
        if before == rival:
            return
        if before is not None:
            self.remove(rival.id)
        self._rivals[rival.id] = rival
        whose = rival.person, rival.in_placement
        self._leave(*whose)
        insort(self._turns.setdefault(whose, []), _turn(rival))
        self._come(*whose)
        insort(self._up, (rival.rating.mu, rival.id))
        insort(self._down, (-rival.rating.mu, rival.id))
        if not rival.is_converged:
            self._uncertain.add(rival.id)
        self.least_sigma = min(self.least_sigma, rival.rating.sigma)
        self.most_sigma = max(self.most_sigma, rival.rating.sigma)

    def remove(self, entrant: int) -> None:
        """Does without an entrant that is there."""
        rival = self._rivals.pop(entrant)
        whose = rival.person, rival.in_placement
        self._leave(*whose)
        _take(self._turns[whose], _turn(rival))
        if not self._turns[whose]:
            del self._turns[whose]
        self._come(*whose)
        _take(self._up, (rival.rating.mu, entrant))
        _take(self._down, (-rival.rating.mu, entrant))
        self._uncertain.discard(entrant)

    def set_had(self, person: int, games: int) -> None:
        """Takes it that a person's bots had so many games lately."""
        if games != self._had[person]:
            for young in (True, False):
                self._leave(person, young)
            self._had[person] = games
            for young in (True, False):
                self._come(person, young)

    def _leave(self, person: int, in_placement: bool) -> None:
        """Takes a person's bots out of the order of all, before the first of them changes."""
        if (person, in_placement) in self._turns:
            _take(self._due, self._due_of(person, in_placement))

    def _come(self, person: int, in_placement: bool) -> None:
        """Gives them their place in it."""
        if (person, in_placement) in self._turns:
            insort(self._due, self._due_of(person, in_placement))

    def _due_of(self, person: int, in_placement: bool) -> _Due:
        had = self._had[person] - (PLACEMENT_GAMES if in_placement else 0)
        return _Due(had, self._turns[person, in_placement][0], person, in_placement)

    def in_turn(self, among: Set[int] | None = None) -> Iterator[Rival]:
        """Entrants in the order in which they are due.

        Args:
            among: those that are looked for; by default all.
        """
        if among is None:
            first = self._rivals[self._due[0].turn.id]
            yield first
        rivals = self._rivals.values() if among is None else map(self._rivals.__getitem__, among)
        for rival in sorted(rivals, key=self._key):
            if among is not None or rival is not first:
                yield rival

    def _key(self, rival: Rival) -> tuple[int, _Turn]:
        before = PLACEMENT_GAMES if rival.in_placement else 0
        return self._had[rival.person] - before, _turn(rival)

    def above(self, mu: float) -> Iterator[Rival]:
        """Those of at least such a mu, the lowest first."""
        for place in range(bisect_left(self._up, (mu, -inf)), len(self._up)):
            yield self._rivals[int(self._up[place][1])]

    def below(self, mu: float) -> Iterator[Rival]:
        """Those of a lower mu, the highest first."""
        for place in range(bisect_right(self._down, (-mu, inf)), len(self._down)):
            yield self._rivals[int(self._down[place][1])]

    def fewest_games(self, person: int) -> int:
        """The fewest games that any bot has of somebody who has one there."""
        young = self._turns.get((person, True))
        # Who is in placement has had fewer than any other.
        return (young or self._turns[person, False])[0].games

    def of(self, person: int) -> Iterator[Rival]:
        """The bots of a person."""
        for young in (True, False):
            for turn in self._turns.get((person, young), ()):
                yield self._rivals[turn.id]

    def least_had(self, *, placed: bool = False) -> float:
        """The games that the bots of whoever had the fewest had; infinite if there is nobody.

        Args:
            placed: of those alone who have a bot that is placed.
        """
        if placed:
            return next((due.had for due in self._due if not due.in_placement), inf)
        # Behind the first who is placed only those in placement come who had more.
        first = self._had[self._due[0].person] if self._due else inf
        return min(first, self.least_had(placed=True))


def _turn(rival: Rival) -> _Turn:
    return _Turn(rival.games, -rival.rating.sigma, rival.id)


def _take(ordered: list[Any], one: Any) -> None:
    """Takes one out of a list in which it has its place."""
    del ordered[bisect_left(ordered, one)]
