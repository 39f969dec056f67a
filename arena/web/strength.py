"""The pages of strength tests: the list, a live page for each, and what people do with them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session, joinedload
from werkzeug.wrappers import Response as WsgiResponse
from wtforms import FloatField, HiddenField, SelectChoice, SelectField, StringField
from wtforms.validators import Optional

from arena.bots.sharing import belongs_to
from arena.competitions import presets, strength_tests
from arena.competitions.comparisons import approval_of, may_change, may_test
from arena.competitions.players import handed_in
from arena.competitions.strength_deeds import (
    CloneTest,
    CreateTest,
    ExtendTest,
    PrioritiseTest,
    StopTest,
)
from arena.competitions.strength_estimates import TestEstimate, estimate
from arena.competitions.strength_exclusions import ExcludeWorker, IncludeWorker, exclusion
from arena.competitions.strength_progress import last_game, lost_by_fault, pace, path
from arena.competitions.strength_reports import (
    StrengthReport,
    Wanted,
    listed_tests,
    page_of_tests,
    reports,
)
from arena.deeds import Done
from arena.ground.refusals import Refusal, WrongField
from arena.models import (
    WAITS,
    Bot,
    BotVersion,
    Ladder,
    Scope,
    StrengthTest,
    TestPreset,
    TestVerdict,
    VersionStatus,
)
from arena.strength.block import block_text
from arena.strength.words import pace_words
from arena.web import queries
from arena.web.api.results import told_of_workers
from arena.web.bundle_diff import difference
from arena.web.deeds import REFUSED, DeedForm, add_deed, filled_in, form_of, sent
from arena.web.forms import later
from arena.web.identity import Account, current, settings, signed_in
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import asked_page, find_test, reading
from arena.web.permissions import may_read, needs
from arena.web.presets import unit_field
from arena.web.traces import of_competition
from arena.web.words import sentence
from engine.bot_options import told_label
from engine.translation import N_, gettext, pgettext

strength = Blueprint("strength", __name__)

MOST_DRAWS = 99
"""The most draws, in per cent: with draws alone nothing is ever decided."""


@strength.get("/tests")
def listing() -> str:
    """The tests, those that run first."""
    wanted = _wanted()
    with reading() as session:
        return render_template(
            "strength_tests.html",
            found=page_of_tests(session, wanted, asked_page()),
            wanted=wanted,
            chosen=_words(wanted),
            verdicts=[*map(str, TestVerdict), WAITS],
        )


@strength.get("/tests.json")
def listing_json() -> Response:
    """Answers with all wanted tests as JSON."""
    with reading() as session:
        found = listed_tests(session, _wanted())
        return jsonify([told_of_workers(one).to_json() for one in found])


def _wanted() -> Wanted:
    """Which tests the address asks for; a verdict that there is not is none."""
    verdict, bot, creator = (
        request.args.get(key, "").strip()[:80] for key in ("verdict", "bot", "creator")
    )
    known = TestVerdict(verdict) if verdict in set(TestVerdict) else None
    return Wanted(known, verdict == WAITS, bot, creator)


def _words(wanted: Wanted) -> dict[str, str]:
    """What an address says of which tests are wanted."""
    verdict = WAITS if wanted.waits else str(wanted.verdict or "")
    words = {"verdict": verdict, "bot": wanted.bot, "creator": wanted.creator}
    return {key: value for key, value in words.items() if value}


@strength.get("/tests/<int:number>")
def test(number: int) -> str:
    """A test: how it stands, its versions and their difference."""
    with reading() as session:
        found = _find(session, number)
        versions = (found.candidate.version, found.baseline.version)
        open_to_reader = all(may_read(version.bot) for version in versions)
        return render_template(
            "strength_test.html",
            difference=difference(settings().bundles, *versions) if open_to_reader else None,
            **_shown(session, found),
        )


@strength.get("/tests/<int:number>/live")
@live_part(Whose.OWN)
def live(number: int) -> WsgiResponse:
    """The part of a test's page that renews itself."""
    with reading() as session:
        found = find_test(session, number)

        def make() -> str:
            return render_template("_strength_test.html", **_shown(session, _told(session, found)))

        return part(session, of_competition(found), make)


@strength.get("/tests/<int:number>.json")
def test_json(number: int) -> Response:
    """What a test's page tells, for programs."""
    with reading() as session:
        return jsonify(_find(session, number).to_json())


def _shown(session: Session, found: StrengthReport) -> dict[str, Any]:
    test, standing = found.test, found.standing
    account, now = current(), datetime.now(UTC)
    running = queries.running_matches(session, ladder=test)
    is_over = test.verdict is not TestVerdict.RUNNING
    lately = None if is_over else pace(session, test, now, standing.settings.games_a_match)
    return {
        "path": path(session, test, standing) if test.fixed_games is None else [],
        "pace": lately and pace_words(standing, *lately),
        "running": running,
        "last_game": None if running else last_game(session, test),
        "by_fault": lost_by_fault(session, test) if any(standing.faults) else [],
        "found": found,
        "test": test,
        "block": found.rows,
        "pasted": block_text(found.standing),
        "approval": approval_of(session, test, account.by() if account else None),
        "mine": account is not None and may_change(account.by(), test),
        "extend": ExtendForm(max_games=2 * test.max_games) if account and test.max_games else None,
        "priority": PriorityForm(weight=test.weight) if account else None,
        "decided": (test.withdrawn or test.verdict) in (TestVerdict.PASSED, TestVerdict.FAILED),
        "organises": account is not None and account.by().may(Scope.ORGANISE),
        "out_of_openings": strength_tests.is_out_of_openings(test),
    }


def _find(session: Session, number: int) -> StrengthReport:
    return _told(session, find_test(session, number))


def _told(session: Session, test: StrengthTest) -> StrengthReport:
    """How a test stands, as who asks is told it."""
    return told_of_workers(reports(session, [test])[0])


StrengthForm = form_of(
    CreateTest,
    candidate=SelectField(later(N_("Candidate: is it stronger"))),
    candidate_options=StringField(later(N_("Options of the candidate"))),
    baseline=SelectField(later(N_("than the baseline?"))),
    baseline_options=StringField(later(N_("Options of the baseline"))),
    ladder=SelectField(later(N_("As on the ladder"))),
    preset=SelectField(later(N_("Preset")), default="", validate_choice=False),
    model=unit_field(),
    draws=FloatField(later(N_("Draws between equals, in per cent, for the preview")), [Optional()]),
)
ExtendForm = form_of(ExtendTest)
PriorityForm = form_of(PrioritiseTest)


@strength.route("/tests/new", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def create() -> Any:
    """Begins a test between two versions that one may use."""
    form = StrengthForm()
    with reading() as session:
        usable = usable_versions(session, signed_in())
        ladders = session.scalars(sa.select(Ladder).order_by(Ladder.id)).all()
        known = session.scalars(presets.listed().order_by(TestPreset.name)).all()
    form["candidate"].choices = form["baseline"].choices = [
        SelectChoice(version.written, version.label) for version in usable
    ]
    form["ladder"].choices = [SelectChoice(ladder.name, ladder.title) for ladder in ladders]
    form["preset"].choices = [
        SelectChoice("", pgettext("a preset", "none")),
        *(SelectChoice(one.name, f"{one.name}: {presets.words(one)}") for one in known),
    ]
    if request.method == "POST" and "preview" in request.form:
        return _preview(form)
    if request.method == "POST":
        sides: dict[str, Any] = {
            side: told_label(form[side].data or "", (form[f"{side}_options"].data or "").strip())
            for side in ("candidate", "baseline")
        }
        return sent(CreateTest, form, again=_form, then=_new, **sides)
    if len(usable) > 1:
        # The newest is most often tested against the one before.
        form["baseline"].data = form["baseline"].choices[1].value
    return _form(form, "")


def _form(form: DeedForm, problem: str, expected: TestEstimate | None = None) -> str:
    if problem:
        form["candidate"].errors = [problem]
    return render_template("strength_form.html", form=form, expected=expected)


def _preview(form: DeedForm) -> Any:
    """The form as it was filled in, with what the test would take; nothing is made."""
    problem = ""
    try:
        deed = filled_in(CreateTest, form)
        if deed is not None:
            said = form.said()
            with reading() as session:
                plan = deed.plan(session, signed_in().by())
                return _form(form, "", estimate(session, plan, deed.ladder, draws=_draws(said)))
    except WrongField as error:
        form.blame(error)
    except Refusal as error:
        problem = sentence(error)
    return _form(form, problem), REFUSED


def _draws(said: dict[str, Any]) -> float | None:
    """The share of draws that was filled in, in per cent.

    Raises:
        WrongField: it is none.
    """
    percent = said.get("draws")
    if percent is None:
        return None
    if not 0 <= percent <= MOST_DRAWS:
        raise WrongField("draws", gettext("give a number from 0 to %(most)s", most=MOST_DRAWS))
    return float(percent) / 100


def usable_versions(session: Session, who: Account) -> list[BotVersion]:
    """The checked versions that somebody may test: own ones, open ones, the samples."""
    query = (
        sa.select(BotVersion)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(BotVersion.status == VersionStatus.READY, sa.or_(handed_in(), belongs_to(who.id)))
        .order_by(sa.not_(belongs_to(who.id)), sa.func.lower(Bot.name), BotVersion.number.desc())
        .options(joinedload(BotVersion.bot).joinedload(Bot.owner))
    )
    return [version for version in session.scalars(query) if may_test(who.by(), version)]


def _new(done: Done, **_: Any) -> str:
    return url_for("strength.test", number=done.answer.id)


add_deed(strength, "/tests/<int:number>/stop", StopTest, then=_new)
add_deed(strength, "/tests/<int:number>/extend", ExtendTest, then=_new)
add_deed(strength, "/tests/<int:number>/priority", PrioritiseTest, then=_new)
add_deed(strength, "/tests/<int:number>/clone", CloneTest, then=_new)
add_deed(strength, "/tests/<int:number>/include", IncludeWorker, then=_new)

ExcludeForm = form_of(ExcludeWorker, worker=HiddenField())


@strength.get("/tests/<int:number>/exclude")
@needs(Scope.ORGANISE)
def exclusion_form(number: int) -> str:
    """What a test says with and without the games of a worker, and the form to leave them out."""
    form = ExcludeForm()
    form["worker"].data = request.args.get("worker", "")
    return _exclude(form, "", number)


def _exclude(form: DeedForm, problem: str, number: int) -> str:
    with reading() as session:
        found = _find(session, number)
        change = exclusion(session, found.test, form["worker"].data or "")
        return render_template(
            "strength_exclude.html", form=form, problem=problem, found=found, change=change
        )


add_deed(
    strength,
    "/tests/<int:number>/exclude",
    ExcludeWorker,
    then=_new,
    again=_exclude,
    form=ExcludeForm,
)
