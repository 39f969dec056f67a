"""The simulated recorder and workers, at both ends of what they can do."""

import pytest

from tests.benchmarks.bench_workers import simulate


@pytest.mark.parametrize("workers", [1, 7, 50])
def test_workers_that_never_wait(workers: int) -> None:
    """Beside a recorder that takes no time they play one match after the other."""
    assert simulate(workers, 2.0, 0.0) == pytest.approx(workers / 2, rel=0.1)


def test_a_full_recorder() -> None:
    """It takes as many matches as it can, however many workers there are."""
    assert simulate(500, 1.0, 0.01) == pytest.approx(100, rel=0.02)
