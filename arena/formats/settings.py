"""What can be chosen about a format, and what it must know of the tournament that it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

FormatSettings = Mapping[str, int]
"""A format's settings, complete; a yes is 1 and a no 0."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a format must know of the tournament that is played by it."""

    size: int
    """How many entrants the field has."""
    seats: int
    """How many of them a match has."""
    race: bool
    """Whether a match is a race: the same start for everybody, so that there is no rematch."""
    seed: int
    withdrawn: Mapping[int, int] = field(default_factory=dict)
    """The last round that each of those who play no more was paired for, by their numbers."""

    @property
    def games(self) -> int:
        """How many games of a match give points; a race is a single one."""
        return 1 if self.race else self.seats


Amount = int | Callable[[Frame], int]
"""A number, or how it follows from the tournament."""


def _worked_out(amount: Amount, frame: Frame) -> int:
    return amount if isinstance(amount, int) else amount(frame)


@dataclass(frozen=True, slots=True)
class FormatSetting:
    """A setting of a format: a number, or a yes or no."""

    words: str
    """What it says, for commands and pages, which translate it."""
    default: Amount
    least: int = 1
    most: Amount = 100
    in_a_race: int | None = None
    """The only value under which nobody races somebody twice."""
    yes_or_no: bool = False
    field: int = 2
    """The smallest field in which it can be a yes."""

    def default_for(self, frame: Frame) -> int:
        """What it is when nothing is said."""
        if frame.race and self.in_a_race is not None:
            return self.in_a_race
        return _worked_out(self.default, frame)

    def most_for(self, frame: Frame) -> int:
        """The largest value."""
        return _worked_out(self.most, frame)

    def nearest(self, value: int, frame: Frame) -> int:
        """What comes nearest to a value that was chosen for a larger field."""
        return 0 if frame.size < self.field else max(self.least, min(value, self.most_for(frame)))
