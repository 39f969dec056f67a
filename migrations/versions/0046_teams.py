"""Lets people be a team: a user that nobody signs in as, with a captain and members."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("user", sa.Column("kind", sa.String(10), nullable=False, server_default="person"))
    # With its constraints at once, which SQLite takes for a new column alone.
    op.execute(
        'ALTER TABLE "user" ADD COLUMN captain_id INTEGER '
        'CONSTRAINT fk_user_captain_id_user REFERENCES "user" (id) '
        "CONSTRAINT ck_user_captain CHECK (kind = 'team' OR captain_id IS NULL)"
    )
    op.add_column("user", sa.Column("join_code", sa.String(20), nullable=True))
    op.create_index("ix_user_captain_id", "user", ["captain_id"], unique=True)
    op.create_index("ix_user_join_code", "user", ["join_code"], unique=True)
    op.create_table(
        "team_member",
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("joined", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["user.id"], name="fk_team_member_team_id_user"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_team_member_user_id_user"),
        sa.PrimaryKeyConstraint("team_id", "user_id", name="pk_team_member"),
    )
    op.create_index("ix_team_member_user_id", "team_member", ["user_id"])
