"""The pairing of a ladder, against what it promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from statistics import mean

import pytest

from arena.formats.ladder import next_match
from arena.formats.roster import Met, Rival, Roster
from arena.ratings.trueskill import Rating
from tests.arena.formats.fields import (
    by_the_ladder,
    by_the_lot,
    luck_of_the_luckiest,
    play_field,
)


def rival(number: int, *, mu: float = 25.0, sigma: float = 2.0, games: int = 100) -> Rival:
    return Rival(number, Rating(mu, sigma), games)


def met_by(times: dict[tuple[int, int], int]) -> Met:
    return Met((one, other, matches) for (one, other), matches in times.items())


def pairs(rivals: list[Rival], met: dict[tuple[int, int], int], count: int = 400) -> Counter[int]:
    """How often each was in one of many first matches."""
    seen: Counter[int] = Counter()
    for seed in range(count):
        chosen = next_match(Roster(rivals), met_by(met), seats=2, random=Random(seed))
        assert chosen is not None
        seen.update(chosen)
    return seen


def test_too_few_rivals_make_no_match() -> None:
    """A match needs its seats filled."""
    assert next_match(Roster(), Met(), seats=2, random=Random(0)) is None
    assert next_match(Roster([rival(1)]), Met(), seats=2, random=Random(0)) is None
    assert (
        next_match(Roster([rival(1), rival(2), rival(3)]), Met(), seats=4, random=Random(0)) is None
    )


def test_the_one_with_fewest_games_is_due() -> None:
    """It is in nearly every next match: all but those of the least-met pair."""
    rivals = [rival(n, games=100) for n in range(8)] + [rival(8, games=60)]
    assert pairs(rivals, {})[8] > 0.85 * 400


def test_of_equals_the_less_certain_is_due() -> None:
    """Among those with as many games, the larger sigma goes first."""
    rivals = [rival(n, sigma=1.0) for n in range(8)] + [rival(8, sigma=6.0)]
    assert pairs(rivals, {})[8] > 0.85 * 400


def test_in_placement_the_even_match_is_chosen_until_it_was_played_often() -> None:
    """The opponent nearest in mu, unless it was met so often that others teach more."""
    field = [rival(1, mu=25, games=5), rival(2, mu=26, games=5), rival(3, mu=35, games=5)]
    field[0] = rival(1, mu=25, games=2)
    assert pairs(field, {})[2] > 0.85 * 400
    assert pairs(field, {(1, 2): 12})[3] > 0.85 * 400


def test_in_placement_who_is_far_away_and_little_known_may_be_the_most_even() -> None:
    """So little is known of it that it may be as strong; its neighbour was met nine times."""
    far = Rival(3, Rating(45, 8.3), 5)
    field = [rival(1, sigma=1, games=2), rival(2, sigma=0.8, games=5), far]
    assert pairs(field, {(1, 2): 1})[2] > 0.85 * 400
    assert pairs(field, {(1, 2): 9})[3] > 0.85 * 400


def newcomers(*others: Rival) -> list[Rival]:
    """Number 0 with two games, and others."""
    return [rival(0, games=2), *others]


@pytest.mark.parametrize(
    ("field", "chosen"),
    [
        (newcomers(rival(1, games=5), rival(2, games=3), rival(3, games=5)), 2),
        (newcomers(rival(1, games=7), rival(2, mu=35, games=6), rival(3, games=100)), 2),
        (newcomers(rival(1, mu=35, games=9), rival(2, mu=26, games=99), rival(3, mu=33)), 2),
    ],
    ids=["of as even ones the one with fewest games", "nobody far ahead", "unless all of them are"],
)
def test_in_placement_games_count(field: list[Rival], chosen: int) -> None:
    """Whoever has five games more than the due one is left out while there are others."""
    assert pairs(field, {})[chosen] > 0.85 * 400


def converged_field(*mus: float) -> list[Rival]:
    """Number 0 in the middle and past its placement, and others of these ratings."""
    return [rival(0, games=30), *(rival(n, mu=mu, games=31) for n, mu in enumerate(mus, 1))]


AROUND = converged_field(25, 28, 31, 34, 37, 22, 19, 16, 13)
BELOW = converged_field(24, 23, 22, 21, 20, 19, 18, 17, 16)
ABOVE = converged_field(26, 27, 28, 29, 30, 31, 32, 33, 34)


@pytest.mark.parametrize(
    ("field", "chosen"),
    [(AROUND, 1), (AROUND, 3), (AROUND, 6), (AROUND, 8), (BELOW, 6), (ABOVE, 6)],
    ids=["equal", "third above", "next below", "third below", "sixth from top", "from the bottom"],
)
def test_after_it_the_least_met_of_the_nearest_is_chosen(field: list[Rival], chosen: int) -> None:
    """More than five are always near: three on either side, or six where one side has nobody."""
    met = {(0, other.id): 1 for other in field[1:] if other.id != chosen}
    assert pairs(field, met)[chosen] > 0.85 * 400


def test_sometimes_the_whole_field_is_near() -> None:
    """Whoever is far away and was never met is met at times."""
    met = {(0, other.id): 1 for other in AROUND[1:] if other.id != 5}
    assert 0.1 * 400 < pairs(AROUND, met)[5] < 0.6 * 400


def test_of_those_met_as_often_the_one_with_fewest_games_is_chosen() -> None:
    """After its placement, too."""
    field = converged_field(25, 28, 22, 24)
    field[2] = rival(2, mu=28, games=30)
    field[0] = rival(0, games=29)
    assert pairs(field, {})[2] > 0.85 * 400


OFTEN = {(0, other): 9 for other in range(1, 6)}
ALL_PAIRS = set(combinations(range(1, 6), 2))


@pytest.mark.parametrize(
    ("met", "least"),
    [
        ({}, ALL_PAIRS),
        ({(1, 2): 1, (3, 5): 2, (4, 5): 1}, ALL_PAIRS - {(1, 2), (3, 5), (4, 5)}),
        ({(1, 2): 0, (2, 77): 3, (66, 77): 1}, ALL_PAIRS),
        (dict.fromkeys(ALL_PAIRS, 2) | {(2, 4): 1, (1, 5): 1}, {(2, 4), (1, 5)}),
        (dict.fromkeys(ALL_PAIRS - {(3, 4)}, 1), {(3, 4)}),
    ],
    ids=["nobody met", "some met", "met whom it does not matter", "all met", "all but one pair"],
)
def test_one_match_in_ten_is_between_those_who_met_least(
    met: dict[tuple[int, int], int], least: set[tuple[int, int]]
) -> None:
    """All other matches are of the one that is due, number 0, which met everybody often."""
    rivals = [rival(0, games=10)] + [rival(number) for number in range(1, 6)]
    matches = [
        next_match(Roster(rivals), met_by(met | OFTEN), seats=2, random=Random(seed))
        for seed in range(1500)
    ]
    others = Counter(tuple(sorted(match)) for match in matches if match and 0 not in match)
    assert set(others) == least
    assert others.total() == pytest.approx(150, abs=50)
    assert max(others.values()) < 2.5 * others.total() / len(least)


@pytest.mark.parametrize("seats", [3, 4])
def test_more_seats_are_filled_by_different_rivals(seats: int) -> None:
    """Nobody sits twice in a match."""
    rivals = [rival(n, mu=20 + n, games=n) for n in range(9)]
    for seed in range(100):
        chosen = next_match(Roster(rivals), Met(), seats=seats, random=Random(seed))
        assert chosen is not None
        assert len(set(chosen)) == seats


def test_without_rematches_all_meet_once_and_then_nobody() -> None:
    """Puzzles give the same result again, so each two meet once."""
    met: dict[tuple[int, int], int] = {}
    games: Counter[int] = Counter()
    random = Random(5)
    while True:
        rivals = [rival(n, games=games[n]) for n in range(7)]
        chosen = next_match(Roster(rivals), met_by(met), seats=2, random=random, rematches=False)
        if chosen is None:
            break
        a, b = sorted(chosen)
        assert (a, b) not in met
        met[a, b] = 1
        games.update(chosen)
    assert len(met) == 7 * 6 // 2


@pytest.mark.parametrize(
    ("games", "met", "chosen"),
    [
        # Number 0 is due. Of those it has not met it meets the nearest.
        ({0: 2, 1: 3, 3: 3, 2: 3}, {(0, 1): 1}, (0, 2)),
        # It has met all; of the other pairs that one meets that has played the least.
        ({0: 1, 1: 10, 2: 20, 3: 6}, {(0, 1): 1, (0, 2): 1, (0, 3): 1}, (1, 3)),
        ({0: 1, 3: 25, 1: 10, 2: 20}, {(0, 1): 1, (0, 2): 1, (0, 3): 1}, (1, 2)),
        ({0: 1, 1: 10, 2: 20, 3: 6}, {(0, 1): 1, (0, 2): 1, (0, 3): 1, (1, 3): 1}, (2, 3)),
    ],
)
def test_who_meets_where_nobody_meets_again(
    games: dict[int, int], met: dict[tuple[int, int], int], chosen: tuple[int, int]
) -> None:
    """As elsewhere, among those who have not met: all but one match in ten."""
    rivals = [rival(number, mu=25 + 6 * number, games=its) for number, its in games.items()]
    matches = Counter[tuple[int, ...] | None]()
    for seed in range(400):
        match = next_match(
            Roster(rivals), met_by(met), seats=2, random=Random(seed), rematches=False
        )
        matches[match and tuple(sorted(match))] += 1
    assert matches[chosen] > 0.85 * 400
    assert not matches.keys() & {None, *met}


def test_the_same_dice_make_the_same_match() -> None:
    """Pairing is a function of its arguments."""
    rivals = [rival(n, mu=20 + n, games=30 + n % 3) for n in range(12)]
    first = [next_match(Roster(rivals), Met(), seats=2, random=Random(s)) for s in range(50)]
    again = [next_match(Roster(rivals), Met(), seats=2, random=Random(s)) for s in range(50)]
    assert first == again


@pytest.mark.long
def test_a_simulated_field_is_soon_in_order() -> None:
    """Forty bots of known strength: after thirty games each the board is nearly the truth.

    Better than by the lot, and with as many games for everyone; `make bench` plays more fields.
    """
    ladder = [play_field(by_the_ladder, seed) for seed in range(16)]
    lot = [play_field(by_the_lot, seed) for seed in range(4)]
    assert min(field.fewest for field in ladder) >= 28
    assert max(field.most for field in ladder) <= 36
    assert mean(field.correlation for field in ladder) > 0.96
    assert mean(field.correlation for field in ladder) > mean(f.correlation for f in lot)


@pytest.mark.parametrize("seats", [3, 4])
def test_with_more_seats_everyone_meets_everyone_as_often(seats: int) -> None:
    """Nobody is left out, in games or in opponents; each match is played from all its seats."""
    random = Random(seats)
    met: Counter[tuple[int, int]] = Counter()
    games: Counter[int] = Counter()
    for _ in range(240):
        rivals = [rival(n, games=games[n]) for n in range(12)]
        chosen = next_match(Roster(rivals), met_by(met), seats=seats, random=random)
        assert chosen is not None
        games.update(dict.fromkeys(chosen, seats))
        met.update((min(pair), max(pair)) for pair in combinations(chosen, 2))
    assert max(games.values()) - min(games.values()) <= 2 * seats
    mean_met = met.total() / 66
    assert 0.5 * mean_met < min(met[pair] for pair in combinations(range(12), 2))
    assert max(met.values()) < 2 * mean_met


@pytest.mark.parametrize(
    ("rivals", "converged"),
    [
        ([], True),
        ([rival(1, sigma=1.0), rival(2, sigma=0.8)], True),
        ([rival(1, sigma=1.0), rival(2, sigma=1.01)], False),
        ([rival(1, sigma=1.0), rival(2, sigma=3.0, games=200)], True),
        ([rival(1, sigma=1.0), rival(2, sigma=0.9, games=19)], False),
    ],
    ids=["nobody", "firm", "one is not", "one that never will be", "a newcomer"],
)
def test_when_all_is_known(rivals: list[Rival], converged: bool) -> None:
    """A ladder rests when every rating is firm, or as firm as it gets."""
    assert Roster(rivals).is_converged is converged


def test_who_comes_back_leaves_its_luck_behind() -> None:
    """Of fourteen equal bots the luckiest is chosen. The highest of fourteen normal deviates is
    1.70 above the mean (Harter, Expected values of normal order statistics, 1961), and a converged
    rating deviates by 47 points: when it has played again nothing is left of that.
    """
    both = [luck_of_the_luckiest(seed, bots=14) for seed in range(12)]
    before, after = (mean(luck) for luck in zip(*both, strict=True))
    assert 50 < before < 1.70 * 47 * 1.3
    assert abs(after) < before / 3


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("rematches", [True, False])
def test_who_can_not_meet_does_not(seats: int, rematches: bool) -> None:
    """Of two camps nobody meets the other; whoever has no match of its camp is passed over."""
    rivals = [rival(number, games=number) for number in range(1, 9)]
    rivals.append(rival(100, games=0))
    camps = {one.id: one.id % 2 for one in rivals} | {100: 2}

    def can_meet(ids: Sequence[int]) -> bool:
        return len({camps[one] for one in ids}) == 1

    seen: set[int] = set()
    for seed in range(200):
        chosen = next_match(
            Roster(rivals),
            Met(),
            seats=seats,
            random=Random(seed),
            rematches=rematches,
            can_meet=can_meet,
        )
        assert chosen
        assert can_meet(chosen)
        seen.update(chosen)
    assert 100 not in seen
    alone = [one for one in rivals if one.id in (1, 2, 100)]
    for seed in range(40):
        assert (
            next_match(Roster(alone), Met(), seats=2, random=Random(seed), can_meet=can_meet)
            is None
        )
