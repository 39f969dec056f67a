"""The command run: one process of an arena in the foreground, for a service manager."""

from __future__ import annotations

import os

import click

from arena.cli import InputError, refusing
from arena.ground.config import SettingError, Settings, load
from arena.operation import processes
from engine.translation import gettext


class Process(click.Choice[str]):
    """What of an arena can be run by itself; one that is gone is told so."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "beat":
            # Until the release before there was one.
            self.fail(
                gettext("there is no beat any more, the recorder ticks by itself: stop it"),
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


@click.command()
@click.argument("process", type=Process([*processes.OF_THE_ARENA, "worker", "home"]))
def run(process: str) -> None:
    """Run one process of an arena that is spread over several.

    Everything is taken from the environment (ARENA_*): prepare, web, recorder, live and
    sender need ARENA_DATABASE, and all but prepare and sender need ARENA_BROKER, such as
    redis://worker:PASSWORD@host.
    A worker needs no more than the broker. Live, which tells who watches of matches under way, and
    home, the worker of bots at home, share a folder with the pages (ARENA_LIVE and ARENA_HOME, or
    ARENA_DATA).

    Example: arena run worker
    """
    with refusing(SettingError):
        settings = load()
    if process in processes.OF_THE_ARENA and not settings.database:
        raise InputError(gettext("say where the database is, with ARENA_DATABASE"))
    if process not in ("prepare", "sender") and not settings.broker:
        raise InputError(gettext("say where the broker is, with ARENA_BROKER"))
    command = command_of(process, settings)
    own = settings.without_secrets if process in ("worker", "home") else settings
    told = {**os.environ, **own.environment()}
    if process == "home":
        told |= processes.home_environment(settings)
    os.execve(command[0], command, told)  # noqa: S606


def command_of(process: str, settings: Settings) -> list[str]:
    """The command of a process of these settings."""
    if process == "worker":
        return processes.worker(settings.workers or len(os.sched_getaffinity(0)))
    return processes.home_worker() if process == "home" else processes.OF_THE_ARENA[process]()
