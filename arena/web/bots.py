"""The pages of bots: one alone, and two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from flask import (
    Blueprint,
    Response,
    abort,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Answer

from arena.bots import entries, repositories, sharing, teams
from arena.bots.forges import Commit, commit_of
from arena.competitions.final_tables import trophies_of
from arena.competitions.masks import masks_of
from arena.ground import bot_names
from arena.ground.db import database_time
from arena.models import Bot, BotVersion, Competition, Scope, Team
from arena.schedule.presence import whereabouts
from arena.web import encounters, queries
from arena.web.api.results import Encounter, EncounterResultsShape
from arena.web.encounters import EncounterResults, Side
from arena.web.entrants import SPLIT_GAMES, on_ladder, shown_first
from arena.web.identity import current
from arena.web.lookup import find_bot, reading
from arena.web.permissions import may_read
from arena.web.words import sentence
from engine.translation import gettext

bots = Blueprint("bots", __name__)

OPPONENTS_SHOWN = 20
"""A bot's page shows so many, the most surprising ones, unless all are asked for."""


@bots.get("/bots/<name>")
def bot(name: str) -> str | Answer:
    """A bot: its versions, and on one of its ladders its rating, opponents and games."""
    with reading() as session:
        found = find_bot(session, name)
        entrants = queries.entrants_of_bot(session, found)
        wanted = request.args.get("ladder")
        shown = [entrant for entrant in entrants if wanted in (None, entrant.competition.name)]
        if wanted is not None and not shown:
            abort(
                404,
                gettext("The bot %(name)s is on no ladder %(wanted)s.", name=name, wanted=wanted),
            )
        chosen = shown_first(shown)
        details: dict[str, Any] = {}
        if chosen is not None:
            versions = [e for e in entrants if e.competition_id == chosen.competition_id]
            details = {
                "variant": chosen.competition.variant,
                "on": on_ladder(session, chosen, versions),
                "there": {one.version_id: one for one in versions},
                "whereabouts": whereabouts(session, chosen.version, datetime.now(UTC)),
                "games": queries.games_of_entrant(session, chosen, count=20),
            }
        uploaded = queries.versions_of_bot(session, found)
        return render_template(
            "bot.html",
            bot=found,
            entrants=entrants,
            chosen=chosen,
            versions=uploaded,
            commits=_commits(uploaded) if may_read(found) else {},
            trophies=trophies_of(session, [found.id]),
            co_owners=sharing.co_owners(session, found),
            waiting=queries.tests_waited_for(session, found),
            SPLIT_GAMES=SPLIT_GAMES,
            opponents_shown=None if request.args.get("opponents") == "all" else OPPONENTS_SHOWN,
            **_owners_choices(session, found),
            **details,
        )


class ShownCommit(NamedTuple):
    """The commit of a version, and what changed since that of the version before."""

    commit: Commit
    since: int | None
    """The number of the version before that is of a commit, too."""
    comparison: str
    """Where the changes are shown elsewhere; empty where that is not known."""


def _commits(versions: Sequence[tuple[BotVersion, object]]) -> dict[int, ShownCommit]:
    """The commits of a bot's versions, which come the newest first, by the versions' numbers."""
    found: dict[int, ShownCommit] = {}
    before: tuple[int, Commit] | None = None
    for version, _ in reversed(versions):
        if (commit := commit_of(version)) is not None:
            since, other = before or (None, None)
            found[version.number] = ShownCommit(
                commit, since, commit.comparison(other) if other else ""
            )
            before = version.number, commit
    return found


def _as_written(address: str) -> Answer:
    """Leads from a bot's name in other letters to its page, with what else is asked for."""
    asked = request.query_string.decode("ascii", "replace")
    return redirect(f"{address}?{asked}" if asked else address)


def _owners_choices(session: Session, bot: Bot) -> dict[str, Any]:
    """What a bot's page shows to its owner alone: the ladders that can be entered, and whether
    there is anything to withdraw it from."""
    account = current()
    mine = account is not None and account.owns(bot) and account.may(Scope.SUBMIT)
    if not mine:
        return {}
    if bot.masks_id is not None:
        return {"behind": bot.real}
    now = database_time(session)
    there = session.scalars(entries.on_ladders(bot, now)).first()
    return {
        "ladders": entries.ladders_taking_bots(session, now),
        "masks": masks_of(session, [bot.id]),
        "repository": repositories.find(session, bot),
        "may_withdraw": there is not None or entries.ending(session, bot) > 0,
        "takers": _may_have(session, bot) if account and account.heads(bot) else [],
    }


def _may_have(session: Session, bot: Bot) -> list[str]:
    """The names of those who can be given a bot: teams of its owner, or of its team the members."""
    if isinstance(bot.owner, Team):
        return [one.user.name for one in teams.members_of(session, bot.owner) if one.user.active]
    return [one.name for one in teams.teams_of(session, bot.owner_id)]


@bots.get("/bots/<name>/against/<rival>")
def encounter(name: str, rival: str) -> str | Answer:
    """Two bots, or versions of bots, side by side in one of the competitions where they met."""
    with reading() as session:
        first, second, met, found = find_encounter(session, name, rival, request.args.get("in"))
        if (first.name, second.name) != (name, rival):
            there = url_for("bots.encounter", name=first.name, rival=second.name)
            return _as_written(there)
        return render_template("encounter.html", first=first, second=second, met=met, results=found)


@bots.get("/bots/<name>/against/<rival>.json")
def encounter_json(name: str, rival: str) -> Response:
    """Two bots side by side as JSON."""
    with reading() as session:
        return jsonify(encounter_shape(session, name, rival, request.args.get("in")).model_dump())


def encounter_shape(session: Session, name: str, rival: str, wanted: str | None) -> Encounter:
    """What `find_encounter` finds, for programs."""
    first, second, met, found = find_encounter(session, name, rival, wanted)
    return Encounter(
        bots=(first.name, second.name),
        met_in=[competition.name for competition in met],
        duel=None if found is None else EncounterResultsShape.of(found),
    )


def find_encounter(
    session: Session, name: str, rival: str, wanted: str | None
) -> tuple[Side, Side, list[Competition], EncounterResults | None]:
    """Two bots or versions, where they have met, and what they did in one of these competitions.

    Args:
        name: a bot's, ``greedy``, or a version's, ``greedy:2``.
        wanted: that competition's name; None for the one in which they met most.
    """
    first, second = find_side(session, name), find_side(session, rival)
    if not first.meets(second):
        abort(
            404,
            gettext("Nobody has games against itself here: name two bots, or two versions of one."),
        )
    met = encounters.competitions_of_both(session, first, second)
    chosen = [one for one in met if wanted in (None, one.name)]
    if wanted is not None and not chosen:
        abort(
            404,
            gettext(
                "%(name)s and %(rival)s have not met in %(wanted)s.",
                name=name,
                rival=rival,
                wanted=wanted[:80],
            ),
        )
    found = encounters.results_in(session, first, second, chosen[0]) if chosen else None
    return first, second, met, found


def find_side(session: Session, name: str) -> Side:
    """The bot of this name, or with a number after a colon that version of it."""
    try:
        named = bot_names.read(name, LookupError)
    except LookupError as error:
        abort(404, sentence(error))
    bot = find_bot(session, named.name, leads=False)
    if named.version is None:
        return Side(bot)
    wanted = queries.versions_to_see(bot), BotVersion.number == named.version
    found = session.scalar(sa.select(BotVersion.number).where(*wanted))
    if found is None:
        abort(
            404,
            gettext(
                "The bot %(name)s has no version %(version)s.", name=bot.name, version=named.version
            ),
        )
    return Side(bot, found)
