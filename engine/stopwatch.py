"""What a request costs a program, and when that is more than it may.

Theory of operation. CPU time is read off the program's own clock. Wall time goes on without the
program, too, and what is no doing of its own is not held against it:

- While it waits for a core that others have, its limit of wall time moves on. The kernel counts
  for how long each thread has waited, and tells it once the thread got its core; before that, a
  wait is known by nothing else happening to the thread. A program's own threads wait for each
  other as well, on purpose if they like, and all at once: so it is the one that waited longest that
  counts, and a thread takes over from another only when it was seen at rest, with no wait begun.
  That brings no more than it costs in CPU time, and never more than the time in which none of
  them ran. Behind it all is a hard limit.
- While we do not run ourselves (stopped at a terminal, a machine asleep) no time passes.

Nothing is concluded from what a thread does at the instant of a look alone: a program can know
that instant, and be seen at work in it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine import threads
from engine.clock import Limit

if TYPE_CHECKING:
    from engine.program import Program

CHECK_MS = 20
"""How often a thinking bot's CPU clock is looked at, and what else it uses."""
CHECK_NS = CHECK_MS * 1_000_000
AWAY_NS = 10 * CHECK_NS
"""The time between two laps beyond which we did not run ourselves."""
FAITH_NS = 2 * CHECK_NS
"""How much later than known a reply may be, since waits are looked at now and then."""


class Stopwatch:
    """Runs from when it is made."""

    # What most moves are over before: one is made at every ply.
    _schedules: dict[str, bytes] | None = None
    """What the kernel told of each thread at the last look."""
    _waits: Mapping[str, int] = MappingProxyType({})
    """When the threads that wait for a core began to, as far as was seen."""
    _joined: Mapping[str, int] = MappingProxyType({})
    """What had been waited without each thread when its own waits began to count."""
    _waited_ns = 0
    """How long a core was waited for, in waits that are over."""
    _longest_ns = 0
    """How long a core was waited for, with the wait that goes on, as far as was seen."""

    def __init__(self, program: Program, limit: Limit, cpu_start_us: int | None = None) -> None:
        """Starts to take the time of a program.

        Args:
            cpu_start_us: the program's CPU time from which on it counts; None for that of now.
        """
        self._program = program
        self._limit = limit
        self.cpu_start_us = program.cpu_us() if cpu_start_us is None else cpu_start_us
        self._now = self._start = time.monotonic_ns()
        self._deadline = self._ends = self._start + 1000 * limit.wall_us
        self._next_look = self._start + CHECK_NS
        self._last_look = self._start

    @property
    def cpu_us(self) -> int:
        """CPU time that the program used."""
        return self._program.cpu_us() - self.cpu_start_us

    @property
    def wall_us(self) -> int:
        """Wall time up to the last lap."""
        return (self._now - self._start) // 1000

    @property
    def waited_us(self) -> int:
        """How much of that it is known to have waited for a core."""
        return self._bounded(self._waited_ns) // 1000 if self._waited_ns else 0

    @property
    def pause_ms(self) -> float:
        """The longest time to the next lap."""
        return min(CHECK_MS, (self._ends - self._now) / 1e6 + 1)

    def lap(self) -> bool:
        """Takes the time by the clock.

        Returns:
            Whether it is time to look how much the program uses of anything.
        """
        now = time.monotonic_ns()
        if (away := now - self._now) > AWAY_NS:
            self._start += away
            self._deadline += away
            self._ends += away
            # What it waited in that time is no part of what is counted.
            self._schedules = None
            self._waits = self._joined = {}
            self._last_look = now
        self._now = now
        if now < self._next_look and now < self._ends:
            return False
        self._next_look = now + CHECK_NS
        if self._limit.hard_us is not None:
            self._look()
        return True

    def overrun(self) -> str | None:
        """Says in words what is used up, when `lap` has looked; None if nothing is."""
        if self._now >= self._ends:
            return f"within {self._limit.wall_us / 1000:.0f} ms of wall time{self._excuse()}"
        limit_us = self._limit.cpu_us
        if limit_us is not None and (used := self.cpu_us) > limit_us:
            return f"after {used / 1000:.0f} ms of CPU time"
        return None

    def lateness(self) -> str | None:
        """Says in words that a reply that just came is late after all; None if it is not.

        It was let go on as one that waits for a core, and now the kernel has told for how long.
        """
        before = self._now
        if before < self._deadline or self._limit.hard_us is None:
            self.lap()
            return None  # if it is late, then it is we who were
        self.lap()
        self._look()
        overdue = before - self._deadline - self._bounded(self._waited_ns)
        if overdue <= FAITH_NS:
            return None
        limit_ms = self._limit.wall_us / 1000
        return f"{self.wall_us / 1000:.0f} ms of wall time{self._excuse()}; {limit_ms:.0f} are it"

    def _look(self) -> None:
        """Learns from the kernel for how long the program waited, and whether it still does."""
        now, before = self._now, self._schedules
        schedules = threads.schedules(self._program.threads())
        known = schedules if before is None else before
        own_ns = {thread: threads.waited_ns(schedule) for thread, schedule in schedules.items()}
        joined: dict[str, int] = {}
        for thread in schedules:
            # Of one that is new all has happened since the last look.
            already_ns = threads.waited_ns(known.get(thread, threads.UNTOLD))
            joined[thread] = self._joined.get(thread, self._waited_ns - already_ns)
        waited_ns = max((joined[one] + own_ns[one] for one in schedules), default=0)
        self._waited_ns = waited_ns = max(self._waited_ns, waited_ns)
        waits: dict[str, int] = {}
        longest_ns = waited_ns
        for thread, schedule in schedules.items():
            behind = joined[thread] + own_ns[thread] < waited_ns
            if not behind and now < self._deadline:
                continue  # what it does makes no difference yet
            if threads.state(thread) != threads.RUNNABLE:
                joined[thread] = waited_ns - own_ns[thread]
            elif now >= self._deadline:
                same = before is not None and schedule == before.get(thread)
                waits[thread] = since = (
                    self._waits.get(thread, self._last_look) if same else self._last_look
                )
                longest_ns = max(longest_ns, joined[thread] + own_ns[thread] + now - since)
        self._schedules, self._joined, self._waits = schedules, joined, waits
        self._longest_ns = longest_ns
        self._last_look = now
        assert self._limit.hard_us is not None
        self._ends = min(
            self._deadline + self._bounded(longest_ns), self._start + 1000 * self._limit.hard_us
        )

    def _bounded(self, waited_ns: int) -> int:
        """No more than the time in which the program did not run."""
        return max(0, min(waited_ns, self._now - self._start - 1000 * self.cpu_us))

    def _excuse(self) -> str:
        waited_ns = self._bounded(self._longest_ns)
        if waited_ns < FAITH_NS:
            return ""
        return f", beside {waited_ns / 1e6:.0f} ms in which it waited for a core"
