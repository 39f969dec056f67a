"""The orders of a ladder's entrants, and that the quick pairing comes out like the plain one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from random import Random

import pytest

from arena.formats import ladder
from arena.formats.ladder import next_match
from arena.formats.roster import Met, Rival, Roster
from arena.ratings.trueskill import Rating
from tests.arena.formats import plain_ladder
from tests.arena.formats.plain_ladder import Times, plain_match

STATES, SEEDS = 80, 80


@dataclass(frozen=True, slots=True)
class State:
    """How a ladder stands."""

    rivals: list[Rival]
    met: Times
    had: dict[int, int]
    one_of: set[int] | None
    camps: list[int]
    """Who can meet: those of the same, or of the first, whom all can meet."""
    seats: int
    rematches: bool

    def can_meet(self, ids: Sequence[int]) -> bool:
        return len({self.camps[one] for one in ids} - {0}) <= 1


def some_state(dice: Random) -> State:
    """One of all kinds: few and many people, newcomers and others, who met all or nobody."""
    size = dice.randrange(2, 14)
    people = dice.choice([1, 3, size, 2 * size])
    games, spread = dice.choice([0, 5, 15, 19, 30, 150]), dice.choice([0, 3, 10])
    rivals = [
        Rival(
            number,
            Rating(dice.choice([25.0, dice.uniform(10, 40)]), dice.choice([8.3, 2.0, 0.9])),
            games + dice.randrange(spread + 1),
            dice.randrange(people),
        )
        for number in range(1, size + 1)
    ]
    share = dice.choice([0.2, 0.6, 0.95, 1])
    met = {
        frozenset(pair): dice.choice([1, 1, 2, 3])
        for pair in combinations(range(1, size + 1), 2)
        if dice.random() < share
    }
    had = {person: dice.choice([0, 2, 4, 8, 30]) for person in range(people)}
    seats = dice.choice([2, 2, 2, 3, 4])
    return State(
        rivals,
        met,
        had if dice.random() < 0.7 else {},
        {dice.randrange(1, size + 1) for _ in range(3)} if dice.random() < 0.3 else None,
        [dice.randrange(3) if dice.random() < 0.3 else 0 for _ in range(size + 1)],
        seats,
        seats > 2 or dice.random() < 0.8,
    )


def met_of(times: Times) -> Met:
    """Those who met, each read when it is asked for."""
    rows = [(*sorted(pair), matches) for pair, matches in times.items()]
    return Met(read=lambda one: [row for row in rows if one is None or one in row[:2]])


@pytest.mark.long
@pytest.mark.parametrize("share", [0.1, 0.8])
def test_the_quick_pairing_is_the_plain_one(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many states whom each chooses by many dice: as often, but for what chance explains.

    So it is, too, if many matches are between those who met least.

    The sum of squares is that of a chi-square test of two samples (Pearson), of which the degrees
    of freedom are the mean and twice them the variance; and what one never chooses the other
    doesn't either.
    """
    for module in (ladder, plain_ladder):
        monkeypatch.setattr(module, "LEAST_MET_SHARE", share)
    total, freedom = 0.0, 0
    for number in range(STATES):
        state = some_state(Random(number))
        quick, plain = Counter[object](), Counter[object]()
        for seed in range(SEEDS):
            found = next_match(
                Roster(state.rivals, state.had),
                met_of(state.met),
                seats=state.seats,
                random=Random(seed),
                rematches=state.rematches,
                one_of=state.one_of,
                can_meet=state.can_meet if any(state.camps) else None,
            )
            quick[found and frozenset(found)] += 1
            wanted = plain_match(
                state.rivals,
                state.met,
                state.had,
                seats=state.seats,
                random=Random(seed + SEEDS),
                rematches=state.rematches,
                one_of=state.one_of,
                can_meet=state.can_meet,
            )
            plain[wanted and frozenset(wanted)] += 1
        both = quick.keys() | plain.keys()
        assert all(quick[one] + plain[one] < 9 or quick[one] and plain[one] for one in both), number
        total += sum((quick[one] - plain[one]) ** 2 / (quick[one] + plain[one]) for one in both)
        freedom += len(both) - 1
    assert freedom > STATES
    assert total < freedom + 3 * (2 * freedom) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("people", [1, 4, 40])
def test_a_roster_that_is_kept_up_is_as_one_made_anew(people: int) -> None:
    """Whatever changes: who comes and goes, plays, gets another rating or owner, and had games."""
    dice = Random(people)
    roster, there, had = Roster(), dict[int, Rival](), Counter[int]()
    for _ in range(600):
        number, person = dice.randrange(1, 40), dice.randrange(people)
        match dice.randrange(4):
            case 0 if number in there:
                roster.remove(number)
                del there[number]
            case 1:
                had[person] += 2
                roster.set_had(person, had[person])
            case 2 if number in there:
                there[number] = replace(there[number], games=there[number].games + 2)
                roster.put(there[number])
            case _:
                rating = Rating(dice.choice([25.0, dice.gauss(25, 8)]), dice.uniform(0.8, 8))
                there[number] = Rival(number, rating, dice.randrange(30), person)
                roster.put(there[number])
        anew, mu = Roster(there.values(), had), dice.gauss(25, 8)
        assert roster.all == anew.all == sorted(there.values(), key=lambda one: one.id)
        assert len(roster) == len(there)
        assert roster.is_converged == all(one.is_converged for one in there.values())
        assert roster.people == len({one.person for one in there.values()})
        for placed in (True, False):
            its = [had[one.person] for one in there.values() if not (placed and one.in_placement)]
            assert roster.least_had(placed=placed) == min(its, default=inf)
        assert list(roster.above(mu)) == list(anew.above(mu))
        assert list(roster.below(mu)) == list(anew.below(mu))
        if there:
            assert list(roster.in_turn()) == list(anew.in_turn()) == list(anew.in_turn({*there}))
            assert roster.least_sigma <= min(one.rating.sigma for one in there.values())
            assert roster.most_sigma >= max(one.rating.sigma for one in there.values())
        for one in there.values():
            its = [other for other in there.values() if other.person == one.person]
            assert {other.id for other in roster.of(one.person)} == {other.id for other in its}
            assert roster.fewest_games(one.person) == min(other.games for other in its)
        assert (roster.get(number), number in roster) == (there.get(number), number in there)
    assert {roster.draw(dice) for _ in range(2000)} == set(there.values())


def test_meetings_are_read_once_for_each_that_is_asked_for() -> None:
    """And what is due counts beside them, whether it was added before or after."""
    rows, asked = [(1, 2, 3), (2, 3, 1)], list[int | None]()

    def read(one: int | None) -> list[tuple[int, int, int]]:
        asked.append(one)
        return [row for row in rows if one is None or one in row[:2]]

    first, second, third, fourth = (Rival(number, Rating(), 0) for number in range(1, 5))
    met = Met(read=read)
    met.add(1, 2)
    assert met.times(first, second) == met.times(second, first) == 4
    met.add(1, 3)
    assert [met.times(first, one) for one in (third, fourth)] == [1, 0]
    assert asked == [1]
    assert met.times(third, second) == 1
    assert asked == [1, 3]
    assert met.strangers(second, {1, 2, 3, 4}) == 1
    met.know_all()
    assert met.strangers(fourth, {1, 2, 3, 4}) == 3
    assert met.times(second, third) == 1
    assert met.times(first, second) == 4
    assert asked == [1, 3, 2, None]


def test_a_large_field_reads_of_few_whom_they_met() -> None:
    """It has two thousand, for a match between two: hardly more than these are read, never all."""
    dice, had = Random(1), Counter(dict.fromkeys(range(2000), 100))
    rivals = [
        Rival(
            number, Rating(dice.gauss(25, 8), dice.uniform(0.8, 3)), dice.choice([10, 100]), number
        )
        for number in range(2000)
    ]
    roster, asked = Roster(rivals, had), list[int | None]()

    def read(one: int | None) -> list[tuple[int, int, int]]:
        asked.append(one)
        return []

    for seed in range(50):
        assert next_match(roster, Met(read=read), seats=2, random=Random(seed))
    assert None not in asked
    assert len(asked) <= 60
