"""Operations on sets of matches: what there are, and what one would change or has."""

from __future__ import annotations

import sqlalchemy as sa

from arena.models import MatchOfSet, MatchSet, Scope
from arena.recorder.match_set_deeds import find_set
from arena.web.api.match_set_shapes import MatchOfSetList, MatchSetDetail, MatchSetList
from arena.web.api.paging import Pages, page
from arena.web.api.specification import operation
from arena.web.lookup import reading

TAG = "games"


@operation("GET /match-sets", MatchSetList, tag=TAG, scope=Scope.ORGANISE)
def list_match_sets(query: Pages) -> MatchSetList:
    """The sets of matches that organisers have chosen to decide about."""
    with reading() as session:
        return page(MatchSetList, session, sa.select(MatchSet), MatchSet.id, query)


@operation("GET /match-sets/<int:number>", MatchSetDetail, tag=TAG, scope=Scope.ORGANISE)
def get_match_set(number: int) -> MatchSetDetail:
    """A set, and what it changes in each competition: found before anything is done."""
    with reading() as session:
        return MatchSetDetail.of_number(session, number)


@operation("GET /match-sets/<int:number>/matches", MatchOfSetList, tag=TAG, scope=Scope.ORGANISE)
def list_matches_of_set(number: int, query: Pages) -> MatchOfSetList:
    """The matches of a set, and what became of each."""
    with reading() as session:
        its = sa.select(MatchOfSet).where(MatchOfSet.set_id == find_set(session, number).id)
        return page(MatchOfSetList, session, its, MatchOfSet.match_id, query)
