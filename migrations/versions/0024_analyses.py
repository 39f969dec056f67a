"""Questions to bots about positions, what they answered, and analyses that are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

STATUSES = "'open', 'issued', 'fixed', 'set aside', 'void'"
ENDINGS = (
    "'normal', 'repetition', 'plylimit', 'illegal', 'timeout', 'crash', 'memory', 'protocol', "
    "'start', 'resign', 'void'"
)


def upgrade() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("game", sa.JSON(), nullable=False),
        sa.Column("plies", sa.JSON(), nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.Column("asked_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("ticket", sa.String(64), nullable=True),
        sa.Column("lease_ends", sa.DateTime(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("worker", sa.String(120), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.CheckConstraint(f"status IN ({STATUSES})", name="ck_question_jobstatus"),
        sa.CheckConstraint(
            "(status = 'issued') = (lease_ends IS NOT NULL AND ticket IS NOT NULL)",
            name="ck_question_lease",
        ),
        sa.CheckConstraint("status = 'issued' OR worker IS NULL", name="ck_question_worker"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_question_user_id_user"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name="fk_question_version_id_bot_version"
        ),
        sa.ForeignKeyConstraint(
            ["ladder_id"], ["competition.id"], name="fk_question_ladder_id_competition"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question"),
    )
    op.create_index("ix_question_status_id", "question", ["status", "id"])
    op.create_index("ix_question_user_id_created", "question", ["user_id", "created"])
    op.create_index("ix_question_version_id", "question", ["version_id"])
    op.create_table(
        "bot_answer",
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("fault", sa.String(20), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("share", sa.Double(), nullable=True),
        sa.Column("depth", sa.Double(), nullable=True),
        sa.Column("pv", sa.JSON(), nullable=False),
        sa.Column("cpu_us", sa.BigInteger(), nullable=False),
        sa.Column("move_ms", sa.Integer(), nullable=False),
        sa.Column("answered", sa.DateTime(), nullable=False),
        sa.CheckConstraint(f"fault IN ({ENDINGS})", name="ck_bot_answer_termination"),
        sa.ForeignKeyConstraint(
            ["question_id"], ["question.id"], name="fk_bot_answer_question_id_question"
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["bot_version.id"], name="fk_bot_answer_version_id_bot_version"
        ),
        sa.PrimaryKeyConstraint("question_id", "ply", name="pk_bot_answer"),
    )
    op.create_index("ix_bot_answer_key", "bot_answer", ["key"])
    op.create_index("ix_bot_answer_version_id", "bot_answer", ["version_id"])
    op.create_table(
        "analysis",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(32), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("moves", sa.Text(), nullable=False),
        sa.Column("comments", sa.JSON(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("changed", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["user.id"], name="fk_analysis_owner_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_analysis"),
        sa.UniqueConstraint("code", name="uq_analysis_code"),
        sa.UniqueConstraint("owner_id", "name", name="uq_analysis_owner_id_name"),
    )
