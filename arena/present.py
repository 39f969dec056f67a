"""What holds at present, whatever was so as a process started: settings that were changed while the
arena runs, and maintenance.

A process asks each time it needs one of these. What it read is good for `GOOD_SECONDS`, so that all
processes go by a change within seconds, and none asks the database for each page.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.config import CHANGEABLE, SettingError, Settings, value_of
from arena.ground.db import FAILED, Database
from arena.ground.refusals import UnderMaintenance
from arena.models import ChangedSetting, Mark
from engine.translation import gettext

GOOD_SECONDS = 1.0
MARK = "maintenance"

log = logging.getLogger("arena.present")


def changes_of(session: Session) -> Mapping[str, Any]:
    """The settings that were changed, by their names, in the place of the environment's.

    What another release has stored and this one does not allow is passed over.
    """
    found: dict[str, Any] = {}
    for name, text in session.execute(sa.select(ChangedSetting.name, ChangedSetting.value)):
        if name in CHANGEABLE:
            try:
                found[name] = value_of(name, text)
            except SettingError as error:
                log.warning("the environment's setting holds: %s", error)
    return found


def present_settings(session: Session, settings: Settings) -> Settings:
    """The settings that hold now.

    Args:
        settings: the environment's.
    """
    return replace(settings, **changes_of(session))


@dataclass(frozen=True, slots=True)
class Maintenance:
    """A time in which nothing is changed, and nothing is begun."""

    since: datetime
    by: str
    """The name of who began it."""
    words: str
    """What visitors are told beside; may be empty."""

    def as_json(self) -> dict[str, str]:
        """Tells it as JSON's types."""
        return {"since": self.since.isoformat(), "by": self.by, "words": self.words}


def maintenance(session: Session) -> Maintenance | None:
    """The maintenance that is under way, if one is."""
    mark = session.get(Mark, MARK, populate_existing=True)
    if mark is None:
        return None
    told = json.loads(mark.value)
    return Maintenance(datetime.fromisoformat(told["since"]), told["by"], told["words"])


def demand_no_maintenance(found: Maintenance | None) -> None:
    """Refuses to change anything during maintenance.

    Raises:
        UnderMaintenance: it is under way.
    """
    if found is not None:
        words = gettext(
            "the arena is under maintenance, so nothing can be changed: try again later"
        )
        raise UnderMaintenance(f"{words} ({found.words})" if found.words else words)


def note_maintenance(session: Session, found: Maintenance | None) -> None:
    """Keeps that maintenance is under way, or that none is."""
    if found is None:
        session.execute(sa.delete(Mark).where(Mark.key == MARK))
    else:
        session.merge(Mark(key=MARK, value=json.dumps(found.as_json())))


@dataclass(frozen=True, slots=True)
class Present:
    """What holds at a moment."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    """What settings were changed to, by their names."""
    maintenance: Maintenance | None = None

    def settings(self, own: Settings) -> Settings:
        """The settings that hold, by the environment's."""
        return replace(own, **self.changes) if self.changes else own


class Watch:
    """What holds at present, for one process; it is read anew when it is no longer good."""

    def __init__(self, database: Callable[[], Database]) -> None:
        """Begins with nothing read.

        Args:
            database: gives the process's, as it is asked.
        """
        self._database, self._found = database, Present()
        self.until = 0.0
        """The monotonic clock's time until which what was read is good."""

    @property
    def known(self) -> Present:
        """What held when that was last read."""
        return self._found

    def now(self) -> Present:
        """What holds now; as long as the database is away, what held before."""
        # Of several threads that come at once each may read: they find the same.
        if time.monotonic() >= self.until:
            try:
                with self._database().read() as session:
                    self._found = Present(changes_of(session), maintenance(session))
            except FAILED as error:
                log.warning("what holds now can't be read: %s", str(error).splitlines()[0])
            self.until = time.monotonic() + GOOD_SECONDS
        return self._found

    def forget(self) -> None:
        """Has it read anew the next time, since this process may have changed it."""
        self.until = 0.0
