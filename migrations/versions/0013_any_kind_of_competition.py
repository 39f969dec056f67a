"""Lets a competition be of any kind that the program knows, and not of three alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

CHECK = "ck_competition_competitionkind"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"ALTER TABLE competition DROP CONSTRAINT IF EXISTS {CHECK}")
        return
    # What SQLite's manual describes for the removal of a check, which changes nothing that is on
    # the disk (https://www.sqlite.org/lang_altertable.html, section 7): a table made anew, which
    # is the other way, would lose its other checks and break who refers to it.
    connection = op.get_bind()
    schema = sa.table("sqlite_master", sa.column("name"), sa.column("sql"))
    its = schema.c.name == "competition"
    words: str = connection.scalars(sa.select(schema.c.sql).where(its)).one()
    lines = words.splitlines()
    kept = [line for line in lines if f"CONSTRAINT {CHECK} " not in line]
    if len(kept) == len(lines):
        return
    version = connection.scalar(sa.text("PRAGMA schema_version"))
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(sa.update(schema).where(its).values(sql="\n".join(kept)))
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")
