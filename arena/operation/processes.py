"""The processes that an arena is made of, as commands: on one machine, or each where it belongs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from socket import gethostname

from arena.ground.config import Settings

PYTHON = [sys.executable, "-P", "-m"]
# Quiet: what Celery prints at its start is no line of a log, least of all of one in JSON.
CELERY = [*PYTHON, "celery", "--quiet", "-A"]
HOME_JOBS = 256
"""What a home worker has at once, which mostly waits."""
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "INFO"]


def prepare() -> list[str]:
    """Brings the database up to date, and ends."""
    return _without_garbage("arena.cli.prepare")


def web(*, wait: bool = False) -> list[str]:
    """Serves the pages; any number of them may run.

    Args:
        wait: until standard input ends, with all imported that it takes.
    """
    return _without_garbage("arena.cli.serve", f"wait={wait}")


def _without_garbage(module: str, arguments: str = "") -> list[str]:
    # All that is imported stays. To look through it for garbage, again and again meanwhile, takes
    # a quarter of the start.
    start = (
        f"import gc; gc.disable(); from {module} import main; raise SystemExit(main({arguments}))"
    )
    return [sys.executable, "-P", "-c", start]


def recorder() -> list[str]:
    """Takes results in and schedules; there is one."""
    return _without_garbage("arena.recorder.process")


def dump() -> list[str]:
    """Makes the dump of the day, and ends; the recorder starts it."""
    return [*PYTHON, "arena.dumps.daily"]


def cold() -> list[str]:
    """Moves old records to the cold store, and ends; the recorder starts it."""
    return [*PYTHON, "arena.keeping.process"]


def fetch() -> list[str]:
    """Asks the git repositories that are due, and ends; the recorder starts it."""
    return [*PYTHON, "arena.cli.fetch"]


def worker(slots: int) -> list[str]:
    """Plays so many matches at a time; any number of them may run, on any machine."""
    words = ["-n", "worker@%h", "-c", str(slots), "--disable-prefetch"]
    return [*CELERY, "workers.tasks", "worker", *words, *QUIET]


def home_worker() -> list[str]:
    """Plays the matches of bots at home; one of them is at work, and another would wait."""
    words = ["-n", "home@%h", "-P", "threads", "-c", str(HOME_JOBS), "--disable-prefetch"]
    return [*CELERY, "workers.home.tasks", "worker", *words, *QUIET]


def home_environment(settings: Settings, listener: int | None = None) -> dict[str, str]:
    """What a home worker is told beside what any worker is: where bots come in, and its name.

    Args:
        listener: the descriptor of the socket on which they do, if it inherits that.
    """
    name = os.environ.get("ARENA_WORKER_NAME", "").strip()
    told = {
        "ARENA_HOME": str(settings.home_socket),
        # Beside a worker of this machine it is another one.
        "ARENA_WORKER_NAME": name if name and listener is None else f"{gethostname()}-home",
    }
    return told if listener is None else {**told, "ARENA_HOME_LISTENER": str(listener)}


def live() -> list[str]:
    """Tells who watches of matches under way; one of them is at work, and another would wait."""
    return _without_garbage("arena.live.process")


def live_environment(listener: int) -> dict[str, str]:
    """What that is told if it inherits the descriptor of the socket at which people come."""
    return {"ARENA_LIVE_LISTENER": str(listener)}


def sender() -> list[str]:
    """Sends mail and messages to hooks; any number of them may run."""
    return _without_garbage("arena.sender.process")


OF_THE_ARENA: Mapping[str, Callable[[], list[str]]] = {
    "prepare": prepare,
    "web": web,
    "recorder": recorder,
    "live": live,
    "sender": sender,
}
"""The processes that know the database, or the broker as the arena does."""
