"""The dashboard: server-rendered pages on the arena's database."""

from __future__ import annotations

from flask import Flask, Response, render_template
from werkzeug.exceptions import HTTPException

from arena.config import Settings
from arena.db import Database
from arena.web.pages import pages

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'"
)


def create_app(settings: Settings) -> Flask:
    """The application of these settings."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = 300_000
    app.extensions["arena.database"] = Database(settings.database_url)
    app.extensions["arena.settings"] = settings

    @app.get("/healthz")
    def healthz() -> Response:
        return Response("ok\n", mimetype="text/plain")

    app.register_blueprint(pages)

    @app.errorhandler(HTTPException)
    def explain(error: HTTPException) -> tuple[str, int]:
        return render_template("error.html", error=error), error.code or 500

    @app.after_request
    def harden(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response

    return app
