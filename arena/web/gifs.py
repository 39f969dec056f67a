"""Animated GIFs written frame by frame, each as what differs from the one before.

Pillow keeps all frames of an animation until it writes them, and each of them whole, which for a
game of 500 positions are 250 MB. What is taken from it is how the pixels of one frame are packed.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack

from PIL import GifImagePlugin, Image, ImageChops

COLOURS = 63
"""How many a film may have; one more stands for pixels that stay as they are."""
UNCHANGED = COLOURS
FOR_EVER = b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
KEPT = 1
"""What is shown stays beneath the next frame."""


def gif(
    size: tuple[int, int], palette: list[int], frames: Iterable[tuple[Image.Image, int]]
) -> bytes:
    """An animation that begins again at its end.

    Args:
        size: width and height.
        palette: red, green and blue of up to `COLOURS` colours, one after the other.
        frames: each as its pixels' places in the palette, in mode L, and for how many ms it stands.
    """
    colours = bytes(palette[: 3 * COLOURS]).ljust(3 * (COLOURS + 1), b"\0")
    # A colour table for all of 2 ** (5 + 1) colours.
    parts = [b"GIF89a", pack("<HHBBB", *size, 0x80 | 5, 0, 0), colours, FOR_EVER]
    shown: Image.Image | None = None
    for frame, milliseconds in frames:
        part, offset = _difference(shown, frame)
        part.putpalette(colours)
        parts += GifImagePlugin.getdata(
            part, offset, duration=milliseconds, transparency=UNCHANGED, disposal=KEPT
        )
        shown = frame
    return b"".join([*parts, b";"])


def _difference(
    shown: Image.Image | None, frame: Image.Image
) -> tuple[Image.Image, tuple[int, int]]:
    """What has to be painted over ``shown`` to have ``frame``, and where."""
    if shown is None:
        return frame.copy(), (0, 0)
    changes = ImageChops.difference(shown, frame)
    left, top, right, bottom = changes.getbbox() or (0, 0, 1, 1)
    part = frame.crop((left, top, right, bottom))
    same = changes.crop((left, top, right, bottom)).point([255, *(0,) * 255])
    part.paste(UNCHANGED, mask=same)
    return part, (left, top)
