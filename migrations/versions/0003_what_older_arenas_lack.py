"""What arenas lack that were made before the schema was settled.

0002 was changed in place for as long as nothing was released, so a database of 0002 may lack
columns of it. They are added here as both kinds of database do it without making a table anew,
which would lose the checks of SQLite's. From here on a change is a migration of its own.
"""

from __future__ import annotations

from itertools import count

import sqlalchemy as sa
from alembic import op

from arena.ground.db import SchemaError

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

LONGEST_NAME = 40


def upgrade() -> None:
    connection = op.get_bind()
    found = sa.inspect(connection)
    if not found.has_table("sitting"):
        raise SchemaError(
            "the database was made before people could play on the pages, which is too old for "
            "this release: use the release that made it, or another data folder"
        )
    if not _has(found, "competition", "last_match"):
        op.execute("ALTER TABLE competition DROP COLUMN last_match_id")
        op.execute("ALTER TABLE competition ADD COLUMN last_match TIMESTAMP")
    if not _has(found, "bot", "lower_name"):
        op.execute("ALTER TABLE bot ADD COLUMN lower_name VARCHAR(40) NOT NULL DEFAULT ''")
        _name_bots(connection)
        op.create_index("uq_bot_lower_name", "bot", ["lower_name"], unique=True)
    if not _has(found, "entrant", "best_rank"):
        op.execute("ALTER TABLE entrant ADD COLUMN best_rank INTEGER")
        op.execute(
            "ALTER TABLE entrant ADD COLUMN best_rank_at TIMESTAMP CONSTRAINT ck_entrant_best_rank "
            "CHECK ((best_rank IS NULL) = (best_rank_at IS NULL))"
        )
    if not _has(found, "entrant", "trend"):
        op.execute("ALTER TABLE entrant ADD COLUMN trend JSON NOT NULL DEFAULT '[]'")
        # The recorder makes trends of the results.
        op.execute("UPDATE competition SET rebuild_due = true WHERE kind = 'ladder'")


def _has(found: sa.Inspector, table: str, column: str) -> bool:
    return column in {known["name"] for known in found.get_columns(table)}


def _name_bots(connection: sa.Connection) -> None:
    """Gives each bot its name in small letters; of two that are alike the later gets a number."""
    bot = sa.table("bot", sa.column("id"), sa.column("name"), sa.column("lower_name"))
    bots = connection.execute(sa.select(bot.c.id, bot.c.name).order_by(bot.c.id)).all()
    taken = {name.lower() for _, name in bots}
    seen: set[str] = set()
    for number, name in bots:
        if name.lower() in seen:
            ends = (f"-{other}" for other in count(number))
            tried = (f"{name[: LONGEST_NAME - len(end)]}{end}" for end in ends)
            name = next(one for one in tried if one.lower() not in taken)
            taken.add(name.lower())
        seen.add(name.lower())
        named = {"name": name, "lower_name": name.lower()}
        connection.execute(sa.update(bot).where(bot.c.id == number).values(named))
