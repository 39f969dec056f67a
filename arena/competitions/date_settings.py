"""What dates of competitions can be told besides their moment: of what kind a final is, how often
rounds come, what a new season keeps."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from arena.competitions.tournament_progress import demand_not_too_long, new_frame
from arena.formats.catalogue import FORMATS, settings_for
from arena.ground.db import count_rows
from arena.ground.refusals import Refusal
from arena.models import Competition, DateKind, Entrant, EntrantState
from engine.match import entrants_needed
from engine.translation import N_, gettext, pgettext

MOST_IN_FINAL, USUAL_IN_FINAL = 256, 8
USUAL_RESERVE = 50
"""Percent of the workers that a final has before all others."""
PERIODS: Mapping[str, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
}
"""How long it may be from one round to the next."""
PERIOD_WORDS: Mapping[str, str] = {
    "hour": N_("every hour"),
    "day": N_("every day"),
    "week": N_("every week"),
}
MOST_IN_DIVISION = 99
"""A boss plays beside them; then all still can meet all."""
_PERCENT = re.compile(r"([0-9]{1,3})%?", re.ASCII)


def settings_of(
    session: Session,
    competition: Competition,
    what: DateKind,
    given: Mapping[str, str],
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """The settings of a date as they are kept.

    Args:
        given: as texts; what is missing is as it was, or by default.
        before: those that it has already.

    Raises:
        Refusal: one of them can't be.
    """
    known: Collection[str] = ()
    kept: dict[str, Any] = {}
    if what is DateKind.SEASON:
        known = ("keep",)
        kept = {"keep": _percent("keep", given.get("keep", str(before.get("keep", 0))))}
        if kept["keep"] and competition.anonymous:
            raise Refusal(
                gettext(
                    "an anonymous ladder begins again with all ratings alike (keep=0): what they "
                    "were would tell who is who"
                )
            )
    if what is DateKind.FINAL:
        kept = _final_settings(competition, given, before)
        known = ("top", "format", "reserve", *FORMATS[kept["format"]].settings)
    if what is DateKind.ROUND:
        kept = _round_settings(session, competition, given, before)
        known = ("every", "size", "moves", "format", *FORMATS[kept["format"]].settings)
    if strange := [key for key in given if key not in known]:
        raise Refusal(
            gettext(
                "the date %(what)s has no setting %(key)r; it has %(known)s",
                what=what,
                key=strange[0][:40],
                known=", ".join(known) or pgettext("of settings", "none"),
            )
        )
    return kept


def _final_settings(
    competition: Competition, given: Mapping[str, str], before: Mapping[str, Any]
) -> dict[str, Any]:
    top = _number("top", given.get("top", str(before.get("top", USUAL_IN_FINAL))), 2, MOST_IN_FINAL)
    reserve = _percent("reserve", given.get("reserve", str(before.get("reserve", USUAL_RESERVE))))
    return {"top": top, "reserve": reserve, **_format_settings(competition, top, given, before)}


def _round_settings(
    session: Session, ladder: Competition, given: Mapping[str, str], before: Mapping[str, Any]
) -> dict[str, Any]:
    every = given.get("every", before.get("every", "week"))
    if every not in PERIODS:
        raise Refusal(
            gettext(
                "every=%(text)s can't be: rounds come every %(periods)s",
                text=every[:40],
                periods=", ".join(PERIODS),
            )
        )
    size = _number("size", given.get("size", str(before.get("size", 0))), 0, MOST_IN_DIVISION)
    least = 2 if ladder.variant.seats == 1 else entrants_needed(ladder.variant)
    if 0 < size < least:
        raise Refusal(
            gettext(
                "size=%(size)s can't be: a division has %(least)s bots at least, or is 0 for none",
                size=size,
                least=least,
            )
        )
    if not size and given.get("moves", "0") != "0":
        raise Refusal(
            gettext(
                "moves=%(moves)s can't be without divisions: choose size, or leave moves out",
                moves=given["moves"][:40],
            )
        )
    # Nobody can be among those who rise and those who fall.
    usual = min(before.get("moves", 1) if before.get("size") else 1, size // 2)
    moves = _number("moves", given.get("moves", str(usual)), 0, size // 2)
    field = size + 1  # with the boss
    if not size:
        active = Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
        field = max(least, count_rows(session, Entrant, *active))
    its = _format_settings(ladder, field, given, before)
    return {"every": every, "size": size, "moves": moves, **its}


def _format_settings(
    competition: Competition, size: int, given: Mapping[str, str], before: Mapping[str, Any]
) -> dict[str, Any]:
    """The format of a tournament of so many bots that a date makes, and its settings."""
    variant = competition.variant
    races = variant.seats == 1
    usual = next(
        name
        for name, kind in FORMATS.items()
        if (2 if races else entrants_needed(variant)) in kind.for_seats
    )
    form = given.get("format", before.get("format", usual))
    its = dict(before.get("settings", {})) if form == before.get("format") else {}
    known = FORMATS[form].settings if form in FORMATS else {}
    its |= {key: _number(key, given[key], 0, 1000) for key in known if key in given}
    frame = new_frame(variant, size, 0)
    demand_not_too_long(form, frame, settings_for(form, frame, its))
    return {"format": form, "settings": its}


def _number(key: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9 and least <= int(text) <= most):
        raise Refusal(
            gettext(
                "%(key)s=%(text)s can't be: %(key)s is a whole number from %(least)s to %(most)s",
                key=key,
                text=text[:40],
                least=least,
                most=most,
            )
        )
    return int(text)


def _percent(key: str, text: str) -> int:
    found = _PERCENT.fullmatch(text.strip())
    return _number(key, found[1] if found else text, 0, 100)
