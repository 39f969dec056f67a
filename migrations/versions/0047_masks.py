"""Has competitions in which bots play under made-up names."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

IS_ANONYMOUS = sa.text("anonymous")


def upgrade() -> None:
    op.add_column(
        "competition",
        sa.Column("anonymous", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_index(
        "ix_competition_anonymous",
        "competition",
        ["id"],
        sqlite_where=IS_ANONYMOUS,
        postgresql_where=IS_ANONYMOUS,
    )
    for table, column, other in (
        ("bot", "masks_id", "bot"),
        ("bot", "masked_in", "competition"),
        ("bot_version", "masks_id", "bot_version"),
    ):
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN {column} INTEGER "
            f"CONSTRAINT fk_{table}_{column}_{other} REFERENCES {other} (id)"
        )
        op.create_index(f"ix_{table}_{column}", table, [column])
    op.add_column("former_name", sa.Column("versions", sa.JSON(none_as_null=True)))
