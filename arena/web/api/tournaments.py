"""Operations on tournaments."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

from arena.models import Tournament
from arena.web.api.paging import Pages, page
from arena.web.api.results import TournamentDetail, TournamentList
from arena.web.api.specification import operation
from arena.web.identity import settings
from arena.web.lookup import find_tournament, reading

TAG = "tournaments"


@operation("GET /tournaments", TournamentList, tag=TAG)
def list_tournaments(query: Pages) -> TournamentList:
    """What each is and how far; what stands in it is read one by one."""
    with reading() as session:
        return page(TournamentList, session, sa.select(Tournament), Tournament.id, query)


@operation("GET /tournaments/<name>", TournamentDetail, tag=TAG)
def get_tournament(name: str) -> TournamentDetail:
    """All that stands in a tournament: standings, crosstable, rounds, bracket."""
    with reading() as session:
        found = find_tournament(session, name)
        return TournamentDetail.now(session, found, settings(), datetime.now(UTC))
