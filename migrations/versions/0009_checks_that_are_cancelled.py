"""Keeps which checks were cancelled and what their builds took, and who came back to a ladder.

Who came back before this keeps the rating that it had then.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    text, number = sa.Text(), sa.Double()
    op.add_column("check", sa.Column("cancelled", text, nullable=False, server_default=""))
    op.add_column("check", sa.Column("ended", sa.DateTime(), nullable=True))
    op.add_column("check", sa.Column("build_seconds", number, nullable=False, server_default="0"))
    op.create_index("ix_check_ended", "check", ["ended"])
    op.add_column(
        "entrant", sa.Column("returned_after", sa.JSON(), nullable=False, server_default="[]")
    )
    op.add_column(
        "entrant", sa.Column("games_before", sa.Integer(), nullable=False, server_default="0")
    )
