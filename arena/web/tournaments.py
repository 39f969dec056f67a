"""The pages of tournaments and their forms: one is made, its field is changed, it is called off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session, joinedload, selectinload
from werkzeug.wrappers import Response as WsgiResponse
from wtforms import (
    BooleanField,
    Field,
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    TextAreaField,
)
from wtforms.validators import InputRequired, Optional

from arena.bots.sharing import belongs_to
from arena.competitions import sign_ups
from arena.competitions.dates import dates_of
from arena.competitions.fields import entrants_of
from arena.competitions.results import Results, flat_rows, results, rows
from arena.competitions.sign_up_deeds import CheckInBot, SignOffBot, SignUpBot
from arena.competitions.tournament_deeds import (
    CallOffTournament,
    ChangeTournament,
    CreateTournament,
    EnterTournament,
    WithdrawFromTournament,
    may_withdraw,
)
from arena.competitions.tournament_fields import has_begun
from arena.competitions.tournament_forecasts import TournamentForecast, of_rest
from arena.competitions.tournaments import Tournaments
from arena.deeds import Done
from arena.formats.catalogue import FORMATS, settings_of_all
from arena.formats.score import Score
from arena.formats.settings import FormatSetting
from arena.ground import bot_names
from arena.ground.db import database_time
from arena.ground.refusals import Refusal, WrongField
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    LadderRound,
    PlayedGame,
    Scope,
    Tournament,
)
from arena.web import exports, leaderboards, queries
from arena.web.competitions import list_page
from arena.web.dates import given_dates
from arena.web.deeds import REFUSED, DeedForm, add_deed, filled_in, form_of, sent
from arena.web.forms import WholeNumber, later
from arena.web.games import live_game
from arena.web.identity import current, settings, signed_in
from arena.web.leaderboards import View
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import find_ladder, find_tournament, reading
from arena.web.permissions import needs
from arena.web.traces import Looked, Trace, of_competition
from arena.web.validators import answer_if_known
from arena.web.words import sentence
from engine.translation import N_, gettext, translated

tournaments = Blueprint("tournaments", __name__)

NO_COLUMNS = ("place", "bot", "version")
"""The columns of the standings of a tournament that nobody plays in yet."""
MOST_OWN = 100
"""So many of the asker's own bots are told whether they could sign up."""
PODIUM = 3
"""Who came so far stands on it, once a tournament is over."""
BOARDS = 3
"""So many of the running matches are shown with their boards."""
SHOWN_CELLS = 64
"""A crosstable of more bots is in the JSON alone: no page could show it."""


@tournaments.get("/tournaments")
def listing() -> str:
    """All tournaments but rounds, or the rounds of a ladder: ``?round_of=blitz``; the last made
    first."""
    with reading() as session:
        title, ladder_id = gettext("Tournaments"), None
        if name := request.args.get("round_of"):
            ladder = find_ladder(session, name)
            title, ladder_id = gettext("Rounds of %(ladder)s", ladder=ladder.title), ladder.id
        wanted = sa.select(Tournament).where(LadderRound.lists(ladder_id))
        return list_page(session, title, wanted, _format_of, "round_of")


def _format_of(tournament: Tournament) -> str:
    return translated(FORMATS[tournament.format].title)


@tournaments.get("/tournaments/<name>")
def tournament(name: str) -> str:
    """A tournament: who signed up; or standings, crosstable, rounds, bracket."""
    return _page(name, "")


@tournaments.get("/tournaments/<name>/live")
@live_part(Whose.ALL)
def live(name: str) -> WsgiResponse:
    """The part of that page that changes while games are played."""
    with reading() as session:
        found = find_tournament(session, name)

        def make() -> str:
            return render_template("_tournament.html", **_stands(session, results(session, found)))

        return part(session, Trace(Looked.PLIES, found.id), make)


def _page(name: str, problem: str) -> str:
    with reading() as session:
        found = results(session, find_tournament(session, name))
        return render_template(
            "tournament.html",
            owned=_owns_any(found),
            dates=dates_of(session, found.tournament),
            signing=_signing(session, found.tournament),
            problem=problem,
            **_stands(session, found),
        )


def _stands(session: Session, found: Results) -> dict[str, Any]:
    """What the live part of a tournament's page tells."""
    now = datetime.now(UTC)
    running, quiet = queries.happening(session, found.tournament, settings(), now)
    seen = [(match, live_game(match)) for match in running[:BOARDS]]
    boards = [(match, live) for match, live in seen if live]
    return {
        "tournament": found.tournament,
        "found": found,
        "kind": FORMATS[found.tournament.format],
        "running": [match for match in running if match not in dict(boards)],
        "quiet": quiet,
        "aside": found.set_aside,
        "podium": [line for line in found.standings if line.place and line.place <= PODIUM]
        if found.tournament.finished
        else [],
        "played": found.count(JobStatus.FIXED),
        "rest": of_rest(session, found, now),
        "boards": boards,
        "SHOWN_CELLS": SHOWN_CELLS,
    }


def _signing(session: Session, tournament: Tournament) -> dict[str, Any] | None:
    """Who signed up, by what conditions, and which of the asker's own bots could; None where nobody
    signs up."""
    if tournament.sign_up is None:
        return None
    now, who = database_time(session), current()
    conditions, until = sign_ups.conditions_of(tournament), sign_ups.closes(session, tournament)
    places = sign_ups.places_of(session, tournament, now)
    opens = sign_ups.check_in_opens(conditions, until)
    told = {
        "conditions": conditions,
        "ladder": tournament.ladder_id and session.get(Ladder, tournament.ladder_id),
        "places": places,
        "left": max(0, conditions.places - len(places)),
        "is_open": tournament.signing_up and (until is None or now < until),
        "checking_in": opens is not None and opens <= now,
        "check_in_opens": opens,
    }
    if who is None or not tournament.signing_up:
        return {**told, "mine": [], "others": []}
    its = sa.select(Bot).where(belongs_to(who.id)).order_by(Bot.lower_name).limit(MOST_OWN)
    mine = session.scalars(its).all()
    there = {place.sign_up.bot_id for place in places}
    others = [bot for bot in mine if bot.id not in there]
    why = sign_ups.why_not_each(session, tournament, others)
    return {
        **told,
        "mine": [place for place in places if who.owns(place.sign_up.bot)],
        "others": [(bot, why[bot.id]) for bot in others],
    }


def _owns_any(found: Results) -> bool:
    """Whether who asks has a bot in the field that was not withdrawn."""
    who = current()
    return who is not None and any(
        who.owns(one.version.bot)
        for number, one in found.entrants.items()
        if found.withdrawn(number) is None
    )


@tournaments.get("/tournaments/<name>/<int:one>/<int:other>")
def meetings(name: str, one: int, other: int) -> str:
    """The games of a tournament between two of its bots, by their numbers in the seeding."""
    with reading() as session:
        found = results(session, find_tournament(session, name))
        for number in (one, other):
            if number not in found.entrants or one == other:
                abort(
                    404,
                    gettext(
                        "In this tournament %(one)s and %(other)s are no two bots.",
                        one=one,
                        other=other,
                    ),
                )
        return render_template(
            "meetings.html",
            tournament=found.tournament,
            found=found,
            one=one,
            other=other,
            cell=_cell(found, one, other),
            games=_games(session, found, one, other),
        )


def _cell(found: Results, one: int, other: int) -> Score | None:
    """What the first did against the second; None if they have not met."""
    order = [line.number for line in found.standings]
    return found.cells[order.index(one)][order.index(other)]


def _games(session: Session, found: Results, one: int, other: int) -> Sequence[PlayedGame]:
    """The games in which both sat, the last first."""
    matches = [
        match.id for match in found.matches if {one, other} <= set(match.result.fixture.entrants)
    ]
    seats = selectinload(PlayedGame.seats).joinedload(GameSeat.entrant)
    return session.scalars(
        sa.select(PlayedGame)
        .where(PlayedGame.match_id.in_(matches))
        .order_by(PlayedGame.id.desc())
        .options(
            joinedload(PlayedGame.match),
            joinedload(PlayedGame.competition),
            seats.joinedload(Entrant.version).joinedload(BotVersion.bot),
        )
    ).all()


@tournaments.get("/tournaments/<name>.json")
def tournament_json(name: str) -> Response:
    """What the page shows, with all of a crosstable that is too large for it."""
    with reading() as session:
        found = find_tournament(session, name)
        _, quiet = queries.happening(session, found, settings(), datetime.now(UTC))
        answer_if_known(session, of_competition(found), quiet)
        return jsonify(exports.tournament_json(session, found, quiet))


@tournaments.get("/tournaments/<name>.csv")
def tournament_csv(name: str) -> Response:
    """The standings alone, for a spreadsheet."""
    with reading() as session:
        found = find_tournament(session, name)
        answer_if_known(session, of_competition(found))
        lines = flat_rows(rows(results(session, found)))
    return exports.csv_answer(lines, lines[0] if lines else NO_COLUMNS)


LABELS = {
    "cycles": N_("Cycles"),
    "candidates": N_("Candidates"),
    "rounds": N_("Rounds"),
    "legs": N_("Legs"),
    "extra_legs": N_("Extra legs"),
    "double": N_("Double"),
    "third_place": N_("Third place"),
}
"""What the fields of the formats' settings are called."""


def _settings() -> dict[str, str]:
    """The settings of all formats, each with words that say which of them have it."""
    return {
        key: gettext(
            "%(formats)s: %(words)s.",
            formats=", ".join(translated(FORMATS[name].title) for name in names),
            words=translated(setting.words),
        )
        for key, (setting, names) in settings_of_all().items()
    }


def _setting(key: str, setting: FormatSetting) -> Field:
    label = later(LABELS[key])
    return BooleanField(label) if setting.yes_or_no else WholeNumber(label, [Optional()])


TournamentForm = form_of(
    CreateTournament,
    format=RadioField(
        later(N_("Format")),
        choices=[SelectChoice(key, later(kind.title)) for key, kind in FORMATS.items()],
    ),
    ladder=SelectField(later(N_("Ladder")), validate_choice=False),
    picked=SelectMultipleField(later(N_("Bots of this ladder")), validate_choice=False),
    bots=TextAreaField(later(N_("Further bots, by name")), render_kw={"rows": 2}),
    note=TextAreaField(later(N_("Note")), render_kw={"rows": 2}),
    **{key: _setting(key, setting) for key, (setting, _) in settings_of_all().items()},
)


@tournaments.route("/new-tournament", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def create() -> Any:
    """Makes a tournament of bots of a ladder."""
    form = TournamentForm()
    with reading() as session:
        form["ladder"].choices = [
            SelectChoice(one.name, one.title) for one in queries.ladders(session)
        ]
    if request.method == "GET":
        form["ladder"].data = request.args.get("ladder", "")
        form["format"].data = next(iter(FORMATS))
        return _new_page(form, "")
    # A box that is not ticked says nothing, and neither does an empty field; a zero does.
    more: dict[str, Any] = {
        "settings": {
            key: int(form[key].data)
            for key in settings_of_all()
            if form[key].data is not None and form[key].data is not False
        }
    }
    if form["picked"].data:
        more["bots"] = (*form["picked"].data, *bot_names.apart(form["bots"].data or ""))
    if "show" in request.form:
        return _new_page(form, "")
    if "forecast" in request.form:
        return _forecast(form, more)
    more["dates"] = given_dates()
    return sent(CreateTournament, form, again=_new_page, then=_made, **more)


def _forecast(form: DeedForm, more: dict[str, Any]) -> Any:
    """The form as it was filled in, with what the tournament would take; nothing is made."""
    problem = ""
    try:
        # What it is called is nothing to how long it takes.
        named = {"name": form["name"].data or "forecast"}
        deed = filled_in(CreateTournament, form, named | more)
        if deed is not None:
            with reading() as session:
                expected = deed.expected(session, signed_in().by())
            return _new_page(form, "", expected)
    except WrongField as error:
        form.blame(error)
    except Refusal as error:
        problem = sentence(error)
    return _new_page(form, problem), REFUSED


def _new_page(form: DeedForm, problem: str, expected: TournamentForecast | None = None) -> str:
    with reading() as session:
        chosen = form["ladder"].data or next((one.value for one in form["ladder"].choices), None)
        query = sa.select(Ladder).where(Ladder.named(chosen or ""))
        ladder = session.scalar(query)
        board = leaderboards.board(session, ladder, View(page=1)) if ladder else None
        return render_template(
            "new_tournament.html",
            form=form,
            problem=problem,
            expected=expected,
            board=board,
            kinds=Tournaments.dates,
            formats=FORMATS,
            SETTINGS=_settings(),
        )


def _made(done: Done) -> str:
    return url_for("tournaments.tournament", name=done.answer.name)


CallOffForm = form_of(
    CallOffTournament,
    confirmed=BooleanField(
        later(N_("It is over for ever, and nobody wins it")),
        [
            InputRequired(
                later(
                    N_("A tournament that was called off never goes on: tick that this is meant.")
                )
            )
        ],
    ),
)


@tournaments.get("/tournaments/<name>/change")
@needs(Scope.SUBMIT)
def change(name: str) -> str:
    """What somebody can decide about a tournament."""
    return _change_page(name, CallOffForm(formdata=None), "")


def _change_page(name: str, form: DeedForm, problem: str) -> str:
    who = signed_in()
    by = who.by()
    with reading() as session:
        found = find_tournament(session, name)
        mine = [
            one
            for one in entrants_of(session, found)
            if one.state is not EntrantState.RETIRED and may_withdraw(by, one)
        ]
    if not mine and not who.organises(found):
        abort(403, gettext("You have no bot in this tournament."))
    return render_template(
        "change_tournament.html",
        tournament=found,
        begun=has_begun(found),
        mine=mine,
        form=form,
        problem=problem,
    )


def _again(name: str, form: DeedForm, problem: str) -> str:
    """The page after a form whose fields are not those of `CallOffForm`: all is said above."""
    problem = problem or " ".join(error for errors in form.errors.values() for error in errors)
    return _change_page(name, CallOffForm(formdata=None), problem)


def _page_again(name: str, form: DeedForm, problem: str) -> str:
    problem = problem or " ".join(error for errors in form.errors.values() for error in errors)
    return _page(name, problem)


def _changed(_: Done, name: str) -> str:
    return url_for("tournaments.tournament", name=name)


def _add(what: str, deed: Any, **how: Any) -> None:
    add_deed(tournaments, f"/tournaments/<name>/{what}", deed, then=_changed, **how)


_add("state", ChangeTournament)
_add("enter", EnterTournament, again=_again)
_add("withdraw", WithdrawFromTournament, again=_again)
_add("sign-up", SignUpBot, again=_page_again)
_add("sign-off", SignOffBot, again=_page_again)
_add("check-in", CheckInBot, again=_page_again)
_add("call-off", CallOffTournament, again=_change_page, form=CallOffForm)
