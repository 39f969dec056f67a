"""What a strength test on the site is to be: its settings, before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from arena.models import BotVersion, Competition, StrengthTest
from arena.ratings.sprt import Model
from arena.strength import sequential
from arena.strength.sequential import StrengthError
from engine.clock import TimeControl
from engine.game import Variant

MEMORY_BYTES = 256 * 1024 * 1024
MAX_GAMES = 20_000
MOST_GAMES = 200_000
MOST_WEIGHT = 10.0


@dataclass(frozen=True, slots=True)
class StrengthPlan:
    """What is to be tested, and how."""

    variant: Variant
    time: TimeControl
    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"
    max_games: int = MAX_GAMES
    weight: float = 1.0
    """How many times the workers' time of a ladder it gets while workers are scarce."""
    memory_bytes: int = MEMORY_BYTES
    threads: int = 16
    log_bytes: int = 64 * 1024
    note: str = ""
    seed: int = 0
    allow_faults: bool = False
    """Decides although faults ended many of the games."""

    @classmethod
    def on(cls, competition: Competition, **changes: Any) -> StrengthPlan:
        """A test under the conditions of a ladder, or of another test."""
        return cls(
            **{
                "variant": competition.variant,
                "time": competition.time,
                "memory_bytes": competition.memory_bytes,
                "threads": competition.threads,
                "log_bytes": competition.log_bytes,
                **changes,
            }
        )

    def settings(self, candidate: BotVersion, baseline: BotVersion) -> sequential.StrengthSettings:
        """The test of two versions.

        Raises:
            StrengthError: it can't be tested so.
        """
        return self.between(
            sequential.Version(candidate.label, candidate.digest),
            sequential.Version(baseline.label, baseline.digest),
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
                f"a weight is above 0 and {MOST_WEIGHT:g} at most, not {self.weight:g}"
            )
        if self.max_games > MOST_GAMES:
            raise StrengthError(f"a test has {MOST_GAMES} games at most, not {self.max_games}")
        return sequential.StrengthSettings(
            self.variant,
            candidate,
            baseline,
            self.time,
            self.seed,
            self.elo0,
            self.elo1,
            self.alpha,
            self.beta,
            self.model,
            self.max_games,
            allow_faults=self.allow_faults,
        )


def plan_of(test: StrengthTest) -> StrengthPlan:
    """The plan of a test; its limit of games may have been raised since it was made."""
    return StrengthPlan.on(
        test,
        elo0=test.elo0,
        elo1=test.elo1,
        alpha=test.alpha,
        beta=test.beta,
        model=test.elo_model,
        max_games=test.max_games,
        weight=test.weight,
        note=test.note,
        seed=test.seed,
        allow_faults=test.allow_faults,
    )


@dataclass(frozen=True, slots=True)
class FirstTest:
    """The test that a new version is to pass before it takes the active one's place."""

    elo0: float = 0.0
    elo1: float = 10.0
    max_games: int = MAX_GAMES

    def plan(self, ladder: Competition, *, seed: int = 0) -> StrengthPlan:
        """The test on a ladder."""
        return StrengthPlan.on(ladder, **asdict(self), seed=seed)

    def check(self, ladder: Competition) -> None:
        """Refuses what can't be tested on a ladder.

        Raises:
            StrengthError: it says why.
        """
        new, old = (
            sequential.Version("the new version", ""),
            sequential.Version("the active one", ""),
        )
        self.plan(ladder).between(new, old)

    def to_json(self) -> dict[str, Any]:
        """The wish as JSON's types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> FirstTest:
        """The wish that `to_json` wrote."""
        return cls(float(data["elo0"]), float(data["elo1"]), int(data["max_games"]))
