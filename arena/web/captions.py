"""What stands beneath the board in a picture of a game: who plays, and what is said of a ply.

A picture is seen where nothing else tells of its game: in a message, in a forum, on another page.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

from arena.ground.texts import cut
from arena.web.rasters import FONT
from arena.web.words import outcome, paints_of
from engine.colours import FILL, GROUND
from engine.protocol import visible
from engine.record import GameRecord

LETTERS, LINE, MARGIN = 13, 19, 8
"""How high letters are, how far lines are apart, and what is left around them, in pixels of a
picture that is `NARROWEST` wide; a wider one has larger ones."""
NARROWEST = 400
COLUMNS = 47
"""Letters in a line."""
STATUS_LINES = 2
"""The most that a move, or the result, has."""


class Captions:
    """The words of one game, to be pasted beneath its board, all as wide as the picture."""

    def __init__(self, record: GameRecord, *, width: int, notes: Sequence[str] = ()) -> None:
        """
        Args:
            width: in pixels.
            notes: what else is said of the picture, a line each.
        """
        self._record, self._width, self._notes = record, width, notes
        scale = width / NARROWEST
        self._letters, self._line = round(LETTERS * scale), round(LINE * scale)
        self.margin = round(MARGIN * scale)
        """What is left around words, in pixels."""
        last = len(record.plies)
        said = (self._words(ply, is_last=ply == last) for ply in range(last + 1))
        self._lines = min(STATUS_LINES, max(len(wrap(words, COLUMNS)) for words in said))
        """Of a status: as many at every ply, so that nothing jumps from one to the next."""

    def names(self) -> Image.Image:
        """Who plays, a line for each seat, and the notes."""
        record = self._record
        seats = list(zip(record.variant.seat_names, record.players, strict=True))
        made = self._empty(self._line * (len(seats) + len(self._notes)))
        pen, y = ImageDraw.Draw(made), 0
        for name, player in seats:
            x, side = float(self.margin), self._letters - 2
            for paint in paints_of(name):
                place = (x, y + 3, x + side, y + 3 + side)
                pen.ellipse(place, FILL[paint], GROUND["light"]["outline"])
                x += self._letters
            self._write(pen, x + self.margin / 2, y, f"{name}: {player}")
            y += self._line
        for words in self._notes:
            self._write(pen, self.margin, y, words)
            y += self._line
        return made

    def status(self, ply: int, *, is_last: bool) -> Image.Image:
        """A move; before the first the game, and at the end what came of it."""
        lines = wrap(self._words(ply, is_last=is_last), COLUMNS)
        made = self._empty(self._lines * self._line + self.margin)
        pen = ImageDraw.Draw(made)
        for number, words in enumerate(lines[: self._lines]):
            cut = number == self._lines - 1 and len(lines) > self._lines
            self._write(pen, self.margin, number * self._line, f"{words}…" if cut else words)
        return made

    def _words(self, ply: int, *, is_last: bool) -> str:
        record = self._record
        if is_last:
            return f"Ply {ply}: {outcome(record)}"
        if not ply:
            return str(record.variant)
        played = record.plies[ply - 1]
        mover = record.variant.mover_name(played.seat)
        return f"Ply {ply} of {len(record.plies)}: {mover} {played.move}"

    def _empty(self, height: int) -> Image.Image:
        return Image.new("RGB", (self._width, height), GROUND["light"]["page"])

    def _write(self, pen: ImageDraw.ImageDraw, x: float, y: float, words: str) -> None:
        """A line, as far as there is room."""
        text, font = visible(words, but="…"), _font(self._letters)
        most = int((self._width - x - self.margin) / font.getlength("x"))
        pen.text((x, y), cut(text, most), GROUND["light"]["text"], font)


@cache
def _font(letters: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONT, letters)
