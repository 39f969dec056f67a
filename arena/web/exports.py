"""What CSV says of boards and games, and JSON of boards and tournaments."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from arena.competitions import sign_ups
from arena.competitions.results import results, to_json
from arena.competitions.tournament_matches import digest
from arena.lists.exported import CHUNK_GAMES, numbers, parts
from arena.lists.filters import GameFilter
from arena.lists.rows import seat_result
from arena.models import Tournament
from arena.sight import Reads
from arena.web import queries
from arena.web.api.game_shapes import GameShape
from arena.web.api.ladder_shapes import BoardLineShape, BoardShape
from arena.web.leaderboards import LadderBoard


def columns(board: LadderBoard) -> list[str]:
    """What CSV says of each bot of a board; what it did against a picked bot only if one is."""
    names = [name for name in BoardLineShape.model_fields if name not in ("trend", "places")]
    return [name for name in names if board.picked or not name.startswith("against_")]


def rows(board: LadderBoard) -> list[dict[str, Any]]:
    """What CSV says of the bots of a board, the ranked ones first."""
    told = [BoardLineShape.of(line) for line in board.lines]
    return [{name: _text(getattr(one, name)) for name in columns(board)} for one in told]


def _text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def board_json(board: LadderBoard) -> dict[str, Any]:
    """A board as JSON's types, with what is more of each bot than a cell holds."""
    bots = [
        {**row, "trend": line.entrant.trend, "places": line.entrant.places}
        for row, line in zip(rows(board), board.lines, strict=True)
    ]
    return BoardShape.of(board, bots=[]).model_dump() | {"bots": bots}


def csv_answer(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Response:
    """Rows as a CSV file."""
    return Response(csv_bytes(rows, columns), mimetype="text/csv")


def csv_bytes(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> bytes:
    """Rows as the bytes of a CSV file."""
    return _csv(rows, list(columns), header=True)


GAME_COLUMNS = (
    "number", "competition", "match", "finished", "ending", "plies", "opening", "counts", "speed",
    "bots", "results", "points", "faults",
)  # fmt: skip
"""What CSV says of a game; the last four of each seat, with spaces between them."""


def game_rows(database: Reads, wanted: GameFilter, after: int) -> Iterator[bytes]:
    """All games that a filter wants above a number as parts of a CSV file."""
    yield _csv([], GAME_COLUMNS, header=True)
    for some in parts(numbers(database, wanted, after), CHUNK_GAMES):
        with database.read() as session:
            games = queries.games_in_order(session, some)
            yield _csv([_game(GameShape.of(game)) for game in games], GAME_COLUMNS)


def _game(game: GameShape) -> dict[str, Any]:
    seats = game.seats
    return {
        "number": game.number,
        "competition": game.competition,
        "match": game.match,
        "finished": game.finished.isoformat(),
        "ending": str(game.termination),
        "plies": game.plies,
        "opening": game.opening,
        "counts": "yes" if game.counts else "no",
        "speed": "" if game.speed is None else game.speed,
        "bots": " ".join(f"{seat.bot}:{seat.version}" for seat in seats),
        "results": " ".join(str(seat_result(seat.rank, seat.points)) for seat in seats),
        "points": " ".join(f"{seat.points:g}" for seat in seats),
        "faults": " ".join(str(seat.fault or "-") for seat in seats),
    }


def _csv(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, header: bool = False
) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, fieldnames=columns)
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def tournament_json(session: Session, tournament: Tournament, quiet: str | None) -> dict[str, Any]:
    """All that stands in a tournament, and why nothing is played there, as JSON's types."""
    stands = to_json(results(session, tournament))
    signed = sign_ups.to_json(session, tournament)
    return {**stands, **signed, "quiet": quiet, "digest": digest(session, tournament)}
