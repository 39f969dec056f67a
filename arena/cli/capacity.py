"""How many matches at the same time this machine has room for."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from arena.cli import InputError
from arena.cli.runner import Launcher, cores
from engine.game import Variant
from engine.match import entrants_needed
from engine.plurals import counted
from engine.translation import N_, gettext, translated
from workers.users import BOT_USERS

FILES = 128
"""Open files of a run, without those of its bots."""
FILES_A_BOT = 11
"""Open files for each bot in a box, measured: pipes, errors, what watches its box, claims."""


def find_room(asked: int | None, variant: Variant, launchers: Sequence[Launcher]) -> int:
    """How many matches are played at the same time: as many as asked for, or one a core.

    The limit of open files is raised as far as that takes and the machine allows.

    Raises:
        InputError: there is no room for so many.
    """
    bots = entrants_needed(variant)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = {N_("open files"): (hard - FILES) // (FILES_A_BOT * bots)}
    if hard == resource.RLIM_INFINITY:
        room.clear()
    if os.geteuid() == 0 and any(bot.level != "none" for bot in launchers):
        # Each bot of a root's run is a user of its own.
        room[N_("users for bots")] = len(BOT_USERS) // bots
    most = max(1, min(room.values(), default=asked or cores()))
    if asked is not None and asked > most:
        short = min(room, key=lambda what: room[what])
        raise InputError(
            gettext(
                "--concurrency %(asked)s is too much: the %(short)s of this machine are enough "
                "for %(most)s at once",
                asked=asked,
                short=translated(short),
                most=counted(most, "match", "matches"),
            )
        )
    found = min(cores(), most) if asked is None else asked
    _raise_open_files(FILES + FILES_A_BOT * bots * found)
    return found


def _raise_open_files(needed: int) -> None:
    """Raises the soft limit; no further than needed, for the bots have the same."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY not in (soft, hard):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(needed, hard)), hard))
