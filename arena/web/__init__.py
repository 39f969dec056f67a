"""The dashboard: server-rendered pages on the arena's database."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask, render_template
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from arena.config import Settings
from arena.db import Database
from arena.web import charts, words
from arena.web.games import games
from arena.web.pages import pages

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # Pages tell what is so now; whoever kept one asks first whether it still is.
    "Cache-Control": "no-cache",
}
STATIC_SECONDS = 365 * 24 * 60 * 60


def create_app(settings: Settings) -> Flask:
    """The application of these settings."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 300_000
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = STATIC_SECONDS
    app.extensions["arena.database"] = Database(settings.database_url)
    app.extensions["arena.settings"] = settings
    app.jinja_env.filters |= charts.FILTERS | words.FILTERS
    app.register_blueprint(pages)
    app.register_blueprint(games)

    @app.get("/healthz")
    def healthz() -> tuple[str, dict[str, str]]:
        return "ok\n", {"Content-Type": "text/plain"}

    @app.url_defaults
    def name_version(endpoint: str, values: dict[str, Any]) -> None:
        """Static files are kept for long, so a changed one gets another address."""
        if endpoint == "static":
            values["v"] = _digest(Path(app.static_folder or "") / values["filename"])

    @app.errorhandler(HTTPException)
    def explain(error: HTTPException) -> Response:
        answer = error.get_response()
        answer.set_data(render_template("error.html", error=error))
        answer.mimetype = "text/html"
        return answer

    @app.after_request
    def complete(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return app


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
