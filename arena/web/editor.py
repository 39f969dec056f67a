"""Writing a bot in the browser: a starter, or a version of one's own, tried and then handed in.

What is tried is handed in like any other version, but for that it enters nothing
(`arena.bots.submissions`): its check is a check, and its games are unrated matches. So nothing
here runs a program, and the arena keeps every version that was tried.
"""

from __future__ import annotations

import io
import secrets
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask import session as browser
from sqlalchemy.orm import Session, joinedload
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from arena.bots import entries
from arena.bots.bot_deeds import EnterBot
from arena.bots.intake import FirstFiles, TakenIn
from arena.bots.submissions import tried_lately
from arena.ground.bot_names import Named
from arena.ground.refusals import Refusal
from arena.models import Bot, BotVersion, Check, Entrant, JobStatus, Ladder, Match, Place, Scope
from arena.schedule.requests import RequestUnratedMatch, asked_lately
from arena.web import submissions, uploads
from arena.web.deeds import REFUSED, do, tell
from arena.web.games import standing
from arena.web.identity import settings, signed_in
from arena.web.lookup import find_ladder, find_match, reading
from arena.web.permissions import needs
from arena.web.words import sentence
from engine.shelf import Missing
from engine.translation import N_, gettext

editor = Blueprint("editor", __name__)

PLAYS = "editor plays"
"""The key in the session that has the bot and the version that are to be played as soon as the
check is passed."""
TOO_LARGE = N_(
    "The files of %(label)s are too many for the editor, or no texts: change them at home, and "
    "upload them."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is in the editor."""

    name: str
    """What the bot is called, or is to be."""
    ladder: str
    files: Mapping[str, str]
    """Their texts, by their paths."""
    version: int | None = None
    """The number of the version that they are, if they are one."""
    typed: bool = False
    """Whether they come from a form, and are kept nowhere yet."""


@editor.get("/starter.zip")
def starter_file() -> Response:
    """A bot to begin with as an archive, as `arena new` writes it: ``?ladder=``, ``?language=``
    and ``?name=`` say which.
    """
    name, _, starter = _asked_starter()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in {**starter.program, **starter.beside}.items():
            # The same bytes whenever it is asked for.
            archive.writestr(zipfile.ZipInfo(f"{name}/{path}"), text)
    answer = Response(buffer.getvalue(), mimetype="application/zip")
    answer.headers.set("Content-Disposition", "attachment", filename=f"{name}.zip")
    return answer


def _asked_starter() -> tuple[str, Ladder, FirstFiles]:
    """The starter that an address asks for, for which ladder, and what it is called.

    Raises:
        Refusal: it can't be called so.
    """
    language, intake = request.args.get("language", "python"), uploads.intake()
    if language not in intake.languages:
        abort(404, gettext("There is no starter in %(language)s.", language=language[:40]))
    with reading() as session:
        ladder = find_ladder(session, request.args.get("ladder", ""))
    if isinstance(ladder.variant, Missing):
        abort(404, ladder.variant.reason)
    name = request.args.get("name", "").strip()
    return name, ladder, intake.starter(name, language, ladder.variant)


@editor.get("/editor")
@needs(Scope.SUBMIT)
def edit() -> Any:
    """A starter, as for `starter_file`; or a bot of one's own, ``?bot=``, with the check of its
    newest version, or of a ``?version=``, for a ``?ladder=``.
    """
    if "bot" not in request.args:
        name, ladder, starter = _asked_starter()
        return _page(Draft(name, ladder.name, starter.program))
    with reading() as session:
        version = _asked_version(session)
        checks = sa.select(Check).where(Check.version_id == version.id)
        last = session.scalar(checks.order_by(Check.id.desc()).options(joinedload(Check.ladder)))
        known = request.args.get("ladder") or (last.ladder.name if last else "")
        ladder = find_ladder(session, known)
        label, name = version.label, version.bot.name
    try:
        files = uploads.intake().texts(version.digest)
    except OSError:
        abort(404, gettext("The files of %(label)s are not stored on this server.", label=label))
    if files is None:
        abort(409, gettext(TOO_LARGE, label=label))
    return _page(Draft(name, ladder.name, files, version.number))


def _asked_version(session: Session) -> BotVersion:
    bot = submissions.own_bot(session, request.args["bot"])
    query = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
    if number := request.args.get("version", type=int):
        query = query.where(BotVersion.number == number)
    query = query.options(joinedload(BotVersion.bot)).order_by(BotVersion.number.desc())
    found = session.scalar(query.limit(1))
    return found or abort(404, gettext("The bot %(name)s has no such version.", name=bot.name))


@editor.post("/editor")
@needs(Scope.SUBMIT)
def change() -> Any:
    """Tries what is in the editor, and plays it or hands it in, if that is asked for."""
    said = request.form
    paths, texts = said.getlist("path"), said.getlist("text")
    # Browsers send every line's end as two characters.
    files = {path: text.replace("\r\n", "\n") for path, text in zip(paths, texts, strict=False)}
    name, action = said.get("name", "").strip(), said.get("action", "check")
    with reading() as session:
        ladder = find_ladder(session, said.get("ladder", ""))
    draft = Draft(name, ladder.name, files, typed=True)
    try:
        taken = _taken(draft, ladder)
        if action == "enter":
            return _hand_in(draft, ladder, taken)
        check = uploads.store(draft.name, taken, ladder, None, test_first=None, enters=False)
        with reading() as session:
            number = submissions.find_check(session, check).version.number
        if action == "play":
            return _play(draft, number)
    except Refusal as error:
        return _page(draft, sentence(error)), REFUSED
    return redirect(_address(draft, number))


def _address(draft: Draft, number: int, **more: Any) -> str:
    """The address of the editor with a version in it."""
    at: dict[str, Any] = {"bot": draft.name, "version": number, "ladder": draft.ladder}
    return url_for("editor.edit", **at, **more)


def _taken(draft: Draft, ladder: Ladder) -> TakenIn:
    """The files of a draft as a bot's, stored.

    Raises:
        Refusal: they are no bot.
    """
    sent = [
        FileStorage(io.BytesIO(text.encode()), filename=f"{draft.name or 'bot'}/{path}")
        for path, text in draft.files.items()
    ]
    return uploads.take_files(sent, ladder)


def _play(draft: Draft, number: int) -> Response:
    """Asks for a match of a version against the easiest others, once it has passed its check."""
    with reading() as session:
        ladder = find_ladder(session, draft.ladder)
        check = _check_of(session, draft.name, number, ladder)
        rivals = entries.easiest(session, ladder, but=draft.name)
    if check is not None and check.passed:
        browser.pop(PLAYS, None)
        key = request.form.get("form", "")[:64]
        done = do(
            RequestUnratedMatch(ladder.name, (str(Named(draft.name, number)), *rivals), key=key)
        )
        flash(sentence(done.said))
        return redirect(_address(draft, number, _anchor="game"))
    # Not in the address: whoever follows a link has asked for nothing.
    browser[PLAYS] = [draft.name, number]
    return redirect(_address(draft, number))


def _hand_in(draft: Draft, ladder: Ladder, taken: TakenIn) -> Response:
    """Enters what was tried, as it is known; all else is handed in as by any other form."""
    bot = sa.select(Bot.id).where(Bot.named(draft.name))
    tried = sa.select(BotVersion.number).where(
        BotVersion.bot_id.in_(bot),
        BotVersion.digest == taken.digest,
        BotVersion.id.in_(sa.select(Check.version_id).where(Check.ladder_id == ladder.id)),
    )
    with reading() as session:
        number = session.scalar(tried.order_by(BotVersion.number.desc()).limit(1))
    if number is None:
        check = uploads.store(draft.name, taken, ladder, None, test_first=None)
        return redirect(url_for("submissions.check", number=check))
    done = do(EnterBot(draft.name, draft.ladder, number))
    tell(done)
    if done.answer.check is not None:
        return redirect(url_for("submissions.check", number=done.answer.check.id))
    return redirect(url_for("bots.bot", name=draft.name, ladder=draft.ladder))


def _check_of(session: Session, name: str, number: int, ladder: Ladder) -> Check | None:
    """The last check of a version for a ladder; None if there is none."""
    bot = submissions.own_bot(session, name)
    query = sa.select(Check).join(Check.version).where(Check.ladder_id == ladder.id)
    query = query.where(BotVersion.bot_id == bot.id, BotVersion.number == number)
    return session.scalar(query.order_by(Check.id.desc()).limit(1))


def _page(draft: Draft, problem: str = "") -> str:
    who, now = signed_in(), datetime.now(UTC)
    with reading() as session:
        ladder = find_ladder(session, draft.ladder)
        shown: dict[str, Any] = {}
        check = match = None
        if draft.version is not None:
            check = _check_of(session, draft.name, draft.version, ladder)
        if check is not None:
            shown = submissions.shown(session, check.id) | {"fitting": []}
            match = _last_match(session, check.version, who.id)
        # They are counted to the bot's owner, whoever tries it.
        owner = sa.select(Bot.person_id).where(Bot.named(draft.name))
        payer = session.scalar(owner) or who.id
        tries, matches = settings().tries_a_day, settings().requests_a_day
        return render_template(
            "editor.html",
            draft=draft,
            ladder=ladder,
            problem=problem,
            rivals=entries.easiest(session, ladder, but=draft.name),
            tries_left=max(tries - tried_lately(session, payer, now), 0),
            tries=tries,
            matches_left=max(matches - asked_lately(session, who.id, now), 0),
            matches=matches,
            form=secrets.token_hex(16),
            match=match,
            play=browser.get(PLAYS) == [draft.name, draft.version] and match is None,
            game=standing(session, match) if match else {},
            **shown,
        )


def _last_match(session: Session, version: BotVersion, requester_id: int) -> Match | None:
    """The match that somebody asked for last with a version, or with a mask of it."""
    there = sa.select(BotVersion.id)
    there = there.where(sa.or_(BotVersion.id == version.id, BotVersion.masks_id == version.id))
    its = sa.select(Place.match_id).join(Place.entrant).where(Entrant.version_id.in_(there))
    query = sa.select(Match.id).where(
        Match.requester_id == requester_id,
        Match.id.in_(its),
        Match.status != JobStatus.VOID,
    )
    number = session.scalar(query.order_by(Match.id.desc()).limit(1))
    return None if number is None else find_match(session, number)
