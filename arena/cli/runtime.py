"""The command runtime: packages for bots, made, listed, fetched, and offered no longer."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import runtimes
from arena.cli import InputError, deeds, home_runtimes, refusing
from arena.cli.client import Name, Where, need_server, on_arena, on_server
from arena.cli.data_folder import opened
from arena.cli.listing import show
from arena.cli.options import NamedPath, as_json, on_data
from arena.cli.progress_bar import ProgressBar
from arena.cli.reading import read_all, told
from arena.ground.config import Settings
from arena.models import Runtime
from arena.web.api.runtime_shapes import RuntimeShape
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext, pgettext
from workers import runtime_files
from workers.box_folder import BoxFolder
from workers.bundles import GIVEN_UP_SECONDS, sweep_store
from workers.languages import LanguageError
from workers.large_files import UNFINISHED
from workers.manifest import RUNTIME_NAME
from workers.program import BoxError
from workers.runtime_making import make, read_wanted
from workers.runtimes import NoRuntimeError, platforms_here
from workers.sandbox import Sandbox

MAKING = ".making-"
"""How the names of folders begin in which a runtime is made, which may take long."""
MIB = 1 << 20


@click.group()
def runtime() -> None:
    """Packages beside the standard library, which a bot asks for by a name in its bot.toml."""


@runtime.command("add")
@click.argument("name")
@click.argument("packages", nargs=-1)
@click.option("--node", is_flag=True, help="Packages for Node; by default for Python.")
@click.option(
    "--python",
    "own",
    type=NamedPath(exists=True, dir_okay=False, path_type=Path),
    help="A Python that it is to have for its own, in place of the system's.",
)
@click.option(
    "--lock",
    "lock_file",
    type=NamedPath(exists=True, dir_okay=False, path_type=Path),
    help="Just what this lock says, in place of packages.",
)
@on_data
@as_json
def add_command(
    name: str,
    packages: tuple[str, ...],
    node: bool,
    own: Path | None,
    lock_file: Path | None,
    data: Path | None,
    in_json: bool,
) -> None:
    """Make a runtime on the arena's machine, and offer it to bots.

    PACKAGES are names as pip or npm takes them, each as NAME, NAME==VERSION, or in quotes with an
    index of its own, as "torch --index cpu" (see ARENA_INDEXES). Only packages that need no
    building are taken, and nothing of them is run but in a box. A runtime that is offered by this
    name already is offered no longer, and stays with the bots that have it.

    \b
    Examples:
      arena runtime add scientific numpy onnxruntime
      arena runtime add torch "torch --index cpu" numpy
      arena runtime add chess --node chess.js
    """
    if not RUNTIME_NAME.fullmatch(name):
        raise InputError(
            gettext(
                "%(name)r is no name for a runtime: up to 40 small letters, digits, '.' and '-'",
                name=name[:60],
            )
        )
    if bool(packages) == bool(lock_file):
        raise InputError(gettext("name packages, or give a lock by --lock"))
    if node and own:
        raise InputError(gettext("--python is for packages of Python: leave out --node"))
    kind = "node" if node else "python"
    with opened(data) as (database, settings), refusing(NoRuntimeError, LanguageError, BoxError):
        named = dict(one.split("=", 1) for one in settings.indexes.split(",") if one)
        wanted = read_wanted(packages, named)
        lock = lock_file.read_text(encoding="utf-8") if lock_file else None
        box = Sandbox("reduced")
        with _unfinished(settings) as (file, path), _work_folder() as folder:
            made = make(folder, box, wanted, kind=kind, python=own, lock=lock, tell=_say)
            _say(gettext("packing it"))
            digest, size = runtime_files.pack(folder, file)
            file.flush()
            os.fsync(file.fileno())
            path.replace(settings.runtimes / digest)
        card = made.card

        def offer(session: Session) -> dict[str, object]:
            found = runtimes.add(
                session,
                name,
                digest,
                size,
                card.to_json(),
                card.language.name,
                datetime.now(UTC),
                audit.operator(),
            )
            runtimes.sweep(session, settings)
            return RuntimeShape.of(found).model_dump(mode="json")

        found = database.run(offer)
    if in_json:
        click.echo(json.dumps(found))
        return
    many = counted(len(card.packages), "package")
    click.echo(
        gettext(
            "the runtime %(name)s is there: %(interpreter)s, %(packages)s, %(size)s MiB, digest "
            "%(digest)s; a bot may take %(seconds)s s until it is ready",
            name=name,
            interpreter=card.interpreter,
            packages=many,
            size=f"{size / MIB:.0f}",
            digest=digest[:12],
            seconds=f"{card.start_seconds:.0f}",
        )
    )


def _say(text: str) -> None:
    click.echo(visible(text), err=True)


@contextmanager
def _unfinished(settings: Settings) -> Iterator[tuple[BinaryIO, Path]]:
    """A file beside the runtimes that is gone at the end, unless it got its name."""
    settings.runtimes.mkdir(parents=True, exist_ok=True, mode=0o700)
    sweep_store(settings.runtimes)
    handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=settings.runtimes)
    path = Path(name)
    try:
        with open(handle, "wb") as file:
            yield file, path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _work_folder() -> Iterator[Path]:
    """A new folder that the user of a bot can reach."""
    place = BoxFolder().open("runtimes")
    for left in place.glob(f"{MAKING}*"):
        if left.stat().st_mtime < time.time() - GIVEN_UP_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=MAKING, dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@runtime.command("list")
@on_arena
@as_json
def list_command(where: Where, in_json: bool) -> None:
    """List the runtimes that are offered, the last added first.

    Example: arena runtime list
    """
    query = sa.select(Runtime).where(Runtime.withdrawn.is_(None)).order_by(Runtime.id.desc())
    found = read_all(where, "/runtimes", RuntimeShape, lambda session: session.scalars(query))
    show(
        found,
        (
            *(N_("name"), N_("interpreter"), N_("packages"), N_("size")),
            *(N_("platform"), N_("digest")),
        ),
        in_json,
        cells=lambda one: {
            "packages": str(len(one["packages"])),
            "size": f"{one['size'] / MIB:.0f} MiB",
            "digest": one["digest"][:12],
        },
    )


@runtime.command("show")
@click.argument("name", type=Name("runtimes"))
@click.option("--lock", is_flag=True, help="Print its lock alone.")
@on_arena
@as_json
def show_command(name: str, lock: bool, where: Where, in_json: bool) -> None:
    """Show what a runtime holds.

    Example: arena runtime show scientific
    """
    if lock:
        click.echo(
            told(
                where,
                lambda server: server.text(f"/runtimes/{name}/lock"),
                lambda session, _: runtimes.find(session, name).lock,
            ),
            nl=False,
        )
        return
    found = _named(where, name)
    if in_json:
        click.echo(json.dumps(found))
        return
    click.echo(
        gettext(
            "%(name)s: %(interpreter)s, %(size)s MiB, for workers of %(platform)s, digest "
            "%(digest)s",
            name=found["name"],
            interpreter=found["interpreter"],
            size=f"{found['size'] / MIB:.0f}",
            platform=found["platform"],
            digest=found["digest"],
        )
    )
    show(found["packages"], (N_("name"), N_("version"), N_("licence")), False)


def _named(where: Where, name: str) -> Any:
    rows = read_all(
        where, "/runtimes", RuntimeShape, lambda session: [runtimes.find(session, name)]
    )
    found = next((one for one in rows if one["name"] == name), None)
    if found is None:
        known = ", ".join(sorted(one["name"] for one in rows)) or pgettext("runtimes", "none")
        raise InputError(
            gettext(
                "there is no runtime %(name)r there; there are: %(known)s",
                name=name[:60],
                known=known,
            )
        )
    return found


@runtime.command("fetch")
@click.argument("name", type=Name("runtimes"))
@on_server
def fetch_command(name: str, server: str | None) -> None:
    """Get a runtime of an arena, for arena play, check and test on this machine.

    Example: arena runtime fetch scientific --server https://arena.example
    """
    there = need_server(server)
    rows = [one for one in there.all("/runtimes", limit=100) if one["name"] == name]
    if not rows:
        raise InputError(
            gettext(
                "there is no runtime %(name)r on %(address)s", name=name[:60], address=there.address
            )
        )
    (found,) = rows
    if found["platform"] not in platforms_here():
        raise InputError(
            gettext(
                "the runtime %(name)s is for %(platform)s, and this machine is %(here)s: install "
                "its packages by its lock instead",
                name=name,
                platform=found["platform"],
                here=", ".join(platforms_here()),
            )
        )
    total = int(found["size"])
    with (
        ProgressBar(gettext("fetching"), "MiB", "MiB", total=-(-total // MIB)) as bar,
        refusing(NoRuntimeError),
    ):
        home_runtimes.keep(name, found["digest"], there.parts(f"/runtimes/{name}/file"), bar)
    click.echo(
        gettext("the runtime %(name)s is here: arena play, check and test use it", name=name)
    )


deeds.add_commands(runtime)
