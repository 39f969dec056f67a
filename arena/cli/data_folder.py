"""The arena of a data folder, as commands find it, read it and change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError, refusing
from arena.ground.config import SettingError, Settings, load
from arena.ground.db import FAILED, Database, SchemaError, database_time, unusable
from arena.ground.refusals import Refusal
from engine.translation import gettext


@contextmanager
def opened(data: Path | None, *, new: bool = False) -> Iterator[tuple[Database, Settings]]:
    """The database of a data folder's arena.

    Args:
        new: makes one where there is none.

    Raises:
        InputError: there is none, or it can't be used, at first or while it is used; or what is
            asked of it is refused.
    """
    with ExitStack() as ends:
        try:
            settings = load(data=data)
            if new:
                settings.data.mkdir(parents=True, exist_ok=True)
            elif not settings.database and not (settings.data / "arena.db").exists():
                raise InputError(
                    gettext(
                        "there is no arena in %(folder)s: start one with arena up, or name its "
                        "folder with --data",
                        folder=settings.data,
                    )
                )
            database = Database(settings.database_url, cold=settings.cold_store)
            ends.callback(database.close)
            if new:
                database.upgrade()
            else:
                # An arena of another release may be at work on it: only its start changes that.
                database.demand_schema()
        except (SettingError, SchemaError) as error:
            raise InputError(str(error)) from None
        except sa.exc.SQLAlchemyError as error:
            raise InputError(unusable(error)) from None
        except OSError as error:
            raise InputError(
                gettext(
                    "can't use %(name)s: %(reason)s",
                    name=error.filename,
                    reason=error.strerror,
                )
            ) from None
        try:
            with refusing(Refusal):
                yield database, settings
        except FAILED as error:
            # It went away meanwhile, its disk is full, or somebody else writes for too long.
            raise InputError(unusable(error)) from None


@contextmanager
def changing(data: Path | None) -> Iterator[tuple[Session, datetime]]:
    """A transaction on the arena of a data folder, and its moment; errors as for `opened`."""
    with opened(data) as (database, _), database.begin() as session:
        yield session, database_time(session)
