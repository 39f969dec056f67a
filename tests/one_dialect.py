"""Engines that share what SQLAlchemy has compiled: each test has a database of its own, and so an
engine, for which every statement would be compiled anew. That is a tenth of what such tests take.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

_create_engine = sa.create_engine
_first: dict[type[sa.Dialect], sa.Engine] = {}
"""An engine of each kind in this process, the first that had a connection."""


def create_engine(url: str, **options: Any) -> sa.Engine:
    """An engine with the dialect of the first of its kind, by which compiled statements are kept.

    A dialect learns at a first connection what its database is like. Whatever isolation connections
    begin with is the dialect's, so where one is asked for the engine is left alone.
    """
    made = _create_engine(url, **options)
    if "isolation_level" in options:
        return made
    first = _first.get(type(made.dialect))
    if first is None or first.dialect.server_version_info is None:
        _first[type(made.dialect)] = made
    else:
        made.dialect = made.pool._dialect = first.dialect
        made._compiled_cache = first._compiled_cache
    return made
