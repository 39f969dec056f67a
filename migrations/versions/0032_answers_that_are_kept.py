"""Keeps what bots said with an analysis that somebody keeps, and lets other answers be swept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "bot_answer", sa.Column("numbers", sa.JSON(), nullable=False, server_default="{}")
    )
    # Whatever there is by now may belong to what somebody keeps.
    op.add_column(
        "bot_answer", sa.Column("kept", sa.Boolean(), nullable=False, server_default=sa.true())
    )
    op.create_index(
        "ix_bot_answer_swept",
        "bot_answer",
        ["answered"],
        sqlite_where=sa.text("NOT kept"),
        postgresql_where=sa.text("NOT kept"),
    )
    op.add_column("analysis", sa.Column("game_number", sa.Integer(), nullable=True))
