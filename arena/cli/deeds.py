"""How commands do deeds: on the arena of a data folder, or on a server by its API.

A deed that says its command has one made of its fields; where a command reads its words in a way
of its own, it stands before `do`. Which arena is meant is found as for ``arena submit``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import click
from sqlalchemy.orm import Session

from arena import audit, naming
from arena.all_deeds import DEEDS
from arena.bots import discarding
from arena.cli import InputError, refusing
from arena.cli.client import Name, RemoteArena, ServerFault, Where, on_arena
from arena.cli.completing import of_part
from arena.cli.data_folder import opened
from arena.cli.options import as_json
from arena.deeds import By, Deed, Done, Part, fields_of, look_ahead, perform
from arena.ground import bot_names
from arena.ground.config import Settings
from arena.ground.db import database_time
from arena.ground.refusals import Refusal
from arena.models import Scope
from arena.people import accounts
from arena.present import present_settings
from arena.sight import EVERYTHING
from engine.protocol import visible
from engine.translation import gettext

F = TypeVar("F", bound=Callable[..., Any])

KINDS: Mapping[type, Any] = {str: str, int: int, float: float, tuple: str}


class Told(NamedTuple):
    """What a deed came to."""

    said: str
    """What was done in words, after the address of the server if it was done on one."""
    answer: Any
    """The answer as JSON's types, as the API has it; None where nobody asked for it."""


def here(session: Session) -> By:
    """Whoever runs a command at the arena's machine, and may do everything."""
    now = database_time(session)
    return By(audit.operator(), frozenset(Scope), now, at_machine=True, reader=EVERYTHING)


def made(deed: type[Deed], **values: Any) -> Deed:
    """A deed of what a command was given.

    Raises:
        InputError: something can't be so.
    """
    with refusing(Refusal):
        return deed(**values)


def _user(session: Session, name: str, settings: Settings) -> By:
    """A user in whose name something is done at the arena's machine.

    Raises:
        PeopleError: there is none.
    """
    user, by = accounts.get(session, name), here(session)
    settings = present_settings(session, settings)
    return replace(
        by,
        actor=replace(by.actor, id=user.id, name=user.name),
        requests_a_day=settings.requests_a_day,
        asked_seconds_a_day=settings.asked_seconds_a_day,
        bots_a_person=settings.bots_a_person,
    )


def do(
    deeds: Sequence[Deed],
    where: Where,
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
    there = where.server()
    if there is not None and user is not None:
        raise InputError(gettext("--user is for this machine's arena; a server goes by the token"))
    if there is not None:
        return _do_all_there(there, deeds)
    told: list[Told] = []
    renamed = naming.start_noting()
    with opened(where.data) as (database, its):
        if len(deeds) == 1:  # of several each is done by what those before it left
            with database.read() as session:
                by = here(session) if user is None else _user(session, user, its)
            deeds = [look_ahead(database.read, deeds[0], by)]
        with database.begin() as session:
            by = here(session) if user is None else _user(session, user, its)
            for deed in deeds:
                done = perform(session, deed, by)
                told.append(Told(done.said, _as_json(session, deed, done) if in_json else None))
        for asked, name in renamed.items():
            click.echo(naming.hint(asked, name), err=True)
        # What was deleted may have left files that nobody has.
        discarding.sweep(database, its.bundles, by.now)
    return told


def do_one(
    deed: Deed,
    where: Where,
    *,
    hint: str = "",
    in_json: bool = False,
) -> None:
    """Does a deed, and says what was done.

    Args:
        hint: what can be done next.
        in_json: prints what the API answers instead.
    """
    (told,) = do([deed], where, in_json=in_json)
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
            words = gettext(
                "%(done)s of %(all)s done before that, the last at %(said)s",
                done=len(told),
                all=len(deeds),
                said=told[-1].said,
            )
            click.echo(words, err=True)
        raise
    return told


def _do_there(there: RemoteArena, deed: Deed) -> Told:
    method, path = deed.address.split()
    values = fields_of(deed)
    address = re.sub(r"<(?:\w+:)?(\w+)>", lambda at: quote(str(values.pop(at[1])), safe=""), path)
    answer = there.send(method, address, values)
    if not isinstance(answer, dict):
        raise ServerFault(
            gettext(
                "%(server)s does not say what was done: is that an arena?", server=there.address
            )
        )
    told = str(answer.get("said", gettext("done")))
    return Told(f"{there.address}: {visible(told)}", answer)


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

    def call(where: Where, in_json: bool, **given: Any) -> None:
        do_one(made(deed, **said(given)), where, in_json=in_json)

    takes = options(deed, *arguments, **kinds)(on_arena(as_json(call)))
    words_of_help = f"{deed.words()}\n\nExample: arena {' '.join(path)} {deed.example}"
    return click.command(path[-1], help=words_of_help)(takes)


def said(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of what `options` takes; what was not is the deed's own default."""
    return {key: one for key, one in given.items() if one is not None}


def options(
    deed: type[Deed], *arguments: str, but: Collection[str] = (), **kinds: click.ParamType[Any]
) -> Callable[[F], F]:
    """Has a command take what a deed asks for, with the deed's words and limits.

    Args:
        arguments: the fields that are arguments, in their order; all others are options.
        but: the fields that the command takes in a way of its own.
        kinds: how arguments of a name are read, where that is not plain.
    """
    parts = {part.name: part for part in deed.parts() if part.name not in but}
    decorators = [
        *(_argument(parts[name], deed.address, kinds.get(name)) for name in arguments),
        *(_option(part, deed.address) for name, part in parts.items() if name not in arguments),
    ]

    def add(command: F) -> F:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return add


class Names(click.ParamType[tuple[str, ...]]):
    """Several names, with commas between them; none, where nothing is written."""

    name = "a,b"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        words = str(value).strip()
        return tuple(bot_names.apart(words))


class Pairs(click.ParamType[dict[str, str]]):
    """Texts by their names, with commas between them."""

    name = "key=value,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        if isinstance(value, dict):
            return value
        found = {}
        for pair in filter(None, map(str.strip, str(value).split(","))):
            key, equals, text = pair.partition("=")
            if not equals:
                self.fail(gettext("%(text)r is no KEY=VALUE", text=pair), param, ctx)
            found[key] = text
        return found


def _argument(part: Part, address: str, kind: Any = None) -> Callable[[F], F]:
    many = part.kind is tuple
    if kind is None:
        is_name = part.in_address and part.kind is str
        kind = Name(address.split("/")[1]) if is_name else KINDS[part.kind]
    return click.argument(
        part.name,
        type=kind,
        nargs=-1 if many else 1,
        required=part.needed,
        shell_complete=of_part(part.name, address),
    )


def _type(part: Part) -> Any:
    """How an option is read, by its field's plain type and bounds."""
    bounds: Any = part.limits.least, part.limits.most
    if part.kind in (int, float) and bounds != (None, None):
        return click.IntRange(*bounds) if part.kind is int else click.FloatRange(*bounds)
    if part.kind is Mapping:
        return Pairs()
    return Names() if part.kind is tuple else KINDS[part.kind]


def _option(part: Part, address: str) -> Callable[[F], F]:
    name, its = f"--{part.name.replace('_', '-')}", part.limits
    usual = f"; by default {part.default}" if part.default and not part.needed else ""
    about: dict[str, Any] = {"help": f"{its.words}{usual}.", "required": part.needed}
    if part.kind is bool:
        name += f"/--no-{name[2:]}" if part.needed else ""
        about |= {"is_flag": True}
    elif its.choices:
        about |= {"type": click.Choice(its.choices)}
    else:
        about |= {"type": _type(part), "shell_complete": of_part(part.name, address)}
    return click.option(name, part.name, **about)
