"""What a worker's process does around its jobs."""

from __future__ import annotations

import pytest

from workers.tasks import pause_seconds


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (7, 32), (8, 60), (2000, 60)],
)
def test_who_fails_again_and_again_takes_jobs_more_slowly(failures: int, seconds: float) -> None:
    """A second after the second failure in a row, then twice as long each time, up to a minute."""
    assert pause_seconds(failures) == seconds
