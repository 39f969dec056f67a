"""Every setting of the arena, read once from the environment (ARENA_*)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


class SettingError(ValueError):
    """A setting that can't be used; one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Each is read from the variable ARENA_ and its name in capitals."""

    data: Path = field(
        default=Path("var"), metadata={"doc": "The data folder: database, bundles, broker, logs."}
    )
    database: str = field(
        default="", metadata={"doc": "The database's URL; by default SQLite in the data folder."}
    )
    broker: str = field(
        default="",
        metadata={"doc": "The broker's URL; by default an embedded one in the data folder."},
    )
    host: str = field(default="127.0.0.1", metadata={"doc": "The address the pages are served on."})
    port: int = field(default=8000, metadata={"doc": "The port the pages are served on."})
    workers: int = field(
        default=0, metadata={"doc": "Matches played at the same time here; 0 means one a core."}
    )
    minimum_isolation: str = field(
        default="good",
        metadata={
            "doc": "The weakest box in which an uploaded bot is run: full, good, reduced or none."
        },
    )
    lease_seconds: float = field(
        default=30.0, metadata={"doc": "How long a match may go without a sign of its worker."}
    )
    take_up_seconds: float = field(
        default=60.0, metadata={"doc": "How long an issued match may wait for a worker."}
    )
    tick_seconds: float = field(
        default=2.0, metadata={"doc": "How often matches are made, issued and rolled back."}
    )

    @property
    def database_url(self) -> str:
        """The database's URL, the embedded one included."""
        return self.database or f"sqlite:///{self.data.resolve()}/arena.db"

    @property
    def embedded(self) -> bool:
        """Whether broker and workers belong to this arena alone, and begin and end with it."""
        return not self.broker or self.broker.startswith("redis+socket:")

    @property
    def bundles(self) -> Path:
        """Where bundles are kept, by digest."""
        return self.data.resolve() / "bundles"


def load(environment: Mapping[str, str] = os.environ, **given: Any) -> Settings:
    """The settings of the environment, those ``given`` before it.

    Raises:
        SettingError: a value that is none of its type.
    """
    values: dict[str, Any] = {}
    defaults = Settings()
    for known in fields(Settings):
        name = f"ARENA_{known.name.upper()}"
        if given.get(known.name) is not None:
            values[known.name] = given[known.name]
        elif name in environment:
            kind = type(getattr(defaults, known.name))
            if issubclass(kind, Path):
                kind = Path
            try:
                values[known.name] = kind(environment[name])
            except ValueError:
                raise SettingError(
                    f"{name}={environment[name]!r} can't be read as {kind.__name__}"
                ) from None
    return Settings(**values)
