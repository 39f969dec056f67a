"""Serves the pages in one process, with waitress; a running request is finished at the end."""

from __future__ import annotations

import logging
import signal

from waitress.server import create_server

from arena.config import load
from arena.web import create_app

THREADS = 4
LARGEST_REQUEST = 16 * 1024 * 1024
"""Bytes; waitress would spool more to disk before the app saw it."""


def main() -> None:
    """Serves until SIGTERM."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = load()
    server = create_server(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        threads=THREADS,
        max_request_body_size=LARGEST_REQUEST,
        ident=None,
    )

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


if __name__ == "__main__":
    main()
