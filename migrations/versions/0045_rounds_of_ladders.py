"""Gives ladders rounds that come again, and divisions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

CHECK = "ck_competition_date_datekind"
KINDS = "what IN ('opens', 'entries-close', 'freeze', 'round', 'final', 'closes', 'season')"


def upgrade() -> None:
    op.create_table(
        "ladder_round",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("division", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("begun", sa.DateTime(), nullable=False),
        sa.Column("settled", sa.DateTime(), nullable=True),
        sa.Column("boss_id", sa.Integer(), nullable=True),
        sa.Column("made_id", sa.Integer(), nullable=False),
        sa.CheckConstraint("division >= 0", name="ck_ladder_round_division"),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name="fk_ladder_round_competition_id_competition",
        ),
        sa.ForeignKeyConstraint(["boss_id"], ["bot.id"], name="fk_ladder_round_boss_id_bot"),
        sa.ForeignKeyConstraint(
            ["made_id"], ["competition.id"], name="fk_ladder_round_made_id_competition"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_ladder_round"),
        sa.UniqueConstraint("competition_id", "number", "division", name="uq_ladder_round_number"),
        sa.UniqueConstraint("made_id", name="uq_ladder_round_made_id"),
    )
    op.create_index("ix_ladder_round_settled", "ladder_round", ["settled"])
    op.create_table(
        "division_place",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("division", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_boss", sa.Boolean(), nullable=False),
        sa.CheckConstraint("division > 0", name="ck_division_place_division"),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name="fk_division_place_bot_id_bot"),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name="fk_division_place_competition_id_competition",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_division_place"),
        sa.UniqueConstraint("competition_id", "bot_id", "is_boss", name="uq_division_place_bot"),
    )
    op.create_index("ix_division_place_bot_id", "division_place", ["bot_id"])
    op.add_column("entrant", sa.Column("final_points", sa.Double(), nullable=True))
    # SQLite changes no constraint, so that the table is made anew there; nothing refers to it.
    with op.batch_alter_table("competition_date") as table:
        table.drop_constraint(CHECK, type_="check")
        table.create_check_constraint(CHECK, KINDS)
