"""A bot as a process behind pipes.

Theory of operation. A `Program` is a started process: two pipes, a file for its standard
error, a clock, and the power to freeze and to kill it. `PipeChannel` moves lines through it
against a deadline, and `BotProcess` is the player that speaks the protocol over the channel.

Between two requests the process is frozen (SIGSTOP), so that nobody thinks on the opponent's
time. What lies in its pipe when the next request is due was therefore written unasked, or is
a ``#`` line. Standard error goes to a file in memory, which is moved into a bounded head and
tail whenever it has grown, so that a chatty bot neither blocks nor fills up anything. The
first fault ends the process; what it would still say counts for nothing.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

from engine import protocol
from engine.clock import ALLOWANCES, Allowances
from engine.player import (
    Choice,
    CrashError,
    GameEnd,
    GameSetup,
    MemoryForfeitError,
    ProtocolError,
    StartError,
    TimeForfeitError,
    Turn,
    VoidGameError,
)
from engine.program import Program

CHECK_MS = 20
"""How often the CPU clock of a thinking bot is looked at."""
CHECK_NS = CHECK_MS * 1_000_000
READ_BYTES = 4096
"""A reply and more. Python makes room for so many bytes at every read."""
LOG_BYTES = 64 * 1024
"""Bytes of standard error kept a game, half from its beginning and half from its end; of ``#``
text, which is meant for the log, four times as many."""
DRAIN_BYTES = 64 * 1024
"""How large the file of standard error may grow before it is taken in and emptied."""
Tell = Callable[[str, str], None]
"""Is told of a line that passes: ``>`` or ``<``, and the line."""
NUMBERS_LIMIT = 16
"""How many different numbers a bot may give for a ply; further ones are text for the log."""


class HeadAndTail:
    """The beginning and the end of what was written, in a bounded space."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, data: bytes, *, skipped: int = 0) -> None:
        """Appends; ``skipped`` bytes before ``data`` were never read."""
        room = self._half - len(self._head)
        if not skipped and room > 0:
            self._head += data[:room]
            data = data[room:]
        joined = self._tail + data
        self._tail = joined[-self._half :]
        self._dropped += skipped + len(joined) - len(self._tail)

    def take(self) -> str:
        """All that is kept, as text; then it is empty."""
        gap = f"\n[... {self._dropped} bytes left out ...]\n" if self._dropped else ""
        text = self._head.decode("utf-8", "replace") + gap + self._tail.decode("utf-8", "replace")
        self._head = self._tail = b""
        self._dropped = 0
        return text


class ErrorFile:
    """The file of a program's standard error, moved into a bounded place as it grows."""

    def __init__(self, file: int, kept: HeadAndTail) -> None:
        self._file = file
        self._kept = kept
        self._read = 0

    def drain(self) -> None:
        """Takes it in once it has grown."""
        # The quickest way to its size. The program appends, wherever the file's position is.
        if os.lseek(self._file, 0, os.SEEK_END) > DRAIN_BYTES:
            self.collect()

    def collect(self) -> None:
        """Takes in what is new."""
        size = os.fstat(self._file).st_size
        start = min(self._read, size)
        if size - start <= 2 * DRAIN_BYTES:
            self._kept.add(os.pread(self._file, size - start, start))
        else:
            self._kept.add(os.pread(self._file, DRAIN_BYTES, start))
            tail = os.pread(self._file, DRAIN_BYTES, size - DRAIN_BYTES)
            self._kept.add(tail, skipped=size - DRAIN_BYTES - start - DRAIN_BYTES)
        self._read = size
        if size > DRAIN_BYTES:
            # What a program that still runs writes at this very moment is lost; only one that
            # floods the file comes here.
            os.ftruncate(self._file, 0)
            self._read = 0


class PipeChannel:
    """Lines to and from a program, each request against a deadline."""

    def __init__(self, program: Program, errors: HeadAndTail) -> None:
        self.program = program
        self._buffer = bytearray()
        self._hash_bytes = 0
        self.notes: list[str] = []
        """The ``#`` lines that came since they were last taken."""
        self.errors = ErrorFile(program.stderr, errors)
        os.set_blocking(program.stdin, False)
        os.set_blocking(program.stdout, False)
        self._output = select.poll()
        self._output.register(program.stdout, select.POLLIN)
        self._both = select.poll()
        self._both.register(program.stdout, select.POLLIN)
        self._both.register(program.stdin, select.POLLOUT)

    def settle(self) -> None:
        """Takes in what came since the last reply: ``#`` lines; nothing else may lie there.

        Raises:
            ProtocolError: something was said that nobody asked for.
            CrashError: the output is closed.
        """
        self._hash_bytes = 0
        while True:
            if self._buffer:
                line = self._line()
                if line is not None or (self._buffer and not self._buffer.startswith(b"#")):
                    said = self._buffer.decode("utf-8", "replace") if line is None else line
                    raise ProtocolError(f"said {said[:60]!r} without being asked")
            if not self._output.poll(0):
                return
            self._read()

    def send(self, text: str) -> None:
        """Writes what needs no answer, if the pipe takes it at once; lines are short."""
        try:
            os.write(self.program.stdin, text.encode("ascii"))
        except (BlockingIOError, BrokenPipeError):
            pass

    def ask(self, request: str, *, cpu_us: int | None, wall_us: int) -> tuple[str, int, int]:
        """Sends a request and waits for its one reply line.

        Args:
            cpu_us: CPU time after which to give up early; None for no such limit.
            wall_us: wall time after which to give up.

        Returns:
            The line, and the CPU and wall time in microseconds that passed until it came.

        Raises:
            TimeForfeitError: no reply in time; the caller knows the allowance.
            CrashError: the output was closed.
            ProtocolError: the line is too long or no UTF-8, or too many ``#`` lines came.
        """
        program = self.program
        unsent = request.encode("ascii")
        cpu_start = program.cpu_us()
        start = now = time.monotonic_ns()
        next_check = start + CHECK_NS
        unsent = self._write(unsent)
        program.thaw()
        while (line := self._line()) is None:
            left_ms = wall_us / 1000 - (now - start) / 1e6
            if left_ms <= 0:
                raise TimeForfeitError(f"no reply within {wall_us / 1000:.0f} ms of wall time")
            if now >= next_check:
                # By the clock and not only when nothing comes: it may come byte by byte.
                next_check = now + CHECK_NS
                self.errors.drain()
                if cpu_us is not None and (used := program.cpu_us() - cpu_start) > cpu_us:
                    raise TimeForfeitError(f"no reply after {used / 1000:.0f} ms of CPU time")
            ready = (self._both if unsent else self._output).poll(min(CHECK_MS, left_ms + 1))
            for file, _ in ready:
                if file == program.stdout:
                    self._read()
                else:
                    unsent = self._write(unsent)
            now = time.monotonic_ns()
        wall = (now - start) // 1000
        used = program.cpu_us() - cpu_start
        self.errors.drain()
        if unsent:
            raise ProtocolError(f"said {line[:60]!r} before it had read the request")
        return line, used, wall

    def _write(self, data: bytes) -> bytes:
        """Writes what the pipe takes, and returns the rest."""
        try:
            return data[os.write(self.program.stdin, data) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            # It closed its input; whether that is a crash its output will tell.
            return b""

    def _read(self) -> None:
        try:
            data = os.read(self.program.stdout, READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise CrashError("closed its output")
        self._buffer += data

    def _line(self) -> str | None:
        """The next complete line of the buffer that is no ``#`` line, which are set aside."""
        while self._buffer:
            end = self._buffer.find(b"\n", 0, protocol.LONGEST_REPLY + 2)
            if end < 0:
                if len(self._buffer) > protocol.LONGEST_REPLY + 1:
                    raise ProtocolError(
                        f"sent a line of more than {protocol.LONGEST_REPLY} bytes: "
                        f"{bytes(self._buffer[:40])!r}..."
                    )
                return None
            raw = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if raw.endswith(b"\r"):
                raw = raw[:-1]
            if len(raw) > protocol.LONGEST_REPLY:
                raise ProtocolError(
                    f"sent a line of more than {protocol.LONGEST_REPLY} bytes: {raw[:40]!r}..."
                )
            line = protocol.decode(raw)
            self._heard(line)
            if not line.startswith("#"):
                return line
            self._hash_bytes += len(raw) + 1
            if self._hash_bytes > protocol.LOG_LIMIT:
                raise ProtocolError(f"sent more than {protocol.LOG_LIMIT} bytes of # lines a ply")
            self.notes.append(line)
        return None

    def _heard(self, line: str) -> None:
        """Is called with each line that came; here for those that trace."""


class TracedChannel(PipeChannel):
    """One that tells of every line, ``>`` to the program and ``<`` from it, as it passes."""

    def __init__(self, program: Program, errors: HeadAndTail, tell: Tell) -> None:
        super().__init__(program, errors)
        self._tell = tell

    def ask(self, request: str, *, cpu_us: int | None, wall_us: int) -> tuple[str, int, int]:
        self._tell_request(request)
        return super().ask(request, cpu_us=cpu_us, wall_us=wall_us)

    def send(self, text: str) -> None:
        self._tell_request(text)
        super().send(text)

    def _tell_request(self, request: str) -> None:
        for line in request.splitlines():
            self._tell(">", line)

    def _heard(self, line: str) -> None:
        self._tell("<", line)


OpenChannel = Callable[[Program, HeadAndTail], PipeChannel]
"""Makes the channel to a program whose standard error is kept in that place."""


class BotProcess:
    """A player behind pipes that speaks the bot protocol."""

    def __init__(
        self,
        start: Callable[[], Program],
        *,
        allowances: Allowances = ALLOWANCES,
        open_channel: OpenChannel = PipeChannel,
        log_bytes: int = LOG_BYTES,
    ) -> None:
        """Takes the means to start the bot; its first game starts it.

        Args:
            log_bytes: how much of its standard error is kept a game.
        """
        self.name = ""
        """What it calls itself, once it has said so."""
        self.closed = False
        self._start = start
        self._allowances = allowances
        self._open_channel = open_channel
        self._started: tuple[Program, PipeChannel] | None = None
        self.wants: frozenset[str] = frozenset()
        """What it asked to be told before each move."""
        self._errors = HeadAndTail(log_bytes)
        self._log = HeadAndTail(4 * log_bytes)
        self._ending = _Ending(self)

    @property
    def isolation(self) -> str:
        return self._started[0].isolation if self._started else "none"

    def start(self) -> None:
        """Starts the bot and waits for its ``ready``, which otherwise its first game does.

        Raises:
            BotError, VoidGameError: as for `new_game`.
        """
        with self._ending:
            if self._started is None:
                program = self._start()
                self._started = program, self._open_channel(program, self._errors)
                answer = self._greet(protocol.HELLO, self._allowances.start_seconds, "ready")
                ready = protocol.parse_ready(answer)
                self.name, self.wants = ready.name, ready.wants

    def new_game(self, setup: GameSetup) -> None:
        self.start()
        with self._ending:
            assert self._started is not None
            program, channel = self._started
            channel.settle()
            request = protocol.newgame_line(setup)
            protocol.parse_ok(self._greet(request, self._allowances.newgame_seconds, "ok"))
            program.freeze()
            # What it said before its first turn belongs to no ply.
            self._take_notes()

    def _greet(self, request: str, seconds: float, answer: str) -> str:
        assert self._started is not None
        try:
            line, _, _ = self._started[1].ask(request, cpu_us=None, wall_us=int(seconds * 1e6))
        except TimeForfeitError:
            raise StartError(f"sent no {answer!r} within {seconds:g} s") from None
        return line

    def choose(self, turn: Turn) -> Choice:
        with self._ending:
            assert self._started is not None
            (program, channel), clock = self._started, turn.clock
            channel.settle()
            wall_charged = clock.control.charge == "wall"
            try:
                line, cpu_us, wall_us = channel.ask(
                    protocol.turn_lines(turn, self.wants),
                    cpu_us=None if wall_charged else clock.left_us,
                    wall_us=clock.wall_allowance_us,
                )
            except TimeForfeitError as error:
                left = clock.left_us / 1000
                raise TimeForfeitError(f"{error.detail}; its clock had {left:.0f} ms") from None
            program.freeze()
            if overrun := clock.overrun(cpu_us, wall_us):
                raise TimeForfeitError(overrun)
            reply = protocol.parse_reply(line)
            values = self._take_notes(turn.ply) if channel.notes else {}
            return Choice(reply.move, reply.text, cpu_us, wall_us, values)

    def end_game(self, end: GameEnd) -> None:
        if self._started and not self.closed:
            program, channel = self._started
            program.thaw()
            channel.send(protocol.end_line(end))

    def _take_notes(self, ply: int | None = None) -> dict[str, float]:
        """Sorts the ``#`` lines into numbers for this ply, if there is one, and the log."""
        values: dict[str, float] = {}
        if self._started:
            where = "" if ply is None else f"ply {ply}: "
            notes = self._started[1].notes
            for note in notes:
                value = None if ply is None else protocol.parse_value(note)
                if value and (value[0] in values or len(values) < NUMBERS_LIMIT):
                    values[value[0]] = value[1]
                else:
                    self._log.add(f"{where}{note[1:].strip()}\n".encode())
            notes.clear()
        return values

    def take_log(self) -> str:
        if self._started and not self.closed:
            self._started[1].errors.collect()
        self._take_notes()
        log = self._log.take()
        if errors := self._errors.take():
            log += f"--- standard error ---\n{protocol.clean(errors)}"
        return log

    def close(self, *, kill: bool = False) -> None:
        if self._started and not self.closed and not kill:
            program, channel = self._started
            program.thaw()
            channel.send(protocol.QUIT)
            program.wait(self._allowances.quit_seconds)
        self._end()

    def _end(self) -> str:
        """Ends the process, after what it wrote to standard error was taken in."""
        if self.closed:
            return ""
        self.closed = True
        if self._started is None:
            return ""
        program, channel = self._started
        program.freeze()
        channel.errors.collect()
        return program.kill()

    def fail(self, error: BaseException) -> None:
        """Ends the process at its first fault; a crash is told with how the process ended.

        Raises:
            BotError: what a crash was after all.
        """
        if not isinstance(error, CrashError):
            self._end()
            return
        if self._started:
            # A dying process gets a moment, so that its exit code can be told.
            self._started[0].thaw()
            self._started[0].wait(0.5)
        how = self._end()
        if how.startswith("memory"):
            raise MemoryForfeitError("was killed at its memory limit") from None
        raise CrashError(f"{error.detail}: {how}" if how else error.detail) from None


class _Ending:
    """A block that no fault leaves without ending the bot's process.

    An object for all of a bot's blocks: they are entered at every ply.
    """

    def __init__(self, bot: BotProcess) -> None:
        self._bot = bot

    def __enter__(self) -> None:
        if self._bot.closed:
            raise VoidGameError("a bot's process was asked to play after its end")

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        if error is not None:
            self._bot.fail(error)
