"""What the schema has and a database may have lost: indexes, and that values are there only once.

No program of the arena drops any; people and restores by other tools do. Pages are then slow, and
what keeps a match from being counted twice is gone, which nobody would see.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from arena.models import Base


def lost(connection: sa.Connection) -> list[sa.Index]:
    """The indexes that a database lacks, those of unique constraints included."""
    inspector = sa.inspect(connection)
    found = []
    for table in Base.metadata.sorted_tables:
        indexes = inspector.get_indexes(table.name)
        names = {index["name"] for index in indexes}
        once = {frozenset(index["column_names"]) for index in indexes if index["unique"]}
        constraints = inspector.get_unique_constraints(table.name)
        once |= {frozenset(one["column_names"]) for one in constraints}
        for wanted in (*table.indexes, *_unique(table)):
            columns = frozenset(column.name for column in wanted.columns)
            if wanted.name not in names and not (wanted.unique and columns in once):
                found.append(wanted)
    return sorted(found, key=lambda index: str(index.name))


def _unique(table: sa.Table) -> Iterator[sa.Index]:
    """A table's unique constraints, each as the index that does the same."""
    for constraint in table.constraints:
        if isinstance(constraint, sa.UniqueConstraint):
            # Of a table of its own, as the schema's would have it for good.
            columns = [sa.Column(column.name, column.type) for column in constraint.columns]
            sa.Table(table.name, sa.MetaData(), *columns)
            yield sa.Index(str(constraint.name), *columns, unique=True)


def make_anew(connection: sa.Connection) -> list[str]:
    """Makes what is lost, and gives its names.

    Raises:
        IntegrityError: values are there twice that may be there only once.
    """
    missing = lost(connection)
    for index in missing:
        index.create(connection)
    return [str(index.name) for index in missing]


def words(missing: list[sa.Index]) -> str:
    """What is to be done about it; empty if nothing is lost."""
    if not missing:
        return ""
    names = ", ".join(str(index.name) for index in missing)
    return f"the database has lost {names}: stop the arena, and arena run prepare makes it anew"
