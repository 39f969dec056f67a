"""Keeps what can be chosen about bots, what was for entrants, matches and games, and what else an
entrant has of its own; and whether a competition allows options."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

BEFORE = "uq_entrant_competition_id_version_id"
AFTER = "uq_entrant_player"
COLUMNS = ("competition_id", "version_id", "options", "own_time", "own_threads")


def upgrade() -> None:
    op.add_column("bot_version", sa.Column("options", sa.JSON(), nullable=True))
    op.add_column("match", sa.Column("chosen", sa.JSON(), nullable=True))
    for table in ("entrant", "game_seat", "listed_seat"):
        op.add_column(
            table, sa.Column("options", sa.String(2000), nullable=False, server_default="")
        )
    op.add_column(
        "entrant", sa.Column("own_time", sa.String(60), nullable=False, server_default="")
    )
    op.add_column(
        "entrant", sa.Column("own_threads", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column(
        "competition",
        sa.Column("allows_options", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    if op.get_bind().dialect.name == "sqlite":
        _widen_on_sqlite(op.get_bind())
    else:
        op.drop_constraint(BEFORE, "entrant", type_="unique")
        op.create_unique_constraint(AFTER, "entrant", COLUMNS)


def _widen_on_sqlite(connection: sa.Connection) -> None:
    """Lets a version be in a competition twice, with other options or grants.

    SQLite changes no constraint, and a table made anew would break who refers to it. So the words
    of the table are changed, as its manual describes that for what is looked at only when
    something is written (https://www.sqlite.org/lang_altertable.html, section 7), and then the
    index behind the constraint is made anew by them.
    """
    schema = sa.table("sqlite_master", sa.column("name"), sa.column("sql"))
    its = schema.c.name == "entrant"
    words: str = connection.scalars(sa.select(schema.c.sql).where(its)).one()
    before = f"CONSTRAINT {BEFORE} UNIQUE (competition_id, version_id)"
    if words.count(before) != 1:
        raise RuntimeError("the table entrant is not as release 0026 had it")
    after = words.replace(before, f"CONSTRAINT {AFTER} UNIQUE ({', '.join(COLUMNS)})")
    version = connection.scalar(sa.text("PRAGMA schema_version"))
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(sa.update(schema).where(its).values(sql=after))
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    connection.exec_driver_sql("REINDEX entrant")
