"""Bots' pictures: what somebody sends is read within bounds and drawn anew, small, so that nothing
of what was sent is kept or served.
"""

from __future__ import annotations

import hashlib
import io

import sqlalchemy as sa
from PIL import Image, ImageOps
from sqlalchemy.orm import Session

from arena.ground.refusals import Refusal
from arena.models import Bot, Picture
from engine.translation import gettext

FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
MOST_SENT = 2 * 1024 * 1024
"""Bytes of what may be sent."""
MOST_PIXELS = 16_000_000
"""The most that a picture that is sent may have: as many as a camera's."""
SIDE = 160
"""Pixels of the longer side of what is kept."""
MOST_KEPT = 20_000
"""Bytes of what is kept."""
QUALITIES = (85, 70, 50, 30, 10)
"""One after the other, until it is small enough."""


def drawn_anew(sent: bytes) -> bytes:
    """A small WebP file of what somebody sent.

    Raises:
        Refusal: it is no picture, or one that is too large.
    """
    if len(sent) > MOST_SENT:
        most = f"{MOST_SENT / 2**20:g} MiB"
        raise Refusal(gettext("give a picture of at most %(most)s", most=most))
    try:
        image = Image.open(io.BytesIO(sent), formats=FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise Refusal(
                gettext(
                    "the picture has %(width)s by %(height)s pixels, which is too many",
                    width=image.width,
                    height=image.height,
                )
            )
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        image.load()
        upright = ImageOps.exif_transpose(image).convert("RGBA")
    except Refusal:
        raise
    except Exception:
        raise Refusal(
            gettext("this is no picture in PNG, JPEG, WebP or GIF, or a damaged one")
        ) from None
    upright.thumbnail((SIDE, SIDE))
    for quality in QUALITIES:
        file = io.BytesIO()
        upright.save(file, "WEBP", quality=quality, method=6)
        if len(file.getvalue()) <= MOST_KEPT:
            break
    return file.getvalue()


def give(session: Session, bot: Bot, content: bytes | None) -> None:
    """Gives a bot a picture, or takes away the one it has; that goes with the last bot that has it.

    Args:
        content: of a WebP file, as it is kept.
    """
    before = bot.picture
    if content is None:
        bot.picture = None
    else:
        bot.picture = hashlib.sha256(content).hexdigest()
        if session.get(Picture, bot.picture) is None:
            session.add(Picture(digest=bot.picture, content=content))
    session.flush()
    if before and not session.scalar(sa.select(sa.exists().where(Bot.picture == before))):
        session.execute(sa.delete(Picture).where(Picture.digest == before))
