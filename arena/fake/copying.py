"""Many rows written at once: on PostgreSQL by COPY, which takes a quarter of what inserts take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

Row = Mapping[str, Any]


def write(connection: sa.Connection, table: sa.Table, rows: Sequence[Row]) -> None:
    """Writes rows that all name the same columns; the others have what they have by default."""
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.execute(sa.insert(table), rows)
        return
    made = [column for column in table.columns if column.name in rows[0] or column.default]
    each = [_value_of(column, connection.dialect) for column in made]
    names = ", ".join(connection.dialect.identifier_preparer.format_column(one) for one in made)
    name = connection.dialect.identifier_preparer.format_table(table)
    driver = connection.connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy(f"COPY {name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([value(row) for value in each])


def _value_of(column: sa.Column[Any], dialect: sa.Dialect) -> Callable[[Row], Any]:
    """What is written of a row in a column."""
    name, bind = column.name, column.type.dialect_impl(dialect).bind_processor(dialect)
    default = getattr(column.default, "arg", None)

    def value(row: Row) -> Any:
        if name in row:
            found = row[name]
        else:
            found = default(None) if callable(default) else default
        return bind(found) if bind else found

    return value
