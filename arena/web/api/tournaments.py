"""Operations on tournaments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from arena.models import LadderRound, Tournament
from arena.web import queries
from arena.web.api.paging import Pages, page
from arena.web.api.results import TournamentDetail, TournamentList
from arena.web.api.shapes import Name
from arena.web.api.specification import operation
from arena.web.identity import settings
from arena.web.lookup import find_ladder, find_tournament, reading
from arena.web.traces import of_competition
from arena.web.validators import answer_if_known

TAG = "tournaments"


class TournamentPages(Pages):
    """Which tournaments are wanted."""

    round_of: Annotated[
        Name | None,
        Field(description="The ladder whose rounds are wanted; without it, all but rounds are."),
    ] = None


@operation("GET /tournaments", TournamentList, tag=TAG, errors=(404,))
def list_tournaments(query: TournamentPages) -> TournamentList:
    """What each is and how far; what stands in it is read one by one."""
    with reading() as session:
        ladder_id = find_ladder(session, query.round_of).id if query.round_of else None
        wanted = sa.select(Tournament).where(LadderRound.lists(ladder_id))
        return page(TournamentList, session, wanted, Tournament.id, query)


@operation("GET /tournaments/<name>", TournamentDetail, tag=TAG)
def get_tournament(name: str) -> TournamentDetail:
    """All that stands in a tournament: standings, crosstable, rounds, bracket."""
    with reading() as session:
        found = find_tournament(session, name)
        _, quiet = queries.happening(session, found, settings(), datetime.now(UTC))
        answer_if_known(session, of_competition(found), quiet)
        return TournamentDetail.now(session, found, quiet)
