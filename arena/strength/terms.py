"""The terms that decide a strength test: the same value wherever asked for, played and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from arena.ratings.elo import Estimate
from arena.ratings.sprt import Model, Sprt
from engine.plurals import counted
from engine.translation import N_, gettext


@dataclass(frozen=True, slots=True)
class StrengthTerms:
    """Two hypotheses on the difference in strength, and how sure the test is to be of one."""

    elo0: float = 0.0
    """It fails if the candidate is no stronger than this."""
    elo1: float = 10.0
    """It passes if the candidate is so strong."""
    alpha: float = 0.05
    """The probability of passing if elo0 is true."""
    beta: float = 0.05
    """The probability of failing if elo1 is true."""
    model: Model = "normalized"
    """The unit of both."""
    max_games: int | None = None
    """At most so many; matches are played whole, so it can be a few fewer."""
    allow_faults: bool = False
    """Decides whatever share of the games faults ended (see `arena.strength.faults`)."""
    games: int | None = None
    """Plays just so many (whole matches, so it can be a few more), and decides by whether the
    95 % interval lies above zero, below, or around it. The hypotheses then count for nothing."""

    def sprt(self, games_a_match: int, max_matches: int | None) -> Sprt:
        """The sequential test by these terms.

        Raises:
            ValueError: the hypotheses or limits are none.
        """
        return Sprt(
            self.elo0,
            self.elo1,
            self.alpha,
            self.beta,
            self.model,
            max_matches=max_matches,
            games_per_match=games_a_match,
        )

    @property
    def most_games(self) -> int | None:
        """How many games end it, whatever they say; None if none do."""
        return self.max_games if self.games is None else self.games

    def most_matches(self, games_a_match: int) -> int | None:
        """How many whole matches end it."""
        if self.games is not None:
            return -(-self.games // games_a_match)
        return None if self.max_games is None else self.max_games // games_a_match

    def decided(self, found: Estimate, *, passed: bool) -> str:
        """What a verdict says: ``not 10 normalized Elo stronger (measured -94 ±36 Elo)``."""
        if self.games is None:
            said = self._proven(passed)
        elif passed:
            said = gettext("the 95 %% interval lies above zero")
        else:
            said = gettext("the 95 %% interval lies below zero")
        if not found.tells:
            return said
        return gettext("%(said)s (measured %(elo)s Elo)", said=said, elo=found.measured)

    def _proven(self, passed: bool) -> str:
        """What the hypothesis that was refused leaves."""
        unit = gettext("normalized Elo") if self.model == "normalized" else "Elo"
        # To pass refuses elo0, and to fail refuses elo1.
        bound = self.elo0 if passed else self.elo1
        if not bound:
            return gettext("stronger") if passed else gettext("weaker")
        if bound > 0:
            said = (
                N_("more than %(elo)s %(unit)s stronger")
                if passed
                else N_("not %(elo)s %(unit)s stronger")
            )
        else:
            said = (
                N_("less than %(elo)s %(unit)s weaker")
                if passed
                else N_("more than %(elo)s %(unit)s weaker")
            )
        return gettext(said, elo=f"{abs(bound):g}", unit=unit)

    @property
    def why_undecided(self) -> str:
        """What a verdict says once all was played and neither answer is sure."""
        if self.games is not None:
            return gettext("the 95 %% interval holds zero")
        return gettext(
            "the limit of %(games)s is reached", games=counted(self.max_games or 0, "game")
        )

    def to_json(self) -> dict[str, Any]:
        """The terms as JSON's types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StrengthTerms:
        """The terms among some values; those that are missing are the usual ones."""
        known = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in known})


DEFAULT_TERMS = StrengthTerms()
