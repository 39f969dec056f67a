"""Operations on strength tests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena.competitions.strength_reports import Wanted
from arena.models import StrengthTest, TestVerdict
from arena.web.api.paging import Pages, page
from arena.web.api.results import ExclusionShape, TestList, TestShape
from arena.web.api.shapes import Name, Shape
from arena.web.api.specification import operation
from arena.web.lookup import find_test, reading

TAG = "strength tests"


class TestPages(Pages):
    """Which tests are wanted."""

    verdict: TestVerdict | None = None
    bot: Annotated[Name, Field(description="Of which a version is tested.")] = ""
    creator: Annotated[Name, Field(description="The name of who made it.")] = ""


@operation("GET /tests", TestList, tag=TAG)
def list_tests(query: TestPages) -> TestList:
    """How each stands, or ended; of a verdict, a bot or who made it, if asked."""
    wanted = Wanted(query.verdict, query.bot, query.creator)
    with reading() as session:
        return page(TestList, session, wanted.query, StrengthTest.id, query)


@operation("GET /tests/<int:number>", TestShape, tag=TAG)
def get_test(number: int) -> TestShape:
    """A strength test."""
    with reading() as session:
        return TestShape.looked_up(session, find_test(session, number))


class WorkerOfTest(Shape):
    """Whose games."""

    worker: Annotated[str, Field(max_length=120, description="As the test calls it.")]


@operation("GET /tests/<int:number>/without", ExclusionShape, tag=TAG)
def test_without(number: int, query: WorkerOfTest) -> ExclusionShape:
    """What a strength test says with the games of one of its workers, and what without them."""
    with reading() as session:
        return ExclusionShape.of_worker(session, find_test(session, number), query.worker)
