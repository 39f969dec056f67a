"""Courses, the fingerprints of what is handed in, and whose it was."""

from __future__ import annotations

from datetime import UTC

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "course",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("reference_bots", sa.JSON(), nullable=False),
        sa.Column("marks", sa.Text(), nullable=False),
        sa.Column("cycles", sa.Integer(), nullable=False),
        sa.Column("late_until", sa.DateTime(), nullable=True),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.Column("bot_ids", sa.JSON(), nullable=False),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("announced", sa.Integer(), nullable=True),
        sa.Column("late_counts", sa.JSON(), nullable=False),
        sa.Column("marking_id", sa.Integer(), nullable=True),
        sa.Column("marked", sa.DateTime(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name="fk_course_ladder_id_competition"
        ),
        sa.PrimaryKeyConstraint("ladder_id", name="pk_course"),
    )
    op.create_table(
        "read_code",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("prints", sa.JSON(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("unread", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_read_code"),
    )
    op.create_table(
        "former_member",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("joined", sa.DateTime(), nullable=False),
        sa.Column("left", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["user.id"], name="fk_former_member_team_id_user"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_former_member_user_id_user"),
        sa.PrimaryKeyConstraint("team_id", "user_id", "joined", name="pk_former_member"),
    )
    op.create_index("ix_former_member_user_id", "former_member", ["user_id"])
    op.add_column("bot", sa.Column("owned", sa.DateTime(), nullable=True))
    op.add_column("check", sa.Column("began", sa.DateTime(), nullable=True))
    op.add_column(
        "entrant", sa.Column("returned_at", sa.JSON(), nullable=False, server_default="[]")
    )
    entrant = sa.table(
        "entrant",
        sa.column("id", sa.Integer()),
        sa.column("returned", sa.DateTime()),
        sa.column("returned_at", sa.JSON()),
    )
    connection = op.get_bind()
    known = sa.select(entrant.c.id, entrant.c.returned).where(entrant.c.returned.is_not(None))
    for number, returned in connection.execute(known).all():
        its = sa.update(entrant).where(entrant.c.id == number)
        at = returned.replace(tzinfo=UTC).isoformat()
        connection.execute(its.values(returned_at=[at]))
