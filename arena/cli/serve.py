"""Serves the pages in one process, with waitress; a running request is finished at the end.

Here the pages are given what packs and stores uploaded bots, which they know nothing of. Other
servers take `application()`: ``gunicorn 'arena.cli.serve:application()'``.
"""

from __future__ import annotations

import gc
import logging
import resource
import signal
import sys

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from waitress.server import MultiSocketServer

from arena.cli import connections
from arena.cli.bundle_intake import BundleIntake
from arena.ground.config import SettingError, load
from arena.ground.db import Database, SchemaError, unusable
from arena.ground.logs import begin_log
from arena.web import downloads, outage
from arena.web.app import create_app
from arena.web.handover import hands_over
from engine.faulty_rules import break_off_hangs
from engine.games import GAMES
from workers.archives import MAX_ARCHIVE_BYTES

THREADS = 4 + downloads.MOST
CONNECTIONS = 900
"""Connections at once: a browser that looks at a page keeps one or more for two minutes."""
FILES = 4096
"""How many may be open, if the system lets us: most allow a process 1,024 until it asks, and an
answer that waits for its reader is a file as well."""
LARGEST_REQUEST = MAX_ARCHIVE_BYTES + 1024 * 1024
"""Bytes; waitress would spool more to disk before the app saw it."""


def application() -> Flask:
    """The pages of the environment's settings.

    Raises:
        SchemaError: their database is not prepared for this release.
    """
    settings = load()
    database = Database(settings.database_url, patience_seconds=outage.PATIENCE_SECONDS)
    try:
        database.demand_schema()
    finally:
        database.close()
    app = create_app(settings, BundleIntake(settings.bundles))
    app.wsgi_app = hands_over(app.wsgi_app)  # type: ignore[method-assign, assignment]
    break_off_hangs(GAMES)
    # What is there now stays, the little garbage too, which takes longer to find than the pages to
    # make. Going through it again and again would make one page in twenty three times as slow as
    # the others.
    gc.freeze()
    gc.enable()
    return app


def main(*, wait: bool = False, patience_seconds: float = connections.PATIENCE_SECONDS) -> int:
    """Serves until SIGTERM; what keeps the pages from starting is one line.

    Args:
        wait: until standard input ends: somebody prepares the database meanwhile.
        patience_seconds: with connections through which next to nothing comes.
    """
    if wait:
        sys.stdin.buffer.read()
    # It warns of each request that waits a moment, which is nothing to be warned of.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        server = _server(patience_seconds)
    except (SettingError, SchemaError, OSError) as error:
        print(f"the pages can't be served: {error}", file=sys.stderr)
        return 2
    except SQLAlchemyError as error:
        print(unusable(error), file=sys.stderr)
        return 2

    def stop(_number: int, _frame: object) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        server.run()
    finally:
        # Waitress on its own cuts what is running; its dispatcher can wait for it.
        server.task_dispatcher.shutdown(cancel_pending=False, timeout=5)
        server.close()
    return 0


def _server(patience_seconds: float) -> MultiSocketServer:
    settings = load()
    begin_log(settings)
    app = application()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, most), most))
    try:
        return connections.listen(
            app,
            patience_seconds=patience_seconds,
            host=settings.host,
            port=settings.port,
            threads=THREADS,
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
            max_request_body_size=LARGEST_REQUEST,
            # What a proxy says is for the application: how many count, and that there is one.
            clear_untrusted_proxy_headers=False,
            ident=None,
        )
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise OSError(f"can't listen on {where}: {error.strerror}") from None
