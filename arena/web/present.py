"""What holds at present, for pages and the API: the settings, and whether nothing can be changed.

During maintenance whatever is no reading is answered with 503 before its view is called, but for a
view that says so (`open_in_maintenance`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask, current_app, request
from werkzeug.wrappers import Response

from arena.ground.db import Database
from arena.present import Maintenance, Watch, demand_no_maintenance

F = TypeVar("F", bound=Callable[..., Any])

READING = frozenset(["GET", "HEAD", "OPTIONS"])
RETRY_SECONDS = 60
"""How long it takes until it is worth while to ask again during maintenance."""


def watch() -> Watch:
    """What holds at present, in this process."""
    found: Watch = current_app.extensions["arena.present"]
    return found


def maintenance() -> Maintenance | None:
    """The maintenance that is under way, if one is."""
    return watch().now().maintenance


def open_in_maintenance(view: F) -> F:
    """Marks a view that is posted to, and that maintenance does not close."""
    view.open_in_maintenance = True  # type: ignore[attr-defined]
    return view


def _refuse_changes() -> None:
    """Refuses, during maintenance, what would change something.

    Raises:
        UnderMaintenance: so it is.
    """
    view = current_app.view_functions.get(request.endpoint or "")
    is_open = view is None or getattr(view, "open_in_maintenance", False)
    if not (is_open or request.method in READING):
        demand_no_maintenance(maintenance())


def _look_anew(response: Response) -> Response:
    """Has who changed something see it at once."""
    if request.method not in READING:
        watch().forget()
    return response


def install(app: Flask, database: Database) -> None:
    """Has an application go by what holds at present."""
    app.extensions["arena.present"] = Watch(lambda: database)
    app.before_request(_refuse_changes)
    app.after_request(_look_anew)
    app.jinja_env.globals.update(maintenance=maintenance)
