"""Operations on tournaments."""

from __future__ import annotations

import sqlalchemy as sa

from arena.models import Tournament
from arena.web.api.paging import Pages, page
from arena.web.api.results import TournamentDetail, TournamentList, TournamentShape
from arena.web.api.specification import operation
from arena.web.lookup import find_tournament, reading
from arena.web.tournaments import whole

TAG = "tournaments"


@operation(TournamentList, tag=TAG)
def list_tournaments(query: Pages) -> TournamentList:
    """The tournaments."""
    with reading() as session:
        found, following = page(session, sa.select(Tournament), Tournament.id, query)
        return TournamentList(items=[TournamentShape.of(one) for one in found], next=following)


@operation(TournamentDetail, tag=TAG)
def get_tournament(name: str) -> TournamentDetail:
    """All that stands in a tournament: standings, crosstable, rounds, bracket."""
    with reading() as session:
        return TournamentDetail.model_validate(whole(session, find_tournament(session, name)))


ROUTES = (
    ("GET", "/tournaments", list_tournaments),
    ("GET", "/tournaments/<name>", get_tournament),
)
