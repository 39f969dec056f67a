"""Keeps who sees a competition, who belongs to it, and by which code one comes to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

NOT_PUBLIC = sa.text("visibility <> 'public'")


def upgrade() -> None:
    # With their constraints at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE competition ADD COLUMN visibility VARCHAR(20) NOT NULL DEFAULT 'public' "
        "CONSTRAINT ck_competition_visibility "
        "CHECK (visibility IN ('public', 'unlisted', 'private'))"
    )
    op.execute(
        "ALTER TABLE competition ADD COLUMN within_id INTEGER "
        "CONSTRAINT fk_competition_within_id_competition REFERENCES competition (id)"
    )
    op.add_column("competition", sa.Column("join_code", sa.String(20), nullable=True))
    op.create_index("ix_competition_within_id", "competition", ["within_id"])
    op.create_index("ix_competition_join_code", "competition", ["join_code"], unique=True)
    op.create_index(
        "ix_competition_not_public",
        "competition",
        ["visibility"],
        sqlite_where=NOT_PUBLIC,
        postgresql_where=NOT_PUBLIC,
    )
    op.create_table(
        "membership",
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("joined", sa.DateTime(), nullable=False),
        sa.CheckConstraint("role IN ('member', 'organiser')", name="ck_membership_memberrole"),
        sa.ForeignKeyConstraint(
            ["competition_id"], ["competition.id"], name="fk_membership_competition_id_competition"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_membership_user_id_user"),
        sa.PrimaryKeyConstraint("competition_id", "user_id", name="pk_membership"),
    )
    op.create_index("ix_membership_user_id", "membership", ["user_id"])
