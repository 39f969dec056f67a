"""Checkpoints, from which the daily check of ratings goes on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "checkpoint",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("made", sa.DateTime(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name="fk_checkpoint_competition_id_competition"
        ),
        sa.PrimaryKeyConstraint("competition_id", name="pk_checkpoint"),
    )
    op.create_table(
        "checked_chapter",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("looked", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name="fk_checked_chapter_competition_id_competition",
        ),
        sa.PrimaryKeyConstraint("competition_id", "after", name="pk_checked_chapter"),
    )
    op.create_index(
        "ix_checked_chapter_competition_id_looked", "checked_chapter", ["competition_id", "looked"]
    )
