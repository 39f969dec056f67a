"""What CSV and JSON say of a board, and JSON of a tournament."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from arena.competitions.results import results, to_json
from arena.competitions.tournament_matches import digest
from arena.ground.config import Settings
from arena.models import Tournament
from arena.web import queries
from arena.web.api.ladder_shapes import BoardLineShape, BoardShape
from arena.web.leaderboards import LadderBoard


def columns(board: LadderBoard) -> list[str]:
    """What CSV says of each bot of a board; what it did against a picked bot only if one is."""
    names = [name for name in BoardLineShape.model_fields if name != "trend"]
    return [name for name in names if board.picked or not name.startswith("against_")]


def rows(board: LadderBoard) -> list[dict[str, Any]]:
    """What CSV says of the bots of a board, the ranked ones first."""
    told = [BoardLineShape.of(line) for line in board.lines]
    return [{name: _text(getattr(one, name)) for name in columns(board)} for one in told]


def _text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def board_json(board: LadderBoard) -> dict[str, Any]:
    """A board as JSON's types, with the trend of each bot, which is more than a cell holds."""
    bots = [
        {**row, "trend": line.entrant.trend}
        for row, line in zip(rows(board), board.lines, strict=True)
    ]
    return BoardShape.of(board, bots=[]).model_dump() | {"bots": bots}


def csv_answer(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Response:
    """Rows as a CSV file."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, fieldnames=list(columns))
    writer.writeheader()
    writer.writerows(rows)
    return Response(file.getvalue(), mimetype="text/csv")


def tournament_json(
    session: Session, tournament: Tournament, settings: Settings, now: datetime
) -> dict[str, Any]:
    """All that stands in a tournament, and why nothing is played there, as JSON's types."""
    _, quiet = queries.happening(session, tournament, settings, now)
    stands = to_json(results(session, tournament))
    return {**stands, "quiet": quiet, "digest": digest(session, tournament)}
