"""Unrated matches that people ask for, between bots of their choice."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, flash, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from arena import sittings
from arena.ground.refusals import Refusal
from arena.models import Bot, BotVersion, Entrant, EntrantState, Ladder, Scope
from arena.schedule.requests import (
    MOST_AT_ONCE,
    MOST_IN_A_RACE,
    RequestUnratedMatch,
    asked_lately,
)
from arena.web.deeds import REFUSED, do
from arena.web.forms import named_number
from arena.web.identity import settings, signed_in
from arena.web.lines import read_line
from arena.web.lookup import find_ladder, reading
from arena.web.permissions import needs
from arena.web.words import sentence
from engine.game import Variant
from engine.translation import gettext

requests = Blueprint("requests", __name__)

SUGGESTED = 500
"""How many bots are offered to choose from; any other can be typed."""


@requests.route("/ladders/<name>/unrated", methods=["GET", "POST"])
@needs(Scope.SUBMIT)
def ask(name: str) -> Any:
    """Asks for an unrated match; ``?bot=A&bot=B`` fills its bots in."""
    who, problem = signed_in(), ""
    asked = request.args if request.method == "GET" else request.form
    bots = [bot.strip() for bot in asked.getlist("bot")][:MOST_IN_A_RACE]
    now, quota = datetime.now(UTC), settings().requests_a_day
    if request.method == "POST":
        named = tuple(bot for bot in bots if bot)
        try:
            done = do(_deed(name, named))
            flash(sentence(done.said))
            return redirect(url_for("games.match", number=done.answer.id))
        except Refusal as error:
            problem = sentence(error)
    with reading() as session:
        ladder = find_ladder(session, name)
        line = None
        try:
            line = read_line(session, ladder.variant, asked)
        except Refusal as error:
            problem = problem or sentence(error)
        labels = places(ladder.variant)
        page = render_template(
            "match_request.html",
            ladder=ladder,
            chosen=list(zip(labels, bots + [""] * len(labels), strict=False)),
            needed=2 if ladder.variant.seats == 1 else len(labels),
            names=_names(session, ladder),
            problem=problem,
            line=line,
            most=MOST_AT_ONCE,
            form=secrets.token_hex(16),
            quota=quota,
            left=max(quota - asked_lately(session, who.id, now), 0),
        )
    return page, REFUSED if problem else 200


def _deed(ladder: str, bots: tuple[str, ...]) -> RequestUnratedMatch:
    """What the form asks for.

    Raises:
        Refusal: it can't be meant.
    """
    with reading() as session:
        line = read_line(session, find_ladder(session, ladder).variant, request.form)
    chosen: dict[str, Any] = {}
    if line is not None:
        start = line.own or dict(line.opening.variant.options)
        chosen = {"opening": line.opening.moves, "start": start}
    count = named_number(request.form.get("count", ""), 1)
    form = request.form.get("form", "")[:64]
    return RequestUnratedMatch(ladder, bots, **chosen, matches=count, key=form)


def places(variant: Variant) -> list[str]:
    """What each bot of a match is asked for as: by its seats in the first game."""
    if variant.seats == 1:
        return [gettext("Bot %(number)s", number=number) for number in range(1, MOST_IN_A_RACE + 1)]
    return sittings.places(variant)


def _names(session: Session, ladder: Ladder) -> list[str]:
    """The bots that play on a ladder, the best first."""
    query = (
        sa.select(Bot.name)
        .join(BotVersion, BotVersion.bot_id == Bot.id)
        .join(Entrant, Entrant.version_id == BotVersion.id)
        .where(Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE)
        .order_by(Entrant.conservative.desc())
        .limit(SUGGESTED)
    )
    return list(session.scalars(query))
