"""Keeps settings that were changed while the arena runs, and sets of matches to decide on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def _one_of(name: str, *values: str) -> sa.Enum:
    return sa.Enum(*values, name=name, native_enum=False, create_constraint=True, length=20)


def upgrade() -> None:
    op.create_table(
        "setting",
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_setting"),
    )
    op.create_table(
        "match_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("verdict", _one_of("setverdict", "void", "replay", "requeue"), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("made", sa.DateTime(), nullable=False),
        sa.Column("maker_id", sa.Integer(), nullable=True),
        sa.Column("maker", sa.String(40), nullable=False),
        sa.Column(
            "state", _one_of("setstate", "looking", "ready", "decided", "done"), nullable=False
        ),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("looked", sa.Integer(), nullable=False),
        sa.Column("to_look", sa.Integer(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("decided", sa.DateTime(), nullable=True),
        sa.Column("decider", sa.String(40), nullable=False),
        sa.Column("origin", sa.String(60), nullable=False),
        sa.Column("done", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["maker_id"], ["user.id"], name="fk_match_set_maker_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_match_set"),
    )
    op.create_index("ix_match_set_maker_id", "match_set", ["maker_id"])
    op.create_index("ix_match_set_state", "match_set", ["state"])
    op.create_table(
        "match_of_set",
        sa.Column("set_id", sa.Integer(), nullable=False),
        sa.Column("match_id", sa.Integer(), nullable=False),
        sa.Column("state", _one_of("memberstate", "waits", "done", "left"), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("replayed_as", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name="fk_match_of_set_match_id_match"),
        sa.ForeignKeyConstraint(
            ["set_id"], ["match_set.id"], name="fk_match_of_set_set_id_match_set"
        ),
        sa.PrimaryKeyConstraint("set_id", "match_id", name="pk_match_of_set"),
    )
    op.create_index("ix_match_of_set_match_id", "match_of_set", ["match_id"])
    op.create_index(
        "ix_match_of_set_set_id_state_match_id", "match_of_set", ["set_id", "state", "match_id"]
    )
