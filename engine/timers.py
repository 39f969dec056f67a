"""What is done now and then."""

from __future__ import annotations

import time


class Every:
    """What is done now and then, by a clock that nobody sets; at first at once."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._last = seconds, -seconds

    def remaining(self) -> float:
        """The seconds until it is due; 0 or less if it is."""
        return self._last + self._seconds - time.monotonic()

    def begin(self) -> None:
        """Takes note that it is done now."""
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether it was long ago; then it is now."""
        if self.remaining() > 0:
            return False
        self.begin()
        return True
