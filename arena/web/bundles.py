"""Bundles for workers on other machines, by the signed addresses that their jobs name."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from flask import Blueprint, abort, request, send_file
from werkzeug.wrappers import Response

from arena.signing import may_fetch
from arena.web.identity import keep_to_itself, settings
from arena.web.lookup import reading

bundles = Blueprint("bundles", __name__)

DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@bundles.get("/bundles/<digest>")
def fetch(digest: str) -> Response:
    """A bundle, for whoever was given its address some minutes ago."""
    with reading() as session:
        allowed = may_fetch(session, digest, request.args.get("token", ""), datetime.now(UTC))
    if not allowed:
        abort(403, "This address is none of the arena's, or it is too old.")
    path = settings().bundles / digest
    if not DIGEST.fullmatch(digest) or not path.is_file():
        abort(404, "This bundle is not kept here.")
    answer = send_file(path, mimetype="application/x-tar", conditional=False, max_age=None)
    return keep_to_itself(answer)
