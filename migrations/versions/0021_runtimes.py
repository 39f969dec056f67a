"""Keeps runtimes, which bots have them, and which workers can keep them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "runtime",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("interpreter", sa.String(80), nullable=False),
        sa.Column("language", sa.String(40), nullable=False),
        sa.Column("platform", sa.String(80), nullable=False),
        sa.Column("packages", sa.JSON(), nullable=False),
        sa.Column("lock", sa.Text(), nullable=False),
        sa.Column("start_seconds", sa.Double(), nullable=False),
        sa.Column("creator", sa.String(80), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("withdrawn", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_runtime"),
    )
    op.create_index("ix_runtime_digest", "runtime", ["digest"])
    offered = sa.text("withdrawn IS NULL")
    op.create_index(
        "ix_runtime_offered",
        "runtime",
        ["name"],
        unique=True,
        sqlite_where=offered,
        postgresql_where=offered,
    )
    # With its constraint at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE bot_version ADD COLUMN runtime_id INTEGER "
        "CONSTRAINT fk_bot_version_runtime_id_runtime REFERENCES runtime (id)"
    )
    op.create_index("ix_bot_version_runtime_id", "bot_version", ["runtime_id"])
    # None of a worker of a release before: it says so again within seconds, or is gone.
    op.add_column("worker", sa.Column("platforms", sa.JSON(), nullable=True))
