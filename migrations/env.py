"""Alembic's entry: migrates over the connection that the caller gives (see arena.ground.db)."""

from __future__ import annotations

from alembic import context

from arena.models import Base, UtcTime


def render_item(kind: str, item: object, _context: object) -> str | bool:
    """A migration stands alone: it names no type of the program, which may change later."""
    return "sa.DateTime()" if kind == "type" and isinstance(item, UtcTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    render_item=render_item,
)
with context.begin_transaction():
    context.run_migrations()
