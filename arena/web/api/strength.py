"""Operations on strength tests."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated

from flask import abort
from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions import strength_tests
from arena.competitions.strength_plans import MAX_GAMES, MOST_GAMES, MOST_WEIGHT, StrengthPlan
from arena.competitions.strength_reports import Wanted, reports
from arena.competitions.tournaments import TournamentError, named_versions
from arena.models import BotVersion, Scope, StrengthTest, TestVerdict
from arena.strength.sequential import StrengthError
from arena.web import strength
from arena.web.api.paging import Pages, page
from arena.web.api.results import TestList, TestShape
from arena.web.api.shapes import BotVersionName, Line, Name, Shape
from arena.web.api.specification import operation
from arena.web.identity import signed_in
from arena.web.lookup import find_ladder, find_test, reading
from arena.web.transactions import changing

TAG = "strength tests"
Games = Annotated[int, Field(ge=1, le=MOST_GAMES)]
Elo = Annotated[float, Field(ge=-1000, le=1000)]


class NewTest(Shape):
    """A strength test to be made, by the rules of a ladder."""

    candidate: BotVersionName
    baseline: BotVersionName
    ladder: Name
    elo0: Elo = 0.0
    elo1: Elo = 10.0
    max_games: Games = MAX_GAMES
    weight: Annotated[
        float, Field(gt=0, le=MOST_WEIGHT, description="1 at most unless one organises.")
    ] = 1.0
    allow_faults: Annotated[
        bool, Field(description="Decides although faults ended many of the games.")
    ] = False
    note: Line = ""


class Extension(Shape):
    """How many games a test may have in all."""

    max_games: Games


class TestPages(Pages):
    """Which tests are wanted."""

    verdict: TestVerdict | None = None
    bot: Annotated[Name, Field(description="Of which a version is tested.")] = ""
    creator: Annotated[Name, Field(description="The name of who made it.")] = ""


@operation(TestList, tag=TAG)
def list_tests(query: TestPages) -> TestList:
    """The strength tests."""
    wanted = Wanted(query.verdict, query.bot, query.creator)
    with reading() as session:
        found, following = page(session, wanted.query, StrengthTest.id, query)
        items = [TestShape.model_validate(one.to_json()) for one in reports(session, found)]
        return TestList(items=items, next=following)


@operation(TestShape, tag=TAG)
def get_test(number: int) -> TestShape:
    """A strength test."""
    with reading() as session:
        return _shape(session, find_test(session, number))


def _shape(session: Session, test: StrengthTest) -> TestShape:
    return TestShape.model_validate(reports(session, [test])[0].to_json())


@operation(TestShape, tag=TAG, status=201, scope=Scope.SUBMIT, errors=[404, 409])
def create_test(json: NewTest) -> tuple[TestShape, int]:
    """Begins a test between two versions that one may use."""
    who = signed_in()
    with changing(StrengthError, TournamentError) as session:
        candidate, baseline = (_usable(session, name) for name in (json.candidate, json.baseline))
        plan = StrengthPlan.on(
            find_ladder(session, json.ladder),
            elo0=json.elo0,
            elo1=json.elo1,
            max_games=json.max_games,
            weight=strength.weight_for(json.weight, who),
            allow_faults=json.allow_faults,
            note=json.note,
            seed=secrets.randbits(strength.SEED_BITS),
        )
        now = datetime.now(UTC)
        made = strength_tests.create(session, plan, candidate, baseline, now, who.actor)
        session.flush()
        return _shape(session, made), 201


def _usable(session: Session, name: str) -> BotVersion:
    """The version of a name, if it is the asker's to test.

    Raises:
        TournamentError: there is none that is ready.
    """
    (version,) = named_versions(session, [name])
    if not strength.may_test(signed_in(), version):
        abort(403, f"The bot {version.bot.name} is not for you to test.")
    return version


@operation(TestShape, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def stop_test(number: int) -> TestShape:
    """Ends a test of one's own undecided."""
    with changing(StrengthError) as session:
        test = strength.changed(session, number)
        strength_tests.stop(session, test, datetime.now(UTC), signed_in().actor)
        return _shape(session, test)


@operation(TestShape, tag=TAG, scope=Scope.SUBMIT, errors=[409])
def extend_test(number: int, json: Extension) -> TestShape:
    """Lets a test of one's own have so many games in all, and go on."""
    with changing(StrengthError) as session:
        test, now = strength.changed(session, number), datetime.now(UTC)
        strength_tests.extend(session, test, json.max_games, now, signed_in().actor)
        return _shape(session, test)


@operation(TestShape, tag=TAG, status=201, scope=Scope.SUBMIT, errors=[409])
def clone_test(number: int) -> tuple[TestShape, int]:
    """Makes the same test again, with openings of its own."""
    with changing(StrengthError) as session:
        made = strength.cloned(session, find_test(session, number), signed_in())
        session.flush()
        return _shape(session, made), 201


ROUTES = (
    ("GET", "/tests", list_tests),
    ("POST", "/tests", create_test),
    ("GET", "/tests/<int:number>", get_test),
    ("POST", "/tests/<int:number>/stop", stop_test),
    ("POST", "/tests/<int:number>/extend", extend_test),
    ("POST", "/tests/<int:number>/clone", clone_test),
)
