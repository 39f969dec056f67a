"""The git repositories that bots follow, and the commits of versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "repository",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(500), nullable=False),
        sa.Column("revision", sa.String(200), nullable=False),
        sa.Column("folder", sa.String(200), nullable=False),
        sa.Column("ladders", sa.JSON(), nullable=False),
        sa.Column("test_first", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("code", sa.String(40), nullable=False),
        sa.Column("commit_hash", sa.String(64), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("fetched", sa.DateTime(), nullable=True),
        sa.Column("pushed", sa.DateTime(), nullable=True),
        sa.Column("due", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bot.id"], name="fk_repository_bot_id_bot", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_repository_user_id_user"),
        sa.PrimaryKeyConstraint("bot_id", name="pk_repository"),
        sa.UniqueConstraint("code", name="uq_repository_code"),
    )
    op.create_index("ix_repository_user_id", "repository", ["user_id"])
    op.create_index("ix_repository_due", "repository", ["due"])
    op.add_column("bot_version", sa.Column("commit_hash", sa.String(64), nullable=True))
    op.add_column("bot_version", sa.Column("commit_subject", sa.String(200), nullable=True))
    op.add_column("bot_version", sa.Column("commit_repository", sa.String(500), nullable=True))
    op.add_column("bot_version", sa.Column("commit_dirty", sa.Boolean(), nullable=True))
