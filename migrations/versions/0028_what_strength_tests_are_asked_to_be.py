"""Keeps fixed numbers of games, limits of hours, approvals and presets of strength tests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in (
        sa.Column("fixed_games", sa.Integer(), nullable=True),
        sa.Column("most_hours", sa.Double(), nullable=True),
        sa.Column("opening_plies", sa.Integer(), nullable=True),
    ):
        op.add_column("competition", column)
    # With their constraints at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE competition ADD COLUMN approval VARCHAR(20) "
        "CONSTRAINT ck_competition_approval CHECK (approval IN ('no', 'needed', 'given'))"
    )
    op.execute("UPDATE competition SET approval = 'no' WHERE kind IN ('ladder', 'test')")
    op.execute(
        "ALTER TABLE competition ADD COLUMN approver_id INTEGER "
        'CONSTRAINT fk_competition_approver_id_user REFERENCES "user" (id)'
    )
    op.create_table(
        "test_preset",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("chosen", sa.JSON(), nullable=False),
        sa.Column("changed", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_test_preset"),
        sa.UniqueConstraint("name", name="uq_test_preset_name"),
    )
