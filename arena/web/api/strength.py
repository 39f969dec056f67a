"""Operations on strength tests."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions.strength_deeds import CreateTest
from arena.competitions.strength_estimates import TestEstimate, estimate
from arena.competitions.strength_plans import MOST_GAMES
from arena.competitions.strength_reports import Wanted, reports
from arena.models import Scope, StrengthTest, TestVerdict
from arena.strength.block import block_markdown, block_text
from arena.strength.outcomes import seatings
from arena.web.api.paging import Pages, page
from arena.web.api.results import ExclusionShape, TestList, TestShape
from arena.web.api.shapes import Name, Shape
from arena.web.api.specification import operation
from arena.web.block_pictures import block_svg
from arena.web.lookup import find_test, reading
from engine.translation import ENGLISH, speaking

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


class Expected(Shape):
    """What is to be expected if the difference is truly so large."""

    elo: float
    passes: float = Field(description="How likely it passes.")
    fails: float
    undecided: float = Field(description="How likely it is not decided at its limit.")
    games: float = Field(description="How many it takes in the mean.")
    hours: float | None = Field(description="Of workers' time; null where that can't be told.")


class EstimateShape(Shape):
    """What a strength test is likely to take, and to say, by the true difference."""

    game: str
    time: str
    terms: dict[str, float | int | bool | str | None]
    games_a_match: int
    draws: float = Field(description="The share of draws between equals that it rests on.")
    game_seconds: float | None = Field(
        description="How long a worker is likely to play a game; null where no ladder has any."
    )
    expected: list[Expected]

    @classmethod
    def told(cls, found: TestEstimate) -> Self:
        """An estimate as it travels."""
        plan = found.plan
        return cls(
            game=str(plan.variant),
            time=plan.time.words,
            terms=plan.terms.to_json(),
            games_a_match=len(seatings(plan.variant)),
            draws=found.draws,
            game_seconds=found.game_seconds,
            expected=[
                Expected(
                    **one.to_json(),
                    undecided=round(one.undecided, 6),
                    hours=found.hours(one.games),
                )
                for one in found.points
            ],
        )


class BlockShape(Shape):
    """A test as people tell of it elsewhere."""

    text: str = Field(description="The block in the lines of OpenBench and fishtest.")
    markdown: str
    svg: str

    @classmethod
    def looked_up(cls, session: Session, row: StrengthTest) -> Self:
        """The block of a test as it stands, in English: it is read elsewhere."""
        with speaking(ENGLISH):
            (found,) = reports(session, [row])
            return cls(
                text=block_text(found.standing),
                markdown=block_markdown(found.standing, found.stands),
                svg=block_svg(found),
            )


@operation("GET /tests/<int:number>/block", BlockShape, tag=TAG)
def get_block(number: int) -> BlockShape:
    """The block of text that tells how a test stands, to be put elsewhere; as a picture, too."""
    with reading() as session:
        return BlockShape.looked_up(session, find_test(session, number))


class TestAsked(Shape):
    """What a test would be asked to be; what is left out is a preset's, or as usual."""

    ladder: Name = ""
    game: Annotated[str, Field(max_length=200)] = ""
    preset: Name = ""
    time: Annotated[str, Field(max_length=20)] = ""
    move: Annotated[int | None, Field(ge=1)] = None
    elo0: Annotated[float | None, Field(ge=-1000, le=1000)] = None
    elo1: Annotated[float | None, Field(ge=-1000, le=1000)] = None
    alpha: float | None = None
    beta: float | None = None
    model: Literal["", "normalized", "logistic"] = ""
    max_games: Annotated[int | None, Field(ge=1, le=MOST_GAMES)] = None
    games: Annotated[int | None, Field(ge=1, le=MOST_GAMES)] = None
    draws: Annotated[
        float | None,
        Field(ge=0, lt=1, description="The share between equals; by default as on the ladder."),
    ] = None

    def estimate(self, session: Session) -> TestEstimate:
        """What is to be expected of such a test.

        Raises:
            Refusal: there is none such.
        """
        said = self.model_dump(exclude={"draws"})
        # Of any two bots: nothing of them is known.
        wanted = CreateTest(candidate="any", baseline="any", **said).wanted(session)
        return estimate(session, wanted, self.ladder, draws=self.draws)


@operation("GET /tests/estimate", EstimateShape, tag=TAG, errors=[404, 409])
def estimate_test(query: TestAsked) -> EstimateShape:
    """What a test would be likely to take, and to say, by the true difference; nothing is made."""
    with reading() as session:
        return EstimateShape.told(query.estimate(session))


@operation("GET /tests/<int:number>", TestShape, tag=TAG)
def get_test(number: int) -> TestShape:
    """A strength test."""
    with reading() as session:
        return TestShape.looked_up(session, find_test(session, number))


class WorkerOfTest(Shape):
    """The worker whose games are asked about."""

    worker: Annotated[str, Field(max_length=120, description="As the test calls it.")]


@operation("GET /tests/<int:number>/without", ExclusionShape, tag=TAG, scope=Scope.ORGANISE)
def test_without(number: int, query: WorkerOfTest) -> ExclusionShape:
    """What a strength test says with the games of one of its workers, and what without them."""
    with reading() as session:
        return ExclusionShape.of_worker(session, find_test(session, number), query.worker)
