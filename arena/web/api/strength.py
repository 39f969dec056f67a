"""Operations on strength tests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena.competitions.strength_reports import Wanted
from arena.models import StrengthTest, TestVerdict
from arena.web.api.paging import Pages, page
from arena.web.api.results import TestList, TestShape
from arena.web.api.shapes import Name
from arena.web.api.specification import operation
from arena.web.lookup import find_test, reading

TAG = "strength tests"


class TestPages(Pages):
    """Which tests are wanted."""

    verdict: TestVerdict | None = None
    waits: Annotated[bool, Field(description="Only those that wait for approval.")] = False
    bot: Annotated[Name, Field(description="Of which a version is tested.")] = ""
    creator: Annotated[Name, Field(description="The name of who made it.")] = ""


@operation("GET /tests", TestList, tag=TAG)
def list_tests(query: TestPages) -> TestList:
    """How each stands, or ended; of a verdict, a bot or who made it, if asked."""
    wanted = Wanted(query.verdict, query.waits, query.bot, query.creator)
    with reading() as session:
        return page(TestList, session, wanted.query, StrengthTest.id, query)


@operation("GET /tests/<int:number>", TestShape, tag=TAG)
def get_test(number: int) -> TestShape:
    """A strength test."""
    with reading() as session:
        return TestShape.looked_up(session, find_test(session, number))
