"""Strength tests may leave out the games of a worker, and be played on several boards.

Those that there are leave out none, and are of one board.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("competition", sa.Column("excluded", sa.JSON(), nullable=True))
    op.add_column("competition", sa.Column("withdrawn", sa.String(20), nullable=True))
    op.add_column("competition", sa.Column("boards", sa.JSON(), nullable=True))
    op.add_column("test_tally", sa.Column("boards", sa.JSON(), nullable=True))
    op.execute("UPDATE test_tally SET boards = '[]'")
    op.execute("UPDATE competition SET excluded = '{}', boards = '[]' WHERE kind = 'test'")
