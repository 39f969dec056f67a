"""How games were played against what is certain of their positions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "judged_seat",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("results", sa.Integer(), nullable=False),
        sa.Column("lost", sa.Integer(), nullable=False),
        sa.Column("marks", sa.JSON(), nullable=False),
        sa.CheckConstraint(
            "0 <= kept AND kept + results <= judged", name=op.f("ck_judged_seat_sums")
        ),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"], name=op.f("fk_judged_seat_game_id_game")),
        sa.PrimaryKeyConstraint("game_id", "seat", name=op.f("pk_judged_seat")),
        sqlite_with_rowid=False,
    )
