"""What a strength test on the site is to be: its settings, before it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from arena.competitions.players import NamedPlayer
from arena.models import (
    USUAL_LIMITS,
    Competition,
    CompetitionLimits,
    OpeningPolicy,
    StrengthTest,
)
from arena.strength import sequential
from arena.strength.sequential import StrengthError
from arena.strength.terms import StrengthTerms
from engine.clock import TimeControl
from engine.game import Variant
from engine.translation import gettext

MAX_GAMES = 20_000
MOST_GAMES = 200_000
MOST_WEIGHT = 10.0
SITE_TERMS = StrengthTerms(max_games=MAX_GAMES)
"""The terms of a test for which no others were asked."""


@dataclass(frozen=True, slots=True)
class StrengthPlan:
    """The rules, terms and share of the workers' time by which two versions are to be tested."""

    variant: Variant
    time: TimeControl
    terms: StrengthTerms = SITE_TERMS
    weight: float = 1.0
    """How many times the workers' time of a ladder it gets while workers are scarce."""
    limits: CompetitionLimits = USUAL_LIMITS
    note: str = ""
    seed: int = 0
    openings: str = "random"
    """Random, or the name of a book."""
    plies: int | None = None
    """How many moves a random opening has; by default as many as the game's usually do."""
    hours: float | None = None
    """Undecided after so many hours of workers' time."""
    needs_approval: bool = False
    """Whether a second person has to approve before it begins."""
    others: tuple[Variant, ...] = ()
    """Further boards of the game, with whose matches those of the variant take turns."""

    @classmethod
    def on(cls, competition: Competition, **changes: Any) -> StrengthPlan:
        """A test under the conditions of a ladder, or of another test."""
        its = cls(
            competition.variant,
            competition.time,
            limits=competition.limits,
            openings=openings_on(competition),
            needs_approval=competition.asks_approval,
        )
        return replace(its, **changes)

    def settings(
        self, candidate: NamedPlayer, baseline: NamedPlayer
    ) -> sequential.StrengthSettings:
        """The test of two players.

        Raises:
            StrengthError: it can't be tested so.
        """
        return self.between(
            sequential.Version(candidate.label, candidate.version.told_digest),
            sequential.Version(baseline.label, baseline.version.told_digest),
        )

    def between(
        self, candidate: sequential.Version, baseline: sequential.Version
    ) -> sequential.StrengthSettings:
        """The test of two bots.

        Raises:
            StrengthError: it can't be tested so.
        """
        if not 0 < self.weight <= MOST_WEIGHT:
            raise StrengthError(
                gettext(
                    "a weight is above 0 and %(most)s at most, not %(weight)s",
                    most=f"{MOST_WEIGHT:g}",
                    weight=f"{self.weight:g}",
                )
            )
        self._refuse_others()
        most = self.terms.most_games
        if most is None or most > MOST_GAMES:
            raise StrengthError(
                gettext(
                    "a test has %(most)s games at most, not %(games)s",
                    most=MOST_GAMES,
                    games=most,
                )
            )
        if self.plies is not None and self.openings != OpeningPolicy.RANDOM:
            raise StrengthError(
                gettext("a book has its openings as they are: leave out how many plies")
            )
        return sequential.StrengthSettings(
            self.variant,
            candidate,
            baseline,
            self.time,
            self.seed,
            self.terms,
            plies=self.plies,
            others=self.others,
        )

    def _refuse_others(self) -> None:
        for other in self.others:
            if _sits(other) != _sits(self.variant):
                raise StrengthError(
                    gettext(
                        "a test on the site is of one game with the same seats, so %(other)s is no "
                        "further board of %(variant)s: make a test of each, or play it at home",
                        other=other,
                        variant=self.variant,
                    )
                )
        if self.others and self.openings != OpeningPolicy.RANDOM:
            raise StrengthError(
                gettext(
                    "a book has the openings of one board: ask for random ones, or for one board"
                )
            )


def _sits(variant: Variant) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """What the boards of a test on the site have in common: the game, and who sits with whom."""
    return variant.game, variant.entrant_of, variant.side_of


def openings_on(competition: Competition) -> str:
    """The openings of a test under the conditions of a competition.

    It is never played from the empty one alone, from which two bots have few different games.
    """
    return competition.book_name or "random"


def plan_of(test: StrengthTest) -> StrengthPlan:
    """The plan of a test; its limit of games may have been raised since it was made."""
    terms = StrengthTerms(
        test.elo0,
        test.elo1,
        test.alpha,
        test.beta,
        "logistic" if test.elo_model == "logistic" else "normalized",
        test.max_games,
        test.allow_faults,
        test.fixed_games,
    )
    return StrengthPlan.on(
        test,
        terms=terms,
        weight=test.weight,
        note=test.note,
        seed=test.seed,
        plies=test.opening_plies,
        hours=test.most_hours,
        others=test.variants[1:],
    )


def check_terms(terms: StrengthTerms, ladder: Competition) -> None:
    """Refuses terms by which nothing can be tested on a ladder.

    Raises:
        StrengthError: it says why.
    """
    new, old = sequential.Version("the new version", ""), sequential.Version("the active one", "")
    StrengthPlan.on(ladder, terms=terms).between(new, old)
