"""How often a test passes that must not, if somebody who sees the results leaves a worker out.

Candidate and baseline differ by just elo0, so that one test in twenty may pass. Game pairs are
played by equally fast workers, of whom none is odd; each pair falls to one of them by lot.
Two people choose, by the results alone, whom to leave out:

- one looks once, after as many pairs as such a test takes in the middle, leaves out the worker
  without whom the candidate looks best, and lets the test go on;
- one looks after every pair, and leaves out a worker as soon as the test passes without.

Whoever is left out stays out. A test that is decided before is left alone, as the arena does.
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor
from os import sched_getaffinity
from random import Random
from statistics import median

from arena.ratings.elo import cell_scores
from arena.ratings.sprt import Decision, Sprt
from tests.benchmarks.bench_strength import Kind, lot, pairs_of_games, quick_llr
from tests.benchmarks.table import Table

TESTS = 2000
FEWER_BELOW_SECONDS = 20
WORKERS = (2, 4, 8, 16)
NEAR = 0.3
"""So far from a bound by the quick formula the LLR has not reached it: it was off by no more once
20 pairs were played."""
ELO1 = 40.0
"""What a test takes grows with the square of the distance of its two answers, and the chances
hardly depend on it."""


def run(seconds: float) -> Table:
    """Tests of each number of workers, or a few for a smoke run."""
    tests = TESTS if seconds >= FEWER_BELOW_SECONDS else max(20, round(seconds * 10))
    return table(tests)


def table(tests: int, elo1: float = ELO1) -> Table:
    """The share of tests that pass, of so many for each number of workers and each who looks."""
    kind = Kind("pentanomial", pairs_of_games(0.3), 2, elo1=elo1)
    columns = ("workers", "nobody looks", "once", "always", "tests")
    rows = []
    with ProcessPoolExecutor(len(sched_getaffinity(0))) as pool:
        plain = [*pool.map(_plain, [kind] * tests, range(tests), chunksize=20)]
        middle = round(median(pairs for _, pairs in plain))
        nobody = sum(passed for passed, _ in plain)
        for workers in WORKERS:
            ways = [
                sum(pool.map(_looked_at, *zip(*its, strict=True), chunksize=20))
                for its in (
                    [(kind, workers, seed, middle) for seed in range(tests)],
                    [(kind, workers, seed, 0) for seed in range(tests)],
                )
            ]
            rows.append((workers, *(_rate(one, tests) for one in (nobody, *ways)), tests))
    return Table("Strength tests of equals that pass if a worker is left out", columns, rows)


def _rate(passed: int, tests: int) -> str:
    rate = passed / tests
    return f"{rate:.4f} ± {1.96 * math.sqrt(rate * (1 - rate) / tests):.4f}"


class Played:
    """What was played so far, quickly asked."""

    def __init__(self, sprt: Sprt, cells: int) -> None:
        self.sprt, self.scores = sprt, cell_scores(cells)
        self.counts, self.pairs, self.points, self.squares = [0] * cells, 0, 0.0, 0.0

    def add(self, cell: int) -> None:
        """Counts a pair."""
        self.counts[cell] += 1
        self.pairs += 1
        self.points += self.scores[cell]
        self.squares += self.scores[cell] ** 2

    def without(self, other: Played) -> Played:
        """All but what another, which is a part of it, has."""
        rest = Played(self.sprt, len(self.scores))
        rest.counts = [a - b for a, b in zip(self.counts, other.counts, strict=True)]
        rest.pairs, rest.points = self.pairs - other.pairs, self.points - other.points
        rest.squares = self.squares - other.squares
        return rest

    def llr_about(self, other: Played | None = None) -> float:
        """The LLR by its quick formula, without a part that is named."""
        pairs, points, squares = self.pairs, self.points, self.squares
        if other is not None:
            pairs, points = pairs - other.pairs, points - other.points
            squares -= other.squares
        return quick_llr(self.sprt, pairs, points, squares) if pairs else 0.0

    def decide(self) -> Decision:
        """What the test says; it is asked itself only where it may say something."""
        if self.sprt.lower + NEAR < self.llr_about() < self.sprt.upper - NEAR:
            return Decision.CONTINUE
        return self.sprt.decide(self.counts)


def _plain(kind: Kind, seed: int) -> tuple[bool, int]:
    """Whether a test passes of which nobody leaves anything out, and after how many pairs."""
    sprt, shares = kind.sprt, kind.shares(kind.elo0)
    draw, played = lot(shares, Random(f"plain {seed}")), Played(sprt, len(shares))
    while True:
        played.add(draw())
        if played.pairs < sprt.min_matches:
            continue
        if (said := played.decide()) is not Decision.CONTINUE:
            return said is Decision.ACCEPT, played.pairs


def _looked_at(kind: Kind, workers: int, seed: int, once: int) -> bool:
    """Whether a test passes from which a worker is left out.

    Args:
        once: after how many pairs somebody looks; 0 is after every one.
    """
    sprt, shares = kind.sprt, kind.shares(kind.elo0)
    random = Random(f"looked at {workers} {seed} {once}")
    draw, cells = lot(shares, random), len(shares)
    whole, parts = Played(sprt, cells), [Played(sprt, cells) for _ in range(workers)]
    excluded: Played | None = None
    while True:
        cell, part = draw(), parts[int(random.random() * workers)]
        part.add(cell)
        if part is excluded:
            continue
        whole.add(cell)
        if whole.pairs < sprt.min_matches:
            continue
        if (said := whole.decide()) is not Decision.CONTINUE:
            return said is Decision.ACCEPT
        if excluded is None and (whole.pairs == once or not once):
            worst = max(parts, key=whole.llr_about)
            rest = whole.without(worst)
            if once:
                excluded, whole = worst, rest
            elif rest.pairs >= sprt.min_matches and rest.decide() is Decision.ACCEPT:
                return True
