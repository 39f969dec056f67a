"""Submitting a bot and watching its check, and what the owner of a bot does with it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    redirect,
    render_template,
    request,
    send_file,
    url_for,
)
from sqlalchemy.orm import Session, joinedload
from werkzeug.exceptions import HTTPException
from wtforms import SelectChoice

from arena.bots import entries, ladder_quotas, quota, stored_files, teams
from arena.bots.bot_deeds import (
    CancelCheck,
    ChangeBot,
    EnterBot,
    RetireBot,
    ShareBot,
    UnshareBot,
    WithdrawBot,
)
from arena.bots.submissions import demand_admission
from arena.bots.team_deeds import GiveBot
from arena.competitions.dates import demand_in_time
from arena.competitions.masks import entered_as
from arena.competitions.strength_plans import SITE_TERMS
from arena.deeds import Done
from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    LargeFile,
    Scope,
    User,
)
from arena.operation import retention
from arena.schedule import idle, waits
from arena.schedule.builds import waits_for_builds
from arena.schedule.presence import whereabouts
from arena.web import queries, uploads
from arena.web.deeds import REFUSED, add_deed
from arena.web.downloads import Download
from arena.web.forms import SubmitForm
from arena.web.game_logs import SeatLog
from arena.web.identity import began, keep_to_itself, settings, signed_in
from arena.web.lookup import find_bot, find_game, find_ladder, reading
from arena.web.permissions import may_read, needs, refuse_reading
from arena.web.words import sentence
from engine.games import GAMES
from engine.protocol import visible
from engine.translation import gettext, translated

submissions = Blueprint("submissions", __name__)
TAR = "application/x-tar"


@submissions.route("/submit", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def submit() -> Any:
    """Takes a bot in, to be checked for a ladder and entered there."""
    form = SubmitForm()
    with reading() as session:
        ladders = entries.ladders_taking_bots(session, began())
        own = [one.name for one in teams.teams_of(session, signed_in().id)]
    form.ladder.choices = _by_game(ladders)
    of_teams = [(one, gettext("the team %(team)s's", team=one)) for one in own]
    form.team.choices = [("", gettext("mine, or whose it was")), *of_teams]
    if request.method == "GET":
        form.name.data = request.args.get("bot", "")
        form.ladder.data = request.args.get("ladder", "")
        form.team.data = request.args.get("team", "")
    if not form.is_submitted():
        return _form(form, ladders)
    form.validate()
    ladder = next((ladder for ladder in ladders if ladder.name == form.ladder.data), None)
    taken = None
    if ladder is None:
        form.ladder.errors = [_why_not(form.ladder.data)]
    else:
        try:
            taken = uploads.take_files([form.file.data, *(form.folder.data or ())], ladder)
        except Refusal as error:
            form.file.errors = [sentence(error)]
    if ladder is None or taken is None or form.errors:
        return _form(form, ladders)
    name = form.name.data or taken.name
    form.name.data = name
    test_first = SITE_TERMS if form.test_first.data else None
    try:
        number = uploads.store(
            name, taken, ladder, form.note.data, test_first=test_first, team=form.team.data or ""
        )
    except Refusal as error:
        form.name.errors = [sentence(error)]
        return _form(form, ladders)
    return redirect(url_for("submissions.check", number=number))


def _why_not(name: str | None) -> str:
    """Why a ladder is none of those to choose from, in a sentence."""
    try:
        with reading() as session:
            found = find_ladder(session, name or "")
            demand_admission(found, at_home=False)
            demand_in_time(session, found, began())
    except Refusal as error:
        return sentence(error)
    except HTTPException:
        pass  # there is no such one
    return gettext("Choose one of these ladders.")


def _form(form: Any, ladders: list[Ladder]) -> tuple[str, int]:
    now = datetime.now(UTC)
    with reading() as session:
        quotas = [
            (ladder, ladder_quotas.quotas_of(session, ladder, signed_in().id, now))
            for ladder in ladders
            if ladder_quotas.has_any(ladder)
        ]
        user = session.get_one(User, signed_in().id)
        own, most = quota.bots_here(session, user.id), settings().bots_a_person
    page = render_template(
        "submit.html",
        form=form,
        quotas=quotas,
        own_bots=own,
        most_bots=quota.most_bots(user, most),
        intake=uploads.intake(),
        suggested=suggested_name(signed_in().name),
        most_files=uploads.FOLDER_FILES,
        granted={ladder.name: ladder.bundle_bytes for ladder in ladders},
    )
    return page, REFUSED if form.errors else 200


NOT_FIRST = re.compile(r"[^A-Za-z0-9_-]|^[^A-Za-z]+")


def suggested_name(owner: str) -> str:
    """What somebody's first bot may be called, who has not thought of a name."""
    return f"{NOT_FIRST.sub('', owner)[:36] or 'my'}-bot"


def _by_game(ladders: list[Ladder]) -> dict[str, list[SelectChoice]]:
    """Ladders as the choices of a field, under the titles of their games."""
    found: dict[str, list[SelectChoice]] = {}
    for ladder in ladders:
        title = translated(GAMES[ladder.game].title) if ladder.game in GAMES else ladder.game
        found.setdefault(title, []).append(SelectChoice(ladder.name, ladder.title))
    return found


@submissions.get("/checks/<int:number>")
@needs(Scope.SUBMIT)
def check(number: int) -> str:
    """A check of one's own bot: what is found, as it is found."""
    with reading() as session:
        return render_template("check.html", **shown(session, number))


@submissions.get("/checks/<int:number>/live")
@needs(Scope.SUBMIT)
def check_live(number: int) -> str:
    """The part of a check's page that renews itself."""
    with reading() as session:
        return render_template("_check.html", **shown(session, number))


def find_check(session: Session, number: int) -> Check:
    """The check of this number, if it is of the asker's own bot."""
    query = sa.select(Check).where(Check.id == number)
    version = joinedload(Check.version).joinedload(BotVersion.bot)
    found = session.scalar(query.options(version, joinedload(Check.ladder)))
    if found is None or not signed_in().owns(found.version.bot):
        abort(404, gettext("There is no check %(number)s of a bot of yours.", number=number))
    return found


def shown(session: Session, number: int) -> dict[str, Any]:
    """What a check's page shows of it."""
    found = find_check(session, number)
    version = found.version
    now = datetime.now(UTC)
    told: dict[str, Any] = {"check": found, "passed": found.passed}
    if found.status is JobStatus.FIXED:
        its = entered_as(session, found.ladder, version)
        there = (Entrant.version_id == its.id, Entrant.competition_id == found.ladder_id)
        told["entrant"] = session.scalar(sa.select(Entrant).where(*there))
    if found.passed:
        told |= {
            "tests": queries.tests_waited_for(session, version.bot).get(version.number, []),
            "fitting": entries.fitting(session, version),
            "fate": entries.fates(session, [found])[number],
        }
        entrant = told["entrant"]
        if entrant is not None and entrant.state is EntrantState.ACTIVE and not entrant.games:
            _, told["idle"] = queries.happening(session, found.ladder, settings(), now)
    told["waits"] = why_check_waits(session, found)
    if found.status is JobStatus.OPEN and not told["waits"]:
        told["queue"] = waits.of_check(session, found)
    return told | {"workers": queries.living_workers(session, now)}


def why_check_waits(session: Session, check: Check) -> str:
    """Why no worker is given a check that waits, in words; empty if the next one is."""
    seconds, owner = settings().build_seconds_an_hour, check.version.bot.owner
    if check.status is not JobStatus.OPEN:
        return ""
    at_home = whereabouts(session, check.version, datetime.now(UTC))
    if at_home is not None:
        if at_home.connected:
            return ""
        return gettext("it is checked while it is connected: arena connect")
    if waits_for_builds(session, owner, seconds, datetime.now(UTC)):
        return gettext(
            "bots of this owner were built for more than %(minutes)s minutes within the last hour; "
            "it is checked when those builds are an hour old",
            minutes=f"{seconds / 60:g}",
        )
    words = idle.why_it_waits(session, check, settings(), datetime.now(UTC)) or ""
    return words[:1].lower() + words[1:].rstrip(".")


def own_bot(session: Session, name: str) -> Bot:
    """The bot of this name, if it is the asker's own."""
    bot = find_bot(session, name)
    if not signed_in().owns(bot):
        abort(403, gettext("The bot %(name)s is not yours.", name=name))
    return bot


def _version(session: Session, bot: Bot, number: int) -> BotVersion:
    """A version of a bot by its number."""
    query = sa.select(BotVersion).where(queries.versions_to_see(bot), BotVersion.number == number)
    found = session.scalar(query.options(joinedload(BotVersion.bot)))
    return found or abort(
        404, gettext("The bot %(name)s has no version %(number)s.", name=bot.name, number=number)
    )


def _entered(done: Done, name: str) -> str:
    """The check that it takes, or the bot."""
    if done.answer.check is not None:
        return url_for("submissions.check", number=done.answer.check.id)
    return url_for("bots.bot", name=name, ladder=request.form["ladder"])


def _retired(done: Done, name: str) -> str:
    return url_for("bots.bot", name=name, ladder=done.answer.competition.name)


def _bot(_: Done, name: str) -> str:
    return url_for("bots.bot", name=name)


def _cancelled(_: Done, number: int) -> str:
    return url_for("submissions.check", number=number)


add_deed(submissions, "/checks/<int:number>/cancel", CancelCheck, then=_cancelled)
add_deed(submissions, "/bots/<name>/enter", EnterBot, then=_entered)
add_deed(submissions, "/bots/<name>/retire", RetireBot, then=_retired)
add_deed(submissions, "/bots/<name>/withdraw", WithdrawBot, then=_bot)
add_deed(submissions, "/bots/<name>/settings", ChangeBot, then=_bot)
add_deed(submissions, "/bots/<name>/share", ShareBot, then=_bot)
add_deed(submissions, "/bots/<name>/give", GiveBot, then=_bot)
add_deed(submissions, "/bots/<name>/unshare", UnshareBot, then=_bot)


@submissions.get("/bots/<name>/versions/<int:number>.tar")
def download(name: str, number: int) -> Response:
    """A version's files, for its owner; for everybody if they were opened."""
    with reading() as session:
        bot = find_bot(session, name)
        _must_read(bot, gettext("The code of %(bot)s is its owner's alone.", bot=name))
        version = _version(session, bot, number)
        has_large = session.scalar(sa.select(sa.exists().where(LargeFile.bundle == version.digest)))
    store, name = settings().bundles, f"{bot.name}-v{version.number}.tar"
    try:
        if has_large:
            parts, size = stored_files.whole_tar(store, version.digest)
            answer = Response(Download(parts), mimetype=TAR)
            answer.content_length = size
            answer.headers.set("Content-Disposition", "attachment", filename=name)
        else:
            answer = send_file(
                store / version.digest,
                mimetype=TAR,
                as_attachment=True,
                download_name=name,
                conditional=False,
            )
    except (FileNotFoundError, IsADirectoryError):  # one at home has none
        abort(
            404,
            gettext("The files of %(label)s are not stored on this server.", label=version.label),
        )
    return keep_to_itself(answer)


@submissions.get("/games/<int:number>/logs/<int:seat>")
def log(number: int, seat: int) -> Response:
    """What a seat's bot wrote during a game, and the lines exchanged with it, for its owner; seats
    are counted from 1. ``?ply=`` for what belongs to the position after so many plies.
    """
    with reading() as session:
        found, record = find_game(session, number)
        its = next((one for one in found.seats if one.seat == seat - 1), None)
        if its is None:
            abort(
                404,
                gettext(
                    "There is no game %(number)s with a seat %(seat)s.", number=number, seat=seat
                ),
            )
        bot = its.entrant.version.bot
        _must_read(bot, gettext("The logs of %(bot)s are its owner's alone.", bot=bot.name))
        text = its.log
    if not text:
        begin = retention.logs_begin(settings(), datetime.now(UTC))
        text = gettext("The bot wrote nothing.") + "\n"
        if begin and found.finished < begin:
            days = f"{settings().log_days:g}"
            text = gettext("Logs are kept for %(days)s days.", days=days) + "\n"
    elif (ply := request.args.get("ply", type=int)) is not None:
        its_log = SeatLog(text, record, seat - 1)
        text = its_log.text_at(ply) or gettext("The bot wrote nothing at this ply.") + "\n"
    answer = Response(visible(text), mimetype="text/plain")
    return keep_to_itself(answer)


def _must_read(bot: Bot, words: str) -> None:
    """Refuses who may not read a bot's code and logs."""
    if not may_read(bot):
        refuse_reading(bot, words)
