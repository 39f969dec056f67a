"""The running games of `arena play` in a browser: a page of this machine's for as long as they run.

It is served to this machine alone, at an address that nobody can guess: other people of the machine
and pages elsewhere could ask at its port, too.
"""

from __future__ import annotations

import json
import secrets
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self

from arena.cli.progress_bar import ProgressBar
from arena.cli.watching import GameNow, RunningGames, Watching
from arena.web.boards import position_drawn
from arena.web.replay_files import POLICY, alone, templates
from engine.translation import gettext, speak, spoken

LOOK_SECONDS = 0.5
"""How long a browser is told nothing at most; it may have gone."""
PAGE_POLICY = f"{POLICY}; connect-src 'self'"
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class BrowserWatch(Watching):
    """Serves the page, and has a browser open it if there is one; its address is said, too."""

    def __init__(self, bar: ProgressBar, games: RunningGames) -> None:
        super().__init__(bar, games)
        self._running = games
        self._over = Event()
        self._spoken = spoken()
        self._secret = secrets.token_urlsafe(24)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False  # their end is waited for: it tells the last position
        self._thread = Thread(target=self._server.serve_forever, args=(LOOK_SECONDS,), daemon=True)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self._server.server_port}/{self._secret}/"

    def __enter__(self) -> Self:
        self._thread.start()
        self._bar.say(gettext("watch the games at %(address)s", address=self.address))
        webbrowser.open(self.address)
        return super().__enter__()

    def __exit__(self, *ending: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        super().__exit__(*ending)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        watch = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10  # seconds for a request to come

            def do_GET(self) -> None:
                speak(watch._spoken)  # this is a thread of its own
                if self.path == f"/{watch._secret}/":
                    page = alone("watch_file.html", "watch.js", policy=PAGE_POLICY)
                    self._begin(200, "text/html; charset=utf-8")
                    self.wfile.write(page.encode())
                elif self.path == f"/{watch._secret}/events":
                    self._begin(200, "text/event-stream")
                    watch._tell(self)
                else:
                    self.send_error(404)

            def _begin(self, status: int, kind: str) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": kind, **HEADERS}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Logs nothing: nobody reads it."""

        return Handler

    def _tell(self, browser: BaseHTTPRequestHandler) -> None:
        """Tells a browser of each ply of the shown game, until one of them has gone."""
        games, version = self._running, -1
        games.come()
        try:
            while True:
                with games.changed:
                    if games.version == version and not self._over.is_set():
                        games.changed.wait(LOOK_SECONDS)
                    is_new, version, now = games.version != version, games.version, games.shown
                text = ": still here\n\n"
                if is_new and now:
                    text = f"data: {json.dumps(fragment(now))}\n\n"
                elif self._over.is_set():
                    text = "event: over\ndata:\n\n"
                browser.wfile.write(text.encode())
                browser.wfile.flush()
                if text.startswith("event"):
                    return
        except OSError:  # it has gone
            pass
        finally:
            games.leave()


def fragment(now: GameNow) -> str:
    """The part of the page that renews itself."""
    board = position_drawn(now.state, now.last, now.before)
    return templates().get_template("_watched.html").render(now=now, board=board)
