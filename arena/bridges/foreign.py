"""A foreign program behind pipes, spoken to line by line against a deadline."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

LONGEST_BUFFER = 1 << 20


class BridgeError(Exception):
    """Why a bridge can't go on, in one sentence for the bot's owner."""


class Foreign:
    """A started program. It stays in our process group, so it is stopped and killed with us."""

    def __init__(self, command: Sequence[str]) -> None:
        """Starts it; its standard error is ours.

        Raises:
            BridgeError: it can't be started.
        """
        self.name = Path(command[0]).name
        self._buffer = b""
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            raise BridgeError(f"{command[0]} can't be started: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)

    def say(self, line: str) -> None:
        """Sends a line.

        Raises:
            BridgeError: it has ended.
        """
        try:
            self._input.write(f"{line}\n".encode())
        except BrokenPipeError:
            raise self._ended(f"when it was told {line[:60]!r}") from None

    def hear(self, deadline: float, what: str) -> str:
        """Its next line, without its end.

        Args:
            deadline: by `time.monotonic`.
            what: what is waited for, for the message.

        Raises:
            BridgeError: none came in time, or it has ended.
        """
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise BridgeError(f"{self.name} gave no {what} in time")
            data = os.read(self._output.fileno(), 65536)
            if not data:
                raise self._ended(f"before it gave {what}")
            self._buffer += data
            if len(self._buffer) > LONGEST_BUFFER and b"\n" not in self._buffer:
                raise BridgeError(f"{self.name} sends a line without an end")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    def close(self, goodbye: str) -> None:
        """Says goodbye, and ends it if it doesn't leave."""
        try:
            self.say(goodbye)
            self._process.wait(0.5)
        except (BridgeError, subprocess.TimeoutExpired):
            pass
        finally:
            self._process.kill()
            self._process.wait()

    def _ended(self, when: str) -> BridgeError:
        try:
            code = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return BridgeError(f"{self.name} closed its output {when}")
        how = f"exit {code}" if code >= 0 else f"signal {-code}"
        return BridgeError(f"{self.name} ended ({how}) {when}")
