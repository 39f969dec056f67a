"""Statements of SQL that are compiled once for all databases of a test process.

SQLAlchemy keeps what it compiled with each engine, and a program has one. Every test has a database
of its own, and more than one engine: it spent an eighth of its time on compiling the same anew.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

KEPT = 5000
"""Statements: more than all tests have."""


def share() -> None:
    """Lets every engine of this process have what any other has compiled for its kind."""
    kept = LRUCache[object, object](KEPT)

    @sa.event.listens_for(sa.Engine, "engine_connect")
    def use(connection: sa.Connection) -> None:
        connection.engine._compiled_cache = kept

    # A dialect is part of the key; and mappers keep what they compiled for all engines already.
    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        kind.__hash__ = lambda self: hash(type(self))
        kind.__eq__ = lambda self, other: type(self) is type(other)
