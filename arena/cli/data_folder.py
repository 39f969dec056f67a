"""The arena of a data folder, as commands find it, read it and change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError
from arena.ground.config import SettingError, Settings, load
from arena.ground.db import FAILED, Database, SchemaError, unusable
from arena.models import Ladder
from arena.web import queries

F = TypeVar("F", bound=Callable[..., Any])


def as_json(command: F) -> F:
    """Adds the option that asks for JSON."""
    return click.option("--json", "in_json", is_flag=True, help="Print JSON.")(command)


@contextmanager
def opened(data: Path | None, *, new: bool = False) -> Iterator[tuple[Database, Settings]]:
    """The database of a data folder's arena.

    Args:
        new: makes one where there is none.

    Raises:
        InputError: there is none, or it can't be used, at first or while it is used.
    """
    with ExitStack() as ends:
        try:
            settings = load(data=data)
            if new:
                settings.data.mkdir(parents=True, exist_ok=True)
            elif not settings.database and not (settings.data / "arena.db").exists():
                raise InputError(
                    f"there is no arena in {settings.data}: start one with arena up, or name its "
                    "folder with --data"
                )
            database = Database(settings.database_url)
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
            raise InputError(f"can't use {error.filename}: {error.strerror}") from None
        try:
            yield database, settings
        except FAILED as error:
            # It went away meanwhile, its disk is full, or somebody else writes for too long.
            raise InputError(unusable(error)) from None


@contextmanager
def changing(
    data: Path | None, *, refusals: tuple[type[Exception], ...]
) -> Iterator[tuple[Session, datetime]]:
    """A transaction on the arena of a data folder, and its moment.

    Args:
        refusals: how it is said that something can't be done, which is wrong usage.
    """
    try:
        with opened(data) as (database, _), database.begin() as session:
            yield session, datetime.now(UTC)
    except refusals as error:
        raise InputError(str(error)) from None


def find_ladder(session: Session, name: str) -> Ladder:
    """The ladder of this name.

    Raises:
        InputError: there is none; it lists those there are.
    """
    ladder = session.scalar(sa.select(Ladder).where(Ladder.name == name))
    if ladder is None:
        names = ", ".join(known.name for known in queries.ladders(session))
        raise InputError(f"there is no ladder {name!r}; there are: {names or 'none'}")
    return ladder
