"""The tables of a dump, and the rows that a game has in them.

There are three: ``games`` has a row for each game, ``seats`` one for each seat of it, ``plies``
one for each ply. What belongs together has the same ``number``, that of the game. Seats are
counted from 1 and plies from 0, as in records. docs/data.md tells every column.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from arena.lists.filters import opening_word
from arena.lists.rows import opening_number, seat_result
from engine.declaring import in_a_line
from engine.protocol import share
from engine.record import GameRecord, RecordError, other_rules, states

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as error:
    raise ImportError(
        f"dumps of games need pip install 'game-bot-arena[data]' ({error})"
    ) from error

log = logging.getLogger("arena.dumps")

Table = Any
"""A pyarrow.Table; its types are there only where it is."""

_MOMENT = pa.timestamp("us", tz="UTC")
SCHEMAS: Mapping[str, Any] = {
    "games": pa.schema(
        [
            ("number", pa.int64()),
            ("competition", pa.string()),
            ("match", pa.int64()),
            ("finished", _MOMENT),
            ("counts", pa.bool_()),
            ("game", pa.string()),
            ("variant", pa.string()),
            ("rules", pa.string()),
            ("seed", pa.int64()),
            ("time", pa.string()),
            ("seats", pa.int8()),
            ("opening", pa.string()),
            ("opening_plies", pa.int32()),
            ("plies", pa.int32()),
            ("termination", pa.string()),
            ("isolation", pa.string()),
            ("end_position", pa.string()),
        ]
    ),
    "seats": pa.schema(
        [
            ("number", pa.int64()),
            ("seat", pa.int8()),
            ("side", pa.int8()),
            ("bot", pa.string()),
            ("version", pa.int32()),
            ("options", pa.string()),
            ("score", pa.float64()),
            ("rank", pa.int16()),
            ("points", pa.float64()),
            ("result", pa.string()),
            ("fault", pa.string()),
            ("fault_ply", pa.int32()),
            ("cpu_us", pa.int64()),
            ("mu_before", pa.float64()),
            ("sigma_before", pa.float64()),
            ("mu_after", pa.float64()),
            ("sigma_after", pa.float64()),
        ]
    ),
    "plies": pa.schema(
        [
            ("number", pa.int64()),
            ("ply", pa.int32()),
            ("seat", pa.int8()),
            ("is_opening", pa.bool_()),
            ("position", pa.string()),
            ("move", pa.string()),
            ("cpu_us", pa.int64()),
            ("wall_us", pa.int64()),
            ("waited_us", pa.int64()),
            ("eval", pa.float64()),
            ("values", pa.map_(pa.string(), pa.float64())),
            ("tags", pa.list_(pa.string())),
            ("pv", pa.list_(pa.string())),
            ("text", pa.string()),
        ]
    ),
}
"""The columns of each table."""


def new_file(path: Path, table: str, about: Mapping[str, str]) -> Any:
    """A file for rows of a table: a ParquetWriter, to be closed.

    Args:
        about: what it says of its origin.
    """
    schema = SCHEMAS[table].with_metadata(about)
    return parquet.ParquetWriter(path, schema, compression="zstd")


class Rows:
    """Rows of the three tables, column by column."""

    def __init__(self) -> None:
        self._columns = {
            name: {column: list[Any]() for column in schema.names}
            for name, schema in SCHEMAS.items()
        }

    def count(self, table: str) -> int:
        """How many rows of a table are held."""
        return len(self._columns[table]["number"])

    def take(self, table: str) -> Table:
        """The rows of a table so far, which are held no longer."""
        columns = self._columns[table]
        found = pa.table(columns, schema=SCHEMAS[table])
        for values in columns.values():
            values.clear()
        return found

    def add(self, line: Mapping[str, Any]) -> None:
        """Adds a game.

        Args:
            line: what `arena.lists.exported.lines` tells of it, read as JSON.

        Raises:
            RecordError: it is no record; nothing was added then.
        """
        record = GameRecord.from_json(line)
        positions = _positions(record)
        self._add("games", _game(line, record, positions[-1]))
        for row in _seats(line, record):
            self._add("seats", row)
        for row in _plies(line["number"], record, positions):
            self._add("plies", row)

    def _add(self, table: str, row: Mapping[str, Any]) -> None:
        for name, values in self._columns[table].items():
            values.append(row[name])


def _positions(record: GameRecord) -> list[str | None]:
    """The text of the position before each ply, and of that at the end.

    All are None where the rules are not here by which the game was played, or contradict it, or
    fail.
    """
    if not other_rules(record):
        try:
            return [state.text() for state in states(record)]
        except RecordError:
            pass
        except Exception as error:  # a stranger's rules
            log.warning("the rules of %s fail: %s", record.variant.game, in_a_line(error))
    return [None] * (len(record.plies) + 1)


def _game(line: Mapping[str, Any], record: GameRecord, end_position: str | None) -> dict[str, Any]:
    opening = opening_number(record.variant.options, record.moves[: record.opening])
    return {
        "number": line["number"],
        "competition": line["competition"],
        "match": line["match"],
        "finished": datetime.fromisoformat(line["finished"]),
        "counts": line["counts"],
        "game": record.variant.game,
        "variant": str(record.variant),
        "rules": record.rules,
        "seed": record.seed,
        "time": record.time.words,
        "seats": record.variant.seats,
        "opening": opening_word(opening),
        "opening_plies": record.opening,
        "plies": len(record.plies),
        "termination": str(record.termination),
        "isolation": record.isolation,
        "end_position": end_position,
    }


def _seats(line: Mapping[str, Any], record: GameRecord) -> list[dict[str, Any]]:
    faults = {fault.seat: fault for fault in record.faults}
    cpu_us = [0] * record.variant.seats
    for ply in record.plies:
        if ply.seat >= 0:
            cpu_us[ply.seat] += ply.cpu_us or 0
    rows = []
    for seat, its in enumerate(line["seats"]):
        fault = faults.get(seat)
        rows.append(
            {
                "options": "",  # an arena of a release before says nothing of them
                **its,
                "number": line["number"],
                "seat": seat + 1,
                "side": record.variant.side_of[seat] + 1,
                "score": record.scores[seat],
                "result": str(seat_result(its["rank"], its["points"])),
                "fault": fault and str(fault.termination),
                "fault_ply": fault and fault.ply,
                "cpu_us": cpu_us[seat],
            }
        )
    return rows


def _plies(number: int, record: GameRecord, positions: list[str | None]) -> list[dict[str, Any]]:
    return [
        {
            "number": number,
            "ply": place,
            "seat": ply.seat + 1,
            "is_opening": place < record.opening,
            "position": position,
            "move": ply.move,
            "cpu_us": ply.cpu_us,
            "wall_us": ply.wall_us,
            "waited_us": ply.waited_us,
            "eval": share(ply.values),
            "values": list(ply.values.items()),
            "tags": list(ply.tags),
            "pv": list(ply.pv),
            "text": ply.text,
        }
        for place, (ply, position) in enumerate(zip(record.plies, positions, strict=False))
    ]
