"""What every test of the engine may ask for."""

from collections.abc import Iterator

import pytest

from engine.clock import ALLOWANCES
from engine.process import BotProcess
from engine.program import Program
from tests.engine.leaks import child_processes, open_files
from tests.engine.players import StartBot, scripted_program


@pytest.fixture
def no_leaks() -> Iterator[None]:
    """Fails a test that leaves a process or an open file behind."""
    files, children = open_files(), child_processes()
    yield
    assert child_processes() == children
    assert open_files() == files


@pytest.fixture
def start(no_leaks: None) -> Iterator[StartBot]:
    """Makes bots of tests/bots/scripted.py, all of them ended after the test."""
    bots = []

    def start(
        *,
        program: Program | None = None,
        allowances=ALLOWANCES,
        keeps_lines: bool = False,
        **events: str,
    ):
        bots.append(
            BotProcess(
                lambda: program or scripted_program(**events),
                allowances=allowances,
                keeps_lines=keeps_lines,
            )
        )
        return bots[-1]

    yield start
    for bot in bots:
        bot.close(kill=True)
