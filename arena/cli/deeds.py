"""How commands do deeds: on the arena of a data folder, or on a server by its API.

A deed that says its command has one made of its fields; where a command reads its words in a way
of its own, it stands before `do`. Which arena is meant is found as for ``arena submit``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import click
from sqlalchemy.orm import Session

from arena import audit
from arena.all_deeds import DEEDS
from arena.cli import InputError
from arena.cli.client import Name, RemoteArena, ServerFault, find_server, on_arena
from arena.cli.data_folder import as_json, opened
from arena.deeds import By, Deed, Done, Part, perform
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.models import Scope
from arena.people import accounts
from engine.protocol import visible

KINDS: Mapping[type, Any] = {str: str, int: int, float: float, tuple: str}


class Told(NamedTuple):
    """What a deed came to."""

    said: str
    """In words, after the address of the server if it was done on one."""
    answer: Any
    """As JSON's types, as the API has it; None where nobody asked for it."""


def here() -> By:
    """Whoever runs a command at the arena's machine, and may do everything."""
    return By(audit.operator(), frozenset(Scope), datetime.now(UTC), at_machine=True)


def made(deed: type[Deed], **values: Any) -> Deed:
    """A deed of what a command was given.

    Raises:
        InputError: something can't be so.
    """
    try:
        return deed(**values)
    except Refusal as error:
        raise InputError(str(error)) from None


def _user(session: Session, name: str, settings: Settings) -> By:
    """A user in whose name something is done at the arena's machine.

    Raises:
        PeopleError: there is none.
    """
    user, by = accounts.get(session, name), here()
    actor, quota = replace(by.actor, id=user.id, name=user.name), settings.requests_a_day
    return replace(by, actor=actor, requests_a_day=quota)


def do(
    deeds: Sequence[Deed],
    server: str | None,
    data: Path | None,
    *,
    in_json: bool = False,
    user: str | None = None,
) -> list[Told]:
    """Does deeds: in a data folder all of them or none, on a server one after the other.

    Args:
        in_json: asks for what the API answers, which is there anyway from a server.
        user: in whose name, in a data folder; by default in the machine's user's.

    Raises:
        InputError: one of them is refused, or it is not clear which arena is meant.
        ServerFault: the server can't be reached, or fails.
    """
    there = find_server(server, data)
    if there is not None and user is not None:
        raise InputError("--user is for this machine's arena; a server goes by the token")
    if there is not None:
        return _do_all_there(there, deeds)
    try:
        with opened(data) as (database, settings), database.begin() as session:
            told, by = [], here() if user is None else _user(session, user, settings)
            for deed in deeds:
                done = perform(session, deed, by)
                told.append(Told(done.said, _as_json(session, deed, done) if in_json else None))
            return told
    except Refusal as error:
        raise InputError(str(error)) from None


def do_one(
    deed: Deed,
    server: str | None,
    data: Path | None,
    *,
    hint: str = "",
    in_json: bool = False,
) -> None:
    """Does a deed, and says what was done.

    Args:
        hint: what can be done next.
        in_json: prints what the API answers instead.
    """
    (told,) = do([deed], server, data, in_json=in_json)
    click.echo(json.dumps(told.answer) if in_json else f"{told.said}{hint and f'; {hint}'}")


def _as_json(session: Session, deed: Deed, done: Done) -> Any:
    # With the shapes of the API come its libraries, which nobody waits for who reads words.
    from arena.web.api.answers import answer_of

    return answer_of(session, type(deed), done).model_dump(mode="json")


def _do_all_there(there: RemoteArena, deeds: Sequence[Deed]) -> list[Told]:
    told: list[Told] = []
    try:
        for deed in deeds:
            told.append(_do_there(there, deed))
    except (click.ClickException, KeyboardInterrupt):
        if told:
            many = f"{len(told)} of {len(deeds)} done before that, the last"
            click.echo(f"{many} at {told[-1].said}", err=True)
        raise
    return told


def _do_there(there: RemoteArena, deed: Deed) -> Told:
    method, path = deed.address.split()
    values = {part.name: getattr(deed, part.name) for part in deed.parts()}
    address = re.sub(r"<(?:\w+:)?(\w+)>", lambda at: quote(str(values.pop(at[1])), safe=""), path)
    answer = there.send(method, address, values)
    if not isinstance(answer, dict):
        raise ServerFault(f"{there.address} does not say what was done: is that an arena?")
    return Told(f"{there.address}: {visible(str(answer.get('said', 'done')))}", answer)


def add_commands(group: click.Group, **kinds: click.ParamType[Any]) -> click.Group:
    """Adds to a group the commands of all deeds that begin with its name.

    Args:
        kinds: how arguments of a name are read, where that is not plain.
    """
    for deed in DEEDS:
        if deed.command.partition(" ")[0] == group.name:
            group.add_command(_command(deed, kinds))
    return group


def _command(deed: type[Deed], kinds: Mapping[str, Any]) -> click.Command:
    words = deed.command.split()
    arguments = [word.lower().rstrip(".") for word in words if word[0].isupper()]
    path = [word for word in words if word[0].islower()]
    parts = {part.name: part for part in deed.parts()}

    def call(server: str | None, data: Path | None, in_json: bool, **given: Any) -> None:
        values = {key: one for key, one in given.items() if one is not None}
        do_one(made(deed, **values), server, data, in_json=in_json)

    command = click.Command(
        path[-1],
        params=[
            *(_argument(parts[name], kinds.get(name)) for name in arguments),
            *(_option(part) for name, part in parts.items() if name not in arguments),
        ],
        callback=call,
        help=f"{deed.words()}\n\nExample: arena {' '.join(path)} {deed.example}",
    )
    return on_arena(as_json(command))


def _argument(part: Part, kind: Any = None) -> click.Argument:
    many = part.kind is tuple
    if kind is None:
        kind = Name() if part.in_address and part.kind is str else KINDS[part.kind]
    return click.Argument([part.name], type=kind, nargs=-1 if many else 1, required=part.needed)


def _option(part: Part) -> click.Option:
    name, its = f"--{part.name.replace('_', '-')}", part.limits
    about: dict[str, Any] = {"help": f"{its.words}.", "required": part.needed}
    if part.kind is bool:
        name += f"/--no-{name[2:]}" if part.needed else ""
        about |= {"is_flag": True}
    elif its.choices:
        about |= {"type": click.Choice(its.choices)}
    else:
        about |= {"type": KINDS[part.kind], "multiple": part.kind is tuple}
    return click.Option([name, part.name], **about)
