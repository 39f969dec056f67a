"""The process that tells who watches of matches under way (see `arena.live.hall`).

Connections come by a Unix socket, which is inherited from who started it (ARENA_LIVE_LISTENER, a
descriptor) or made at ARENA_LIVE, a path.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from arena.ground.config import SettingError, Settings, load
from arena.ground.db import Database, SchemaError, unusable
from arena.ground.logs import begin_log
from arena.live.hall import Hall
from arena.live.standings import Standings
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES
from engine.handover import Reception
from engine.messages import address_of
from engine.unix_sockets import listen_alone

LISTENER = "ARENA_LIVE_LISTENER"
FILES = 16_384
"""How many may be open: one a connection."""
SPARE = 64
"""Files that are open and no connections."""
LONGEST_LETTER = 10_000
WAIT_SECONDS = 1.0
PATIENCE_SECONDS = 10

log = logging.getLogger("arena.live")


async def run(settings: Settings, database: Database, listener: socket.socket) -> None:
    """Tells until SIGTERM or SIGINT."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        loop.add_signal_handler(number, over.set)
    hall = Hall(Standings(database), address_of(settings.broker), most=_files() - SPARE)
    coming: set[asyncio.Task[Any]] = set()

    def begin(task: Coroutine[Any, Any, None]) -> None:
        made = loop.create_task(task)
        coming.add(made)
        made.add_done_callback(coming.discard)

    def let_in(client: socket.socket, letter: Mapping[str, Any]) -> None:
        loop.call_soon_threadsafe(begin, hall.let_in(letter, client))

    Reception(listener, let_in, longest=LONGEST_LETTER)
    log.info("whoever watches can come in")
    await over.wait()
    await hall.close()


def _files() -> int:
    """How many files may be open here, which are as many as the system lets us have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return files


def _listener(settings: Settings) -> socket.socket:
    if inherited := os.environ.get(LISTENER):
        return socket.socket(fileno=int(inherited))

    def wait() -> None:
        log.info("another one listens at %s: this one waits until that ends", settings.live_socket)
        time.sleep(WAIT_SECONDS)

    return listen_alone(settings.live_socket, wait)


def main() -> int:
    """Runs until it is told to end; what keeps it from that is one line."""
    gc.enable()  # all is imported, for which it was off
    try:
        settings = load()
        begin_log(settings)
        database = Database(
            settings.database_url, patience_seconds=PATIENCE_SECONDS, cold=settings.cold_store
        )
        database.demand_schema()
        listener = _listener(settings)
    except (SettingError, SchemaError, OSError, ValueError) as error:
        print(f"nobody can watch: {error}", file=sys.stderr)
        return 2
    except SQLAlchemyError as error:
        print(unusable(error), file=sys.stderr)
        return 2
    break_off_hangs(GAMES)
    gc.freeze()
    with suppress(KeyboardInterrupt):
        asyncio.run(run(settings, database, listener))
    database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
