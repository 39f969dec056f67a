"""What every test of the engine may ask for."""

from collections.abc import Iterator

import pytest

from tests.engine.leaks import child_processes, open_files


@pytest.fixture
def no_leaks() -> Iterator[None]:
    """Fails a test that leaves a process or an open file behind."""
    files, children = open_files(), child_processes()
    yield
    assert child_processes() == children
    assert open_files() == files
