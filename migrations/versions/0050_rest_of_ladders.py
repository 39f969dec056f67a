"""Which ladders have bots of whom more games would teach something, by an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

UNSETTLED = sa.text(
    "state = 'active' AND games - games_before < 200 AND (games - games_before < 20 OR sigma > 1)"
)


def upgrade() -> None:
    op.create_index(
        "ix_entrant_unsettled",
        "entrant",
        ["competition_id"],
        sqlite_where=UNSETTLED,
        postgresql_where=UNSETTLED,
    )
