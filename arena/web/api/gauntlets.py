"""Operations on gauntlets."""

from __future__ import annotations

import sqlalchemy as sa

from arena.competitions.gauntlets import Gauntlet
from arena.web.api.gauntlet_shapes import GauntletList, GauntletShape
from arena.web.api.paging import Pages, page
from arena.web.api.specification import operation
from arena.web.lookup import find_gauntlet, reading

TAG = "gauntlets"


@operation("GET /gauntlets", GauntletList, tag=TAG)
def list_gauntlets(query: Pages) -> GauntletList:
    """How each stands, or ended."""
    with reading() as session:
        return page(GauntletList, session, sa.select(Gauntlet), Gauntlet.id, query)


@operation("GET /gauntlets/<name>", GauntletShape, tag=TAG)
def get_gauntlet(name: str) -> GauntletShape:
    """A gauntlet."""
    with reading() as session:
        return GauntletShape.looked_up(session, find_gauntlet(session, name))
