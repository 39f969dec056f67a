"""Operations on large files, which are sent in parts before the bots that have them."""

from __future__ import annotations

from typing import Annotated

from flask import request
from pydantic import BaseModel, Field

from arena.bots import sending
from arena.models import Scope
from arena.web import uploads
from arena.web.api.shapes import Number, Shape
from arena.web.api.specification import OCTETS, operation
from arena.web.identity import began, database, settings, signed_in

TAG = "submissions"
Digest = Annotated[
    str, Field(max_length=80, description="The SHA-256 of the file, in 64 hexadecimal digits.")
]


class LargeFileToSend(Shape):
    """A large file that is to be sent."""

    digest: Digest
    size: Annotated[Number, Field(description="Its bytes.")]


class LargeFileShape(Shape):
    """A large file, as far as it has come."""

    digest: str
    size: int
    received: int = Field(
        description="Bytes that have come, at which the next part begins; as many as its size only "
        "if all have come and were proven."
    )
    part_bytes: int = Field(description="The most that one part may have.")


class PartPlace(BaseModel):
    """Where a part belongs."""

    offset: Annotated[Number, Field(description="The bytes of the file before it.")]


@operation("POST /large-files", LargeFileShape, tag=TAG, scope=Scope.SUBMIT, errors=[409, 503])
def begin_file(json: LargeFileToSend) -> LargeFileShape:
    """Begins to send a large file, or goes on with one: the answer says how much has come.

    Of a file that you have sent in whole, or that is in a bot that you may read, all has come.
    """
    uploads.intake()
    uploads.sweep_if_due()
    found = sending.begin(
        database(),
        settings().bundles,
        signed_in().id,
        json.digest,
        json.size,
        most_stored=settings().quota_bytes,
        now=began(),
    )
    return _told(found)


@operation("GET /large-files/<digest>", LargeFileShape, tag=TAG, scope=Scope.SUBMIT)
def get_file(digest: str) -> LargeFileShape:
    """How much has come of a large file that you send."""
    return _told(sending.look(database(), settings().bundles, signed_in().id, digest))


@operation(
    "PATCH /large-files/<digest>",
    LargeFileShape,
    tag=TAG,
    scope=Scope.SUBMIT,
    errors=[409, 413, 503],
    takes=OCTETS,
)
def send_part(digest: str, query: PartPlace) -> LargeFileShape:
    """Sends the next part of a large file, as the body of the request.

    After the last one it is proven by its digest. What is refused is not kept, so that one asks
    how much has come, and goes on from there.
    """
    uploads.intake()
    found = sending.receive(
        database(),
        settings().bundles,
        signed_in().id,
        digest,
        query.offset,
        request.content_length or 0,
        request.stream,
        began(),
    )
    return _told(found)


def _told(found: sending.Received) -> LargeFileShape:
    return LargeFileShape(
        digest=found.digest,
        size=found.size,
        received=found.received,
        part_bytes=sending.PART_BYTES,
    )
