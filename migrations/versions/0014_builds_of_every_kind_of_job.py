"""Keeps what was built for any kind of job, and not for checks alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "build",
        sa.Column("ticket", sa.String(64), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("ended", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name="fk_build_version_id_bot_version"
        ),
        sa.PrimaryKeyConstraint("ticket", "version_id", name="pk_build"),
    )
    op.create_index("ix_build_ended", "build", ["ended"])
    # A check that is over has no ticket any more.
    op.execute(
        "INSERT INTO build (ticket, version_id, seconds, ended) "
        "SELECT 'check ' || id, version_id, build_seconds, ended FROM \"check\" "
        "WHERE build_seconds > 0 AND ended IS NOT NULL"
    )
    op.drop_column("check", "build_seconds")
