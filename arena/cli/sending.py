"""Sends the large files of a bot to an arena elsewhere, in parts, before the bot itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from arena.cli import InputError
from arena.cli.client import RemoteArena, ServerFault
from arena.cli.progress_bar import ProgressBar
from engine.translation import gettext
from workers.large_files import MIB, Large

PAUSES = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)
"""Seconds before each new try of a part that failed; after the last it is given up."""


def send_large_files(server: RemoteArena, files: Sequence[Large]) -> None:
    """Sends what the server has not yet of some files; what was cut goes on where it was.

    Raises:
        InputError: the server refuses one, or it can't be read, or changed while it was sent.
        ServerFault: the server can't be reached for long, or fails.
    """
    # All are begun first, so that what has no room is said before anything is sent.
    begun = [server.send("POST", "/large-files", _about(large)) for large in files]
    if all(state["received"] == state["size"] for state in begun):
        return
    total = sum(large.size for large in files)
    done = sum(state["received"] for state in begun)
    with ProgressBar(gettext("sending"), "MiB", "MiB", total=_mib(total)) as bar:
        bar.show(_mib(done))
        for large, state in zip(files, begun, strict=True):
            while state["received"] < large.size:
                before = state["received"]
                state = _send_part(server, large, state)
                done += state["received"] - before
                bar.show(_mib(done))


def _about(large: Large) -> dict[str, Any]:
    return {"digest": large.digest, "size": large.size}


def _mib(size: int) -> int:
    return -(-size // MIB)


def _send_part(server: RemoteArena, large: Large, state: dict[str, Any]) -> dict[str, Any]:
    """Sends the next part, and tells how much has come by then."""
    failed = 0
    while True:
        offset = state["received"]
        path = f"/large-files/{large.digest}"
        try:
            found: dict[str, Any] = server.send_bytes(
                "PATCH", path, _part(large, offset, state["part_bytes"]), offset=offset
            )
        except (InputError, ServerFault) as error:
            # The part may have come though its answer did not, or the server may have none of it.
            now = _state(server, large)
            if now is not None and now["received"] != offset:
                return now
            if isinstance(error, InputError):
                raise
            if failed == len(PAUSES):
                raise ServerFault(
                    gettext(
                        "%(problem)s; %(part)s of %(size)s MiB of a large file have come: do it "
                        "again to go on from there",
                        problem=error.message,
                        part=_mib(offset),
                        size=_mib(large.size),
                    )
                ) from None
            click.echo(gettext("%(problem)s; trying again", problem=error.message), err=True)
            time.sleep(PAUSES[failed])
            failed += 1
        else:
            return found


def _state(server: RemoteArena, large: Large) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = server.get(f"/large-files/{large.digest}")
    except (InputError, ServerFault):
        return None
    return found


def _part(large: Large, offset: int, most: int) -> bytes:
    assert large.path is not None
    wanted = min(most, large.size - offset)
    try:
        with large.path.open("rb") as file:
            file.seek(offset)
            found = file.read(wanted)
    except OSError as error:
        raise InputError(
            gettext(
                "%(path)s can't be read: %(reason)s",
                path=large.path,
                reason=error.strerror or error,
            )
        ) from None
    if len(found) != wanted:
        raise InputError(
            gettext("%(path)s was changed while it was sent: submit it again", path=large.path)
        )
    return found
