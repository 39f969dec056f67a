"""The pytest plugin: bots tested by playing, and games by what every game must keep to.

``pytest --arena`` runs the tests of bots; without it, those that use the fixture ``arena`` or bear
the mark ``arena`` are skipped. A test marked ``arena_game("NAME")`` that takes ``game_check`` runs
once for each check of the game, in each variant that it offers. Every pytest on this machine loads
this module, so it imports nothing of the arena before a test asks for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from arena.cli.assertions import Assertions

WHY = "it plays games, which takes time: run pytest with --arena"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("arena", "bots that play")
    group.addoption("--arena", action="store_true", help="run the tests that play games")
    group.addoption(
        "--arena-no-box", action="store_true", help="run the bots as plain processes of this user"
    )
    group.addoption(
        "--arena-minimum",
        choices=["full", "good", "reduced"],
        default="reduced",
        help="the weakest box to accept (default: reduced)",
    )
    group.addoption(
        "--arena-processes",
        metavar="N",
        type=int,
        default=1,
        help="how many processes each bot may have in its box (default: 1)",
    )
    group.addoption(
        "--arena-games",
        metavar="DIR",
        default="arena-games",
        help="where the games of failing tests are kept (default: arena-games)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Names the mark."""
    config.addinivalue_line("markers", "arena: plays games; skipped without --arena")
    config.addinivalue_line("markers", "arena_game(name): checks the game of this name")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test for each check of a game."""
    if "game_check" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("arena_game")
    if mark is None or len(mark.args) != 1:
        raise pytest.UsageError(f"{metafunc.function.__name__}: mark it arena_game(NAME)")
    from engine.conformance import checks_of

    found = checks_of(mark.args[0])
    metafunc.parametrize("game_check", found.values(), ids=list(found))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips the marked tests if nobody asked for them."""
    if not config.getoption("--arena"):
        for item in items:
            if item.get_closest_marker("arena"):
                item.add_marker(pytest.mark.skip(reason=WHY))


@pytest.fixture
def arena(request: pytest.FixtureRequest) -> Assertions:
    """Asserts what a bot does: see `arena.cli.assertions.Assertions`."""
    if not request.config.getoption("--arena"):
        pytest.skip(WHY)
    from arena.cli.assertions import Assertions

    option = request.config.getoption
    folder = Path(option("--arena-games"))
    return Assertions(
        folder,
        request.node.nodeid,
        no_box=option("--arena-no-box"),
        minimum=option("--arena-minimum"),
        processes=option("--arena-processes"),
    )
