"""The curves of what is expected of a strength test, as SVG: its chance to pass, and its games."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from arena.ratings.elo import signed
from arena.strength.forecast import Forecast
from arena.web.charts import HEIGHT, WIDTH, grid, ticks
from engine.translation import gettext

MARKS = 5
"""How many true differences are written beneath."""


def pass_chart(points: Sequence[Forecast]) -> Markup:
    """The chance to pass, in per cent, by true difference."""
    words = gettext("Chance to pass, in per cent, by the true difference in Elo")
    return _chart(points, [100 * one.passes for one in points], 100, words)


def games_chart(points: Sequence[Forecast]) -> Markup:
    """The games that it takes in the mean, by true difference."""
    games = [one.games for one in points]
    return _chart(
        points, games, max(games), gettext("Games in the mean, by the true difference in Elo")
    )


def _chart(points: Sequence[Forecast], values: Sequence[float], most: float, words: str) -> Markup:
    left, right, top, bottom = 90, WIDTH - 40, 12, HEIGHT - 38
    low, high = points[0].elo, points[-1].elo

    def x(elo: float) -> float:
        return left + (elo - low) * (right - left) / (high - low)

    def y(value: float) -> float:
        return bottom - value * (bottom - top) / most

    marks = Markup("").join(
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x(one.elo), HEIGHT - 8, signed(one.elo, 1)
        )
        for one in points[:: (len(points) - 1) // (MARKS - 1)]
    )
    line = " ".join(
        f"{x(one.elo):.1f},{y(value):.1f}" for one, value in zip(points, values, strict=True)
    )
    return Markup(
        '<figure><figcaption class="faint">{}</figcaption><svg class="chart" '
        'viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}'
        '<polyline class="line" points="{}" fill="none"/></svg></figure>'
    ).format(
        words,
        WIDTH,
        HEIGHT,
        gettext("%(chart)s; the table has the numbers", chart=words),
        grid(ticks(0, most), y, left=left, right=right),
        marks,
        line,
    )


FILTERS = {"pass_chart": pass_chart, "games_chart": games_chart}
