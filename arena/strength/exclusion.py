"""What it costs to leave out a worker's games by who has seen the results.

A test of two bots that are as strong as its lower answer says passes in one case of twenty by
design. Whoever leaves out the worker that did the candidate most harm has, with w workers, w more
ways to a pass, though none of the workers is at fault. How many tests then pass was tried by
simulation (`tests/benchmarks/bench_exclusion.py`): 2,000 tests each of game pairs of equal bots,
alpha and beta 0.05, with equally fast workers; a figure is right within 0.014.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.plurals import counted
from engine.translation import gettext


class Odds(NamedTuple):
    """How many of the tests pass that should not, of which one in twenty may."""

    once: float
    """How many pass if somebody looks once, in the middle, and leaves out the worst worker."""
    always: float
    """How many pass if somebody looks after every match, and leaves out the one without whom the
    test passes."""

    def words(self, workers: int) -> str:
        """Says for people how many pass, in a sentence without its full stop.

        Args:
            workers: of how many.
        """
        return gettext(
            "of 100 tests between equal bots 5 pass by design; if one of %(workers)s is left out "
            "by the results, though all play alike, %(once)s do, and %(always)s if somebody waits "
            "until a test passes without one",
            workers=counted(workers, "worker"),
            once=f"{100 * self.once:.0f}",
            always=f"{100 * self.always:.0f}",
        )


OF_WORKERS = {
    2: Odds(0.090, 0.081),
    4: Odds(0.089, 0.106),
    8: Odds(0.098, 0.118),
    16: Odds(0.072, 0.113),
}
"""The odds by how many workers played for the test."""


def odds(workers: int) -> Odds | None:
    """What leaving out one of so many workers costs; None where nobody is left.

    Of a number between two it is that of the larger, and of any beyond the largest that of it.
    """
    if workers < 2:
        return None
    return OF_WORKERS[next((known for known in OF_WORKERS if known >= workers), max(OF_WORKERS))]
