"""Keeps bots at home: which ladders take them, who is connected, and what a home worker plays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "presence",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(120), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.CheckConstraint("games >= 0", name="ck_presence_games"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name="fk_presence_version_id_bot_version"
        ),
        sa.PrimaryKeyConstraint("version_id", name="pk_presence"),
    )
    for table in ("match", "check", "worker"):
        op.add_column(
            table, sa.Column("at_home", sa.Boolean(), nullable=False, server_default=sa.false())
        )
    op.execute(
        "ALTER TABLE competition ADD COLUMN home VARCHAR(20) CONSTRAINT ck_competition_homerule "
        "CHECK (home IN ('no', 'beside', 'only'))"
    )
    op.execute("UPDATE competition SET home = 'no' WHERE kind = 'ladder'")
