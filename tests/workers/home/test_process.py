"""The home worker as a process of its own: where it listens, and who takes its place."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack
from pathlib import Path

from engine.unix_sockets import connect_to
from tests.arena.running import COMMAND, broker, environment, short_folder, until


def test_one_listens_and_another_takes_its_place() -> None:
    """As with `arena run home` on a machine of several processes; who has no place to listen at
    says so."""
    with ExitStack() as stack:
        folder = stack.enter_context(short_folder())
        place = folder / "home.sock"
        url = stack.enter_context(broker()).url
        log = stack.enter_context((folder / "log").open("w"))

        def start(name: str) -> subprocess.Popen[bytes]:
            told = {"ARENA_BROKER": url, "ARENA_HOME": str(place), "ARENA_WORKER_NAME": name}
            process = subprocess.Popen(
                [*COMMAND, "run", "home"],
                env=environment(**told, ARENA_MINIMUM_ISOLATION="none"),
                cwd=folder,
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        first = start("one")
        until(lambda: _listens(place), "the first home worker")
        start("two")
        until(lambda: "another home worker listens at" in (folder / "log").read_text(), "a second")
        first.kill()
        first.wait()
        # What the first left of it refuses.
        until(lambda: _listens(place), "the second in its place")


def _listens(place: Path) -> bool:
    try:
        connect_to(place, 1.0).close()
    except OSError:
        return False
    return True
