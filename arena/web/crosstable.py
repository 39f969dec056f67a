"""The crosstable of a ladder: what its best bots did against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from flask import Blueprint, render_template
from sqlalchemy.orm import Session

from arena.formats.score import Score
from arena.models import Entrant, Ladder, Meeting
from arena.web import leaderboards
from arena.web.leaderboards import View
from arena.web.lookup import find_ladder, reading

pages = Blueprint("crosstables", __name__)

BEST = 20
"""How many ranked bots a crosstable has: no page could show all of a large ladder."""


@dataclass(frozen=True, slots=True)
class LadderCrosstable:
    """What bots did against each other on a ladder."""

    ladder: Ladder
    entrants: Sequence[Entrant]
    """The best, by their ranks."""
    cells: Mapping[tuple[int, int], Score]
    """What the first of two did against the second, by the ids of both; of those who met."""


def ladder_crosstable(session: Session, ladder: Ladder) -> LadderCrosstable:
    """The crosstable of a ladder as it is now."""
    ranked = leaderboards.board(session, ladder, View(page=1)).ranked[:BEST]
    entrants = [line.entrant for line in ranked]
    ids = [entrant.id for entrant in entrants]
    met = sa.select(Meeting).where(
        Meeting.first_id.in_(ids), Meeting.second_id.in_(ids), Meeting.games > 0
    )
    cells = {}
    for its in session.scalars(met):
        score = Score(its.wins, its.draws, its.games - its.wins - its.draws)
        cells[its.first_id, its.second_id] = score
        cells[its.second_id, its.first_id] = score.turned
    return LadderCrosstable(ladder, entrants, cells)


@pages.get("/ladders/<name>/crosstable")
def crosstable(name: str) -> str:
    """What the best bots of a ladder did against each other."""
    with reading() as session:
        found = ladder_crosstable(session, find_ladder(session, name))
        return render_template("ladder_crosstable.html", found=found, ladder=found.ladder)
