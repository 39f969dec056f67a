"""Operations on runtimes."""

from __future__ import annotations

import sqlalchemy as sa

from arena.models import Runtime, Scope
from arena.web.api.paging import Pages, page
from arena.web.api.runtime_shapes import RuntimeList
from arena.web.api.specification import operation
from arena.web.lookup import reading
from arena.web.runtimes import lock_file, runtime_file

TAG = "runtimes"


@operation("GET /runtimes", RuntimeList, tag=TAG)
def list_runtimes(query: Pages) -> RuntimeList:
    """The runtimes that are offered."""
    with reading() as session:
        found = sa.select(Runtime).where(Runtime.withdrawn.is_(None))
        return page(RuntimeList, session, found, Runtime.id, query)


read_lock = operation(
    "GET /runtimes/<name>/lock", None, tag=TAG, name="read_lock", media="text/plain"
)(lock_file)

read_runtime = operation(
    "GET /runtimes/<name>/file",
    None,
    tag=TAG,
    scope=Scope.SUBMIT,
    name="read_runtime",
    media="application/x-tar",
)(runtime_file)
