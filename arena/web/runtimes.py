"""The page of runtimes: which there are, what each holds, and how to get it at home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flask import Blueprint, Response, abort, jsonify, render_template
from werkzeug.wrappers import Response as AnyResponse

from arena.bots import runtimes as known
from arena.web.api.runtime_shapes import RuntimeShape
from arena.web.bundles import signed_file
from arena.web.docs import guides, render
from arena.web.downloads import Download
from arena.web.identity import settings
from arena.web.lookup import reading
from engine.translation import gettext

runtimes = Blueprint("runtimes", __name__)

GUIDE = "runtimes"
CHUNK = 1 << 18


@runtimes.get("/docs/runtimes")
def listing() -> str:
    """The runtimes that are offered, and the guide to them."""
    guide = guides()[GUIDE]
    with reading() as session:
        return render_template(
            "runtimes.html",
            found=known.offered(session),
            guide=guide,
            guides=guides().values(),
            text=render(guide),
        )


@runtimes.get("/runtimes.json")
def listing_json() -> Response:
    """What the page lists, for programs."""
    with reading() as session:
        shapes = RuntimeShape.each(session, list(known.offered(session)))
        return jsonify([one.model_dump(mode="json") for one in shapes])


def lock_file(name: str) -> Response:
    """The versions and digests of a runtime's packages, as pip or npm reads them."""
    with reading() as session:
        found = known.find(session, name)
        ending, kind = LOCKS[found.kind]
        answer = Response(found.lock, mimetype=kind)
    answer.headers["Content-Disposition"] = f'attachment; filename="{found.name}-{ending}"'
    return answer


LOCKS = {
    "python": ("requirements.txt", "text/plain"),
    "node": ("package-lock.json", "application/json"),
}
"""What the locks of each kind are called, and their media types."""
runtimes.add_url_rule("/runtimes/<name>/lock", "lock", lock_file)


@runtimes.get("/runtimes/<digest>")
def fetch(digest: str) -> AnyResponse:
    """A runtime's file, for the worker that was given its address some minutes ago."""
    return signed_file(settings().runtimes, digest)


def runtime_file(name: str) -> Response:
    """The file of a runtime, for somebody who tries bots at home."""
    with reading() as session:
        found = known.find(session, name)
        digest, size = found.digest, found.size
    path = settings().runtimes / digest
    if not path.is_file():
        abort(404, gettext("The file of this runtime is not kept here."))
    headers = {"Content-Length": str(size), "X-Digest": digest}
    return Response(Download(_parts(path)), mimetype="application/x-tar", headers=headers)


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
