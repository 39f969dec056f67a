"""The formats that a tournament can be played by: for which games, with which settings.

A setting is a number or a yes; what was not given is worked out from the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil, log2

from arena.formats.balanced import Balanced, rounds_until_met
from arena.formats.fixtures import Format
from arena.formats.knockout import Knockout
from arena.formats.round_robin import Gauntlet, RoundRobin
from arena.formats.swiss import Swiss

Settings = Mapping[str, int]
"""Of a format, complete; a yes is 1 and a no 0."""


class FormatError(ValueError):
    """A format or a setting that can't be; one sentence that says what to do."""


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


@dataclass(frozen=True, slots=True)
class FormatSetting:
    """A setting of a format."""

    words: str
    """What it says, for commands and pages."""
    default: Callable[[Frame], int]
    least: int = 1
    most: Callable[[Frame], int] = lambda _: 100
    in_a_race: int | None = None
    """The only value under which nobody races somebody twice."""
    yes_or_no: bool = False
    field: int = 2
    """The smallest field in which it can be a yes."""

    def default_for(self, frame: Frame) -> int:
        """What it is when nothing is said."""
        if frame.race and self.in_a_race is not None:
            return self.in_a_race
        return self.default(frame)

    def nearest(self, value: int, frame: Frame) -> int:
        """What comes nearest to a value that was chosen for a larger field."""
        return 0 if frame.size < self.field else max(self.least, min(value, self.most(frame)))


@dataclass(frozen=True, slots=True)
class FormatKind:
    """A way to play a tournament."""

    title: str
    settings: Mapping[str, FormatSetting]
    build: Callable[[Frame, Settings], Format]
    tie_breaks: tuple[str, ...]
    """Those that are used if no others are asked for."""
    seats: range = range(2, 3)
    """How many entrants a match may have."""
    by_share: bool = False
    """Whether points a game decide, since some have more games than others."""


def _constant(value: int) -> Callable[[Frame], int]:
    return lambda _: value


def _yes_or_no(words: str, *, field: int = 2) -> FormatSetting:
    return FormatSetting(words, _constant(0), 0, _constant(1), yes_or_no=True, field=field)


_CYCLES = FormatSetting("how often everybody meets everybody", _constant(1), in_a_race=1)

FORMATS: Mapping[str, FormatKind] = {
    "round-robin": FormatKind(
        "Round robin",
        {"cycles": _CYCLES},
        lambda _, settings: RoundRobin(settings["cycles"]),
        ("head-to-head", "sonneborn-berger", "wins"),
    ),
    "gauntlet": FormatKind(
        "Gauntlet",
        {
            "candidates": FormatSetting(
                "how many, the first by seeding, meet all the others",
                _constant(1),
                most=lambda frame: frame.size - 1,
            ),
            "cycles": FormatSetting(
                "how often each candidate meets each", _constant(1), in_a_race=1
            ),
        },
        lambda _, settings: Gauntlet(settings["candidates"], settings["cycles"]),
        ("head-to-head", "wins"),
        by_share=True,
    ),
    "swiss": FormatKind(
        "Swiss",
        {
            "rounds": FormatSetting(
                "how many rounds",
                lambda frame: ceil(log2(frame.size)),
                # Beyond these everybody has met everybody.
                most=lambda frame: frame.size - 1 + frame.size % 2,
            )
        },
        lambda frame, settings: Swiss(settings["rounds"], frame.games, frame.seed, frame.withdrawn),
        ("buchholz", "sonneborn-berger", "head-to-head", "wins"),
    ),
    "knockout": FormatKind(
        "Knockout",
        {
            "legs": FormatSetting(
                "a tie is the best of so many matches",
                _constant(1),
                most=_constant(25),
                in_a_race=1,
            ),
            "extra_legs": FormatSetting(
                "how many more are played while it is level",
                _constant(2),
                0,
                _constant(25),
                in_a_race=0,
            ),
            "double": _yes_or_no("who loses is out at the second loss only"),
            "third_place": _yes_or_no("who lost the semi-finals meet for the third place", field=4),
        },
        lambda frame, settings: Knockout(
            settings["legs"],
            frame.games,
            settings["extra_legs"],
            bool(settings["double"]),
            bool(settings["third_place"]),
        ),
        ("wins",),
    ),
    "balanced": FormatKind(
        "Balanced schedule",
        {
            "rounds": FormatSetting(
                "how many rounds",
                lambda frame: rounds_until_met(frame.size, frame.seats, frame.seed),
                most=_constant(1000),
            )
        },
        lambda frame, settings: Balanced(frame.seats, settings["rounds"], frame.seed),
        ("head-to-head", "wins"),
        seats=range(3, 5),
        by_share=True,
    ),
}
"""By the names that commands and the database know them by."""


def settings_for(name: str, frame: Frame, given: Mapping[str, int]) -> dict[str, int]:
    """All settings of a format: those given, and the others by default.

    Raises:
        FormatError: there is no such format or setting, the format is not for this number of
            seats or this field, or a value is not allowed.
    """
    if name not in FORMATS:
        raise FormatError(f"there is no format {name[:40]!r}; there are {', '.join(FORMATS)}")
    kind = FORMATS[name]
    if frame.seats not in kind.seats:
        fitting = [other for other, one in FORMATS.items() if frame.seats in one.seats]
        raise FormatError(
            f"{name} is not for matches of {frame.seats} bots; use {' or '.join(fitting)}"
        )
    if frame.size < max(2, frame.seats):
        raise FormatError(f"a match takes {frame.seats} bots, and the field has {frame.size}")
    unknown = [key for key in given if key not in kind.settings]
    if unknown:
        known = ", ".join(kind.settings)
        raise FormatError(f"{name} has no setting {unknown[0]!r}; it has {known}")
    settings = {
        key: given.get(key, setting.default_for(frame)) for key, setting in kind.settings.items()
    }
    for key, value in settings.items():
        setting, most = kind.settings[key], kind.settings[key].most(frame)
        if not setting.least <= value <= most:
            raise FormatError(
                f"{key} is {value}, and in this field it can be from {setting.least} to {most}"
            )
        if value and frame.size < setting.field:
            raise FormatError(
                f"{key} takes a field of {setting.field} bots, and this one has {frame.size}"
            )
        if frame.race and setting.in_a_race not in (None, value):
            raise FormatError(
                f"{key} must be {setting.in_a_race} in a race: the same bots on the same puzzle "
                "would come out the same again"
            )
    try:
        kind.build(frame, settings)
    except ValueError as error:
        raise FormatError(str(error)) from None
    return settings
