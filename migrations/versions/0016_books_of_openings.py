"""Keeps books of openings, and by which of them a competition is played."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

CHECK = "ck_competition_openingpolicy"
BEFORE, AFTER = ("openings IN ('random', 'empty')", "openings IN ('random', 'empty', 'book')")


def upgrade() -> None:
    op.create_table(
        "book",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("variant", sa.String(300), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("openings", sa.JSON(), nullable=False),
        sa.Column("creator_id", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["creator_id"], ["user.id"], name="fk_book_creator_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_book"),
        sa.UniqueConstraint("name", name="uq_book_name"),
        sa.UniqueConstraint("digest", "variant", name="uq_book_digest_variant"),
    )
    _widen()
    # With its constraints at once, which SQLite takes for a new column alone.
    op.execute(
        "ALTER TABLE competition ADD COLUMN book_name VARCHAR(80) "
        "CONSTRAINT fk_competition_book_name_book REFERENCES book (name) "
        "CONSTRAINT ck_competition_book CHECK ((openings = 'book') = (book_name IS NOT NULL))"
    )


def _widen() -> None:
    """Lets openings be of a book."""
    if op.get_bind().dialect.name != "sqlite":
        op.execute(f"ALTER TABLE competition DROP CONSTRAINT IF EXISTS {CHECK}")
        op.execute(f"ALTER TABLE competition ADD CONSTRAINT {CHECK} CHECK ({AFTER})")
        return
    # As in 0013: what SQLite's manual describes for a change of a check that allows more.
    connection = op.get_bind()
    schema = sa.table("sqlite_master", sa.column("name"), sa.column("sql"))
    its = schema.c.name == "competition"
    words: str = connection.scalars(sa.select(schema.c.sql).where(its)).one()
    if BEFORE not in words:
        raise RuntimeError(f"the check {CHECK} of this arena is not as it was made")
    version = connection.scalar(sa.text("PRAGMA schema_version"))
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(sa.update(schema).where(its).values(sql=words.replace(BEFORE, AFTER)))
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")
