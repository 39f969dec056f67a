"""The directory of bots and of people, a person's page, and the search over them and
competitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, render_template, request
from sqlalchemy.orm import Session

from arena.bots import directory
from arena.bots.directory import LONGEST_QUERY, SORTS, Narrowing
from arena.competitions.final_tables import trophies_of
from arena.models import Bot
from arena.web.lookup import asked_page, find_person, reading
from engine.games import GAMES

listings = Blueprint("directory", __name__)

FILTERS = ("tag", "language", "game", "owner")
LONGEST = 80


def _wish(kind: str) -> Narrowing:
    """What is asked for by an address; what nobody can be sorted by is sorted as usual."""
    asked = {key: request.args.get(key, "").strip()[:LONGEST] for key in FILTERS}
    sort = request.args.get("sort", "")
    page = asked_page()
    return Narrowing(sort if sort in SORTS[kind] else "name", page, **asked)


@listings.get("/bots")
def bots() -> str:
    """All bots that have entered something, by page; narrowed, if asked."""
    wish = _wish("bots")
    with reading() as session:
        return render_template(
            "directory_bots.html",
            wish=wish,
            found=directory.bots(session, wish),
            sorts=SORTS["bots"],
            **_choices(session),
        )


@listings.get("/people")
def people() -> str:
    """All people who have such a bot, by page; narrowed, if asked."""
    wish = _wish("people")
    with reading() as session:
        return render_template(
            "directory_people.html",
            wish=wish,
            found=directory.people(session, wish),
            sorts=SORTS["people"],
            **_choices(session),
        )


def _choices(session: Session) -> dict[str, Any]:
    """What there is to choose from."""
    return {
        "languages": directory.languages(session),
        "games": sorted(GAMES.declared),
        "asked": {key: request.args[key] for key in (*FILTERS, "sort") if request.args.get(key)},
        "narrowed": {key: request.args[key] for key in FILTERS if request.args.get(key)},
    }


@listings.get("/people/<name>")
def person(name: str) -> str:
    """A person: what they say of themselves, and their bots."""
    with reading() as session:
        user = find_person(session, name)
        mine = Narrowing(owner=user.name, sort="games")
        found = directory.bots(session, replace(mine, page=asked_page()))
        own = session.scalars(sa.select(Bot.id).where(Bot.owner_id == user.id)).all()
        trophies = trophies_of(session, own)
        return render_template("person.html", user=user, found=found, trophies=trophies)


@listings.get("/search")
def search() -> str:
    """What has all words that were typed, or words that begin so."""
    typed = request.args.get("q", "")
    page = asked_page()
    with reading() as session:
        found = directory.search(session, typed, page=page)
        return render_template("search.html", typed=typed[:LONGEST_QUERY], found=found)
