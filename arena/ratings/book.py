"""A ladder's ratings: a fold over the results of its games, in the order of their completion.

A RatingBook holds nothing but the ratings after the games so far, so it can be made anew from
the past at any time, or taken up from ratings that were stored: a rebuild is the same fold. The
same events in the same order give the same ratings to the last bit (on another platform, whose
mathematical library rounds in its own way, to within 1e-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic

from arena.ratings.result import E, GameResult
from arena.ratings.trueskill import Rating, TrueSkill
from engine.speed import maker

NEW = Rating()


@dataclass(frozen=True, slots=True)
class RatingChange(Generic[E]):
    """What a game did to the rating of the entrant in one seat."""

    entrant: E
    before: Rating
    after: Rating


new_change = maker(RatingChange)


class RatingBook(Generic[E]):
    """The ratings of one ladder."""

    def __init__(self, model: TrueSkill, ratings: Mapping[E, Rating] | None = None) -> None:
        """A book that goes on from these ratings; without them it is empty."""
        self.model = model
        self._ratings = dict(ratings or {})

    @property
    def ratings(self) -> Mapping[E, Rating]:
        """Everybody who entered or played, and their present ratings."""
        return MappingProxyType(self._ratings)

    def __getitem__(self, entrant: E) -> Rating:
        """The present rating; that of a new bot for one who never entered or played."""
        return self._ratings.get(entrant, NEW)

    def enter(self, entrant: E, *, after: E | None = None, start: Rating | None = None) -> Rating:
        """Takes in a new entrant, at the default, as the next version of ``after``, or at the
        rating that it came with.

        A rebuild must repeat this between the same two games, since what is taken over is the
        predecessor's rating at that moment.

        Raises:
            ValueError: the entrant has a rating.
        """
        if entrant in self._ratings:
            raise ValueError(f"{entrant!r} has a rating, and keeps it")
        rating = start or (NEW if after is None else self[after].loosened())
        self._ratings[entrant] = rating
        return rating

    def come_back(self, entrant: E) -> Rating:
        """Takes back an entrant that had left; a rebuild must repeat this like `enter`."""
        rating = self._ratings[entrant] = self[entrant].loosened()
        return rating

    def apply(self, result: GameResult[E]) -> tuple[RatingChange[E], ...]:
        """Rates a game, and says seat by seat what that changed.

        Who holds several seats of a side plays there as one: its rating changes once, and each
        of its seats shows that one change. Who is not in the book yet starts as a new bot.

        Raises:
            ValueError: a draw, where the ladder's draw probability is 0; nothing is changed.
        """
        if len(result.entrants) == 2:
            return self._apply_duel(*result.entrants, *result.ranks)
        teams, ranks = result.teams()
        before = [[self[entrant] for entrant in team] for team in teams]
        changes = {
            entrant: RatingChange(entrant, old, new)
            for team, olds, news in zip(teams, before, self.model.rate(before, ranks), strict=True)
            for entrant, old, new in zip(team, olds, news, strict=True)
        }
        for entrant, change in changes.items():
            self._ratings[entrant] = change.after
        return tuple(changes[entrant] for entrant in result.entrants)

    def _apply_duel(
        self, one: E, two: E, first: int, second: int
    ) -> tuple[RatingChange[E], RatingChange[E]]:
        """What `apply` does in the long run, for two seats: a rebuild is mostly this."""
        ratings = self._ratings
        before_one, before_two = ratings.get(one, NEW), ratings.get(two, NEW)
        after_one, after_two = self.model.duel(before_one, before_two, first, second)
        ratings[one], ratings[two] = after_one, after_two
        return new_change(one, before_one, after_one), new_change(two, before_two, after_two)
