"""What CSV and JSON say of a board, and JSON of a tournament."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena.competitions.results import results, to_json
from arena.competitions.tournament_matches import digest
from arena.ground.config import Settings
from arena.models import Tournament
from arena.web import queries
from arena.web.leaderboards import BoardLine, LadderBoard

COLUMNS: Mapping[str, Callable[[BoardLine], Any]] = {
    "rank": lambda line: line.rank,
    "bot": lambda line: line.entrant.version.bot.name,
    "version": lambda line: line.entrant.version.number,
    "owner": lambda line: line.entrant.version.bot.owner.name,
    "language": lambda line: line.entrant.version.language,
    "rating": lambda line: round(line.rating.display, 1),
    "interval": lambda line: round(line.rating.display_margin, 1),
    "mu": lambda line: line.entrant.mu,
    "sigma": lambda line: line.entrant.sigma,
    "games": lambda line: line.entrant.games,
    "wins": lambda line: line.entrant.wins,
    "draws": lambda line: line.entrant.draws,
    "losses": lambda line: line.entrant.losses,
    "score": lambda line: round(line.score, 4),
    "faults": lambda line: line.entrant.faults,
    "last_game": lambda line: line.entrant.last_game and line.entrant.last_game.isoformat(),
    "uploaded": lambda line: line.entrant.version.created.isoformat(),
    "climbed": lambda line: line.climbed,
}
AGAINST_COLUMNS: Mapping[str, Callable[[BoardLine], Any]] = {
    "against_wins": lambda line: line.against and line.against.wins,
    "against_draws": lambda line: line.against and line.against.draws,
    "against_losses": lambda line: line.against and line.against.losses,
}
"""What CSV and JSON say of each bot; the second part only beside a picked one. JSON has its
trend besides, which is more than a cell holds."""


def columns(board: LadderBoard) -> Mapping[str, Callable[[BoardLine], Any]]:
    """What CSV and JSON say of each bot of a board."""
    return {**COLUMNS, **AGAINST_COLUMNS} if board.picked else COLUMNS


def lines(board: LadderBoard) -> tuple[BoardLine, ...]:
    """The bots of a board, the ranked ones first."""
    return (*board.ranked, *board.placement)


def rows(board: LadderBoard) -> list[dict[str, Any]]:
    """What CSV and JSON say of the bots of a board, the ranked ones first."""
    return [{key: value(line) for key, value in columns(board).items()} for line in lines(board)]


def board_json(board: LadderBoard) -> dict[str, Any]:
    """A board as JSON's types."""
    return {
        "ladder": board.ladder.name,
        "variant": str(board.ladder.variant),
        "games": board.ladder.games,
        "running": board.running,
        "ranked": board.ranked_count,
        "placement": board.placement_count,
        "page": board.view.page,
        "pages": board.pages if board.view.page is not None else 1,
        "against": board.picked and board.picked.version.label,
        "bots": [
            {**row, "trend": line.entrant.trend}
            for row, line in zip(rows(board), lines(board), strict=True)
        ],
    }


def tournament_json(
    session: Session, tournament: Tournament, settings: Settings, now: datetime
) -> dict[str, Any]:
    """All that stands in a tournament, and why nothing is played there, as JSON's types."""
    _, quiet = queries.happening(session, tournament, settings, now)
    stands = to_json(results(session, tournament))
    return {**stands, "quiet": quiet, "digest": digest(session, tournament)}
