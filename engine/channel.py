"""Lines to and from a program, against a deadline, and what it writes to standard error.

A program is frozen between two requests. What lies in its pipe when the next request is due was
therefore written unasked, or is a ``#`` line. Standard error goes to a file in memory, which is
moved into a bounded head and tail whenever it has grown, so that a chatty bot neither blocks nor
fills up anything.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import NamedTuple

from engine import protocol
from engine.clock import Limit
from engine.player import CrashError, ProtocolError, TimeForfeitError
from engine.program import Program
from engine.stopwatch import Stopwatch

READ_BYTES = 4096
"""A reply and more. Python makes room for so many bytes at every read."""
DRAIN_BYTES = 64 * 1024
"""How much the file of standard error may grow before that is taken in."""
EMPTIED_BYTES = 1 << 20
"""How large it may become before it is emptied."""
STOP_PAUSES = (0.0, 0.0, 50e-6, 100e-6, 200e-6, 400e-6, 1e-3)
"""Seconds between looks whether a program stands, of which the last repeats: most do at once."""
Tell = Callable[[str, str], None]
"""Is told of a line that passes: ``>`` or ``<``, and the line."""


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
        self._tail = joined[max(0, len(joined) - self._half) :]
        self._dropped += skipped + len(joined) - len(self._tail)

    def add_line(self, words: str) -> None:
        """Appends a line of its own, whatever was written before."""
        last = (self._tail or self._head)[-1:]
        self.add(b"\n" * (last not in (b"", b"\n")) + words.encode() + b"\n")

    def last_line(self, of: Callable[[str], bool] = bool) -> str:
        """The last line that has something in it, or is one of those; empty if there is none."""
        lines = (self._head + self._tail).decode("utf-8", "replace").splitlines()
        return next((line for line in map(str.strip, reversed(lines)) if line and of(line)), "")

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
        self._heading = ""

    def head(self, words: str) -> None:
        """Puts a line of these words before what is written from now on, if anything is."""
        if os.lseek(self._file, 0, os.SEEK_END) != self._read:
            self.collect()
        self._heading = words

    def drain(self) -> None:
        """Takes it in once it has grown."""
        # The quickest way to its size. The program appends, wherever the file's position is.
        if os.lseek(self._file, 0, os.SEEK_END) - self._read > DRAIN_BYTES:
            self.collect()

    def collect(self) -> None:
        """Takes in what is new."""
        size = os.fstat(self._file).st_size
        start = min(self._read, size)
        if self._heading and size > start:
            self._kept.add_line(self._heading)
            self._heading = ""
        if size - start <= 2 * DRAIN_BYTES:
            self._kept.add(os.pread(self._file, size - start, start))
        else:
            self._kept.add(os.pread(self._file, DRAIN_BYTES, start))
            tail = os.pread(self._file, DRAIN_BYTES, size - DRAIN_BYTES)
            self._kept.add(tail, skipped=size - DRAIN_BYTES - start - DRAIN_BYTES)
        self._read = size
        if size > EMPTIED_BYTES:
            # What a program that still runs writes at this very moment is lost; only one that
            # floods the file comes here.
            os.ftruncate(self._file, 0)
            self._read = 0


class Answer(NamedTuple):
    """A reply line, and what it cost from the request to it, or until the program stood."""

    line: str
    cpu_us: int
    wall_us: int
    waited_us: int
    """How much of that it waited for a core."""


class PipeChannel:
    """Lines to and from a program, each request against a deadline."""

    def __init__(self, program: Program, errors: HeadAndTail) -> None:
        self.program = program
        self._buffer = bytearray()
        self._hash_bytes = 0
        self._charged_us: int | None = None
        """The CPU time up to which it was charged, as long as nothing is free."""
        self._tells: list[Tell] = []
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

    def trace(self, tell: Tell) -> None:
        """Has this told of every line, ``>`` to the program and ``<`` from it, as it passes."""
        self._tells.append(tell)

    def _tell_request(self, request: str) -> None:
        for line in request.splitlines() if self._tells else ():
            for tell in self._tells:
                tell(">", line)

    def hear_out(self, seconds: float = 0.0) -> None:
        """Takes in what came since the last reply: ``#`` lines; nothing else may lie there.

        Args:
            seconds: how long to wait for something that comes, ``#`` lines included.

        Raises:
            ProtocolError: something was said that nobody asked for.
            CrashError: the output is closed.
        """
        self._hash_bytes = 0
        deadline = time.monotonic() + seconds if seconds else 0.0
        while True:
            if self._buffer:
                line = self._line()
                if line is not None or (self._buffer and not self._buffer.startswith(b"#")):
                    said = self._buffer.decode("utf-8", "replace") if line is None else line
                    raise ProtocolError(f"said {said[:60]!r} without being asked")
            left = max(0.0, deadline - time.monotonic()) if seconds else 0.0
            if not self._output.poll(1000 * left):
                return
            self._read()

    def send(self, text: str) -> None:
        """Writes what needs no answer, if the pipe takes it at once; lines are short."""
        self._tell_request(text)
        try:
            os.write(self.program.stdin, text.encode("ascii"))
        except (BlockingIOError, BrokenPipeError):
            pass

    def ask(self, request: str, limit: Limit, *, then_stop: Limit | None = None) -> Answer:
        """Sends a request and waits for its one reply line.

        Args:
            limit: what it may cost. That it cost more CPU time is sometimes seen in the answer
                alone.
            then_stop: stops the program when it has replied, as `stop` does, and counts what it
                costs until then; what it costs after that counts in the next answer.

        Raises:
            TimeForfeitError: no reply in time, or it was not to be stopped; the caller knows the
                allowance.
            CrashError: the output was closed.
            ProtocolError: the line is too long or no UTF-8, or too many ``#`` lines came.
        """
        self._tell_request(request)
        program = self.program
        unsent = request.encode("ascii")
        watch = program.watch(limit, self._charged_us)
        unsent = self._write(unsent)
        program.thaw()
        while (line := self._line()) is None:
            # By the clock and not only when nothing comes: it may come byte by byte.
            if watch.lap():
                self.errors.drain()
                program.look()
                if words := watch.overrun():
                    raise TimeForfeitError(f"no reply {words}{self.half_line()}")
            ready = (self._both if unsent else self._output).poll(watch.pause_ms)
            for file, _ in ready:
                if file == program.stdout:
                    self._read()
                else:
                    unsent = self._write(unsent)
        if then_stop:
            program.freeze()
        if words := watch.lateness():
            raise TimeForfeitError(f"replied after {words}")
        if then_stop:
            self._await_stop(then_stop, watch)
        answer = Answer(line, watch.cpu_us, watch.wall_us, watch.waited_us)
        self._charged_us = watch.cpu_start_us + answer.cpu_us if then_stop else None
        self.errors.drain()
        program.look()
        if unsent:
            raise ProtocolError(f"said {line[:60]!r} before it had read the request")
        return answer

    def stop(self, limit: Limit) -> None:
        """Stops the program, and waits until all its threads stand.

        A thread in a long call of the kernel does not heed it before that ends.

        Raises:
            TimeForfeitError: that took too long.
        """
        self.program.freeze()
        self._await_stop(limit, None)
        self._charged_us = None

    def _await_stop(self, limit: Limit, whole: Stopwatch | None) -> None:
        """Waits until all threads stand, while the watch of a whole request runs on."""
        watch: Stopwatch | None = None
        pauses = iter(STOP_PAUSES)
        while not self.program.stands():
            watch = watch or self.program.watch(limit)
            if watch.lap():
                self.program.look()
                if words := watch.overrun():
                    raise TimeForfeitError(f"was not to be stopped {words} after its reply")
            if pause := next(pauses, STOP_PAUSES[-1]):
                time.sleep(pause)
            else:
                os.sched_yield()
            if whole:
                whole.lap()

    def half_line(self) -> str:
        """What is to be said of a line that has begun and not ended, if there is one."""
        if not self._buffer:
            return ""
        begun = self._buffer[:60].decode("utf-8", "replace")
        return f", only {begun!r} and no end of that line"

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
            for tell in self._tells:
                tell("<", line)
            if not line.startswith("#"):
                return line
            self._hash_bytes += len(raw) + 1
            if self._hash_bytes > protocol.LOG_LIMIT:
                raise ProtocolError(f"sent more than {protocol.LOG_LIMIT} bytes of # lines a ply")
            self.notes.append(protocol.without_control(line))
        return None


class TracedChannel(PipeChannel):
    """One that tells of every line from the first on."""

    def __init__(self, program: Program, errors: HeadAndTail, tell: Tell) -> None:
        super().__init__(program, errors)
        self.trace(tell)
