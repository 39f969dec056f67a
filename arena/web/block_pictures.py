"""The block of a strength test as a picture, to be put where text is not kept as it is."""

from __future__ import annotations

import io
from collections.abc import Sequence

from flask import Blueprint, Response
from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont

from arena.competitions.strength_reports import StrengthReport, reports
from arena.ground.texts import cut
from arena.strength.block import block_rows, block_title
from arena.web.lookup import find_test, reading
from engine.colours import GROUND

blocks = Blueprint("blocks", __name__)

LETTER, LINE, MARGIN = 14, 21, 12
"""The size of letters, from line to line, and around it, in pixels."""
NAMES = 64
"""How wide the names of rows are."""
LONGEST = 90
"""Characters of a line; what is longer is cut."""
STRIPES = {"passed": "#1e7d4a", "failed": "#b3261e", "close": "#a07800"}
"""The colour at the left, by how a test looks; a running one has the ground's edge."""


def _lines(found: StrengthReport) -> list[tuple[str, str]]:
    """The rows beneath the title, which is the first."""
    title = f"{block_title(found.standing)}: {found.stands}"
    rows = [("", title), *block_rows(found.standing)]
    return [(name, cut(text, LONGEST)) for name, text in rows]


def _size(rows: Sequence[tuple[str, str]]) -> tuple[int, int]:
    # Letters of one width are about 0.6 of their height wide.
    widest = max((NAMES if name else 0) + 0.61 * LETTER * len(text) for name, text in rows)
    return round(2.5 * MARGIN + widest), 2 * MARGIN + LINE * len(rows)


def block_svg(found: StrengthReport) -> Markup:
    """The block as SVG."""
    rows = _lines(found)
    width, height = _size(rows)
    colours = GROUND["light"]
    texts = Markup("").join(
        Markup('<text x="{}" y="{}"{}>{}</text>').format(
            1.5 * MARGIN + (NAMES if is_value else 0),
            MARGIN + LINE * number + LETTER,
            Markup(' font-weight="bold"') if not name else "",
            text,
        )
        for number, (name, value) in enumerate(rows)
        for is_value, text in ((bool(name), value), (False, name))
        if text
    )
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{2}" fill="{3}" '
        'role="img"><title>{4}</title><rect width="{0}" height="{1}" fill="{5}"/>'
        '<rect width="5" height="{1}" fill="{6}"/>{7}</svg>'
    ).format(
        width,
        height,
        LETTER,
        colours["text"],
        rows[0][1],
        colours["page"],
        STRIPES.get(found.colour, colours["edge"]),
        texts,
    )


def block_png(found: StrengthReport) -> bytes:
    """The block as PNG, in letters that need no font of the machine."""
    rows = _lines(found)
    font = ImageFont.load_default(LETTER)
    widest = max((NAMES if name else 0) + font.getlength(text) for name, text in rows)
    size = (round(2.5 * MARGIN + widest), 2 * MARGIN + LINE * len(rows))
    colours = GROUND["light"]
    made = Image.new("RGB", size, colours["page"])
    pen = ImageDraw.Draw(made)
    pen.rectangle((0, 0, 4, size[1]), fill=STRIPES.get(found.colour, colours["edge"]))
    for number, (name, text) in enumerate(rows):
        top = MARGIN + LINE * number
        pen.text((1.5 * MARGIN, top), name, colours["text"], font)
        pen.text((1.5 * MARGIN + (NAMES if name else 0), top), text, colours["text"], font)
    file = io.BytesIO()
    made.save(file, "PNG")
    return file.getvalue()


def _found(number: int) -> StrengthReport:
    with reading() as session:
        return reports(session, [find_test(session, number)])[0]


@blocks.get("/tests/<int:number>.svg")
def picture(number: int) -> Response:
    """The block of a test as SVG."""
    return Response(block_svg(_found(number)), mimetype="image/svg+xml")


@blocks.get("/tests/<int:number>.png")
def pixels(number: int) -> Response:
    """The block of a test as PNG, for what shows no SVG."""
    return Response(block_png(_found(number)), mimetype="image/png")
