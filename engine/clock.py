"""Time controls and clocks: arithmetic on microseconds, no sleeping.

What a move costs is the bot's own CPU time (or wall time, if the control says so). Wall time
is the backstop against bots that sleep: for a move twice the CPU allowance and a second more,
and under a clock for the whole game twice the CPU budget and ten seconds more. What a bot waits
for a core is not counted there; with it a move may take ten times as long, and no longer.

Times may be those of the reference machine (`engine.measure`). Then the machine that plays grants
each seat its own clock, stretched by how much slower it is, and that is all that a bot is told of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, NamedTuple

from engine.game import GameError
from engine.measure import MOST_STRETCH
from engine.speed import maker
from engine.translation import gettext

Charge = Literal["cpu", "wall"]

MOVE_SLACK_US = 1_000_000
GAME_SLACK_US = 10_000_000
DEFAULT_MOVE_MS = 1000
LONGEST_MS = 24 * 60 * 60 * 1000
HARD = 10
"""How many times its limit of wall time a request may take with what the bot waits for a core."""


class Limit(NamedTuple):
    """What a request may cost, in microseconds."""

    wall_us: int
    """Wall time; where there is a ``hard_us``, without what the bot waits for a core."""
    hard_us: int | None = None
    """Wall time with that."""
    cpu_us: int | None = None
    """CPU time; None for as much as there is."""


def apart(seconds: float) -> Limit:
    """The limit of what stands apart from the game clock."""
    wall_us = int(seconds * 1e6)
    return Limit(wall_us, HARD * wall_us)


@dataclass(frozen=True, slots=True)
class Allowances:
    """Wall time that stands apart from the game clock, without what the bot waits for a core."""

    start_seconds: float = 10.0
    """The time from a bot's start to its ``ready``."""
    newgame_seconds: float = 10.0
    """The time from ``newgame`` to ``ok``."""
    quit_seconds: float = 1.0
    """The time from ``quit`` to the end of the process."""
    stop_seconds: float = 1.0
    """The time from a stop until all threads stand."""


ALLOWANCES = Allowances()
"""What the protocol allows."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A clock with increment (``time_ms``, ``inc_ms``) or a fixed time a move (``move_ms``)."""

    time_ms: int | None = None
    inc_ms: int = 0
    move_ms: int | None = None
    charge: Charge = "cpu"
    reference: bool = False
    """Whether these are milliseconds of the reference machine."""

    def __post_init__(self) -> None:
        if (self.time_ms is None) == (self.move_ms is None):
            raise GameError(gettext("a time control is either a clock or a time a move, not both"))
        for value, least in ((self.time_ms, 1), (self.move_ms, 1), (self.inc_ms, 0)):
            if value is not None and not least <= value <= LONGEST_MS:
                raise GameError(
                    gettext(
                        "a time of %(value)s ms is out of range: %(least)s ms to a day are allowed",
                        value=value,
                        least=least,
                    )
                )
        if self.move_ms is not None and self.inc_ms:
            raise GameError(gettext("a fixed time a move takes no increment"))
        if self.reference and self.charge != "cpu":
            raise GameError(
                gettext(
                    "the reference machine's clock counts CPU time: it can't be charged by wall "
                    "time"
                )
            )

    @property
    def words(self) -> str:
        """The control as it stands in ``newgame``: ``time=60000 inc=500`` or ``move=1000``.

        What bots are told is never by the reference machine's clock.
        """
        clock = " clock=reference" if self.reference else ""
        clock = " clock=wall" if self.charge == "wall" else clock
        if self.move_ms is not None:
            return f"move={self.move_ms}{clock}"
        return f"time={self.time_ms} inc={self.inc_ms}{clock}"

    def stretched(self, stretch: float = 1.0) -> TimeControl:
        """The clock that a machine grants for this one, in its own milliseconds.

        Args:
            stretch: how many of them there are to each (`engine.measure.stretch_of`).
        """
        if stretch == 1 and not self.reference:
            return self

        def scaled(value: int | None) -> int | None:
            return value and min(LONGEST_MS, max(1, round(value * stretch)))

        return TimeControl(
            time_ms=scaled(self.time_ms),
            inc_ms=scaled(self.inc_ms) or 0,
            move_ms=scaled(self.move_ms),
            charge=self.charge,
        )

    @classmethod
    def read(cls, words: str) -> TimeControl:
        """The control of its `words`.

        Raises:
            GameError: they are of none.
        """
        keys = dict(word.split("=", 1) for word in words.split() if "=" in word)
        try:
            numbers: dict[str, Any] = {
                f"{key}_ms": int(keys[key]) for key in ("time", "inc", "move") if key in keys
            }
        except ValueError:
            raise GameError(gettext("%(words)r is no time control", words=words[:40])) from None
        charge: Charge = "wall" if keys.get("clock") == "wall" else "cpu"
        return cls(**numbers, charge=charge, reference=keys.get("clock") == "reference")

    def longest_ms(self, seats: int, plies: int) -> int:
        """How long a game of so many plies may take by the wall clock, by what its clocks allow.

        What bots wait for a core comes on top of it.
        """
        if self.move_ms is not None:
            thought, slack_us = plies * self.move_ms, plies * MOVE_SLACK_US
        else:
            assert self.time_ms is not None
            thought, slack_us = seats * self.time_ms + plies * self.inc_ms, seats * GAME_SLACK_US
        thought = ceil(thought * (MOST_STRETCH if self.reference else 1))
        return thought if self.charge == "wall" else 2 * thought + slack_us // 1000

    def to_json(self) -> dict[str, Any]:
        """The control as JSON's types."""
        told: dict[str, Any] = {"charge": self.charge}
        if self.move_ms is not None:
            told["move_ms"] = self.move_ms
        else:
            told |= {"time_ms": self.time_ms, "inc_ms": self.inc_ms}
        return told | {"reference": True} if self.reference else told


def granted(controls: Sequence[TimeControl], stretch: Sequence[float]) -> tuple[TimeControl, ...]:
    """The clock that each seat has.

    Args:
        controls: for each seat.
        stretch: by what each of them is stretched; empty for not at all.
    """
    if not stretch:
        return tuple(one.stretched() for one in controls)
    return tuple(one.stretched(by) for one, by in zip(controls, stretch, strict=True))


def own_time(clock: str, move_ms: int | None, usual: TimeControl) -> TimeControl:
    """What one side is granted of its own, charged as the other's time is.

    Args:
        clock: as `parse_time` reads it; empty if none is said.
        move_ms: milliseconds a move; None if that is not said.
        usual: what it has if neither is.

    Raises:
        GameError: both are said, or there is no such time control.
    """
    if clock and move_ms is not None:
        raise GameError(gettext("give a side a clock or a time a move, not both"))
    if not clock and move_ms is None:
        return usual
    own = parse_time(clock) if clock else TimeControl(move_ms=move_ms)
    return replace(own, charge=usual.charge, reference=usual.reference)


def parse_time(text: str) -> TimeControl:
    """A clock written in seconds, with or without an increment: ``60`` or ``10+0.1``.

    Raises:
        GameError: the text is no such clock.
    """
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)(?:\+(\d{1,6}(?:\.\d{1,3})?))?", text, re.ASCII)
    if not match:
        raise GameError(
            gettext(
                "%(text)r is no time control: write seconds, or seconds+increment, as in 10+0.1",
                text=text[:40],
            )
        )
    return TimeControl(
        time_ms=round(float(match[1]) * 1000), inc_ms=round(float(match[2] or 0) * 1000)
    )


@dataclass(frozen=True, slots=True)
class Clock:
    """One seat's clock: what is left, and how much wall time it used."""

    control: TimeControl
    left_us: int
    moves: int = 0
    wall_us: int = 0
    """The time by the clock without what the bot waited for a core."""

    @classmethod
    def start(cls, control: TimeControl) -> Clock:
        """A clock as the game begins."""
        return cls(control, (control.time_ms or control.move_ms or 0) * 1000)

    @property
    def left_ms(self) -> int:
        """Whole milliseconds left, as told to bots."""
        return self.left_us // 1000

    @property
    def wall_allowance_us(self) -> int:
        """How long the next move may take by the wall clock."""
        if self.control.charge == "wall":
            return self.left_us
        move = 2 * self.left_us + MOVE_SLACK_US
        if self.control.time_ms is None:
            return move
        budget = (self.control.time_ms + self.control.inc_ms * self.moves) * 1000
        return min(move, 2 * budget + GAME_SLACK_US - self.wall_us)

    @property
    def limit(self) -> Limit:
        """What the next move may cost."""
        if self.control.charge == "wall":
            return Limit(self.left_us)
        hard_us = HARD * (2 * self.left_us + MOVE_SLACK_US)
        return Limit(self.wall_allowance_us, hard_us, self.left_us)

    def overrun(self, cpu_us: int, wall_us: int) -> str | None:
        """Says in words that a move cost more than there was; None if it did not.

        The backstop of wall time is for whoever waits for the move: one that came was in time.
        """
        charged = wall_us if self.control.charge == "wall" else cpu_us
        if charged <= self.left_us:
            return None
        kind = "wall" if self.control.charge == "wall" else "CPU"
        return f"used {_ms(charged)} ms of {kind} time; it had {_ms(self.left_us)}"

    def after(self, cpu_us: int, wall_us: int, waited_us: int = 0) -> Clock:
        """The clock after a move, its increment added.

        Args:
            cpu_us, wall_us: how long it took.
            waited_us: how much of the wall time the bot waited for a core.
        """
        left = self.left_us
        if self.control.time_ms is not None:
            charged = wall_us if self.control.charge == "wall" else cpu_us
            left += self.control.inc_ms * 1000 - charged
        return new_clock(self.control, left, self.moves + 1, self.wall_us + wall_us - waited_us)


new_clock = maker(Clock)


def _ms(microseconds: int) -> str:
    """Milliseconds with every digit, so that no message says that 100 is more than 100."""
    return f"{microseconds / 1000:.12g}"
