"""A game as an animated GIF: the board, and beneath it who plays, each move and what came of it.

Two positions that follow on each other differ in a few squares, so of each frame no more is drawn
than the part in which its scene is another; a long game takes seconds that way, and not a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import repeat
from textwrap import wrap

from PIL import Image, ImageDraw, ImageFont

from arena.web.gifs import COLOURS, gif
from arena.web.rasters import FONT, Raster
from arena.web.words import outcome, paints_of
from engine.clicks import illustrate
from engine.colours import FILL, GROUND
from engine.game import State
from engine.protocol import visible
from engine.record import GameRecord, states_known
from engine.scene import Scene
from engine.translation import ENGLISH, speaking

WIDTH, HIGHEST = 400, 560
"""Pixels of a board."""
MOST_FRAMES = 1000
"""Longer games are shown with plies left out, which the film says."""
FRAME_MS, LEAST_MS, LAST_MS = 500, 100, 3000
FILM_MS = 90_000
"""Films of many frames are faster, so that they last no longer, as far as an eye can follow."""
LETTERS, LINE, MARGIN = 13, 19, 8
"""How high letters are, how far lines are apart, and what is left around them, in pixels."""
COLUMNS = 47
"""Letters in a line."""
STATUS_LINES = 2
"""What a move, or the result, may need."""


def animate(
    record: GameRecord,
    *,
    most: int | None = MOST_FRAMES,
    drawn: Callable[[], None] = lambda: None,
) -> bytes:
    """A game up to its end, or as far as the rules know it.

    Args:
        most: of so many frames; None for one of each position.
        drawn: is called after each frame.
    """
    known = list(states_known(record))
    last = len(known) - 1
    step = 1 if most is None else -(-last // (most - 1)) or 1
    # Counted from the end, so that the last position is always there.
    plies = range(last % step, last + 1, step)
    # A film is kept for everybody, whoever asked for it first.
    with speaking(ENGLISH):
        film = _Film(record, known, step)
        each = max(LEAST_MS, min(FRAME_MS, FILM_MS // len(plies)))
        lasting = [*repeat(each, len(plies) - 1), LAST_MS]
        palette = film.palette.getpalette() or []
        return gif(film.size, palette, zip(film.frames(plies, drawn), lasting, strict=True))


class _Film:
    """What all frames of a game have in common."""

    def __init__(self, record: GameRecord, known: Sequence[State], step: int) -> None:
        """
        Args:
            known: its positions.
            step: plies from frame to frame.
        """
        self.record, self.known = record, known
        names, players = record.variant.seat_names, record.players
        self.who = [
            (name, f"{name}: {player}") for name, player in zip(names, players, strict=True)
        ]
        self.notes = [f"One ply of {step} is shown."] if step > 1 else []
        ends = [self._raster(at).pixels() for at in dict.fromkeys((0, len(known) // 2, -1))]
        self.across = (WIDTH - ends[0].width) // 2
        """Where the board begins."""
        self.down = ends[0].height + MARGIN // 2
        """Where the words begin."""
        canvas = self._canvas()
        self.size = canvas.size
        samples = Image.new("RGB", (WIDTH, canvas.height * len(ends)))
        for number, board in enumerate(ends):
            canvas.paste(board, (self.across, 0))
            samples.paste(canvas, (0, number * canvas.height))
        self.palette = samples.quantize(COLOURS)

    def frames(self, plies: Sequence[int], drawn: Callable[[], None]) -> Iterator[Image.Image]:
        """One for each of some plies."""
        frame = self._quantized(self._canvas())
        before: Raster | None = None
        for ply in plies:
            frame = frame.copy()
            raster = self._raster(ply)
            names = _changed(before.scene, raster.scene) if before else None
            if names is None:
                frame.paste(self._quantized(raster.pixels()), (self.across, 0))
            elif names:
                box = raster.box_of(names)
                frame.paste(self._quantized(raster.pixels(box)), (self.across + box[0], box[1]))
            status = self._quantized(self._lines(wrap(self._status(ply, plies), COLUMNS)))
            frame.paste(status, (0, frame.height - status.height))
            before = raster
            drawn()
            yield frame

    def _raster(self, ply: int) -> Raster:
        ply %= len(self.known)
        move = self.record.plies[ply - 1].move if ply else None
        before = self.known[ply - 1] if ply else None
        scene = illustrate(self.known[ply], last=move, before=before)
        return Raster(scene, widest=WIDTH, highest=HIGHEST)

    def _quantized(self, picture: Image.Image) -> Image.Image:
        """A picture as places in the palette, which are numbers for all that follows."""
        places = picture.quantize(palette=self.palette, dither=Image.Dither.NONE)
        return Image.frombytes("L", places.size, places.tobytes())

    def _canvas(self) -> Image.Image:
        """A frame with all words but those of a ply."""
        ground = GROUND["light"]
        lines = len(self.who) + len(self.notes) + STATUS_LINES
        made = Image.new("RGB", (WIDTH, self.down + lines * LINE + MARGIN), ground["page"])
        pen = ImageDraw.Draw(made)
        y = self.down
        for name, words in self.who:
            x = float(MARGIN)
            for paint in paints_of(name):
                place = (x, y + 3, x + LETTERS - 2, y + 3 + LETTERS - 2)
                pen.ellipse(place, FILL[paint], ground["outline"])
                x += LETTERS
            _write(pen, x + MARGIN / 2, y, words)
            y += LINE
        for words in self.notes:
            _write(pen, MARGIN, y, words)
            y += LINE
        return made

    def _lines(self, lines: Sequence[str]) -> Image.Image:
        """What is said of a ply."""
        height = STATUS_LINES * LINE + MARGIN
        made = Image.new("RGB", (WIDTH, height), GROUND["light"]["page"])
        pen = ImageDraw.Draw(made)
        for number, words in enumerate(lines[:STATUS_LINES]):
            cut = number == STATUS_LINES - 1 and len(lines) > STATUS_LINES
            _write(pen, MARGIN, number * LINE, f"{words}…" if cut else words)
        return made

    def _status(self, ply: int, plies: Sequence[int]) -> str:
        """A move; before the first the game, and at the end what came of it."""
        record = self.record
        if ply == plies[-1]:
            return f"Ply {ply}: {outcome(record)}"
        if not ply:
            return str(record.variant)
        played = record.plies[ply - 1]
        mover = record.variant.mover_name(played.seat)
        return f"Ply {ply} of {len(record.plies)}: {mover} {played.move}"


@cache
def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONT, LETTERS)


def _write(pen: ImageDraw.ImageDraw, x: float, y: float, words: str) -> None:
    """A line, as far as there is room."""
    text, font = visible(words, but="…"), _font()
    most = int((WIDTH - x - MARGIN) / font.getlength("x"))
    pen.text((x, y), text if len(text) <= most else f"{text[: most - 1]}…",
             GROUND["light"]["text"], font)  # fmt: skip


def _changed(before: Scene, after: Scene) -> set[str] | None:
    """The squares on which two scenes differ; None where all has to be drawn anew."""

    def ground(scene: Scene) -> object:
        places = [(square.name, square.x, square.y) for square in scene.squares]
        return places, scene.areas, scene.lines, scene.rims, scene.hexagonal, scene.text

    if ground(before) != ground(after):
        return None
    names = {square.name for square in {*before.squares} ^ {*after.squares}}
    for piece in {*before.pieces} ^ {*after.pieces}:
        names.update(piece.squares)
    for row in {*before.rows} ^ {*after.rows}:
        names.update((row.start, row.end))
    for arrow in {*before.arrows} ^ {*after.arrows}:
        names.update(arrow)
    for one, other in ((before.last, after.last), (before.dead, after.dead)):
        names.update({*one} ^ {*other})
    return names
