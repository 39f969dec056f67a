"""Keeps which large files bundles have, and which of them people have sent or are sending."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "large_file",
        sa.Column("bundle", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("bundle", "digest", name="pk_large_file"),
    )
    op.create_index("ix_large_file_digest", "large_file", ["digest"])
    op.create_table(
        "sent_file",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("whole", sa.Boolean(), nullable=False),
        sa.Column("used", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_sent_file_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", "digest", name="pk_sent_file"),
    )
    op.create_index("ix_sent_file_digest", "sent_file", ["digest"])
