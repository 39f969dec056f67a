"""Gives competitions dates, final places, a reserve of workers, and ladders seasons."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "competition_date",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("competition_id", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(20), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("happened", sa.DateTime(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("made_id", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "what IN ('opens', 'entries-close', 'freeze', 'final', 'closes', 'season')",
            name="ck_competition_date_datekind",
        ),
        sa.ForeignKeyConstraint(
            ["competition_id"],
            ["competition.id"],
            name="fk_competition_date_competition_id_competition",
        ),
        sa.ForeignKeyConstraint(
            ["made_id"], ["competition.id"], name="fk_competition_date_made_id_competition"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_competition_date"),
        sa.UniqueConstraint("competition_id", "what", name="uq_competition_date_what"),
    )
    op.create_index("ix_competition_date_due", "competition_date", ["happened", "at"])
    op.add_column("competition", sa.Column("reserve", sa.Double(), nullable=True))
    op.add_column("competition", sa.Column("placed_games", sa.Integer(), nullable=True))
    op.add_column("competition", sa.Column("season", sa.Integer(), nullable=True))
    # With its constraint at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE competition ADD COLUMN series_id INTEGER "
        "CONSTRAINT fk_competition_series_id_competition REFERENCES competition (id)"
    )
    op.create_index("ix_competition_series_id", "competition", ["series_id"])
    op.add_column("entrant", sa.Column("final_place", sa.Integer(), nullable=True))
    for name in ("final_elo", "final_lower", "final_upper", "start_mu", "start_sigma"):
        op.add_column("entrant", sa.Column(name, sa.Double(), nullable=True))
    op.add_column("sent_file", sa.Column("begun", sa.DateTime(), nullable=True))
    op.add_column("sent_file", sa.Column("ended", sa.DateTime(), nullable=True))
