"""Gives the places in the order of completion by a sequence, where several recorders take them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        return  # one recorder writes there, and adds one to the last
    op.execute(sa.schema.CreateSequence(sa.Sequence("match_seq")))
    op.execute(
        "SELECT setval('match_seq', last) FROM (SELECT max(seq) AS last FROM match) AS it "
        "WHERE last IS NOT NULL"
    )
