"""A command at a terminal, whose keys a test presses."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Iterable

from tests.arena.running import COMMAND, environment


def press(
    words: Iterable[object], steps: Iterable[tuple[bytes, str]], **variables: str
) -> tuple[int, str]:
    """Runs a command line, and presses each key once the words before it were seen.

    Args:
        steps: keys, and what is to be seen after them.
        variables: of its environment.

    Returns:
        The exit code, and what was said after the last step.
    """
    own, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *map(str, words)],
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
        env=environment(**{"TERM": "xterm", **variables}),
    )  # fmt: skip
    os.close(terminal)
    seen = b""
    try:
        for key, wanted in steps:
            os.write(own, key)
            while wanted.encode() not in seen:
                seen += os.read(own, 65536)
            seen = seen.partition(wanted.encode())[2]
        try:
            while more := os.read(own, 65536):
                seen += more
        except OSError:  # the other end is closed
            pass
        return process.wait(60), seen.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(own)
