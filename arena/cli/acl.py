"""The command acl: the users of a broker that workers on other machines reach."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from arena.cli import InputError, writing
from arena.cli.options import NamedPath
from arena.operation.broker_users import BrokerUserError, file_of, lines_of, users_for, users_in
from engine.translation import gettext


@click.command()
@click.argument("file", type=NamedPath(path_type=Path, dir_okay=False))
@click.argument("workers", metavar="WORKER...", nargs=-1)
def acl(file: Path, workers: tuple[str, ...]) -> None:
    """Write the users of a broker: one for the arena, and one for each worker.

    FILE is what a Redis or Valkey is given as its aclfile; it holds digests of the passwords. The
    passwords themselves are printed once. A WORKER is called by its ARENA_WORKER_NAME, or as its
    host is. To a FILE that is there workers are added, and the arena if its line was taken out; the
    broker takes it up by ACL LOAD.

    Example: arena acl users.acl box1 box2
    """
    with writing(file):
        there = file.read_text(errors="replace") if file.exists() else ""
        try:
            users = users_for(workers, users_in(there) if there else ())
        except BrokerUserError as error:
            raise InputError(f"{file}: {error}") from None
        if not users:
            raise InputError(
                gettext("%(file)s is there already: name the workers to add to it", file=file)
            )
        with open(file, "a", opener=partial(os.open, mode=0o600)) as written:
            between = "" if there.endswith("\n") else "\n"
            written.write(between + lines_of(users) if there else file_of(users))
    for user in users:
        click.echo(f"{user.name} {user.password}")
