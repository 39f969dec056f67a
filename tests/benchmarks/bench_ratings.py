"""How fast results become ratings, tests' decisions and final tables.

All take turns in several rounds, and of each the best one counts. The package `trueskill` rates
the same games, and so does `openskill` where it is installed.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations, cycle
from random import Random
from time import process_time

from arena.ratings import bradley_terry
from arena.ratings.book import RatingBook
from arena.ratings.elo import estimate
from arena.ratings.result import GameResult
from arena.ratings.sprt import Sprt
from arena.ratings.trueskill import Rating, TrueSkill
from tests.benchmarks.table import Table

BOTS = 50
PAIRS = [12, 180, 620, 230, 18]
ROUNDS = 5


def run(seconds: float) -> Table:
    """Calls a second of each step, measured for about so many seconds in all."""
    steps: dict[str, Callable[[], object]] = {
        "rate a game of two seats": rating((0, 1)),
        "update two ratings, no more": duel(),
        "the package trueskill, the same": trueskill_package(),
        "rate a game of one against two": rating((0, 1, 1)),
        "rate a game of two teams": rating((0, 1, 0, 1)),
        "rate a game of four seats": rating((0, 1, 2, 3)),
        "LLR, normalized Elo": lambda: Sprt(0, 5).llr(PAIRS),
        "LLR, logistic Elo": lambda: Sprt(0, 5, model="logistic").llr(PAIRS),
        "Elo with its interval": lambda: estimate(PAIRS),
        "Bradley-Terry, 12 bots, 264 games": table(12, 2),
        "Bradley-Terry, 50 bots, 4900 games": table(50, 2),
    }
    if find_spec("openskill"):
        steps["openskill, two seats"] = openskill_package()
    best = dict.fromkeys(steps, 0.0)
    for _ in range(ROUNDS):
        for name, step in steps.items():
            best[name] = max(best[name], calls_a_second(step, seconds / len(steps) / ROUNDS))
    rows = [
        (name, f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}", f"{1e6 / rate:,.1f}")
        for name, rate in best.items()
    ]
    return Table("Ratings", ("step", "a second", "µs of CPU time"), rows)


def calls_a_second(step: Callable[[], object], seconds: float) -> float:
    """How often a step runs in a second of CPU time; it runs once at least."""
    calls, batch, start = 0, 1, process_time()
    while (spent := process_time() - start) < seconds or not calls:
        # The clock is read seldom beside a step of a microsecond.
        for _ in range(batch):
            step()
        calls += batch
        batch = min(2 * batch, 1000) if spent < seconds / 10 else batch
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


def duel() -> Callable[[], object]:
    """A game's arithmetic alone."""
    model, one, two = TrueSkill(0.1), Rating(26, 4), Rating(24, 3)
    return lambda: model.duel(one, two, 1, 2)


def trueskill_package() -> Callable[[], object]:
    """The same by the package, with the settings that it has by itself."""
    package = import_module("trueskill")
    model = package.TrueSkill(draw_probability=0.1)
    one, two = model.create_rating(26, 4), model.create_rating(24, 3)
    return lambda: package.rate_1vs1(one, two, env=model)


def openskill_package() -> Callable[[], object]:
    """A game of two by the package openskill, its quickest model."""
    model = import_module("openskill.models").BradleyTerryFull()
    one, two = model.rating(26, 4), model.rating(24, 3)
    return lambda: model.rate([[one], [two]])


def table(bots: int, rounds: int) -> Callable[[], object]:
    """The final table of so many rounds, in each of which every pair meets twice."""
    random = Random(bots)
    games = [
        GameResult(pair, (0, 1), random.choice([(1, 2), (2, 1), (1, 1)]))
        for _ in range(2 * rounds)
        for pair in combinations(range(bots), 2)
    ]
    return lambda: bradley_terry.fit(games)
