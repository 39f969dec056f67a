"""What a person may have stored, where that is not what everybody may."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("user", sa.Column("quota_mib", sa.Integer(), nullable=True))
