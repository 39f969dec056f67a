"""The pairing of a ladder, against what it promises."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest

from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trueskill import Rating, TrueSkill
from arena.tournaments.ladder import Rival, next_match


def rival(number: int, *, mu: float = 25.0, sigma: float = 2.0, games: int = 100) -> Rival:
    return Rival(number, Rating(mu, sigma), games)


def pairs(rivals: list[Rival], met: dict[tuple[int, int], int], count: int = 400) -> Counter[int]:
    """How often each was in one of many first matches."""
    seen: Counter[int] = Counter()
    for seed in range(count):
        chosen = next_match(rivals, met, seats=2, random=Random(seed))
        assert chosen is not None
        seen.update(chosen)
    return seen


def test_too_few_rivals_make_no_match() -> None:
    """A match needs its seats filled."""
    assert next_match([], {}, seats=2, random=Random(0)) is None
    assert next_match([rival(1)], {}, seats=2, random=Random(0)) is None
    assert next_match([rival(1), rival(2), rival(3)], {}, seats=4, random=Random(0)) is None


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


@pytest.mark.parametrize("seats", [3, 4])
def test_more_seats_are_filled_by_different_rivals(seats: int) -> None:
    """Nobody sits twice in a match."""
    rivals = [rival(n, mu=20 + n, games=n) for n in range(9)]
    for seed in range(100):
        chosen = next_match(rivals, {}, seats=seats, random=Random(seed))
        assert chosen is not None
        assert len(set(chosen)) == seats


def test_without_rematches_all_meet_once_and_then_nobody() -> None:
    """Puzzles give the same result again, so each two meet once."""
    met: dict[tuple[int, int], int] = {}
    games: Counter[int] = Counter()
    random = Random(5)
    while True:
        rivals = [rival(n, games=games[n]) for n in range(7)]
        chosen = next_match(rivals, met, seats=2, random=random, rematches=False)
        if chosen is None:
            break
        a, b = sorted(chosen)
        assert (a, b) not in met
        met[a, b] = 1
        games.update(chosen)
    assert len(met) == 7 * 6 // 2


def test_the_same_dice_make_the_same_match() -> None:
    """Pairing is a function of its arguments."""
    rivals = [rival(n, mu=20 + n, games=30 + n % 3) for n in range(12)]
    first = [next_match(rivals, {}, seats=2, random=Random(s)) for s in range(50)]
    again = [next_match(rivals, {}, seats=2, random=Random(s)) for s in range(50)]
    assert first == again


def spearman(first: list[float], second: list[float]) -> float:
    """Spearman's rank correlation of two lists without ties."""
    places = []
    for values in (first, second):
        order = sorted(range(len(values)), key=values.__getitem__)
        places.append([order.index(n) for n in range(len(values))])
    distance = sum((a - b) ** 2 for a, b in zip(*places, strict=True))
    n = len(first)
    return 1 - 6 * distance / (n * (n**2 - 1))


def test_a_simulated_field_is_soon_in_order() -> None:
    """Forty bots of known strength: after thirty games each the board is nearly the truth."""
    correlations = []
    for seed in range(3):
        random = Random(seed)
        truth = [random.gauss(25, 8) for _ in range(40)]
        book: RatingBook[int] = RatingBook(TrueSkill(draw_probability=0.05))
        met: Counter[tuple[int, int]] = Counter()
        games: Counter[int] = Counter()
        while games.total() < 40 * 30:
            rivals = [Rival(n, book[n], games[n]) for n in range(40)]
            chosen = next_match(rivals, met, seats=2, random=random)
            assert chosen is not None
            met[min(chosen), max(chosen)] += 1
            for a, b in (chosen, chosen[::-1]):
                # TrueSkill's own model of a game: performances spread by beta.
                edge = 0.5 * (1 + math.erf((truth[a] - truth[b]) / (2 * 25 / 6)))
                ranks = (1, 2) if random.random() < edge else (2, 1)
                book.apply(GameResult((a, b), (0, 1), ranks))
                games.update((a, b))
        assert min(games.values()) >= 26
        assert max(games.values()) <= 38
        correlations.append(spearman(truth, [book[n].mu for n in range(40)]))
    assert sum(correlations) / 3 > 0.94
