"""The chart of a number that is tuned: its path between its bounds, and how far it is moved."""

from __future__ import annotations

from markupsafe import Markup

from arena.competitions.tuning_reports import TunedNumber
from arena.web.charts import WIDTH
from engine.plurals import counted
from engine.translation import gettext

HEIGHT = 150
LEFT, RIGHT, TOP, BOTTOM = 74, WIDTH - 8, 10, HEIGHT - 26
APART = 20
"""Names of heights cover each other where they are nearer; letters are larger on phones."""


def number_chart(number: TunedNumber) -> Markup:
    """A number over the games, with its present step above and below, between its bounds."""
    one, points = number.parameter, number.points
    games = points[-1][0]
    if not games:
        return Markup("")

    def x(after: int) -> float:
        return LEFT + after * (RIGHT - LEFT) / games

    def y(value: float) -> float:
        return BOTTOM - one.scaled(one.clip(value)) * (BOTTOM - TOP)

    band = [(x(after), y(value + step)) for after, value, step in points]
    band += [(x(after), y(value - step)) for after, value, step in reversed(points)]
    line = [(x(after), y(value)) for after, value, _ in points]
    named = [(value, "grid") for value in (one.least, one.most)]
    if min(abs(y(one.start) - y(value)) for value, _ in named) >= APART:
        named.append((one.start, "mark"))
    heights = Markup("").join(
        Markup(
            '<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text x="{}" y="{:.1f}" dy=".35em" text-anchor="end">{}</text>'
        ).format(kind, LEFT, RIGHT, y(value), y(value), LEFT - 6, y(value), f"{value:.6g}")
        for value, kind in named
    )
    words = gettext(
        "%(name)s, from %(start)s to %(told)s after %(games)s, between %(least)s and %(most)s; the "
        "table has the numbers",
        name=number.name,
        start=number.start,
        told=number.told,
        games=counted(games, "game"),
        least=f"{one.least:g}",
        most=f"{one.most:g}",
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<polygon class="band" points="{}"/><polyline class="line" points="{}" fill="none"/>'
        '<text x="{}" y="{}">0</text><text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(
        WIDTH,
        HEIGHT,
        words,
        heights,
        _points(band),
        _points(line),
        LEFT,
        HEIGHT - 6,
        RIGHT,
        HEIGHT - 6,
        counted(games, "game"),
    )


def _points(corners: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


FILTERS = {"number_chart": number_chart}
"""Filters of templates, by their names there."""
