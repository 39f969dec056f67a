"""Lets bots have co-owners."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "co_owner",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_co_owner_bot_id_bot")),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name=op.f("fk_co_owner_user_id_user")),
        sa.PrimaryKeyConstraint("bot_id", "user_id", name=op.f("pk_co_owner")),
    )
    op.create_index(op.f("ix_co_owner_user_id"), "co_owner", ["user_id"])
