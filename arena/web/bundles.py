"""Bundles for workers on other machines, by the signed addresses that their jobs name.

The large files of a bundle are below its address, and the same signature lets them be fetched: a
job names what it needs by naming the bundle.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from flask import Blueprint, abort, request, send_file
from werkzeug.wrappers import Response

from arena.bots.sending import DIGEST
from arena.models import LargeFile
from arena.signing import may_fetch
from arena.web.identity import keep_to_itself, settings
from arena.web.lookup import reading
from engine.translation import gettext

bundles = Blueprint("bundles", __name__)


@bundles.get("/bundles/<digest>")
def fetch(digest: str) -> Response:
    """A bundle, for whoever was given its address some minutes ago."""
    _demand_token(digest)
    return send_kept(settings().bundles, digest)


@bundles.get("/bundles/<bundle>/<digest>")
def fetch_large(bundle: str, digest: str) -> Response:
    """A large file of a bundle, for whoever was given the bundle's address; or the rest of one."""
    _demand_token(bundle)
    with reading() as session:
        if session.get(LargeFile, (bundle, digest)) is None:
            abort(404, gettext("This bundle has no such file."))
    return send_kept(settings().bundles, digest)


def signed_file(folder: Path, digest: str) -> Response:
    """A file that is named by its digest, for whoever was given its address some minutes ago."""
    _demand_token(digest)
    return send_kept(folder, digest)


def _demand_token(digest: str) -> None:
    with reading() as session:
        allowed = may_fetch(session, digest, request.args.get("token", ""), datetime.now(UTC))
    if not allowed:
        abort(403, gettext("This address is none of the arena's, or it is too old."))


def send_kept(folder: Path, digest: str) -> Response:
    """A file that is named by its digest, or in parts, if they are asked for: a worker goes on with
    what it has of a large one."""
    path = folder / digest
    if not DIGEST.fullmatch(digest) or not path.is_file():
        abort(404, gettext("This file is not kept here."))
    answer = send_file(path, mimetype="application/octet-stream", conditional=True, max_age=None)
    return keep_to_itself(answer)
