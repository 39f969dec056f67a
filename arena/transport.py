"""How the recorder reads the queue of results: plain messages, and nothing else.

Whoever holds a worker's login may write anything to that queue. What the libraries below can't read
ends a Celery worker; and what they can may hold more than a message needs: it may be packed so that
it fills the memory when it is unpacked, be meant for the year 9999, or answer to another queue. So
each is made anew here of what a message of ours has, and what has less is dropped.
"""

from __future__ import annotations

import logging
import secrets
from datetime import UTC, datetime
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis, virtual

from engine.jobs import RESULTS_QUEUE

LONGEST_WORD = 200
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What comes of reading anything as a message."""

log = logging.getLogger("arena.recorder")


def use() -> None:
    """Has every connection of this process read so."""
    TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), f"{__name__}:Transport"))


def plain(payload: Any) -> dict[str, Any]:
    """A message as Celery wrote it, made anew of what it needs.

    Raises:
        LookupError, TypeError, ValueError and others of `UNREADABLE`: it is none.
    """
    told = payload["headers"]
    headers = {"task": _word(told["task"]), "id": _word(told["id"]), "lang": "py"}
    if told.get("expires") is not None:
        headers["expires"] = datetime.fromisoformat(told["expires"]).astimezone(UTC).isoformat()
    if not isinstance(payload["body"], str):
        raise TypeError("its body is no text")
    return {
        "body": payload["body"],
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": headers,
        "properties": {
            "body_encoding": "base64",
            "correlation_id": headers["id"],
            "delivery_tag": secrets.token_hex(16),
            "delivery_info": {"exchange": "", "routing_key": RESULTS_QUEUE},
        },
    }


def _word(text: Any) -> str:
    if not isinstance(text, str) or len(text) > LONGEST_WORD or not text.isprintable():
        raise ValueError(f"{str(text)[:40]!r} is no name")
    return text


class Message(virtual.Message):
    """A message that is plain."""

    def __init__(self, payload: Any, channel: Any = None, **more: Any) -> None:
        super().__init__(plain(payload), channel=channel, **more)


class Channel(redis.Channel):
    """A channel on which what is no message is dropped."""

    Message = Message

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except UNREADABLE as error:
            log.warning("what is no message was dropped: %.200r", error)
            return True


class Transport(redis.Transport):
    """The transport of such channels."""

    Channel = Channel
