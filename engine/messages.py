"""A message on the queue of results, as bytes: the name of a task, and what it is told.

It is written as Celery writes its own (protocol 2), so that workers of a release before are read
as well. Whoever holds a worker's login may write anything to that queue; what is read here is a
message of that one form, in which everything is of its kind, or none at all.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

LONGEST_WORD = 200
"""Characters of a task's name."""
UNKEPT = re.compile(r"[\x00\ud800-\udfff]")
"""What not every database keeps, or no page can show: nothing, and halves of characters."""
MOST_PARTS = 3_000_000
"""Commas and opening brackets of JSON, twice what a hundred games of 2,000 plies take. A message of
64 MB can have ten times as many, and whoever reads them takes most of two gigabytes."""
TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
ESCAPED_UNKEPT = re.compile(rb"\\u(0000|d[89a-f])", re.IGNORECASE)
"""How JSON begins to write one of them."""
INSTEAD = "\N{REPLACEMENT CHARACTER}"


class UnreadableError(ValueError):
    """What is no message; one sentence."""


@dataclass(frozen=True, slots=True)
class Message:
    """The name of a task, and what it is told."""

    task: str
    args: Sequence[Any]
    named: Mapping[str, Any]


def address_of(broker: str) -> str:
    """A broker's address as its client takes it, of one as Celery does."""
    return "unix:" + broker.removeprefix("redis+socket:") if "+socket:" in broker else broker


def pack(task: str, *told: Any) -> bytes:
    """A message, as it stands in the queue."""
    name = str(uuid.uuid4())
    body = json.dumps([told, {}, {}]).encode()
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {"lang": "py", "task": task, "id": name},
            "properties": {
                "body_encoding": "base64",
                "correlation_id": name,
                "delivery_tag": name,
                "delivery_info": {"exchange": "", "routing_key": ""},
            },
        }
    ).encode()


def unpack(raw: bytes) -> Message:
    """What a message says.

    Raises:
        UnreadableError: it is none.
    """
    try:
        outer = _mapping(_json(raw), "it")
        task = _mapping(outer.get("headers"), "its headers").get("task")
        if not isinstance(task, str) or len(task) > LONGEST_WORD or not task.isprintable():
            raise UnreadableError(f"{str(task)[:40]!r} is no name of a task")
        body = outer.get("body")
        if not isinstance(body, str):
            raise UnreadableError("its body is no text")
        told = _json(base64.b64decode(body, validate=True))
    except UnreadableError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"it can't be read: {str(error)[:200]}") from None
    if not isinstance(told, list) or list(map(type, told)) != [list, dict, dict]:
        raise UnreadableError("its body does not say what the task is told")
    return Message(task, told[0], told[1])


def _json(data: bytes) -> Any:
    # What a bot wrote may be full of them.
    if _parts(data) > MOST_PARTS and _parts(TEXT.sub(b"", data)) > MOST_PARTS:
        raise UnreadableError(f"it has more than {MOST_PARTS} parts")
    found = json.loads(data.decode(), parse_constant=_refuse_constant)
    return _kept(found) if ESCAPED_UNKEPT.search(data) else found


def _parts(data: bytes) -> int:
    return sum(map(data.count, (b",", b"[", b"{")))


def _kept(value: Any) -> Any:
    """A value with other characters for those that can't be kept."""
    if isinstance(value, str):
        return UNKEPT.sub(INSTEAD, value)
    if isinstance(value, list):
        return [_kept(one) for one in value]
    if isinstance(value, dict):
        return {_kept(key): _kept(one) for key, one in value.items()}
    return value


def _refuse_constant(word: str) -> NoReturn:
    raise UnreadableError(f"{word} is no number of JSON")


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnreadableError(f"{what} is no object of JSON")
    return value
