"""Standard output and standard error whose readers may go away.

A command's exit code tells what it found, and its files hold it; whether somebody reads along to
the end changes neither. So what can't be told any more is dropped, and the command goes on:
standard output once its reader has gone, as in ``| head -1``, and standard error whatever may be
the matter with it. A full disk under standard output is another thing: there somebody wants to
keep what is written, and hears that it is not there.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

GONE = {errno.EPIPE, errno.ECONNRESET}
"""How a pipe or socket says that nobody reads it any more."""
STDOUT, STDERR = 1, 2


LOOK_ALIKES: Mapping[str, str] = dict(
    zip("○●□■♔♕♖♗♘♙♚♛♜♝♞♟•×°★·±▶←→━╸╺", "O@[#KQRBNPkqrbnp*x'%.~><>---", strict=True)
)
"""What is written for a character that a terminal does not have, if there is one like it."""
ERRORS = "arena.look-alikes"
"""How what can't be encoded is written; another character by its number."""


class OutputError(OSError):
    """Standard output can't be written, though somebody may want to keep it."""


class _Droppable(io.FileIO):
    """A stream that takes what can't be written, and drops it."""

    def __init__(self, descriptor: int, is_loss: Callable[[OSError], bool]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._is_loss = is_loss
        self.dropped = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Writes all of it, however long its reader takes."""
        left = memoryview(data).cast("B")
        size = left.nbytes
        try:
            while left:
                written = super().write(left)
                if written is None:  # it does not block, and is full
                    select.select([], [self], [])
                else:
                    left = left[written:]
        except OSError as error:
            if not self._is_loss(error):
                raise OutputError(error.errno, error.strerror) from error
            self.dropped = True
        return size


_output: _Droppable | None = None


def set_up() -> None:
    """Makes them so in this process, once, at its start."""
    global _output  # noqa: PLW0603 - there is one standard output
    _open_closed_ones()
    # A terminal that was hung up is no reader either.
    gone = GONE | ({errno.EIO} if os.isatty(STDOUT) else set())
    _output = _Droppable(STDOUT, lambda error: error.errno in gone)
    codecs.register_error(ERRORS, look_alike)
    sys.stdout = _text(_output, sys.stdout, line_buffering=os.isatty(STDOUT))
    errors = _Droppable(STDERR, lambda _: True)
    sys.stderr = _text(errors, sys.stderr, line_buffering=True)


def reader_has_gone() -> bool:
    """Whether nobody reads standard output any more, so that a long listing may end."""
    return _output is not None and _output.dropped


def _text(raw: _Droppable, before: object, *, line_buffering: bool) -> io.TextIOWrapper:
    """A text stream with the encoding of another one, and as unbuffered."""
    unbuffered = getattr(before, "write_through", False)
    return io.TextIOWrapper(
        raw if unbuffered else io.BufferedWriter(raw),
        encoding="ascii" if _is_dumb(raw) else getattr(before, "encoding", None),
        errors=ERRORS,
        line_buffering=line_buffering,
        write_through=unbuffered,
    )


def _is_dumb(raw: io.FileIO) -> bool:
    """Whether it is a terminal that says of itself that it has nothing."""
    return os.environ.get("TERM") == "dumb" and raw.isatty()


def look_alike(error: UnicodeError) -> tuple[str, int]:
    """What is written of a text that can't be encoded, and from where it is gone on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    numbers = (one.encode("ascii", "backslashreplace").decode() for one in lacking)
    each = zip(lacking, numbers, strict=True)
    return "".join(LOOK_ALIKES.get(one, number) for one, number in each), error.end


def _open_closed_ones() -> None:
    """Opens the null device for each that is closed, or the next file would take its number."""
    for descriptor in (0, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
