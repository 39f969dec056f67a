"""The home worker: a worker of many threads, each with a match that mostly waits.

It takes the jobs of `HOME_QUEUE` alone. Its bots at home come in by a Unix socket (see
`workers.home.doors`), which is inherited from who started it (ARENA_HOME_LISTENER, a descriptor) or
made at ARENA_HOME, a path: there one home worker listens, and another waits until that ends.
"""

from __future__ import annotations

import logging
import os
import resource
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn

from celery.signals import celeryd_after_setup
from kombu import Queue

from engine import jobs
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES
from engine.program import Program
from engine.unix_sockets import listen_alone
from workers import at_home, cores, progress
from workers.app import app, queues
from workers.home.doors import receive
from workers.home.sessions import Lobby
from workers.tasks import tell_soon

LISTENER, PLACE = "ARENA_HOME_LISTENER", "ARENA_HOME"
FILES = 8192
"""How many may be open: five a bot that plays, and one a connection."""
WAIT_SECONDS = 1.0

log = logging.getLogger("workers.home")

app.conf.task_queues = [Queue(jobs.HOME_QUEUE, no_declare=True)]
app.conf.task_default_queue = jobs.HOME_QUEUE


class Home:
    """The bots that are connected (see `workers.at_home.AtHome`)."""

    def __init__(self, listener: socket.socket) -> None:
        self.lobby = Lobby(tell_soon)
        self._turns = threading.BoundedSemaphore(len(cores.available()))
        receive(listener, self.lobby)

    @property
    def turns(self) -> AbstractContextManager[object]:
        return self._turns

    def start(self, version: int) -> Program:
        return self.lobby.start(version)

    def connected(self) -> Mapping[int, int]:
        return self.lobby.connected()


@celeryd_after_setup.connect
def open_doors(instance: Any, **_given: Any) -> None:
    """Lets bots at home come in, or refuses to work; jobs are those with such bots alone."""
    instance.app.amqp.queues.deselect([queue.name for queue in queues(several=True)])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    try:
        listener = _listener()
    except KeyError:
        _refuse(f"set {PLACE} to the path of the socket on which the pages hand bots over")
    except (OSError, ValueError) as error:
        _refuse(str(error))
    at_home.open_here(Home(listener))
    # Rules that hang end their own match, and not this process with all the others.
    progress.ProgressTeller.ends_hangs = False
    break_off_hangs(GAMES)


def _refuse(problem: str) -> NoReturn:
    print(f"this home worker lets nobody in: {problem}", file=sys.stderr, flush=True)
    raise SystemExit(3)


def _listener() -> socket.socket:
    """The Unix socket on which sockets are handed over."""
    if inherited := os.environ.get(LISTENER):
        return socket.socket(fileno=int(inherited))
    place = Path(os.environ[PLACE])

    def wait() -> None:
        log.info("another home worker listens at %s: this one waits until that ends", place)
        time.sleep(WAIT_SECONDS)

    return listen_alone(place, wait)
