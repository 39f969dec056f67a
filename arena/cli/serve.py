"""Serves the pages in one process, with waitress; a running request is finished at the end.

Here the pages are given what packs and stores uploaded bots, which they know nothing of. Other
servers take `application()`: ``gunicorn 'arena.cli.serve:application()'``.
"""

from __future__ import annotations

import gc
import logging
import re
import signal
import sys
from pathlib import Path

from flask import Flask
from waitress.server import create_server

from arena.config import load
from arena.intake import TakenIn
from arena.submissions import SubmissionError
from arena.web.app import create_app
from engine.logs import use_json
from workers import bundles
from workers.archives import MAX_ARCHIVE_BYTES, MAX_BYTES, BundleError

ENDING = re.compile(r"(\.tar)?\.\w+$")
THREADS = 4
LARGEST_REQUEST = MAX_ARCHIVE_BYTES + 1024 * 1024
"""Bytes; waitress would spool more to disk before the app saw it."""


class BundleIntake:
    """Packs what is uploaded, and keeps it in the folder of bundles."""

    largest = MAX_BYTES

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, path: Path) -> TakenIn:
        """Takes in a file, folder or archive.

        Raises:
            SubmissionError: it is no bot.
        """
        try:
            bundle = bundles.pack(path)
        except BundleError as error:
            # Where it lay on this server is nobody's business.
            raise SubmissionError(str(error).replace(f"{path.parent}/", "")) from None
        bundles.store(self._folder, bundle)
        # By what was sent: the file in an archive or a folder is often called bot or main.
        sent = path.name if path.is_dir() else ENDING.sub("", path.name)
        name = bundle.manifest.name or sent
        return TakenIn(bundle.digest, len(bundle.archive), bundle.language, name)


def application() -> Flask:
    """The pages of the environment's settings."""
    settings = load()
    app = create_app(settings, BundleIntake(settings.bundles))
    # What is there now stays. Going through it again and again would make one page in twenty
    # three times as slow as the others.
    gc.collect()
    gc.freeze()
    gc.enable()
    return app


def main(*, wait: bool = False) -> None:
    """Serves until SIGTERM.

    Args:
        wait: until standard input ends: somebody prepares the database meanwhile.
    """
    if wait:
        sys.stdin.buffer.read()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = load()
    if settings.log == "json":
        use_json(logging.getLogger())
    server = create_server(
        application(),
        host=settings.host,
        port=settings.port,
        threads=THREADS,
        max_request_body_size=LARGEST_REQUEST,
        # What a proxy says is for the application, which knows how many there are.
        clear_untrusted_proxy_headers=not settings.proxies,
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
