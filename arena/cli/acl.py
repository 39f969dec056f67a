"""The command acl: the users of a broker that workers on other machines reach."""

from __future__ import annotations

import os
from pathlib import Path

import click

from arena.broker_users import BrokerUserError, file_of, users_for
from arena.cli import Usage


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("workers", metavar="WORKER...", nargs=-1)
def acl(file: Path, workers: tuple[str, ...]) -> None:
    """Write the users of a broker: one for the arena, and one for each worker.

    FILE is what a Redis or Valkey is given as its aclfile; it holds digests of the passwords. The
    passwords themselves are printed once. A WORKER is called by its ARENA_WORKER_NAME, or as its
    host is.

    Example: arena acl users.acl box1 box2
    """
    try:
        users = users_for(workers)
    except BrokerUserError as error:
        raise Usage(str(error)) from None
    try:
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Usage(f"{file} is there already: remove it first, or name another") from None
    except OSError as error:
        raise Usage(f"can't write {file}: {error.strerror}") from None
    with os.fdopen(number, "w") as written:
        written.write(file_of(users))
    for user in users:
        click.echo(f"{user.name} {user.password}")
