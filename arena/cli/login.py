"""The commands login and logout."""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import click

from arena.cli import InputError
from arena.cli.client import Login, RemoteArena, login_file, read_token, server_address, store_login
from engine.translation import gettext

HERE = ("localhost", "127.0.0.1", "::1")


def asked_token() -> str:
    """A token that somebody types, or that comes by a pipe; no list of processes shows it."""
    if sys.stdin.isatty():
        return str(click.prompt(gettext("Token"), hide_input=True))
    return sys.stdin.readline().strip()


@click.command()
@click.argument("url")
@click.option("--token", help="The token; by default it is asked for, or read from a pipe.")
def login(url: str, token: str | None) -> None:
    """Let commands speak to an arena elsewhere.

    A token is made on your account's page there; for arena submit it needs the scopes read and
    submit. It is kept in your folder of settings, where nobody else can read it. In a CI give
    ARENA_SERVER and ARENA_TOKEN instead, and log in nowhere.

    \b
    Examples:
      arena login https://arena.example
      arena login https://arena.example < token.txt
    """
    address = server_address(url)
    token = read_token(asked_token() if token is None else token)
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in HERE:
        click.echo(gettext("without https anybody on the way can read the token"), err=True)
    account = RemoteArena(address, token).get("/account")
    file = store_login(Login(address, token))
    scopes = ", ".join(account["scopes"])
    click.echo(
        gettext(
            "you are %(name)s at %(server)s (scopes: %(scopes)s); kept in %(file)s",
            name=account["name"],
            server=address,
            scopes=scopes,
            file=file,
        )
    )


@click.command()
def logout() -> None:
    """Forget the login; the token stays good until you revoke it on your account's page.

    Example: arena logout
    """
    file = login_file()
    try:
        file.unlink()
    except FileNotFoundError:
        click.echo(gettext("nobody was logged in"))
        return
    except OSError as error:
        raise InputError(
            gettext("can't remove %(file)s: %(reason)s", file=file, reason=error.strerror)
        ) from None
    click.echo(gettext("forgotten"))
