"""Teams: all of them, one's page, and the forms by which one founds, joins and leads one."""

from __future__ import annotations

import sqlalchemy as sa
from flask import Blueprint, Response, abort, render_template, url_for

from arena.bots import directory, sharing, teams
from arena.bots.directory import Narrowing
from arena.bots.team_deeds import (
    DescribeTeam,
    DissolveTeam,
    FoundTeam,
    HandOverTeam,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    RenameTeam,
    RenewTeamCode,
)
from arena.competitions.final_tables import trophies_of
from arena.deeds import Done
from arena.models import Bot, Scope, Team
from arena.web.deeds import DeedForm, add_deed, form_of
from arena.web.identity import current, keep_to_itself, signed_in
from arena.web.lookup import asked_page, find_team, reading
from arena.web.permissions import needs
from arena.web.profiles import description_field, links_field
from engine.translation import gettext

pages = Blueprint("teams", __name__)

DescribeForm = form_of(DescribeTeam, description=description_field(), links=links_field())
RenameForm, FoundForm, JoinForm = map(form_of, (RenameTeam, FoundTeam, JoinTeam))


@pages.get("/teams")
def listing() -> str:
    """All teams that have a bot which has entered something, by page; and one's own."""
    return _list_page()


def _list_page(form: DeedForm | None = None, problem: str = "") -> str:
    wish = Narrowing(page=asked_page())
    with reading() as session:
        account = current()
        own = teams.teams_of(session, account.id) if account else []
        return render_template(
            "directory_teams.html",
            found=directory.teams(session, wish),
            own=own,
            leads=account is not None and any(one.captain_id == account.id for one in own),
            form=form or (FoundForm(formdata=None) if account else None),
            problem=problem,
        )


@pages.get("/teams/<name>")
def team(name: str) -> str:
    """A team: what it says of itself, who is in it, and its bots."""
    with reading() as session:
        found, account = find_team(session, name), current()
        wish = Narrowing(owner=found.name, sort="games", page=asked_page())
        own = session.scalars(sa.select(Bot.id).where(Bot.owner_id == found.id)).all()
        return render_template(
            "team.html",
            team=found,
            members=teams.members_of(session, found),
            is_member=account is not None and sharing.is_member(session, found, account.id),
            leads=account is not None and leads(found),
            found=directory.bots(session, wish),
            trophies=trophies_of(session, own),
        )


def leads(found: Team) -> bool:
    """Whether who is signed in decides about a team."""
    account = signed_in()
    return found.captain_id == account.id or account.may(Scope.ADMIN)


@pages.get("/teams/<name>/profile")
@needs(Scope.SUBMIT)
def change(name: str) -> Response:
    """The forms by which a team is described, led and dissolved."""
    return keep_to_itself(Response(_lead_page(name)))


def _lead_page(name: str, form: DeedForm | None = None, problem: str = "") -> str:
    with reading() as session:
        found = find_team(session, name)
        if not leads(found):
            abort(
                403, gettext("Only its captain decides about the team %(team)s.", team=found.name)
            )
        forms = {
            kind: form if isinstance(form, kind) else kind(formdata=None)
            for kind in (DescribeForm, RenameForm)
        }
        if not isinstance(form, DescribeForm):
            forms[DescribeForm]["description"].data = found.description
            forms[DescribeForm]["links"].data = tuple(found.links)
        return render_template(
            "team_profile.html",
            team=found,
            members=teams.members_of(session, found),
            describe=forms[DescribeForm],
            rename=forms[RenameForm],
            problem=problem,
        )


@pages.get("/join-team")
@pages.get("/join-team/<code>")
@needs(Scope.SUBMIT)
def join_form(code: str = "") -> str:
    """Asks whether to join what a code is of; it is not looked up before."""
    return _join_page(JoinForm(formdata=None, code=code[:40]), "")


def _join_page(form: DeedForm, problem: str) -> str:
    return render_template("join_team.html", form=form, problem=problem)


def _team(done: Done, **_: str) -> str:
    return url_for("teams.team", name=done.answer.name)


def _led(_: Done, name: str) -> str:
    return url_for("teams.change", name=name)


def _lead_again(form: DeedForm, problem: str, name: str) -> str:
    return _lead_page(name, form, problem)


def _list(_: Done, **__: str) -> str:
    return url_for("teams.listing")


add_deed(pages, "/teams", FoundTeam, then=_team, again=_list_page, form=FoundForm, endpoint="found")
add_deed(
    pages, "/join-team", JoinTeam, then=_team, again=_join_page, form=JoinForm, endpoint="join"
)
for _rule, _deed, _then, _form in (
    ("describe", DescribeTeam, _team, DescribeForm),
    ("rename", RenameTeam, _team, RenameForm),
    ("join-code", RenewTeamCode, _led, None),
    ("remove", RemoveTeamMember, _led, None),
    ("captain", HandOverTeam, _team, None),
    ("leave", LeaveTeam, _list, None),
    ("dissolve", DissolveTeam, _list, None),
):
    _again = _lead_again if _form else None
    add_deed(pages, f"/teams/<name>/{_rule}", _deed, then=_then, again=_again, form=_form)
