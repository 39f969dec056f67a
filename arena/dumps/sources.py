"""Where the games of a dump come from, if that is a database."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from arena.ground.config import Settings
from arena.ground.db import Database
from arena.lists.exported import lines
from arena.lists.filters import GameFilter
from arena.lists.parts import look_up
from arena.lists.settled import settled
from arena.models import PlayedGame
from arena.present import present_settings
from arena.sight import EVERYTHING, Reader, SeenBy
from arena.signing import arena_id


class OfArena:
    """The games of an arena that a filter wants."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        wanted: GameFilter,
        reader: Reader = EVERYTHING,
    ) -> None:
        """
        Args:
            reader: who is to have them.

        Raises:
            NotThere: the filter names what is not there.
        """
        self._database, self._wanted = SeenBy(database, reader), wanted
        with self._database.read() as session:
            look_up(session, wanted)
        self.arena = settings.public_url or database.run(arena_id)
        with database.read() as session:
            self.licence = present_settings(session, settings).licence

    def newest(self) -> int:
        """The number of the last game there is; 0 if there is none."""
        with self._database.read() as session:
            return min(settled(session), session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0)

    def lines(self, after: int) -> Iterator[bytes]:
        """Games above a number, each as a line (see `arena.lists.exported.lines`)."""
        for some in lines(self._database, self._wanted, after):
            for line in some:
                yield line + b"\n"

    def count(self, after: int) -> int | None:
        """How many those are; None of games that are narrowed down."""
        if self._wanted.words:
            return None
        of_all = sa.select(sa.func.count()).select_from(PlayedGame).where(PlayedGame.id > after)
        with self._database.read() as session:
            return session.scalar(of_all)
