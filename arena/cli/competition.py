"""The command competition: who sees competitions of any kind, and who belongs to them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import click
from sqlalchemy.orm import Session

from arena.bots.member_deeds import ImportMembers
from arena.cli import InputError, deeds
from arena.cli.client import Where, on_arena
from arena.cli.listing import show
from arena.cli.options import NamedPath, as_json
from arena.cli.reading import read_all
from arena.competitions.founding import find_named
from arena.competitions.members import members_of
from arena.models import Competition, Membership
from arena.web.api.competition_shapes import MembershipShape
from engine.books import decoded
from engine.translation import N_, gettext


@click.group()
def competition() -> None:
    """Who sees a competition: list its members, add some, or a list of names, give it a code."""


@competition.command("members")
@click.argument("name")
@on_arena
@as_json
def members_command(name: str, where: Where, in_json: bool) -> None:
    """List who belongs to a competition. A server tells it to its organisers.

    Example: arena competition members course
    """

    def here(session: Session) -> list[Membership]:
        return members_of(session, find_named(session, Competition, name))

    path = f"/competitions/{quote(name, safe='')}/members"
    found = read_all(where, path, MembershipShape, here)
    show(found, (N_("user"), N_("role"), N_("joined")), in_json)


@competition.command("import-members")
@click.argument("name")
@click.argument("file", type=NamedPath(exists=True, dir_okay=False, path_type=Path))
@on_arena
@as_json
def import_command(name: str, file: Path, where: Where, in_json: bool) -> None:
    """Make accounts of a list of names, as members of a competition.

    FILE is CSV with a name on each line. Each of them chooses a password by a link, which works
    once, within 30 days; CSV of names and links is printed, this once.

    Example: arena competition import-members course names.csv
    """
    try:
        text = decoded(file.read_bytes())
    except OSError as error:
        raise InputError(
            gettext("can't read %(name)s: %(reason)s", name=file, reason=error.strerror)
        ) from None
    if text is None:
        raise InputError(gettext("%(file)s is no text: give CSV", file=file))
    deed = deeds.made(ImportMembers, name=name, names=text)
    (told,) = deeds.do([deed], where, in_json=True)
    click.echo(json.dumps(told.answer) if in_json else told.answer["links"], nl=in_json)


deeds.add_commands(competition)
