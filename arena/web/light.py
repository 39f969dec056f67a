"""Answers made light: compressed, and not sent again to whoever has them.

Only with gzip, which every browser reads and Python has. A page that holds secrets must not be
compressed where somebody else can have it asked for again and again, each time with other words in
it, and see how long it gets (BREACH): so whoever comes with a session gets it compressed only when
the page that asks is one of ours, as browsers say of each request.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from flask import Flask, current_app, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header
from werkzeug.wrappers import Response

TYPES = frozenset(
    [
        "application/atom+xml",
        "application/json",
        "application/problem+json",
        "image/svg+xml",
        "text/css",
        "text/csv",
        "text/html",
        "text/javascript",
        "text/plain",
    ]
)
"""What gets much smaller. A stream of events is none of these, and is given to another process."""
LEAST_BYTES = 600
"""What is smaller fits into one packet anyway."""
LEVEL = 5
"""The level of compression for a page that is made for one reader; a static file is compressed
once, as well as it goes."""
SEES_TO_IT = "arena.sees_to_it"
"""The key in a request's environment by which who called the application says that it sees to
it."""
OURS = frozenset(["same-origin", "none"])
"""What `Sec-Fetch-Site` says where a page of ours has a browser ask, or its user by the address."""


def install(app: Flask) -> None:
    """Has an application do so; before all else that looks at answers, to be the last that does."""
    app.after_request(_lighten)


def _lighten(response: Response) -> Response:
    if request.method not in ("GET", "HEAD") or response.status_code != 200:
        return response
    if SEES_TO_IT in request.environ:
        return response
    if response.mimetype in TYPES:
        response.vary.add("Accept-Encoding")
    static = request.endpoint == "static"
    if response.is_streamed and not static:
        return response
    if may_be_compressed(response):
        if static:
            file = Path(current_app.static_folder or "", (request.view_args or {})["filename"])
            packed = _packed(file, file.stat().st_mtime_ns)
            response.close()  # the file as it is, of which nothing is read
        else:
            packed = pack(response.get_data())
        etag = response.get_etag()[0]
        if etag is None:
            response.add_etag()
            etag = response.get_etag()[0]
        response.direct_passthrough = False
        response.set_data(packed)
        response.headers["Content-Encoding"] = "gzip"
        response.headers.pop("Accept-Ranges", None)
        # The same page, though not the same bytes.
        response.set_etag(etag or "", weak=True)
    elif not static:
        response.add_etag(weak=True)
    if "no-store" not in response.headers.get("Cache-Control", ""):
        response.make_conditional(request)
    return response


def pack(data: bytes) -> bytes:
    """An answer compressed, so that it takes little time."""
    return gzip.compress(data, LEVEL, mtime=0)


def may_be_compressed(response: Response) -> bool:
    """Whether it is worth it, can be read, and tells nobody anything by its length."""
    return (
        response.mimetype in TYPES
        and (response.content_length or 0) >= LEAST_BYTES
        and "Content-Encoding" not in response.headers
        and request.accept_encodings["gzip"] > 0
        and (
            request.endpoint == "static"
            or current_app.config["SESSION_COOKIE_NAME"] not in request.cookies
            or request.headers.get("Sec-Fetch-Site") in OURS
        )
    )


def may_compress(environ: Mapping[str, Any], *, has_session: bool) -> bool:
    """Whether what a request gets may be compressed, by what it says of itself.

    Args:
        environ: the request, before an application has it.
        has_session: whether it brings a session's cookie.
    """
    accepted = parse_accept_header(environ.get("HTTP_ACCEPT_ENCODING", ""), Accept)
    return accepted["gzip"] > 0 and (not has_session or environ.get("HTTP_SEC_FETCH_SITE") in OURS)


@lru_cache
def _packed(file: Path, _changed: int) -> bytes:
    return gzip.compress(file.read_bytes(), mtime=0)
