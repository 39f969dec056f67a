"""The pages of strength tests: the list, a live page for each, and what people do with them."""

from __future__ import annotations

import secrets
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.orm import Session, joinedload
from werkzeug.wrappers import Response as Answer
from wtforms import SelectChoice

from arena.bots.sharing import belongs_to
from arena.competitions import strength_tests
from arena.competitions.strength_plans import StrengthPlan, plan_of
from arena.competitions.strength_reports import StrengthReport, Wanted, last_tests, reports
from arena.competitions.strength_tallies import versions_of
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Ladder,
    Scope,
    StrengthTest,
    TestVerdict,
    VersionStatus,
)
from arena.strength.sequential import StrengthError
from arena.strength.words import result_rows
from arena.web.bundle_diff import difference
from arena.web.forms import ExtendForm, StrengthForm
from arena.web.identity import Account, current, database, may_read, needs, settings, signed_in
from arena.web.lookup import find_test, reading
from arena.web.transactions import changing
from arena.web.words import sentence

strength = Blueprint("strength", __name__)

REFUSED = 422
SEED_BITS = 48
MOST_WEIGHT = 1.0
"""The greatest weight of tests of people who are no organisers."""


@strength.get("/tests")
def listing() -> str:
    """The tests, those that run first."""
    wanted = _wanted()
    with reading() as session:
        return render_template(
            "strength_tests.html",
            tests=last_tests(session, wanted),
            wanted=wanted,
            chosen={key: str(value) for key, value in asdict(wanted).items() if value},
            verdicts=[str(verdict) for verdict in TestVerdict],
        )


@strength.get("/tests.json")
def listing_json() -> Response:
    """The tests as JSON."""
    with reading() as session:
        return jsonify([one.to_json() for one in last_tests(session, _wanted(), count=None)])


def _wanted() -> Wanted:
    """Which tests the address asks for; a verdict that there is not is none."""
    verdict, bot, creator = (
        request.args.get(key, "").strip()[:80] for key in ("verdict", "bot", "creator")
    )
    return Wanted(TestVerdict(verdict) if verdict in set(TestVerdict) else None, bot, creator)


@strength.get("/tests/<int:number>")
def test(number: int) -> str:
    """A test: how it stands, its versions and their difference."""
    with reading() as session:
        found = _find(session, number)
        versions = (found.candidate, found.baseline)
        open_to_reader = all(may_read(version.bot) for version in versions)
        return render_template(
            "strength_test.html",
            difference=difference(settings().bundles, *versions) if open_to_reader else None,
            **_shown(found),
        )


@strength.get("/tests/<int:number>/live")
def live(number: int) -> str:
    """The part of a test's page that renews itself."""
    with reading() as session:
        return render_template("_strength_test.html", **_shown(_find(session, number)))


@strength.get("/tests/<int:number>.json")
def test_json(number: int) -> Response:
    """A test as JSON."""
    with reading() as session:
        return jsonify(_find(session, number).to_json())


def _shown(found: StrengthReport) -> dict[str, Any]:
    test = found.test
    account = current()
    return {
        "found": found,
        "test": test,
        "block": result_rows(found.standing),
        "mine": account is not None and _may_change(account, test),
        "extend": ExtendForm(max_games=2 * test.max_games) if account else None,
        "decided": test.verdict in (TestVerdict.PASSED, TestVerdict.FAILED),
        "out_of_openings": test.reason == strength_tests.OUT_OF_OPENINGS,
    }


def _find(session: Session, number: int) -> StrengthReport:
    return reports(session, [find_test(session, number)])[0]


def _may_change(account: Account, test: StrengthTest) -> bool:
    return account.may(Scope.ORGANISE) or (
        account.may(Scope.SUBMIT) and test.creator_id == account.id
    )


@strength.route("/tests/new", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def create() -> Any:
    """Begins a test between two versions that one may use."""
    form = StrengthForm()
    who = signed_in()
    with reading() as session:
        usable = _usable(session, who)
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
    form.candidate.choices = form.baseline.choices = [
        SelectChoice(str(version.id), version.label) for version in usable
    ]
    form.ladder.choices = [SelectChoice(ladder.name, ladder.title) for ladder in ladders]
    if not form.is_submitted() and len(usable) > 1:
        # The newest is most often tested against the one before.
        form.baseline.data = str(usable[1].id)
    if not form.validate_on_submit():
        return _form(form)
    try:
        with database().begin() as session:
            mine, theirs = (
                session.get_one(BotVersion, int(field.data))
                for field in (form.candidate, form.baseline)
            )
            ladder = session.scalars(sa.select(Ladder).where(Ladder.name == form.ladder.data)).one()
            plan = StrengthPlan.on(
                ladder,
                elo0=form.elo0.data,
                elo1=form.elo1.data,
                max_games=form.max_games.data,
                weight=weight_for(form.weight.data, who),
                allow_faults=form.allow_faults.data,
                note=form.note.data or "",
                seed=secrets.randbits(SEED_BITS),
            )
            made = strength_tests.create(session, plan, mine, theirs, datetime.now(UTC), who.actor)
            number = made.id
    except StrengthError as error:
        form.candidate.errors = [sentence(error)]
        return _form(form)
    return redirect(url_for("strength.test", number=number))


def weight_for(asked: float, who: Account) -> float:
    """The weight that somebody's test gets of what was asked for."""
    return asked if who.may(Scope.ORGANISE) else min(asked, MOST_WEIGHT)


def _form(form: Any) -> tuple[str, int]:
    return render_template("strength_form.html", form=form), REFUSED if form.errors else 200


def _usable(session: Session, who: Account) -> list[BotVersion]:
    """The checked versions that somebody may test: own ones, open ones, the samples."""
    query = (
        sa.select(BotVersion)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(BotVersion.status == VersionStatus.READY)
        .order_by(sa.not_(belongs_to(who.id)), sa.func.lower(Bot.name), BotVersion.number.desc())
        .options(joinedload(BotVersion.bot).joinedload(Bot.owner))
    )
    return [version for version in session.scalars(query) if may_test(who, version)]


def may_test(who: Account, version: BotVersion) -> bool:
    """Whether a checked version is somebody's to test."""
    bot = version.bot
    return who.owns(bot) or bot.open_source or bot.owner.name == HOUSE or who.may(Scope.ORGANISE)


def changed(session: Session, number: int) -> StrengthTest:
    """The test of this number, if who asks may change it."""
    test = find_test(session, number)
    if not _may_change(signed_in(), test):
        abort(403, "This test is not yours.")
    return test


@strength.post("/tests/<int:number>/stop")
@needs(Scope.SUBMIT)
def stop(number: int) -> Answer:
    """Ends a test of one's own."""
    with changing(StrengthError) as session:
        test = changed(session, number)
        strength_tests.stop(session, test, datetime.now(UTC), signed_in().actor)
    flash("The test is stopped; matches under way are still counted.")
    return redirect(url_for("strength.test", number=number))


@strength.post("/tests/<int:number>/extend")
@needs(Scope.SUBMIT)
def extend(number: int) -> Answer:
    """Lets a test of one's own have more games."""
    form = ExtendForm()
    if not form.validate():
        abort(422, "How many games in all? Give a whole number.")
    with changing(StrengthError) as session:
        test = changed(session, number)
        now, by = datetime.now(UTC), signed_in().actor
        strength_tests.extend(session, test, form.max_games.data, now, by)
    flash(f"The test goes on, to {form.max_games.data} games at most.")
    return redirect(url_for("strength.test", number=number))


@strength.post("/tests/<int:number>/clone")
@needs(Scope.SUBMIT)
def clone(number: int) -> Answer:
    """Makes the same test again, for somebody who may use its versions."""
    who = signed_in()
    with changing(StrengthError) as session:
        number = cloned(session, find_test(session, number), who).id
    return redirect(url_for("strength.test", number=number))


def cloned(session: Session, test: StrengthTest, who: Account) -> StrengthTest:
    """The same test again, made for somebody who may use its versions.

    Raises:
        StrengthError: as for `strength_tests.create`.
    """
    mine, theirs = versions_of(session, [test])[test.id]
    if not (may_test(who, mine) and may_test(who, theirs)):
        abort(403, "These bots are not for you to test.")
    plan = plan_of(test)
    plan = replace(plan, seed=secrets.randbits(SEED_BITS), weight=weight_for(plan.weight, who))
    return strength_tests.create(session, plan, mine, theirs, datetime.now(UTC), who.actor)
