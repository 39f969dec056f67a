"""How fast this machine is, found by a bot in a box of its own (`workers.measured_bot`).

Theory of operation. A worker measures itself before it takes its first job, and again when a
while has passed: in a process that is about to play, on the core that it claimed for the match,
and before the match begins; or, if there is nothing to play, in its main process on a core that
nobody has claimed. So no match is disturbed, and no bot pays; what it takes is a third of a
second of CPU time. All processes of a worker know the last measure, by memory that they share.
"""

from __future__ import annotations

import json
import logging
import mmap
import struct
import time
import zlib
from pathlib import Path
from statistics import median, quantiles

from engine import measure
from engine.channel import Answer, HeadAndTail, PipeChannel
from engine.clock import apart
from engine.measure import Measure, MeasureError
from engine.player import BotError
from workers.cores import available
from workers.languages import LANGUAGES, LanguageError
from workers.launches import Launch, box_python
from workers.limits import Limits
from workers.program import BoxError
from workers.sandbox import Sandbox

log = logging.getLogger("workers.measuring")

ROUNDS, PLIES = 5, 20
"""Repetitions of each piece, and answers at once after each repetition."""
AGAIN_SECONDS = 600.0
"""How old a measure becomes until it is not believed for much longer."""
SOON_SECONDS = 60.0
"""How old one becomes by which this worker is not to play by the reference machine's clock."""
PATIENCE_SECONDS = 10.0
LIMITS = Limits(threads=2)
CODE = Path(__file__).with_name("measured_bot.py")
_HEAD = struct.Struct("<II")


class ClockError(RuntimeError):
    """This worker is not to play by the reference machine's clock now; one sentence."""


def measured(box: Sandbox, core: int | None) -> Measure:
    """Measures this machine.

    Args:
        core: the one to do it on; None for any.

    Raises:
        LanguageError: bots can't be in Python here.
        BoxError, BotError: it did not work.
    """
    python = LANGUAGES[0]
    command = (box_python(), *python.options, "-c", CODE.read_text())
    launch = Launch(command, python.memory_bytes, environment=python.environment)
    program = box.start(Path("/usr"), launch, LIMITS, core=core)
    patience = apart(PATIENCE_SECONDS)
    pieces: dict[str, list[Answer]] = {"interpreted": [], "compiled": []}
    plies: list[int] = []
    try:
        channel = PipeChannel(program, HeadAndTail(0))
        channel.ask("up\n", patience)
        for _ in range(ROUNDS):
            for piece, found in pieces.items():
                found.append(channel.ask(f"{piece}\n", patience, then_stop=patience))
            for _ in range(PLIES):
                plies.append(channel.ask("ply\n", patience, then_stop=patience).wall_us)
    finally:
        program.kill()
    cpu_us = {piece: [one.cpu_us for one in found] for piece, found in pieces.items()}
    cpu = sum(map(sum, cpu_us.values()))
    wall = sum(one.wall_us for found in pieces.values() for one in found)
    return Measure(
        interpreted=_speed(cpu_us["interpreted"]),
        compiled=_speed(cpu_us["compiled"]),
        spread=round(max(map(_spread, cpu_us.values())), 3),
        share=round(cpu / max(1, wall), 3),
        ply_us=int(median(plies)),
        slow_ply_us=int(quantiles(plies, n=20)[-1]),
    )


def _speed(cpu_us: list[int]) -> float:
    return round(measure.PIECE_US / max(1.0, median(cpu_us)), 3)


def _spread(cpu_us: list[int]) -> float:
    low, middle, high = quantiles(cpu_us, n=4, method="inclusive")
    return (high - low) / max(1.0, middle)


class Gauge:
    """The last measure of this worker, known to all its processes."""

    def __init__(self) -> None:
        """Nothing is known yet; whatever process is forked from now on shares what will be."""
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.slots = 1
        """How many matches this worker plays at the same time."""

    @property
    def last(self) -> Measure | None:
        """The last measure; None if there is none."""
        found = self._read()
        return found and found[0]

    @property
    def unfit(self) -> str:
        """Why this worker is not to play by the reference machine's clock; empty if it may."""
        return measure.unfit(self.last, self.slots, len(available()))

    @property
    def is_due(self) -> bool:
        """Whether the last measure is old."""
        found = self._read()
        if found is None:
            return True
        age = time.monotonic() - found[1]
        return age > (SOON_SECONDS if self.unfit else AGAIN_SECONDS)

    def take(self, box: Sandbox, core: int | None) -> None:
        """Measures this machine now; if that fails, nothing is known of it."""
        data = b""
        try:
            found = measured(box, core)
            data = json.dumps([found.to_json(), time.monotonic()]).encode()
            log.info("measured: %s", found)
        except (LanguageError, BoxError, BotError, OSError) as error:
            log.warning("this worker could not measure itself: %s", error)
        self._memory[: _HEAD.size + len(data)] = _HEAD.pack(len(data), zlib.crc32(data)) + data

    def demand_fit(self) -> None:
        """Refuses a match by the reference machine's clock that this worker is not to play.

        Raises:
            ClockError: it says why.
        """
        if words := self.unfit:
            raise ClockError(f"it is not to play by the reference machine's clock: {words}")

    def _read(self) -> tuple[Measure, float] | None:
        """The last measure, and when it was made, by the clock that all processes have.

        One of which only a part was written yet is none.
        """
        size, checksum = _HEAD.unpack(self._memory[: _HEAD.size])
        data = self._memory[_HEAD.size : _HEAD.size + size]
        if not size or zlib.crc32(data) != checksum:
            return None
        try:
            found, when = json.loads(data)
            return Measure.from_json(found), float(when)
        except (ValueError, MeasureError):
            return None
