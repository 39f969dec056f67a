"""A game as an animated GIF: the board, and beneath it who plays, each move and what came of it.

Two positions that follow on each other differ in a few squares, so of each frame no more is drawn
than the part in which its scene is another; a long game takes seconds that way, and not a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from PIL import Image

from arena.web.captions import Captions
from arena.web.gifs import COLOURS, gif
from arena.web.rasters import Raster
from engine.clicks import illustrate
from engine.colours import GROUND
from engine.game import State
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
        durations = [*repeat(each, len(plies) - 1), LAST_MS]
        palette = film.palette.getpalette() or []
        return gif(film.size, palette, zip(film.frames(plies, drawn), durations, strict=True))


class _Film:
    """What all frames of a game have in common."""

    def __init__(self, record: GameRecord, known: Sequence[State], step: int) -> None:
        """
        Args:
            known: its positions.
            step: plies from frame to frame.
        """
        self.record, self.known = record, known
        notes = [f"One ply of {step} is shown."] if step > 1 else []
        self.captions = Captions(record, width=WIDTH, notes=notes)
        ends = [self._raster(at).pixels() for at in dict.fromkeys((0, len(known) // 2, -1))]
        self.across = (WIDTH - ends[0].width) // 2
        """Where the board begins."""
        names, status = self.captions.names(), self.captions.status(0, is_last=False)
        down = ends[0].height + self.captions.margin // 2
        self.size = WIDTH, down + names.height + status.height
        self.canvas = Image.new("RGB", self.size, GROUND["light"]["page"])
        """A frame with all words but those of a ply."""
        self.canvas.paste(names, (0, down))
        samples = Image.new("RGB", (WIDTH, self.size[1] * len(ends)))
        for number, board in enumerate(ends):
            sample = self.canvas.copy()
            sample.paste(board, (self.across, 0))
            samples.paste(sample, (0, number * self.size[1]))
        self.palette = samples.quantize(COLOURS)

    def frames(self, plies: Sequence[int], drawn: Callable[[], None]) -> Iterator[Image.Image]:
        """One for each of some plies."""
        frame = self._quantized(self.canvas)
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
            is_last = ply == plies[-1]
            status = self._quantized(self.captions.status(ply, is_last=is_last))
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
