"""Gives no number twice where the database is SQLite, and keeps what quotas count of deleted bots.

A table of SQLite gives the number of a row that went to the next one, unless its key is said to be
AUTOINCREMENT. That is a word in the schema alone, which changes nothing of what is stored. So it is
written there, as SQLite's page on ALTER TABLE has it for such changes, and no row is copied: other
tables refer to these, and an arena may have millions.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

TABLES = (
    "analysis", "api_token", "bot", "bot_version", "browser_session", "check", "delivery",
    "entrant", "hook", "identity", "link", "match_set", "notification", "passkey", "question",
    "selection", "sitting",
)  # fmt: skip
"""Those of which rows go, and whose numbers stand in addresses, logs or files."""

KINDS = "bot", "version", "try", "build"
AS_TEXT = {"native_enum": False, "create_constraint": True, "length": 20}


def upgrade() -> None:
    op.create_table(
        "spent_quota",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Enum(*KINDS, name="spentkind", **AS_TEXT), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_spent_quota_user_id_user"),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name="fk_spent_quota_ladder_id_competition"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_spent_quota"),
    )
    op.create_index("ix_spent_quota_user_id_kind", "spent_quota", ["user_id", "kind"])
    op.create_index("ix_spent_quota_kind_at", "spent_quota", ["kind", "at"])
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        _give_numbers_once(connection)


def _give_numbers_once(connection: sa.Connection) -> None:
    run = connection.exec_driver_sql
    # With the first table of the kind comes SQLite's own, of the last numbers.
    run("CREATE TABLE first_of_kind (id INTEGER PRIMARY KEY AUTOINCREMENT)")
    run("DROP TABLE first_of_kind")
    run("PRAGMA writable_schema = ON")
    for table in TABLES:
        key = f"CONSTRAINT pk_{table} PRIMARY KEY (id"
        changed = run(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) "
            "WHERE type = 'table' AND name = ? AND instr(sql, ?)",
            (f"{key})", f"{key} AUTOINCREMENT)", table, f"{key})"),
        )
        if changed.rowcount != 1:
            raise RuntimeError(f"the table {table} is none that this release has made")
        last = connection.scalar(sa.select(sa.func.max(sa.table(table, sa.column("id")).c.id)))
        run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last or 0))
    # Who has read the schema reads it anew.
    version = connection.scalar(sa.text("PRAGMA schema_version"))
    run(f"PRAGMA schema_version = {version + 1}")
    run("PRAGMA writable_schema = RESET")
