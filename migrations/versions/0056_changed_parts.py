"""Notes of which parts of long tables have changed, for increments of backups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "epoch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_epoch"),
    )
    op.create_table(
        "changed_part",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("of_table", sa.String(63), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_changed_part"),
    )
    op.create_index(
        "ix_changed_part_epoch_of_table_part", "changed_part", ["epoch", "of_table", "part"]
    )
    op.create_index("ix_changed_part_of_table_part", "changed_part", ["of_table", "part"])
