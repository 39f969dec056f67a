"""The command top: what an arena does at this moment, in the terminal."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any

import click
from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError

from arena.cli.arguments import Seconds
from arena.cli.client import ServerFault, Where, on_arena
from arena.cli.data_folder import opened
from arena.cli.listing import BAD, GOOD, Output
from arena.cli.options import as_json
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.operation import overview, queues
from arena.operation.broker import EmbeddedBroker
from arena.operation.health import ago
from engine.protocol import visible
from engine.translation import gettext, pgettext, translated


@click.command()
@click.option("--once", is_flag=True, help="Print it once, and end.")
@click.option(
    "--every",
    type=Seconds(0.2, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two looks.",
)
@on_arena
@as_json
def top(where: Where, once: bool, every: float, in_json: bool) -> None:
    """Show workers, matches and queues as they change; Ctrl-C ends it.

    A server shows them to organisers.

    Example: arena top --once
    """
    there = where.server()
    if there is not None:
        _follow(lambda: there.get("/overview"), once=once, every=every, in_json=in_json)
        return
    with opened(where.data) as (database, settings):
        look_here = partial(_look_here, database, settings)
        _follow(look_here, once=once, every=every, in_json=in_json)


def _look_here(database: Database, settings: Settings) -> dict[str, Any]:
    waiting = queues.look(settings.broker or EmbeddedBroker(settings.data.resolve()).url)
    with database.read() as session:
        return overview.as_json(session, settings, datetime.now(UTC), waiting)


def _follow(now: Callable[[], dict[str, Any]], *, once: bool, every: float, in_json: bool) -> None:
    found = now()
    if in_json:
        click.echo(json.dumps(found))
        return
    console = Output()
    if once or not console.is_terminal:
        console.print(picture(found))
        return
    with Live(picture(found), console=console, screen=True) as live:
        try:
            while True:
                time.sleep(every)
                live.update(_picture_now(now))
        except KeyboardInterrupt:
            return


def _picture_now(now: Callable[[], dict[str, Any]]) -> Group:
    """What the terminal shows now; of an arena that is away no more than that."""
    try:
        return picture(now())
    except ServerFault as fault:
        return Group(f"[{BAD}]{_safe(fault.message)}[/]")
    except SQLAlchemyError as error:
        problem = _safe(str(error).splitlines()[0])
        words = gettext("the database can't be read:")
        return Group(f"[{BAD}]{words}[/] {problem}")


def picture(found: Mapping[str, Any]) -> Group:
    """What the terminal shows of an arena, of which the API tells the same."""
    said = _safe(found["broker"])
    if found["queues"] is not None:
        lengths = (f"{name} {count}" for name, count in found["queues"].items())
        said = gettext("waiting: %(queues)s", queues=", ".join(lengths))
    alarms = [f"[{BAD}]{_safe(alarm['words'])}[/]" for alarm in found["alarms"]]
    jobs = found["under_way"]
    parts = _work(found), _workers(found["workers"], jobs), _jobs(jobs), _rates(found)
    return Group(*alarms, said, *chain.from_iterable(("", part) for part in parts))


def _work(found: Mapping[str, Any]) -> Table:
    work = _table(
        gettext("work"),
        *(
            pgettext("jobs", "open"),
            pgettext("jobs", "issued"),
            pgettext("jobs", "overdue"),
            pgettext("jobs", "set aside"),
        ),
    )
    for key, name in (("matches", gettext("matches")), ("checks", gettext("checks"))):
        counts = (found[key][part] for part in ("open", "issued", "overdue", "set_aside"))
        work.add_row(name, *map(str, counts))
    return work


def _workers(workers: Sequence[Mapping[str, Any]], jobs: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        *(gettext("worker"), gettext("state"), gettext("busy")),
        *(gettext("box"), gettext("last sign"), gettext("problem")),
    )
    busy = Counter(job["worker"] for job in jobs)
    for one in workers:
        state = one["state"]
        of = gettext("%(busy)s of %(slots)s", busy=busy[one["name"]], slots=one["slots"])
        colour = GOOD if state == "at work" else BAD
        words = of, one["isolation"], ago(one["silent_seconds"]), one["problem"]
        table.add_row(
            _safe(one["name"]), f"[{colour}]{_safe(translated(state))}[/]", *map(_safe, words)
        )
    return table


def _jobs(jobs: Sequence[Mapping[str, Any]]) -> Table | str:
    """A line for each slot in which something is played."""
    if not jobs:
        return gettext("nothing is under way")
    table = _table(
        *(gettext("under way"), pgettext("one that is played", "game"), gettext("ply")),
        *(gettext("bots"), pgettext("on a ladder", "on"), gettext("worker")),
    )
    for column in table.columns[3:]:
        column.no_wrap, column.overflow = True, "ellipsis"
    for job in jobs:
        numbers = ("" if job[key] is None else str(job[key]) for key in ("game", "plies"))
        names = ", ".join(job["bots"]), job["competition"], job["worker"]
        table.add_row(f"{translated(job['kind'])} {job['number']}", *numbers, *map(_safe, names))
    return table


def _rates(found: Mapping[str, Any]) -> Table | str:
    rates = found["games_a_minute"]
    if not rates:
        return gettext("no game ended in the last five minutes")
    table = _table(gettext("games a minute"), "")
    table.columns[1].justify = "right"
    table.add_row(pgettext("games", "all"), f"{sum(rates.values()):.1f}")
    for name, rate in sorted(rates.items(), key=lambda pair: -pair[1]):
        table.add_row(_safe(name), f"{rate:.1f}")
    return table


def _table(*headings: str) -> Table:
    """One without lines, so that a terminal of 80 columns has room for it."""
    return Table(*headings, box=None, padding=(0, 2, 0, 0))


def _safe(words: str) -> str:
    """What somebody wrote, as it is: neither a style nor an order to the terminal."""
    return escape(visible(str(words)))
