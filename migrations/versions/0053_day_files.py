"""Files of the cold store, in which records are that are no longer in their rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "day_file",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("frames", sa.LargeBinary(), nullable=False),
        sa.Column("made", sa.DateTime(), nullable=False),
        sa.Column("emptied", sa.DateTime(), nullable=True),
        sa.CheckConstraint("first <= last", name="ck_day_file_range"),
        sa.UniqueConstraint("first", name="uq_day_file_first"),
        sa.UniqueConstraint("name", name="uq_day_file_name"),
        sa.PrimaryKeyConstraint("id", name="pk_day_file"),
    )
