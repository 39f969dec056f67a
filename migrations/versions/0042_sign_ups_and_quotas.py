"""Has bots sign up for tournaments, and gives ladders quotas for each person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("most_bots", "most_active", "most_uploads"):
        op.add_column("competition", sa.Column(name, sa.Integer(), nullable=True))
    op.add_column("competition", sa.Column("sign_up", sa.JSON(), nullable=True))
    op.add_column("competition", sa.Column("signing_up", sa.Boolean(), nullable=True))
    op.create_table(
        "sign_up",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=True),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("checked_in", sa.DateTime(), nullable=True),
        sa.Column("dropped", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name="fk_sign_up_bot_id_bot"),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name="fk_sign_up_competition_id_competition"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name="fk_sign_up_version_id_bot_version"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sign_up"),
        sa.UniqueConstraint("competition_id", "bot_id", name="uq_sign_up_bot"),
    )
    op.create_index("ix_sign_up_bot_id", "sign_up", ["bot_id"])
