"""Texts that no database keeps, refused wherever in a request they are."""

from __future__ import annotations

from flask import Flask, abort, request

from arena.ground.texts import unkept
from arena.web.api import problems
from engine.translation import gettext


def install(app: Flask) -> None:
    """Has an application refuse them in addresses and forms; JSON is read by the API alone."""
    app.before_request(_look)


def _look() -> None:
    if any(isinstance(one, str) and unkept(one) for one in (request.view_args or {}).values()):
        abort(404)
    refuse([*request.args.lists(), *request.form.lists()])


def refuse(value: object) -> None:
    """Refuses a request that says something, if there is such a text anywhere in it.

    Args:
        value: texts, in lists, tuples and mappings; what else there is, is passed over.
    """
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
        elif isinstance(one, str) and (what := unkept(one)):
            status = 422 if problems.are_wanted() else 400
            abort(status, gettext("A text in this request has %(what)s: leave it out.", what=what))
