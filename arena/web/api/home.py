"""How a bot at home connects: what is asked here is answered by the home worker."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, request
from sqlalchemy.orm import joinedload
from werkzeug.wrappers import Response

from arena.models import BotVersion, Scope
from arena.web.handover import give
from arena.web.identity import settings, signed_in
from arena.web.lookup import reading
from arena.web.permissions import needs
from arena.web.present import open_in_maintenance
from engine.links import LinkError, read_json
from engine.translation import gettext

HANDSHAKE = ("Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version")


@needs(Scope.CONNECT)
def open_link() -> Response:
    """Opens a WebSocket between a bot of one's own and the home worker."""
    lines = [f"{name}: {request.headers.get(name, '')}\r\n" for name in HANDSHAKE]
    head = f"GET {request.path} HTTP/1.1\r\nHost: {request.host}\r\n{''.join(lines)}\r\n"
    return _give({"kind": "websocket", **_caller(), "head": head})


@needs(Scope.CONNECT)
def poll_link() -> Response:
    """Says something to the home worker, and waits for what it says."""
    try:
        said = read_json(request.get_data())
    except LinkError as error:
        abort(400, str(error))
    if not isinstance(said, dict):
        abort(400, gettext("A parcel is an object."))
    return _give({"kind": "poll", **_caller(), "body": said})


def _give(letter: dict[str, Any]) -> Response:
    absent = gettext("No home worker takes bots at home just now: try again soon.")
    return give(letter, settings().home_socket, absent)


def _caller() -> dict[str, Any]:
    """Who asks, as the home worker is told."""
    account, number = signed_in(), request.args.get("version", type=int)
    query = sa.select(BotVersion).where(BotVersion.id == number)
    query = query.options(joinedload(BotVersion.bot))
    with reading() as session:
        version = session.scalar(query) if number else None
        if version is None or not version.is_at_home:
            abort(404, gettext("There is no such version of a bot at home."))
        if not account.owns(version.bot):
            abort(403, gettext("The bot %(name)s is not yours.", name=version.bot.name))
        return {"user": account.id, "version": version.id, "label": version.label}


def add_to(blueprint: Blueprint) -> None:
    """Makes them reachable. They are no operations of the document, but the link's own."""
    blueprint.add_url_rule("/home/link", view_func=open_link, websocket=True)
    open_in_maintenance(poll_link)  # the matches that they are in are played to their end
    blueprint.add_url_rule("/home/link", view_func=poll_link, methods=["POST"])
