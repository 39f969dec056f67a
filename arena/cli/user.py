"""The command user: accounts; what gives out secrets, from the arena's own machine alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from sqlalchemy.orm import Session

from arena import audit, signing
from arena.bots import account_export
from arena.cli import deeds, refusing
from arena.cli.client import Where, on_arena, whole_address
from arena.cli.data_folder import changing, opened
from arena.cli.listing import show
from arena.cli.options import as_json, on_data
from arena.cli.reading import read_all
from arena.models import AuditEntry, Role
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.web.api.user_shapes import AuditShape, UserShape
from engine.translation import N_, gettext, translated

ROLE = click.Choice([str(role) for role in Role])
AS_ROLE = click.option(
    "--role",
    type=ROLE,
    default=str(Role.PARTICIPANT),
    show_default=True,
    help="What they become.",
)


@click.group()
def user() -> None:
    """Accounts: list, add, reset, role, deactivate, activate, invite, log."""


@user.command("list")
@on_arena
@as_json
def list_users(where: Where, in_json: bool) -> None:
    """List everyone who has an account, by name. A server tells it to administrators.

    Example: arena user list
    """
    found = read_all(where, "/users", UserShape, accounts.listed)
    show(
        sorted(found, key=lambda one: one["name"].lower()),
        (N_("name"), N_("role"), N_("active"), N_("can sign in"), N_("last sign in")),
        in_json,
        cells=lambda one: {
            "role": translated(one["role"]),
            "can sign in": one["can_sign_in"],
            "last sign in": one["last_sign_in"],
        },
    )


@user.command()
@click.argument("name")
@AS_ROLE
@on_data
def add(name: str, role: str, data: Path | None) -> None:
    """Make an account, and print its one-time password.

    Example: arena user add ada --role organiser
    """
    with changing(data) as (session, now):
        actor = audit.operator()
        made = accounts.add(session, actor, name, role=Role(role), now=now)
        password = accounts.give_one_time_password(session, actor, made, now)
    _tell(made.name, password)


@user.command()
@click.argument("name")
@on_data
def reset(name: str, data: Path | None) -> None:
    """Give somebody a new one-time password; every session of theirs ends.

    Example: arena user reset ada
    """
    with changing(data) as (session, now):
        found = accounts.get(session, name)
        password = accounts.give_one_time_password(session, audit.operator(), found, now)
    _tell(found.name, password)


def _tell(name: str, password: str) -> None:
    click.echo(
        gettext(
            "%(name)s can sign in once with the password %(password)s and then chooses another",
            name=name,
            password=password,
        )
    )


@user.command()
@AS_ROLE
@click.option("--url", help="Where the arena is, as others reach it.")
@on_data
def invite(role: str, url: str | None, data: Path | None) -> None:
    """Print a link with which one person can register, within 7 days.

    Example: arena user invite --url https://arena.example
    """
    base = url and whole_address(url)
    with changing(data) as (session, now):
        secret = accounts.invite(session, audit.operator(), Role(role), now)
    with opened(data) as (_, settings):
        base = base or f"http://{settings.host}:{settings.port}"
    click.echo(f"{base}/register?invitation={secret}")


@user.command("log")
@click.option("--name", default="", help="Only what this user did.")
@click.option(
    "--count",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many entries.",
)
@on_arena
@as_json
def log_command(name: str, count: int, where: Where, in_json: bool) -> None:
    """Show the audit log, the newest first. A server tells it to administrators.

    Example: arena user log --name ada
    """

    def here(session: Session) -> Sequence[AuditEntry]:
        return audit.entries(session, count=count, actor=name)

    found = read_all(where, "/audit", AuditShape, here, most=count, actor=name or None)
    columns = N_("at"), N_("actor"), N_("action"), N_("subject"), N_("detail"), N_("origin")
    show(found, columns, in_json)


@user.command("rotate-secret")
@on_data
def rotate_secret(data: Path | None) -> None:
    """Make another secret for sessions: everybody signs in anew.

    Web processes that run take it up when they are started again.

    Example: arena user rotate-secret
    """
    with changing(data) as (session, now):
        signing.rotate(session, audit.operator(), now)
    click.echo(gettext("there is another secret; start the web processes again"))


@user.command("export")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@on_data
def export_command(name: str, file: Path, data: Path) -> None:
    """Write all that the arena keeps of a person's own into one ZIP.

    On a server it is GET /people/NAME/export of the API, for oneself and administrators.

    Example: arena user export ada ada.zip
    """
    with opened(data) as (database, settings):
        with database.read() as session, refusing(PeopleError):
            number = accounts.get(session, name).id
        with refusing(OSError), file.open("xb") as archive:
            for part in account_export.export(database, settings.bundles, number):
                archive.write(part)
    click.echo(gettext("all of %(name)s is in %(file)s", name=name, file=file))


deeds.add_commands(user)
