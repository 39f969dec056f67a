"""How fast results become ratings, tests' decisions and final tables."""

from collections.abc import Callable
from itertools import combinations, cycle
from random import Random
from time import perf_counter

from arena.ratings import bradley_terry
from arena.ratings.book import RatingBook
from arena.ratings.elo import estimate
from arena.ratings.result import GameResult
from arena.ratings.sprt import Sprt
from arena.ratings.trueskill import TrueSkill
from tests.benchmarks.table import Table

BOTS = 50
PAIRS = [12, 180, 620, 230, 18]


def run(seconds: float) -> Table:
    """Calls a second of each step, measured for about so many seconds in all."""
    steps = {
        "rate a game of two seats": rating((0, 1)),
        "rate a game of one against two": rating((0, 1, 1)),
        "rate a game of two teams": rating((0, 1, 0, 1)),
        "rate a game of four seats": rating((0, 1, 2, 3)),
        "LLR, normalized Elo": lambda: Sprt(0, 5).llr(PAIRS),
        "LLR, logistic Elo": lambda: Sprt(0, 5, model="logistic").llr(PAIRS),
        "Elo with its interval": lambda: estimate(PAIRS),
        "Bradley-Terry, 12 bots, 264 games": table(12, 2),
        "Bradley-Terry, 50 bots, 4900 games": table(50, 2),
    }
    rows = []
    for name, step in steps.items():
        rate = calls_a_second(step, seconds / len(steps))
        rows.append((name, f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}", f"{1e6 / rate:,.0f}"))
    return Table("Ratings", ("step", "a second", "microseconds"), rows)


def calls_a_second(step: Callable[[], object], seconds: float) -> float:
    """How often a step runs in a second; it runs once at least."""
    calls, start = 0, perf_counter()
    while (spent := perf_counter() - start) < seconds or not calls:
        step()
        calls += 1
    return calls / spent


def results(sides: tuple[int, ...], games: int) -> list[GameResult[int]]:
    """Games between bots drawn by the lot, one in ten of them tied by all."""
    random, count = Random(len(sides)), max(sides) + 1
    drawn = []
    for _ in range(games):
        places = [1] * count if random.random() < 0.1 else random.sample(range(count), count)
        ranks = tuple(places[side] for side in sides)
        drawn.append(GameResult(tuple(random.sample(range(BOTS), len(sides))), sides, ranks))
    return drawn


def rating(sides: tuple[int, ...]) -> Callable[[], object]:
    """Rates one game after the other, as a rebuild does."""
    book, past = RatingBook[int](TrueSkill(0.1)), cycle(results(sides, 2000))
    return lambda: book.apply(next(past))


def table(bots: int, rounds: int) -> Callable[[], object]:
    """The final table of so many rounds, in each of which every pair meets twice."""
    random = Random(bots)
    games = [
        GameResult(pair, (0, 1), random.choice([(1, 2), (2, 1), (1, 1)]))
        for _ in range(2 * rounds)
        for pair in combinations(range(bots), 2)
    ]
    return lambda: bradley_terry.fit(games)
