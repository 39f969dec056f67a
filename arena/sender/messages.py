"""What a hook is sent: an object of JSON, or what Discord shows, signed as Standard Webhooks are.

The convention (https://www.standardwebhooks.com): three headers name the message, when it was
sent, and an HMAC-SHA256 of both and the body by the hook's secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from arena.ground.catalogues import translation
from arena.models import Delivery, HookFormat
from arena.models.notifications import HOOK_SECRET_PREFIX
from arena.people.notifications import text_of
from engine.translation import ENGLISH, N_, gettext, speaking

VERSION = 1
"""The version of the objects that hooks are sent; docs/notifications.md has it."""
TEST = N_("This is a test of the hook %(number)s of %(name)s")
_MARKED = re.compile(r"([\\`*_~|>\[\]()#-])")


def body_of(delivery: Delivery, site: str) -> bytes:
    """What is sent: the same each time that it is tried.

    Args:
        site: where people reach the pages.
    """
    if delivery.hook.format is HookFormat.DISCORD:
        return _packed(_for_discord(delivery, site))
    told = delivery.notification
    with speaking(ENGLISH):
        text = _text(delivery)
    data: dict[str, Any] = {"text": text, "url": site + _path(delivery)}
    if told is not None:
        data |= {"id": told.id, "message": told.message, "places": told.places}
    sent = {
        "type": told.topic if told else "test",
        "version": VERSION,
        "timestamp": (told.at if told else delivery.created).isoformat(),
        "data": data,
    }
    return _packed(sent)


def headers_of(delivery: Delivery, body: bytes, now: datetime) -> Mapping[str, str]:
    """The headers of a try, the signature among them."""
    named = f"{delivery.id}-{int(delivery.created.timestamp())}"
    moment = str(int(now.timestamp()))
    return {
        "Content-Type": "application/json",
        "User-Agent": f"game-bot-arena-hook/{VERSION}",
        "webhook-id": named,
        "webhook-timestamp": moment,
        "webhook-signature": signature(delivery.hook.secret, named, moment, body),
    }


def signature(secret: str, named: str, moment: str, body: bytes) -> str:
    """What proves that a message is ours.

    Args:
        secret: the hook's, with its prefix.
        named: the message's id.
        moment: when it was sent, in seconds since 1970.
    """
    key = base64.b64decode(secret.removeprefix(HOOK_SECRET_PREFIX))
    signed = hmac.digest(key, f"{named}.{moment}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(signed).decode()}"


def _packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _text(delivery: Delivery) -> str:
    if delivery.notification is not None:
        return text_of(delivery.notification)
    return gettext(TEST, number=delivery.hook_id, name=delivery.hook.user.name)


def _path(delivery: Delivery) -> str:
    return delivery.notification.address if delivery.notification else "/notifications"


def _for_discord(delivery: Delivery, site: str) -> dict[str, Any]:
    """A message that mentions nobody, with nothing in it that Discord would take for its marks."""
    with speaking(translation(delivery.hook.user.language or ENGLISH.language)):
        text = _MARKED.sub(r"\\\1", _text(delivery))
    return {
        "content": f"{text[:1500]}\n<{site}{_path(delivery)}>",
        "allowed_mentions": {"parse": []},
    }
