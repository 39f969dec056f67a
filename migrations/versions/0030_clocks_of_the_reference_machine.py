"""Milliseconds of the reference machine, and how fast workers are."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    its_own = sa.Column("reference", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("competition", its_own)
    op.add_column("worker", sa.Column("measure", sa.JSON(), nullable=True))
    op.add_column("worker", sa.Column("cores", sa.Integer(), nullable=True))
    for table in ("game", "listed_seat"):
        op.add_column(table, sa.Column("speed", sa.Double(), nullable=True))
    op.create_table(
        "speed_tally",
        sa.Column("test_id", sa.Integer(), nullable=False),
        sa.Column("speeds", sa.String(20), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["test_id"], ["competition.id"], name=op.f("fk_speed_tally_test_id_competition")
        ),
        sa.PrimaryKeyConstraint("test_id", "speeds", name=op.f("pk_speed_tally")),
    )
    _count_what_was_played()


def _count_what_was_played() -> None:
    """Of the matches so far the speed is not known: they are what all workers counted."""
    connection = op.get_bind()
    found: dict[int, list[Any]] = {}
    by_worker = sa.table(
        "test_tally",
        sa.column("test_id"),
        sa.column("counts", sa.JSON()),
        *map(sa.column, ("wins", "draws", "losses")),
        *(sa.column(name, sa.JSON()) for name in ("candidate_faults", "baseline_faults")),
    )
    for test, counts, *games, mine, theirs in connection.execute(sa.select(by_worker)):
        told = [*counts, *games, sum(mine.values()) + sum(theirs.values())]
        found[test] = [
            sum(pair) for pair in zip(told, found.get(test, [0] * len(told)), strict=True)
        ]
    table = sa.table(
        "speed_tally",
        *map(sa.column, ("test_id", "speeds")),
        sa.column("counts", sa.JSON()),
        *map(sa.column, ("wins", "draws", "losses", "faults")),
    )
    for test, (*counts, wins, draws, losses, faults) in found.items():
        connection.execute(
            table.insert().values(
                test_id=test,
                speeds="",
                counts=counts,
                wins=wins,
                draws=draws,
                losses=losses,
                faults=faults,
            )
        )
