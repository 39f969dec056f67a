"""Who stands where: points, tie-breaks by name, who beat whom, and strengths beside them.

Nothing here depends on the order of the results. Of more than two seats everybody in a game is
everybody else's opponent but its allies': whoever has more points of it has won against the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from arena.formats.fixtures import EntrantNumber, Result
from arena.formats.score import Score
from arena.ratings.bradley_terry import Strength, fit
from arena.ratings.result import GameResult
from engine.game import ranks_of
from engine.seeds import derive
from engine.translation import N_

DIGITS = 9
"""Decimals of points and tie-breaks. Thirds that were added up in another order differ in the
last binary digits, and who has as many points as another is not to be above it for that."""


def share(points: float, games: int) -> float:
    """Points a game; 0 without any."""
    return round(points / max(games, 1), DIGITS)


@dataclass(frozen=True, slots=True)
class Row:
    """An entrant's line in the standings."""

    place: int
    entrant: EntrantNumber
    points: float
    """Points from games and byes."""
    games: int
    unplayed: int
    """Games that were decided without being played: of byes, and of what was given or forfeited."""
    unplayed_points: float
    """How many of the points these are."""
    tie_breaks: tuple[float, ...]
    """The values of the tie-breaks asked for, in their order; the last one is the lot."""
    strength: Strength | None
    """The rating from its games alone; None as long as it has none."""

    @property
    def share(self) -> float:
        """Points a game, of all that were decided."""
        return share(self.points, self.games + self.unplayed)


class Table:
    """Results added up.

    Args:
        entrants: the field.
        results: byes among them, as a format's `byes` gives them.
        seed: of the lots.
        games: of the results, where several may be on a side; by default everybody is for itself.
        given: fixtures of a schedule that were decided without a game. Points count, one's own
            and in tie-breaks the opponent's, as if they had been played: so does FIDE's handbook
            (C.07) have it in round robins. In a Swiss, which pairs as it goes, they are byes.
    """

    def __init__(
        self,
        entrants: Sequence[EntrantNumber],
        results: Iterable[Result],
        *,
        seed: int = 0,
        games: Iterable[GameResult[EntrantNumber]] | None = None,
        given: Iterable[Result] = (),
    ) -> None:
        self.entrants = list(entrants)
        self.seed = seed
        # In one order, so that strengths and sums are the same to the last digit.
        played = sorted(
            (result for result in results if result.games),
            key=lambda r: (r.fixture.round, r.fixture.entrants, r.fixture.leg),
        )
        self.byes = [result for result in played if result.fixture.is_bye]
        self.results = [result for result in played if not result.fixture.is_bye]
        self.given = list(given)
        counted = [*played, *self.given]
        self.rounds = max((result.fixture.round for result in counted), default=0)
        self.points = dict.fromkeys(self.entrants, 0.0)
        self.games = dict.fromkeys(self.entrants, 0)
        self.unplayed = dict.fromkeys(self.entrants, 0)
        """Games that were decided without being played."""
        self.unplayed_points = dict.fromkeys(self.entrants, 0.0)
        for sums, those in (
            (self.points, counted),
            (self.unplayed_points, [*self.byes, *self.given]),
        ):
            for result in those:
                for entrant, points in zip(result.fixture.entrants, result.points, strict=True):
                    sums[entrant] += points
        self.points = {one: round(points, DIGITS) for one, points in self.points.items()}
        for count, those in (
            (self.games, self.results),
            (self.unplayed, [*self.byes, *self.given]),
        ):
            for result in those:
                for entrant in result.fixture.entrants:
                    count[entrant] += len(result.games)
        counts: dict[tuple[EntrantNumber, EntrantNumber], list[int]] = defaultdict(
            lambda: [0, 0, 0]
        )
        self.played = list(game_results(self.results) if games is None else games)
        """The games with their sides, from which strengths are estimated."""
        for game in self.played:
            # Who holds several seats holds them for one side.
            seats = zip(game.entrants, zip(game.sides, game.ranks, strict=True), strict=True)
            for (one, (side, mine)), (other, (its, theirs)) in permutations(dict(seats).items(), 2):
                if side != its:
                    counts[one, other][(mine >= theirs) + (mine > theirs)] += 1
        self.cells = {pair: Score(*count) for pair, count in counts.items()}
        """The scores by the entrant and its opponent; who never met has none, and allies do not
        meet."""

    def points_before(self, entrant: EntrantNumber, round_: int) -> float:
        """The points that an entrant had when a round began."""
        return sum(
            points
            for result in [*self.results, *self.byes, *self.given]
            if result.fixture.round < round_
            for one, points in zip(result.fixture.entrants, result.points, strict=True)
            if one == entrant
        )

    def shares(self) -> dict[EntrantNumber, float]:
        """Points a game, of all that were decided; 0 for who has none."""
        return {one: share(points, self.decided(one)) for one, points in self.points.items()}

    def decided(self, entrant: EntrantNumber) -> int:
        """An entrant's games, played or not."""
        return self.games[entrant] + self.unplayed[entrant]

    def points_as_opponent(self) -> dict[EntrantNumber, float]:
        """Points with byes counted as drawn: an opponent is none the better for having had one.

        So did FIDE's handbook of 2020, C.02 13.15.2.
        """
        points = dict(self.points)
        for bye in self.byes:
            points[bye.fixture.entrants[0]] += len(bye.games) / 2 - bye.points[0]
        return points

    def virtual_opponent(self, bye: Result) -> float:
        """The points of the opponent that is imagined in a bye, who draws ever after.

        It had as many points as the entrant when the round began, and what the bye left over of
        that round: FIDE's handbook of 2020, C.02 13.15.2.
        """
        (entrant,), games = bye.fixture.entrants, len(bye.games)
        before = self.points_before(entrant, bye.fixture.round)
        later = self.rounds - bye.fixture.round
        return before + games - bye.points[0] + games * later / 2


Levels = Sequence[Sequence[EntrantNumber]]
"""The field in groups of those who are level so far."""

TieBreak = Callable[[Table, Levels], Mapping[EntrantNumber, float]]
"""A value for everybody, of which in a group the higher comes first."""


def buchholz(table: Table, _: Levels) -> dict[EntrantNumber, float]:
    """The sum of the opponents' points, once for each fixture: FIDE's handbook, C.07 article 8."""
    worth = table.points_as_opponent()
    sums = dict.fromkeys(table.entrants, 0.0)
    for result in [*table.results, *table.given]:
        for one, other in permutations(result.fixture.entrants, 2):
            sums[one] += worth[other]
    for bye in table.byes:
        sums[bye.fixture.entrants[0]] += table.virtual_opponent(bye)
    return sums


def sonneborn_berger(table: Table, _: Levels) -> dict[EntrantNumber, float]:
    """The opponent's points for each game won, and half of them for each drawn one.

    FIDE's handbook, C.07 article 9; byes are games against the virtual opponent.
    """
    worth = table.points_as_opponent()
    sums = dict.fromkeys(table.entrants, 0.0)
    for (one, other), cell in table.cells.items():
        sums[one] += cell.points * worth[other]
    for result in table.given:
        scored = zip(result.fixture.entrants, result.points, strict=True)
        for (one, points), (other, _points) in permutations(scored, 2):
            sums[one] += points * worth[other]
    for bye in table.byes:
        sums[bye.fixture.entrants[0]] += bye.points[0] * table.virtual_opponent(bye)
    return sums


def head_to_head(table: Table, levels: Levels) -> dict[EntrantNumber, float]:
    """Points of the games in a group, if everybody in it has met everybody else.

    Otherwise the group stays level: FIDE's handbook, C.07 article 6. Where some have met oftener
    than others it is points a game.
    """
    values = dict.fromkeys(table.entrants, 0.0)
    for level in levels:
        pairs = list(permutations(level, 2))
        if pairs and all(pair in table.cells for pair in pairs):
            scores = dict.fromkeys(level, Score())
            for one, other in pairs:
                scores[one] += table.cells[one, other]
            alike = len({score.games for score in scores.values()}) == 1
            values |= {one: score.points if alike else score.share for one, score in scores.items()}
    return values


def wins(table: Table, _: Levels) -> dict[EntrantNumber, float]:
    """Games won, against all or with more seats against each opponent; byes are none."""
    sums = dict.fromkeys(table.entrants, 0.0)
    for (one, _opponent), cell in table.cells.items():
        sums[one] += cell.wins
    return sums


def lot(table: Table, _: Levels) -> dict[EntrantNumber, float]:
    """Drawn from the seed for each entrant, whoever else is level."""
    return {one: derive(table.seed, "lot", one) / 2**48 for one in table.entrants}


TIE_BREAKS: Mapping[str, TieBreak] = {
    "buchholz": buchholz,
    "sonneborn-berger": sonneborn_berger,
    "head-to-head": head_to_head,
    "wins": wins,
}
"""The tie-breaks that can be asked for; the lot always comes last."""
TIE_BREAK_WORDS: Mapping[str, str] = {
    "buchholz": "Buchholz",
    "sonneborn-berger": "Sonneborn-Berger",
    "head-to-head": N_("head to head"),
    "wins": N_("wins"),
}
"""What they are called where people read them."""
SUMS = (buchholz, sonneborn_berger, wins)
"""The tie-breaks that grow with the games that somebody has."""


def standings(
    table: Table,
    tie_breaks: Sequence[str] = (),
    *,
    by_share: bool = False,
) -> list[Row]:
    """The entrants in order, the first place first.

    Args:
        tie_breaks: names from `TIE_BREAKS`, the first one that differs counts.
        by_share: whether points a game decide, as where some have more games than others; what
            tie-breaks add up is then divided by the games, too. Games that somebody forfeited are
            among its own.
    """
    rules = [*(TIE_BREAKS[name] for name in tie_breaks), lot]
    first = table.shares() if by_share else table.points
    keys: dict[EntrantNumber, tuple[float, ...]] = {one: (first[one],) for one in table.entrants}
    for rule in rules:
        levels: dict[tuple[float, ...], list[EntrantNumber]] = defaultdict(list)
        for entrant, key in keys.items():
            levels[key].append(entrant)
        values = rule(table, list(levels.values()))
        if by_share and rule in SUMS:
            values = {one: share(value, table.decided(one)) for one, value in values.items()}
        keys = {one: (*key, round(values[one], DIGITS)) for one, key in keys.items()}
    strengths = fit(table.played)
    order = sorted(table.entrants, key=lambda one: keys[one], reverse=True)
    return [
        Row(
            place,
            one,
            table.points[one],
            table.games[one],
            table.unplayed[one],
            round(table.unplayed_points[one], DIGITS),
            keys[one][1:],
            strengths.get(one),
        )
        for place, one in enumerate(order, 1)
    ]


def crosstable(table: Table, order: Sequence[EntrantNumber]) -> list[list[Score | None]]:
    """The games of each entrant against each other, both in the given order.

    None where two have not met, and on the diagonal.
    """
    return [[table.cells.get((one, other)) for other in order] for one in order]


def game_results(results: Iterable[Result]) -> list[GameResult[EntrantNumber]]:
    """The games as ratings take them, everybody for itself."""
    return [
        GameResult(fixture.entrants, tuple(range(len(game))), ranks_of(game))
        for result in results
        if not (fixture := result.fixture).is_bye
        for game in result.games
    ]
