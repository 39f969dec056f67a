"""How fast a machine is beside the reference machine, and what its clocks grant for that.

The reference machine is made up: on one core of it each piece of work of `workers.measured_bot`
takes `PIECE_US` of CPU time. A worker that takes twice as long has the speed 0.5. Where times are
those of the reference machine, it grants every bot twice as much: they are multiplied by the
*stretch*. So a bot can do about the same on every machine, as far as speed is all that differs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from math import floor, log2
from typing import Any

from engine.translation import N_, gettext

PIECE_US = 20_000
"""CPU time of each piece of work on the reference machine, in microseconds."""
LEAST_STRETCH, MOST_STRETCH = 0.25, 4.0
"""What a clock may be multiplied by; a machine beyond has no part in such matches."""
MOST_SPEED = 1000.0
"""The greatest speed, and one by the least, that is believed of any machine."""
MOST_SPREAD = 0.25
"""How far apart the repetitions of a piece may lie (`Measure.spread`)."""
LEAST_SHARE = 0.7
"""How much of a core a worker must get, of what it asks for."""
MOST_SLOW_PLY_US = 10_000
"""How late the latest in twenty of a bot's answers may be that takes no time to find them."""
LONGEST_US = 3_600_000_000
CLASSES_AN_OCTAVE = 2
"""How many classes of speed there are from one to its double."""


class MeasureError(ValueError):
    """What is no measure; one sentence."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a machine found when it measured itself: one core, a program in a bot's box."""

    interpreted: float
    """The speed of programs in Python, run by the interpreter that bots have there."""
    compiled: float
    """The speed of all others."""
    spread: float
    """How far apart the middle half of the repetitions of a piece lay, as a part of their median;
    of both pieces the greater one."""
    share: float
    """How much of the core it got: CPU time by time on the wall; 1 if nobody else wanted it."""
    ply_us: int
    """How long a bot that does nothing takes to answer, by the wall clock: the median."""
    slow_ply_us: int
    """The time that the latest one in twenty takes, likewise."""

    def speed(self, *, interpreted: bool) -> float:
        """The speed of a program."""
        return self.interpreted if interpreted else self.compiled

    def to_json(self) -> dict[str, Any]:
        """The measure as JSON's types."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Measure:
        """The measure that `to_json` wrote.

        Raises:
            MeasureError: it is none, or of a machine that there can't be.
        """
        if not isinstance(data, dict):
            raise MeasureError("no measure of a worker")
        found: dict[str, Any] = {field.name: data.get(field.name) for field in fields(cls)}
        for name, value in found.items():
            if type(value) not in (int, float):
                raise MeasureError(f"no measure of a worker: its {name} is no number")
        for name in ("interpreted", "compiled"):
            if not 1 / MOST_SPEED <= found[name] <= MOST_SPEED:
                raise MeasureError(f"no measure of a worker: no machine has such a {name} speed")
        for name, most in (("spread", MOST_SPEED), ("share", 64.0)):
            if not 0 <= found[name] <= most:
                raise MeasureError(f"no measure of a worker: its {name} is out of bounds")
        for name in ("ply_us", "slow_ply_us"):
            if type(found[name]) is not int or not 0 <= found[name] <= LONGEST_US:
                raise MeasureError(f"no measure of a worker: its {name} is no such time")
        return cls(**found)


def stretch_of(speed: float) -> float:
    """What a clock is multiplied by on a machine of that speed, to three digits."""
    return min(MOST_STRETCH, max(LEAST_STRETCH, round(1 / speed, 3)))


OUT_OF_RANGE = {
    "interpreted": (
        N_(
            "its interpreted programs run at %(speed)s times the speed of the reference machine, "
            "which is too slow"
        ),
        N_(
            "its interpreted programs run at %(speed)s times the speed of the reference machine, "
            "which is too fast"
        ),
    ),
    "compiled": (
        N_(
            "its compiled programs run at %(speed)s times the speed of the reference machine, "
            "which is too slow"
        ),
        N_(
            "its compiled programs run at %(speed)s times the speed of the reference machine, "
            "which is too fast"
        ),
    ),
}
"""What is said of a speed that is too low, and of one that is too high."""


def unfit(measure: Measure | None, slots: int, cores: int | None) -> str:
    """Why a worker is to play no match by the reference machine's clock; empty if it may.

    Args:
        measure: what it says of itself; None if nothing.
        slots: how many matches it plays at the same time.
        cores: those that it may use; None if it does not say.
    """
    if measure is None or cores is None:
        return gettext("it does not say how fast it is")
    reasons = []
    if slots > cores:
        reasons.append(
            gettext(
                "it plays %(slots)s matches at a time on %(cores)s cores: give it fewer slots",
                slots=slots,
                cores=cores,
            )
        )
    for kind, words in OUT_OF_RANGE.items():
        speed = getattr(measure, kind)
        if not LEAST_STRETCH <= 1 / speed <= MOST_STRETCH:
            reasons.append(gettext(words[speed > 1], speed=f"{speed:.2g}"))
    if measure.share < LEAST_SHARE:
        reasons.append(
            gettext(
                "its bots get %(share)s of a core: something else runs there, or its CPU time is "
                "limited",
                share=f"{measure.share:.0%}",
            )
        )
    if measure.spread > MOST_SPREAD:
        spread = f"{measure.spread:.0%}"
        reasons.append(
            gettext(
                "the same work takes it now more and now less time, by %(spread)s", spread=spread
            )
        )
    if measure.slow_ply_us > MOST_SLOW_PLY_US:
        reasons.append(
            gettext(
                "a bot that does nothing takes %(time)s ms to answer, in one of twenty times",
                time=f"{measure.slow_ply_us / 1000:.0f}",
            )
        )
    return "; ".join(reasons)


def speed_class(speed: float | None) -> str:
    """The class of a speed, such as ``0.71-1``; empty if nobody knows it."""
    if speed is None:
        return ""
    step = floor(CLASSES_AN_OCTAVE * log2(speed) + 1e-9)
    ends = (2 ** (number / CLASSES_AN_OCTAVE) for number in (step, step + 1))
    return "-".join(f"{end:.2g}" for end in ends)


def mean_speed(speeds: Collection[float]) -> float:
    """The speed of a game, of those of its seats: their geometric mean, to three digits."""
    product = sum(map(log2, speeds)) / len(speeds)
    return round(float(2**product), 3)
