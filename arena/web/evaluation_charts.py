"""The bar and the curve of what is expected in the positions of a line, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from arena.analyses.evaluations import Expectation, Swing
from arena.web.charts import HEIGHT, WIDTH, grid
from arena.web.words import seat_class
from engine.game import Variant
from engine.plurals import listed
from engine.translation import gettext, translated

COLOURS = 8
"""How many the stylesheet has for those who say something."""


def side_name(variant: Variant, side: int) -> str:
    """What a side is called: by its seats."""
    sides = zip(variant.seat_names, variant.side_of, strict=True)
    return listed([translated(name) for name, its in sides if its == side])


def bar(variant: Variant, shares: Mapping[int, float]) -> Markup:
    """What each side expects of the game, side by side."""
    told = listed([f"{side_name(variant, side)} {part:.0%}" for side, part in shares.items()])
    drawn, x = Markup(""), 0.0
    for side, part in shares.items():
        name = variant.seat_names[variant.side_of.index(side)]
        drawn += Markup('<rect class="ink {}" x="{:.2f}" width="{:.2f}" height="10"/>').format(
            seat_class(name), 100 * x, 100 * part
        )
        x += part
    return Markup(
        '<svg class="expected" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><title>{}</title>{}</svg>'
    ).format(gettext("Expected: %(shares)s", shares=told), told, drawn)


def curve(
    expectations: Sequence[Expectation],
    swings: Sequence[Swing],
    *,
    last: int,
    place: int,
    address: Callable[[int], str],
) -> Markup:
    """What is expected along a line as curves, in per cent, and where it swung.

    Args:
        last: how many moves the line has.
        place: where it is shown.
        address: of the position in a place; the chart leads there.
    """
    if not any(len(one.points) > 1 for one in expectations):
        return Markup("")
    left, right, top, bottom = 44, WIDTH - 8, 8, HEIGHT - 26
    step = (right - left) / max(1, last)

    def y(value: float) -> float:
        return bottom - value / 100 * (bottom - top)

    drawn = Markup("").join(
        Markup(
            '<g class="series of-{}"><polyline class="line" points="{}" fill="none"/></g>'
        ).format(
            number % COLOURS + 1,
            " ".join(f"{left + at * step:.1f},{y(100 * share):.1f}" for at, share in one.points),
        )
        for number, one in enumerate(expectations)
    )
    marks = Markup("").join(
        Markup('<line class="swing" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>').format(
            left + (one.place + 0.5) * step, top, bottom
        )
        for one in swings
    )
    # For the pointer; by keyboard the moves beside it lead to the same.
    areas = Markup("").join(
        Markup(
            '<a href="{}" tabindex="-1" aria-hidden="true"><rect class="area" x="{:.1f}" y="{}" '
            'width="{:.1f}" height="{}"/></a>'
        ).format(address(at), left + (at - 0.5) * step, top, step, bottom - top)
        for at in range(last + 1)
    )
    here = left + place * step
    words = gettext("What is expected over %(moves)s moves, in per cent", moves=last)
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}'
        '<line class="mark" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>'
        "{}</svg>"
    ).format(
        WIDTH, HEIGHT, words, grid([0, 25, 50, 75, 100], y, left=left, right=right), marks, drawn,
        here, here, top, bottom, areas,
    )  # fmt: skip


FILTERS = {
    "side_name": lambda side, variant: side_name(variant, side),
    "expected_bar": lambda shares, variant: bar(variant, shares),
}
"""Filters of templates, by their names there."""
