"""A ladder of bots of known strengths, played out in no time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from arena.formats.ladder import next_match
from arena.formats.roster import NONE_HAD, Had, Met, Rival, Roster
from arena.ratings.book import RatingBook
from arena.ratings.result import GameResult
from arena.ratings.trueskill import MU, SIGMA, Rating, TrueSkill

Pairing = Callable[[Sequence[Rival], Met, Random, Had], tuple[int, ...]]


def by_the_ladder(
    rivals: Sequence[Rival], met: Met, random: Random, had: Had = NONE_HAD
) -> tuple[int, ...]:
    """Two that the ladder pairs."""
    chosen = next_match(Roster(rivals, had), met, seats=2, random=random)
    assert chosen is not None
    return chosen


def by_the_lot(rivals: Sequence[Rival], _met: Met, random: Random, _had: Had) -> tuple[int, ...]:
    """Any two."""
    return tuple(rival.id for rival in random.sample(rivals, 2))


@dataclass(frozen=True, slots=True)
class Field:
    """What came of it."""

    correlation: float
    """Spearman's, of the board with the true strengths."""
    fewest: int
    most: int
    """Games of a bot."""
    of_those_with_one: float
    """The correlation for those alone whose person has no other bot."""
    by_person: Had


def play_field(
    pairing: Pairing, seed: int, *, bots: int = 40, games: int = 30, people: Sequence[int] = ()
) -> Field:
    """A ladder on which each bot has so many games in the mean, two a match.

    Args:
        people: whose each bot is, by number; by default everybody has one.

    Strengths are as spread as TrueSkill believes of new bots, and a game goes by its own model:
    performances spread by beta.
    """
    random = Random(seed)
    truth = [random.gauss(MU, SIGMA) for _ in range(bots)]
    book = RatingBook[int](TrueSkill(draw_probability=0.05))
    met = Met()
    people = people or range(bots)
    played, had = Counter[int](), Counter[int]()
    while played.total() < bots * games:
        rivals = [Rival(n, book[n], played[n], person) for n, person in enumerate(people)]
        one, other = pairing(rivals, met, random, had)
        met.add(one, other)
        for a, b in ((one, other), (other, one)):
            wins = 0.5 * (1 + math.erf((truth[a] - truth[b]) / SIGMA))
            ranks = (1, 2) if random.random() < wins else (2, 1)
            book.apply(GameResult((a, b), (0, 1), ranks))
            played.update((a, b))
        had.update((people[one], people[other]) * 2)
    board = [book[n].conservative for n in range(bots)]
    alone = [n for n in range(bots) if list(people).count(people[n]) == 1]
    return Field(
        spearman(truth, board),
        min(played.values()),
        max(played.values()),
        spearman([truth[n] for n in alone], [board[n] for n in alone]),
        had,
    )


def luck_of_the_luckiest(seed: int, *, bots: int) -> tuple[float, float]:
    """Of equal bots that played until all was known, how far the first is above the truth; and how
    far once it has come back as `arena.bots.submissions.enter` has it, and all is known again.

    Both in points as people see them.
    """
    random, met, book = Random(seed), Met(), RatingBook[int](TrueSkill(draw_probability=0.05))
    played = dict.fromkeys(range(bots), 0)

    def play_on() -> None:
        while True:
            rivals = [Rival(n, book[n], played[n]) for n in range(bots)]
            if Roster(rivals).is_converged:
                return
            one, other = by_the_ladder(rivals, met, random)
            met.add(one, other)
            for _ in range(2):
                book.apply(GameResult((one, other), (0, 1), random.choice([(1, 2), (2, 1)])))
            played[one] += 2
            played[other] += 2

    play_on()
    first = max(range(bots), key=lambda n: book[n].mu)
    mean = sum(book[n].mu for n in range(bots)) / bots
    before = book[first].display - Rating(mean).display
    book.come_back(first)
    played[first] = 0
    play_on()
    mean = sum(book[n].mu for n in range(bots)) / bots
    return before, book[first].display - Rating(mean).display


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's rank correlation of two lists without ties."""
    places = []
    for values in (first, second):
        order = sorted(range(len(values)), key=values.__getitem__)
        place = [0] * len(values)
        for rank, number in enumerate(order):
            place[number] = rank
        places.append(place)
    distance = sum((a - b) ** 2 for a, b in zip(*places, strict=True))
    n = len(first)
    return 1 - 6 * distance / (n * (n * n - 1))
