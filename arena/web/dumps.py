"""The page of dumps: the games of each day as tables, and their files to be taken along."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from flask import Blueprint, Response, abort, render_template, request, url_for

from arena.dumps.kept import KeptDump, kept_dumps
from arena.web.downloads import Download
from arena.web.identity import settings
from engine.translation import gettext

dumps = Blueprint("dumps", __name__)

CHUNK = 1 << 18
PARQUET = "application/vnd.apache.parquet"


def offered() -> list[KeptDump]:
    """The dumps that this server can give away, the newest first."""
    return kept_dumps(settings().dump_folder) if settings().dumps else []


def find(name: str) -> KeptDump:
    """The dump of a day.

    Raises:
        HTTPException: there is none.
    """
    found = next((dump for dump in offered() if dump.name == name), None)
    if found is None:
        abort(404, gettext("There is no dump of %(name)s.", name=name[:20]))
    return found


@dumps.get("/dumps")
def listing() -> str:
    """The dumps that are kept."""
    return render_template("dumps.html", found=offered())


@dumps.get("/dumps/<name>.txt")
def addresses(name: str) -> Response:
    """The address of every file of a dump, one a line, for programs that fetch."""
    dump = find(name)
    lines = [
        url_for("dumps.file", name=dump.name, path=one.name, _external=True) for one in dump.files
    ]
    return Response("\n".join(lines) + "\n", mimetype="text/plain")


@dumps.get("/dumps/<name>/<path:path>")
def file(name: str, path: str) -> Response:
    """A file of a dump, or the part of it that is asked for by Range."""
    there = find(name).path(path)
    if there is None:
        abort(404, gettext("The dump of %(name)s has no file %(path)s.", name=name, path=path[:60]))
    try:
        found = there.stat()
    except FileNotFoundError:
        abort(404, gettext("There is no dump of %(name)s any more.", name=name))
    answer = Response(mimetype=PARQUET if there.suffix == ".parquet" else "application/json")
    answer.content_length = found.st_size
    answer.last_modified = datetime.fromtimestamp(found.st_mtime, UTC)
    answer.set_etag(f"{found.st_mtime_ns:x}-{found.st_size:x}")
    answer.make_conditional(request, accept_ranges=True, complete_length=found.st_size)
    if request.method == "GET" and answer.status_code in (200, 206):
        start = answer.content_range.start or 0
        answer.response = Download(_parts(there, start, answer.content_length or 0))
    return answer


def _parts(path: Path, start: int, size: int) -> Iterator[bytes]:
    """Reads so many bytes of a file, in chunks."""
    with path.open("rb") as file:
        file.seek(start)
        while size > 0 and (chunk := file.read(min(CHUNK, size))):
            size -= len(chunk)
            yield chunk
