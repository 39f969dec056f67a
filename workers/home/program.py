"""A bot at home, as the referee handles it: a program at the other end of a link.

Theory of operation. What the referee writes to the program's input is said over the link, and what
is heard of it lies in its output, so that channel, player and compliance tester are those of every
bot. It can't be frozen, and has no clock of CPU time: it is charged wall time, from when the
request was written until the answer was here, less

- the way: the time until the other end acknowledged the request, which it does at once and without
  the bot; of one request at most `WAY_NS`;
- silence: while the link is silent nobody knows what the bot does, and its clock stands. That, and
  what of a way is longer, is taken out of the program's grace, which is as long for every game.

When a clock has run out the link is asked for a sign of life before that is held against the bot.
All that is said is heard in its order: if the sign comes and no answer before it, then the bot has
given none in time; if it does not come, then the link is silent. When the grace is used up the bot
is away, which is its own fault.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from typing import Protocol

from engine import protocol
from engine.clock import Limit
from engine.jobs import MOST_PROCESSES
from engine.program import stderr_file
from engine.stopwatch import Stopwatch
from workers.home.hearing import WAY_NS, Hearing

GRACE_NS = 20_000_000_000
"""How long a link may be silent in a game while its bot is asked, and a way be longer."""
READ_BYTES = 65_536
LONGEST_PAUSE_MS, PROBING_PAUSE_MS = 1000.0, 20.0
AWAY = f"its link was silent for more than {GRACE_NS // 10**9} s of the game"


class BotLink(Protocol):
    """The home end of a link, as its programs use it. Any thread may call it."""

    hearing: Hearing

    def probe(self) -> int:
        """Asks for a sign of life; returns what `heard_of` takes."""

    def heard_of(self, probe: int) -> bool:
        """Whether that is acknowledged, and all that came before it lies in its output."""

    def tell(self, program: HomeProgram, text: str) -> None:
        """Says something to the bot. For the thread of the link alone."""

    def end(self, program: HomeProgram) -> None:
        """Ends the bot's process at home, and hears no more of it."""


class HomeProgram:
    """A bot at home; an `engine.program.Program`."""

    isolation = "none"
    pid = 0
    processes = MOST_PROCESSES
    """Nobody here can count them."""
    told_by = ""

    def __init__(self, link: BotLink, number: int) -> None:
        """A program that the other end is told to start.

        Args:
            number: by which both ends know it.
        """
        self.number = number
        self.link = link
        self._near, self._far = socket.socketpair()
        self._far.setblocking(False)
        self.stdout = self._near.fileno()
        # Two descriptors: whoever waits for both waits for each.
        self.stdin = os.dup(self.stdout)
        self.stderr = stderr_file()
        self._ended = threading.Event()
        self._how = ""
        self._killed: str | None = None
        self._grace_ns = GRACE_NS
        self._way: tuple[int, int] | None = None
        """When the first of a request was said, and the number of its last message."""
        self._acknowledged: int | None = None
        """When that was."""
        self.arrived: int | None = None
        """When something was last heard of it, since it was asked."""

    # For the thread of the link.

    @property
    def far(self) -> socket.socket:
        """Where the link reads what is written to it."""
        return self._far

    def read(self) -> bool:
        """Says over the link what the referee wrote; false if that has ended."""
        try:
            data = self._far.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if data:
            self.link.tell(self, data.decode("ascii", "replace"))
        return bool(data)

    def said(self, number: int, now: int) -> None:
        """A message was said to it."""
        self._way = (self._way[0] if self._way else now), number
        self._acknowledged = None

    def acknowledge(self, got: int, now: int) -> None:
        """The other end has the messages up to a number."""
        if self._way and self._acknowledged is None and self._way[1] <= got:
            self._acknowledged = now

    def hear(self, text: str, now: int) -> None:
        """The bot said something; more of it than anybody waits for ends it."""
        self.arrived = now
        data = text.encode("utf-8", "surrogatepass")
        try:
            whole = self._far.send(data) == len(data)
        except BlockingIOError:
            whole = False
        except OSError:
            return  # nobody listens any more
        if not whole:
            self.hear_end("said more than anybody waits for")

    def hear_end(self, how: str) -> None:
        """Its process has ended, or nothing is heard of it any more."""
        self._how = self._how or protocol.visible(how[:200], but="")
        self._ended.set()
        try:
            self._far.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close_far(self) -> None:
        """Gives back the link's end of its pipe."""
        self._far.close()

    # For the referee.

    def cpu_us(self) -> int:
        return 0  # nobody here knows

    def watch(self, limit: Limit, cpu_start_us: int | None = None) -> Stopwatch:
        return HomeStopwatch(self, limit)

    def threads(self) -> list[str]:
        return []  # none of this machine

    def freeze(self) -> None:
        pass

    def stands(self) -> bool:
        return True

    def thaw(self) -> None:
        pass

    def look(self) -> None:
        if self._lapse(time.monotonic_ns()) > self._grace_ns:
            self.hear_end(AWAY)

    def wait(self, seconds: float) -> bool:
        return self._ended.wait(seconds)

    def kill(self) -> str:
        if self._killed is None:
            self._killed = self._how or "still running"
            self.link.end(self)
            os.close(self.stdin)
            os.close(self.stderr)
            self._near.close()
        return self._killed

    def begin_game(self) -> None:
        """The grace is that of another game."""
        self._grace_ns = GRACE_NS

    # For its stopwatch.

    def begin_request(self) -> None:
        """What is said from now on is a request."""
        self._way = self._acknowledged = self.arrived = None

    def has_answer(self) -> bool:
        """Whether something lies in its output."""
        output = select.poll()
        output.register(self.stdout, select.POLLIN)
        return bool(output.poll(0))

    def excused(self, start: int, now: int) -> int:
        """How much of the time of a request is not charged, in nanoseconds.

        Args:
            start: when it was written.
        """
        way = self._way_ns(start, now)
        return min(way, WAY_NS) + min(self._lapse(now, start), self._grace_ns)

    def spend(self, start: int, now: int) -> None:
        """Takes out of the grace what a request took of it that was answered."""
        self._grace_ns -= min(self._lapse(now, start), self._grace_ns)
        self._way = None

    def _way_ns(self, start: int, now: int) -> int:
        if self._acknowledged is not None and self._way:
            return max(0, min(self._acknowledged, now) - self._way[0])
        return now - (self._way[0] if self._way else start)

    def _lapse(self, now: int, start: int | None = None) -> int:
        """What a request takes out of the grace: the rest of its way, and silences behind it."""
        if start is None:
            if not self._way:
                return 0
            start = self._way[0]
        beyond = max(0, self._way_ns(start, now) - WAY_NS)
        if self._acknowledged is not None:
            beyond += self.link.hearing.silence(self._acknowledged, now)
        return beyond


class HomeStopwatch(Stopwatch):
    """What a request costs a bot at home; it is looked at when its time is up, and not before."""

    def __init__(self, program: HomeProgram, limit: Limit) -> None:
        program.begin_request()
        self._home = program
        self._wall_ns = 1000 * limit.wall_us
        self._wall_ms = limit.wall_us / 1000
        self._now = self._start = time.monotonic_ns()
        self.cpu_start_us = 0
        self._probe: int | None = None

    @property
    def cpu_us(self) -> int:
        return self.wall_us

    @property
    def wall_us(self) -> int:
        return max(0, self._charged_ns()) // 1000

    @property
    def waited_us(self) -> int:
        return 0

    @property
    def pause_ms(self) -> float:
        if self._probe is not None:
            return PROBING_PAUSE_MS
        return max(1.0, min(LONGEST_PAUSE_MS, (self._wall_ns - self._charged_ns()) / 1e6 + 1))

    def lap(self) -> bool:
        self._now = time.monotonic_ns()
        is_over = self._charged_ns() >= self._wall_ns
        if not is_over:
            self._probe = None
        return is_over

    def overrun(self) -> str | None:
        link = self._home.link
        if self._probe is None:
            self._probe = link.probe()
        elif link.heard_of(self._probe) and not self._home.has_answer():
            return f"within {self._wall_ms:.0f} ms of wall time"
        return None

    def lateness(self) -> str | None:
        arrived = self._home.arrived
        self._now = time.monotonic_ns() if arrived is None else max(self._start, arrived)
        self._charged = self._charged_ns()
        self._home.spend(self._start, self._now)
        return None  # its clock says whether it was in time

    _charged: int | None = None
    """What the request cost, once it is answered."""

    def _charged_ns(self) -> int:
        if self._charged is not None:
            return self._charged
        return self._now - self._start - self._home.excused(self._start, self._now)
