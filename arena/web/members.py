"""The pages of who belongs to a competition: for organisers who that is, for others how to join."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, render_template, url_for
from wtforms import TextAreaField

from arena.bots.member_deeds import (
    AddMember,
    ChangeVisibility,
    ImportMembers,
    JoinCompetition,
    LeaveCompetition,
    RemoveMember,
    RenewJoinCode,
)
from arena.competitions.mask_deeds import LookBehindMasks, RevealCompetition
from arena.competitions.masks import WhoIsWho
from arena.competitions.members import members_of
from arena.deeds import Done
from arena.ground.refusals import Refusal, WrongField
from arena.models import MemberRole, Scope
from arena.web.competitions import address_of
from arena.web.deeds import REFUSED, DeedForm, add_deed, do, filled_in, form_of
from arena.web.forms import later
from arena.web.identity import keep_to_itself
from arena.web.lookup import find_competition, reading
from arena.web.permissions import demand_organiser, needs
from arena.web.words import sentence
from engine.translation import N_

members = Blueprint("members", __name__)

AddForm, VisibilityForm, JoinForm = map(form_of, (AddMember, ChangeVisibility, JoinCompetition))
ImportForm = form_of(
    ImportMembers,
    names=TextAreaField(later(N_("Names, one on each line")), render_kw={"rows": 6}),
)


@members.get("/competitions/<name>/members")
@needs(Scope.ORGANISE, of_one=True)
def listing(name: str) -> Response:
    """Who belongs to a competition, who sees it, and how one joins it."""
    return _page(name)


def _page(
    name: str,
    form: DeedForm | None = None,
    problem: str = "",
    made: list[tuple[str, str]] | None = None,
    who: list[WhoIsWho] | None = None,
) -> Response:
    """The page, with the form that came back, if one did.

    Args:
        made: names and links of members whose accounts were made just now.
        who: who is behind made-up names, if that was just looked up.
    """
    with reading() as session:
        found = find_competition(session, name)
        demand_organiser(found)
        forms = {
            kind.__name__: form if isinstance(form, kind) else kind(formdata=None, **its)
            for kind, its in (
                (AddForm, {}),
                (VisibilityForm, {"visibility": str(found.visibility)}),
                (ImportForm, {}),
            )
        }
        page = render_template(
            "members.html",
            competition=found,
            found=members_of(session, found),
            roles=MemberRole,
            add=forms["AddMemberForm"],
            visibility=forms["ChangeVisibilityForm"],
            names=forms["ImportMembersForm"],
            problem=problem,
            made=made,
            who=who,
        )
    return keep_to_itself(Response(page))


def _again(name: str, form: DeedForm, problem: str) -> str:
    return _page(name, form, problem).get_data(as_text=True)


def _there(_: Done, name: str) -> str:
    return url_for("members.listing", name=name)


for _rule, _deed, _form in (
    ("members/add", AddMember, AddForm),
    ("members/remove", RemoveMember, None),
    ("visibility", ChangeVisibility, VisibilityForm),
    ("join-code", RenewJoinCode, None),
    ("reveal", RevealCompetition, None),
):
    add_deed(members, f"/competitions/<name>/{_rule}", _deed, then=_there, again=_again, form=_form)


@members.post("/competitions/<name>/members/import")
@needs(Scope.ORGANISE, of_one=True)
def import_names(name: str) -> Any:
    """Makes accounts of a list of names, and shows their links this once."""
    form, problem = ImportForm(), ""
    try:
        meant = filled_in(ImportMembers, form, {"name": name})
        if meant is not None:
            links = do(meant).answer.links
            rows = [line.split(",") for line in links.splitlines()[1:]]
            secrets = [(its_name, link.rpartition("/")[2]) for its_name, link in rows]
            made = [
                (its_name, url_for("accounts.reset", secret=secret, _external=True))
                for its_name, secret in secrets
            ]
            return _page(name, made=made)
    except WrongField as error:
        form.blame(error)
    except Refusal as error:
        problem = sentence(error)
    return _page(name, form, problem), REFUSED


@members.post("/competitions/<name>/who")
@needs(Scope.ORGANISE, of_one=True)
def who(name: str) -> Any:
    """Shows who is behind the made-up names of an anonymous competition."""
    try:
        lines = do(LookBehindMasks(name)).answer.names.splitlines()[1:]
    except Refusal as error:
        return _page(name, problem=sentence(error)), REFUSED
    return _page(name, who=[WhoIsWho(*line.split(",")) for line in lines])


@members.get("/join")
@members.get("/join/<code>")
@needs(Scope.SUBMIT)
def join_form(code: str = "") -> str:
    """Asks whether to join what a code is of; it is not looked up before."""
    return _join_page(JoinForm(formdata=None, code=code[:40]), "")


def _join_page(form: DeedForm, problem: str) -> str:
    return render_template("join.html", form=form, problem=problem)


def _joined(done: Done) -> str:
    return address_of(done.answer)


def _left(_: Done, **_there: str) -> str:
    return url_for("front.first_page")


add_deed(members, "/join", JoinCompetition, then=_joined, again=_join_page, form=JoinForm)
add_deed(members, "/competitions/<name>/leave", LeaveCompetition, then=_left)
