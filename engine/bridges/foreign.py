"""A foreign program behind pipes, spoken to line by line.

It is waited for as long as the referee waits: how long that is, is the referee's to say, and whose
fault it was. Shortly before it loses patience the bridge says on standard error what is missing.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from engine.process_tree import descendants, end_all
from engine.program import exit_words

LONGEST_BUFFER = 1 << 20
LOOK_SECONDS = 0.5
"""How often a bridge looks whether its referee is still there, once that should have judged."""
ENDING_SECONDS = 0.1
"""How long the end of a program is waited for that has closed its output, since clocks run on."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)


SAYS = "arena bridge: "
"""The beginning of what a bridge says itself, on the standard error of its program."""


class BridgeError(Exception):
    """Why a bridge can't go on, in one sentence for the bot's owner."""


def program_of(command: Sequence[str]) -> str:
    """What the file that a command starts is called."""
    return Path(command[0]).name if command else ""


def _end_with_us() -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Foreign:
    """A started program. It stays in our process group, so it is stopped and killed with us.

    Programs that leave the group, by a session of their own, are ended with us all the same.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Starts it; its standard error is ours.

        All that it starts is ours, too, once those who started it have ended.

        Raises:
            BridgeError: it can't be started.
        """
        self.name = program_of(command)
        self._buffer = b""
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                # Should we be killed, nobody else might end it.
                preexec_fn=_end_with_us,  # noqa: PLW1509  a bridge has a single thread
            )
        except OSError as error:
            # Of a name that is nowhere the system may say that some folder can't be read.
            is_nowhere = os.sep not in command[0] and shutil.which(command[0]) is None
            why = "there is no such program" if is_nowhere else error.strerror
            raise BridgeError(f"{command[0]} can't be started: {why}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._referee = select.poll()
        self._referee.register(sys.stdin, 0)

    def say(self, line: str) -> None:
        """Sends a line.

        Raises:
            BridgeError: it has ended.
        """
        try:
            self._input.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise self._ended(f"when it was told {line[:60]!r}") from None

    def hear(self, expected: float, what: str) -> str:
        """Its next line, without its end.

        Args:
            expected: by `time.monotonic`, when the referee is about to lose patience.
            what: what is waited for, for the message.

        Raises:
            BridgeError: it has ended, or none came and the referee has gone.
        """
        was_late = False
        while b"\n" not in self._buffer:
            left = expected - time.monotonic()
            if left <= 0 and not was_late:
                was_late = True
                with suppress(OSError):
                    print(f"{SAYS}{self.name} gave no {what} in time", file=sys.stderr, flush=True)
            if not self._poll.poll(1000 * (left if left > 0 else LOOK_SECONDS)):
                if was_late and self._referee.poll(0):
                    raise BridgeError("its referee has gone")
                continue
            data = os.read(self._output.fileno(), 65536)
            if not data:
                raise self._ended(f"before it gave {what}")
            self._buffer += data
            if len(self._buffer) > LONGEST_BUFFER and b"\n" not in self._buffer:
                raise BridgeError(f"{self.name} sends a line without an end")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    def close(self, goodbye: str | None) -> None:
        """Says goodbye, if that is a word, and ends it if it doesn't leave."""
        try:
            if goodbye:
                self.say(goodbye)
                self._process.wait(0.5)
        except (BridgeError, subprocess.TimeoutExpired):
            pass
        finally:
            end_all(lambda: descendants(os.getpid()))
            self._process.kill()  # in a box none is seen, and the rest ends with us
            self._process.wait()
            self._input.close()
            self._output.close()

    def _ended(self, when: str) -> BridgeError:
        try:
            code = self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return BridgeError(f"{self.name} closed its output {when}")
        return BridgeError(f"{self.name} ended ({exit_words(code)}) {when}")
