"""What the API tells of runtimes."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from arena.web.api.shapes import List, Shape


class PackageShape(Shape):
    """A package of a runtime."""

    name: str
    version: str
    licence: str = Field(description="As its authors say it; empty if they don't.")


class RuntimeShape(Shape):
    """A runtime that bots may name."""

    name: str
    digest: str = Field(description="SHA-256 of its file.")
    size: int = Field(description="Bytes of its file.")
    kind: str = Field(description="python or node.")
    interpreter: str
    language: str = Field(description="That of the bots it is for.")
    platform: str = Field(description="What a worker must be that keeps it.")
    packages: list[PackageShape]
    start_seconds: float = Field(description="How long its bots may take until they are ready.")
    created: datetime


class RuntimeList(List):
    items: list[RuntimeShape]
