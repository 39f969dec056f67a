"""The pages of sets of matches: choosing many at once, what that would change, and deciding it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import sqlalchemy as sa
from flask import Blueprint, render_template, request, url_for

from arena.deeds import Done
from arena.ground.refusals import WrongField
from arena.lists.filters import WORDS
from arena.models import MatchSet, MemberState, Scope
from arena.recorder.match_set_deeds import ASIDE, PLAYED, ChooseMatches, DecideMatches, find_set
from arena.schedule.match_sets import members, tally
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.identity import keep_to_itself
from arena.web.lookup import reading
from arena.web.permissions import needs
from arena.web.words import sentence

match_sets = Blueprint("match_sets", __name__)
match_sets.after_request(keep_to_itself)

SHOWN = 50
"""Sets on the page of all of them, and matches of one that stay as they are."""
LEFT_OUT = {"sort", "line"}
"""Words of a filter that nobody types here."""


class ChooseForm(form_of(ChooseMatches)):  # type: ignore[misc]
    """A filter by its words, each a field of its own."""

    def said(self) -> dict[str, Any]:
        words = {name: request.form[name] for name in WORDS if request.form.get(name, "").strip()}
        return {**super().said(), **({"filter": urlencode(words)} if words else {})}

    def blame(self, error: WrongField) -> None:
        super().blame(WrongField("filter", str(error)) if error.field in WORDS else error)


@match_sets.get("/operator/match-sets")
@needs(Scope.ORGANISE)
def listing() -> str:
    """The sets that there are, and a form to choose another; an address fills its filter in."""
    return _page(ChooseForm(formdata=None), "", request.args)


def _page(form: DeedForm, problem: str, words: Mapping[str, str]) -> str:
    with reading() as session:
        sets = session.scalars(sa.select(MatchSet).order_by(MatchSet.id.desc()).limit(SHOWN))
        return render_template(
            "match_sets.html",
            sets=sets.all(),
            form=form,
            problem=problem,
            words={name: words.get(name, "") for name in WORDS if name not in LEFT_OUT},
            labels=WORDS,
            stands=(PLAYED, ASIDE),
        )


def _again(form: DeedForm, problem: str) -> str:
    wrong = form["filter"].errors
    return _page(form, problem or sentence(" ".join(wrong)) if wrong else problem, request.form)


@match_sets.get("/operator/match-sets/<int:number>")
@needs(Scope.ORGANISE)
def one(number: int) -> str:
    """A set: what it would change, or what became of it."""
    return _one(number)


def _one(number: int, form: DeedForm | None = None, problem: str = "") -> str:
    del form  # it has no field
    with reading() as session:
        found = find_set(session, number)
        left = session.scalars(members(number, MemberState.LEFT).limit(SHOWN)).all()
        return render_template(
            "match_set.html",
            set=found,
            counts=tally(session, number),
            left=left,
            words=[(WORDS[name].label, text) for name, text in parse_qsl(found.words)],
            lasting=DecideMatches.lasting,
            problem=problem,
        )


def _to_it(done: Done, **_: Any) -> str:
    return url_for("match_sets.one", number=done.answer.id)


add_deed(
    match_sets,
    "/operator/match-sets/choose",
    ChooseMatches,
    then=_to_it,
    again=_again,
    form=ChooseForm,
)
add_deed(
    match_sets,
    "/operator/match-sets/<int:number>/decide",
    DecideMatches,
    then=_to_it,
    again=_one,
)
