"""Operations on dumps."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from flask import url_for
from pydantic import Field

from arena.dumps.kept import KeptDump
from arena.web import dumps
from arena.web.api.shapes import Name, Shape
from arena.web.api.specification import operation

TAG = "dumps"


class DumpFileShape(Shape):
    """A file of a dump."""

    name: str = Field(description="Within the dump, as games/part-00001.parquet.")
    size: int = Field(description="Bytes.")
    address: str = Field(description="Where it is on this server; it can be asked for by Range.")


class DumpShape(Shape):
    """All games as tables of Parquet, as of one moment."""

    name: Annotated[str, Field(description="The day that it was made for, by UTC.")]
    made: datetime = Field(description="The moment that it is of.")
    games: int
    plies: int
    size: int = Field(description="Bytes of all its files.")
    licence: str = Field(description="How its games may be used; empty if nobody says.")


class WholeDumpShape(DumpShape):
    """A dump with its files."""

    files: list[DumpFileShape]

    @classmethod
    def of_dump(cls, dump: KeptDump) -> WholeDumpShape:
        """The shape of a dump with its files."""
        files = [
            DumpFileShape(
                name=one.name,
                size=one.size,
                address=url_for("dumps.file", name=dump.name, path=one.name),
            )
            for one in dump.files
        ]
        return cls.of(dump, files=files)


class DumpList(Shape):
    """The dumps that are kept, the newest first: few, so that there are no pages of them."""

    items: list[DumpShape]


@operation("GET /dumps", DumpList, tag=TAG)
def list_dumps() -> DumpList:
    """The dumps of all games that are kept here, the newest first."""
    return DumpList(items=[DumpShape.of(dump) for dump in dumps.offered()])


@operation("GET /dumps/<name>", WholeDumpShape, tag=TAG)
def get_dump(name: Name) -> WholeDumpShape:
    """A dump with its files."""
    return WholeDumpShape.of_dump(dumps.find(name))
