"""How often strength tests are wrong, and how long they take: 2,000 simulated ones of each kind.

Bots are distributions of a match's score whose difference is known exactly, so the tests are
those of the product (`Sprt`, asked as it is in play) and only the games are drawn by lot:

- trinomial: single games, three in ten drawn;
- pentanomial: game pairs whose opening favours a seat, by about 100 Elo, so that the two games of
  a pair depend on each other; with few draws and with many;
- four seats: openings of four-handed games from all six seatings, scored as
  `arena.strength.sequential` scores them, with players whose performances are logistic and seats
  that an opening favours.

False positives are tests that pass while elo0 is true, false negatives tests that fail while elo1
is. Both may be 0.05, give or take what 2,000 tests can tell: one standard error is 0.0049.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from os import sched_getaffinity
from random import Random

from arena.ratings.elo import cell_scores, expected_score
from arena.ratings.sprt import Decision, Model, Sprt
from arena.strength.outcomes import meetings, seatings
from engine.games import GAMES
from tests.benchmarks.table import Table

TESTS = 2000
FEWER_BELOW_SECONDS = 20
"""The time below which there are fewer tests, in proportion: a smoke run."""
NEAR = 0.1
"""Within so much of a bound, or more, the LLR itself is asked for after every match."""
FOUR_SEATS = GAMES["blokus"].variant(mode="classic")
OPENING_ELO = 100.0
"""The standard deviation of what an opening is worth to the seat that it favours."""

Shares = tuple[float, ...]
"""How likely each score of a match is, from the worst to the best in equal steps."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Tests of one kind of match, with the hypotheses between which they decide."""

    name: str
    even: Shares
    """The shares between equal bots."""
    games: int
    """How many games a match has."""
    model: Model = "normalized"
    elo0: float = 0.0
    elo1: float = 10.0

    @property
    def sprt(self) -> Sprt:
        """The test as the product makes it."""
        return Sprt(self.elo0, self.elo1, model=self.model, games_per_match=self.games)

    def shares(self, elo: float) -> Shares:
        """The shares between bots of just this difference: even ones, every better score
        likelier."""

        def excess(shares: Shares) -> float:
            scores = cell_scores(len(shares))
            mean = sum(p * a for p, a in zip(shares, scores, strict=True))
            if self.model == "logistic":
                return mean - expected_score(elo)
            variance = sum(p * (a - mean) ** 2 for p, a in zip(shares, scores, strict=True))
            # By definition (M. Van den Bergh, Normalized Elo): 800 / ln 10 times how many
            # standard deviations of one game the mean lies above one half.
            t = elo * math.log(10) / 800 * math.sqrt(self.games)
            return mean - 0.5 - t * math.sqrt(variance)

        low, high = -5.0, 5.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(tilted(self.even, middle)) < 0 else (low, middle)
        return tilted(self.even, low)


def tilted(shares: Shares, by: float) -> Shares:
    """A distribution with each score more likely the better it is, by a factor of e ** by."""
    raised = [p * math.exp(by * a) for p, a in zip(shares, cell_scores(len(shares)), strict=True)]
    return tuple(p / sum(raised) for p in raised)


def pairs_of_games(draws: float) -> Shares:
    """Even bots' game pairs, with so many draws where the opening favours nobody."""
    cells = [0.0] * 5
    steps = 40
    for number in range(-3 * steps, 3 * steps + 1):
        z = number / steps
        weight = math.exp(-z * z / 2)
        ahead = expected_score(z * OPENING_ELO)
        # The draws shrink with the favour so that there is room for the score.
        drawn = draws * 4 * ahead * (1 - ahead)
        mine = {0: 1 - ahead - drawn / 2, 1: drawn, 2: ahead - drawn / 2}
        theirs = {score: mine[2 - score] for score in mine}
        for (one, p), (two, q) in product(mine.items(), theirs.items()):
            cells[one + two] += weight * p * q
    return tuple(share / sum(cells) for share in cells)


@cache
def four_seats(matches: int) -> Shares:
    """Even bots' matches of four seats, by so many random ones; both ways round, so it is even."""
    random = Random(4)
    count: Counter[int] = Counter()
    games = [meetings(FOUR_SEATS, holders) for holders in seatings(FOUR_SEATS)]
    most = 2 * sum(map(len, games))
    for _ in range(matches):
        favours = [random.gauss(0, OPENING_ELO) * math.log(10) / 400 for _ in range(4)]
        half_points = 0
        for met in games:
            # The difference of two such performances is logistic, which is Elo's formula.
            played = [favour - math.log(random.expovariate(1)) for favour in favours]
            half_points += sum(2 * (played[mine] > played[theirs]) for mine, theirs in met)
        count[half_points] += 1
        count[most - half_points] += 1
    return tuple((count[score] + 1e-9) / (2 * matches) for score in range(most + 1))


def run(seconds: float) -> Table:
    """2,000 tests of each kind at each truth, or a few for a smoke run."""
    tests = min(TESTS, max(20, round(seconds * 10)))
    if seconds >= FEWER_BELOW_SECONDS:
        tests = TESTS
    return table(kinds(matches=10 * tests), tests)


def kinds(*, elo0: float = 0.0, elo1: float = 10.0, matches: int = 20_000) -> list[Kind]:
    """The kinds that are told of."""
    return [
        Kind("trinomial", (0.35, 0.3, 0.35), 1, "normalized", elo0, elo1),
        Kind("pentanomial, 2 in 100 drawn", pairs_of_games(0.02), 2, "normalized", elo0, elo1),
        Kind("pentanomial, 6 in 10 drawn", pairs_of_games(0.6), 2, "normalized", elo0, elo1),
        Kind("pentanomial, logistic Elo", pairs_of_games(0.3), 2, "logistic", elo0, elo1),
        Kind("four seats", four_seats(matches), 6, "normalized", elo0, elo1),
    ]


def table(asked: Sequence[Kind], tests: int) -> Table:
    """The error rates and the mean lengths of so many tests of each kind at each truth."""
    columns = ("tests", "elo0, elo1", "false positives", "false negatives", "games at 0", "at 1")
    rows = []
    with ProcessPoolExecutor(len(sched_getaffinity(0))) as pool:
        series = [
            pool.map(_simulate, [kind] * tests, [elo] * tests, range(tests), chunksize=20)
            for kind in asked
            for elo in (kind.elo0, kind.elo1)
        ]
        for kind, zero, one in zip(asked, series[::2], series[1::2], strict=True):
            at0, at1 = list(zero), list(one)
            rows.append(
                (
                    kind.name,
                    f"{kind.elo0:g}, {kind.elo1:g}",
                    _rate(at0, Decision.ACCEPT),
                    _rate(at1, Decision.REJECT),
                    f"{sum(games for _, games in at0) / tests:,.0f}",
                    f"{sum(games for _, games in at1) / tests:,.0f}",
                )
            )
    return Table(f"Strength tests: {tests} simulated of each kind and truth", columns, rows)


def _rate(ends: Sequence[tuple[Decision, int]], wrong: Decision) -> str:
    rate = sum(decision is wrong for decision, _ in ends) / len(ends)
    return f"{rate:.4f} ± {1.96 * math.sqrt(rate * (1 - rate) / len(ends)):.4f}"


def _simulate(kind: Kind, elo: float, seed: int) -> tuple[Decision, int]:
    """One test to its end, and how many games it took."""
    shares = _shares(kind, elo)
    draw = lot(shares, Random(f"{kind.name} {elo} {seed}"))
    decision, counts = play(kind.sprt, draw, len(shares))
    return decision, sum(counts) * kind.games


def lot(shares: Shares, random: Random) -> Callable[[], int]:
    """Draws scores of matches, many at a time."""

    def endless() -> Iterator[int]:
        while True:
            yield from random.choices(range(len(shares)), shares, k=1000)

    return endless().__next__


@cache
def _shares(kind: Kind, elo: float) -> Shares:
    return kind.shares(elo)


def play(sprt: Sprt, draw: Callable[[], int], cells: int) -> tuple[Decision, list[int]]:
    """Plays a test to its end: what it decided, and its counts.

    The test is asked after every match after which it could decide. To know which those are, the
    LLR is followed by its usual approximation for many matches, which is quick, together with
    how far that was off when the LLR itself was last computed. What is off changes slowly, so
    the LLR is computed anew after every tenth part more matches, and always where it is NEAR a
    bound or past it.
    """
    counts = [0] * cells
    scores = cell_scores(cells)
    for _ in range(sprt.min_matches):
        counts[draw()] += 1
    played = sprt.min_matches
    points = sum(n * a for n, a in zip(counts, scores, strict=True))
    squares = sum(n * a * a for n, a in zip(counts, scores, strict=True))
    off, again, near = 0.0, 0, 0.0
    while True:
        quick = quick_llr(sprt, played, points, squares)
        if played >= again or not sprt.lower + near < quick + off < sprt.upper - near:
            decision = sprt.decide(counts)
            if decision is not Decision.CONTINUE:
                return decision, counts
            before, off = off, sprt.llr(counts) - quick
            again, near = played + 1 + played // 10, max(NEAR, 3 * abs(off - before))
        cell = draw()
        counts[cell] += 1
        played += 1
        points += scores[cell]
        squares += scores[cell] ** 2


def quick_llr(sprt: Sprt, played: int, points: float, squares: float) -> float:
    """The LLR as if the mean score were normal, with the variance that was seen."""
    mean = points / played
    variance = max(squares / played - mean * mean, 1e-6)
    if sprt.model == "logistic":
        low, high = expected_score(sprt.elo0), expected_score(sprt.elo1)
        return played * (high - low) * (mean - (low + high) / 2) / variance
    unit = math.log(10) / 800 * math.sqrt(sprt.games_per_match or 1)
    low, high = sprt.elo0 * unit, sprt.elo1 * unit
    return played * (high - low) * ((mean - 0.5) / math.sqrt(variance) - (low + high) / 2)
