"""Serves the pages in one process, with waitress; a running request is finished at the end.

Here the pages are given what packs and stores uploaded bots, which they know nothing of. Other
servers take `application()`: ``gunicorn 'arena.cli.serve:application()'``.
"""

from __future__ import annotations

import gc
import logging
import re
import resource
import signal
import sys
import tarfile
from collections.abc import Collection, Mapping
from pathlib import Path

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from waitress.server import MultiSocketServer

from arena.bots.intake import FirstFiles, Sender, TakenIn
from arena.bots.submissions import SubmissionError
from arena.cli import connections
from arena.cli.new import TEMPLATES, contents, name_refusal, program
from arena.ground.config import SettingError, load
from arena.ground.db import Database, SchemaError, unusable
from arena.ground.refusals import Refusal
from arena.web import downloads, outage
from arena.web.app import create_app
from arena.web.handing_over import hands_over
from engine.faulty_rules import break_off_hangs
from engine.game import Variant
from engine.games import GAMES
from engine.logs import use_json
from engine.timers import Every
from workers import bundles
from workers.archives import LEFT_OUT, LEFT_OUT_WITH, MAX_ARCHIVE_BYTES, MAX_BYTES, BundleError
from workers.files import File
from workers.large_files import Aside
from workers.manifest import read_manifest

ENDING = re.compile(r"(\.tar)?\.\w+$")
THREADS = 4 + downloads.MOST
CONNECTIONS = 900
"""Connections at once: a browser that looks at a page keeps one or more for two minutes."""
FILES = 4096
"""That may be open, if the system lets us: most allow a process 1,024 until it asks, and an answer
that waits for its reader is a file as well."""
MOST_TEXT_BYTES = 256 * 1024
"""Of a bundle that can be read and written in a form."""
TIDY_SECONDS = 24 * 60 * 60
"""How often the store of bundles is rid of what was not finished, when one is taken in."""
LARGEST_REQUEST = MAX_ARCHIVE_BYTES + 1024 * 1024
"""Bytes; waitress would spool more to disk before the app saw it."""


class BundleIntake:
    """Packs what is uploaded, and keeps it in the folder of bundles."""

    largest = MAX_BYTES
    left_out: Collection[str] = LEFT_OUT
    left_out_with: Collection[str] = LEFT_OUT_WITH

    languages: Mapping[str, str] = {key: one.name for key, one in TEMPLATES.items()}

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tidying = Every(TIDY_SECONDS)

    def starter(self, name: str, language: str, variant: Variant) -> FirstFiles:
        """The bot that `arena new` writes.

        Raises:
            Refusal: it can't be called so.
        """
        if words := name_refusal(name):
            raise Refusal(words)
        of = name, TEMPLATES[language], variant
        files, made = contents(*of), program(*of)
        return FirstFiles(made, {path: files[path] for path in files if path not in made})

    def texts(self, digest: str) -> dict[str, str] | None:
        """The files of a stored bundle with their texts, the one to start first; None if some are
        no texts of this size.

        Raises:
            OSError: it is not stored here.
        """
        stored, files = self._folder / digest, dict[str, File]()
        if stored.stat().st_size > MOST_TEXT_BYTES:
            return None
        with tarfile.open(stored) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isreg() else None
                if file is None:  # a link to a large one
                    return None
                files[member.name] = File(file.read())
        main = read_manifest(files).main
        try:
            texts = {path: file.content.decode() for path, file in files.items()}
        except UnicodeDecodeError:
            return None
        return dict(sorted(texts.items(), key=lambda one: one[0] != main))

    def __call__(self, path: Path, sender: Sender) -> TakenIn:
        """Takes in a file, folder or archive.

        Raises:
            SubmissionError: it is no bot.
            Refusal: there is no room for it.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = Aside(self._folder, sender.given)
        try:
            bundle = bundles.pack(path, max_bytes=max(MAX_BYTES, sender.most_bytes), aside=aside)
        except BundleError as error:
            # Where it lay on this server is nobody's business.
            raise SubmissionError(str(error).replace(f"{path.parent}/", "")) from None
        if self._tidying.is_due():
            bundles.sweep_store(self._folder)
        large = {one.digest: one.size for one in bundle.large}
        if large:
            sender.claim(large)
        bundles.store(self._folder, bundle)
        # By what was sent: the file in an archive or a folder is often called bot or main.
        sent = path.name if path.is_dir() else ENDING.sub("", path.name)
        name = bundle.manifest.name or sent
        runtime = bundle.manifest.runtime
        sizes = bundle.size, bundle.files_bytes
        return TakenIn(bundle.digest, *sizes, bundle.language, name, large, runtime)


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
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
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
    if settings.log == "json":
        use_json(logging.getLogger())
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
