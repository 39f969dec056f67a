"""An arena of some hundred games, and what programs of statistics need to be installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from arena.ground.db import Database
from tests.arena.lists.conftest import furnish
from tests.furnished import furnished_database
from tests.requirements import need


@pytest.fixture(scope="session", autouse=True)
def _pyarrow() -> None:
    both = find_spec("pyarrow") and find_spec("pandas")
    need(both, "pyarrow and pandas are not installed: pip install -e '.[data]'")


@pytest.fixture(scope="module")
def archive(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Games on three ladders, some of them void."""
    with furnished_database(request, tmp_path_factory.mktemp("archive"), furnish) as found:
        yield found[0]
