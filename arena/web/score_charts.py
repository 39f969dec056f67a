"""The chart of a tournament: points after each round, a line for each of the first bots."""

from __future__ import annotations

from markupsafe import Markup

from arena.competitions.results import Results
from arena.web.charts import HEIGHT, WIDTH, grid, ticks
from engine.translation import gettext

MOST_LINES = 8
"""There are so many colours in the stylesheet."""
NAMES_WIDTH = 175
NAME_LENGTH = 15
APART = 1.6
"""So far lines lie below each other that have the same points, or only the last would be seen."""
LINE_HEIGHT = 20
"""Names are larger on phones, where the whole chart is smaller."""


def score_chart(found: Results) -> Markup:
    """Points after each round; nothing before the second round is played."""
    shown = found.standings[:MOST_LINES]
    curves = {line.number: found.points_by_round[line.number] for line in shown}
    rounds = len(curves[shown[0].number])
    if rounds < 2:
        return Markup("")
    left, right, top, bottom = 40, WIDTH - NAMES_WIDTH, 12, HEIGHT - 32
    most = max(max(curve) for curve in curves.values()) or 1.0

    def x(round_: int) -> float:
        return left + round_ * (right - left) / rounds

    def y(points: float) -> float:
        return bottom - points * (bottom - top) / most

    marks = Markup("").join(
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x(number), HEIGHT - 8, number
        )
        for number in ticks(1, rounds, 12)
    )
    if len(found.standings) > MOST_LINES:
        caption = gettext("Points after each round, of the first %(most)s", most=MOST_LINES)
    else:
        caption = gettext("Points after each round")
    words = gettext(
        "Points after each of %(rounds)s rounds; the standings have the numbers", rounds=rounds
    )
    heights = _apart([y(curves[line.number][-1]) for line in shown])
    lines = Markup("").join(
        Markup(
            '<g class="series of-{}"><polyline class="line" points="{}" fill="none"/>'
            '<text x="{:.1f}" y="{:.1f}" dy=".35em">{}</text></g>'
        ).format(
            place,
            " ".join(
                f"{x(number):.1f},{y(points) + (place - (len(shown) + 1) / 2) * APART:.1f}"
                for number, points in enumerate((0.0, *curves[line.number]))
            ),
            right + 8,
            height,
            _short(found.label(line.number)),
        )
        for place, (line, height) in enumerate(zip(shown, heights, strict=True), 1)
    )
    return Markup(
        '<figure><figcaption class="faint">{}</figcaption>'
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg></figure>'
    ).format(
        caption,
        WIDTH,
        HEIGHT,
        words,
        grid(ticks(0, most), y, left=left, right=right),
        marks,
        lines,
    )


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 3]}..."


def _apart(heights: list[float]) -> list[float]:
    """Heights of names that don't cover each other, each as near to its own as can be."""
    # Who leads by points a game may have fewer of them than those below.
    down = sorted(range(len(heights)), key=heights.__getitem__)
    placed = [0.0] * len(heights)
    highest = LINE_HEIGHT / 2
    for number in down:
        placed[number] = max(heights[number], highest)
        highest = placed[number] + LINE_HEIGHT
    lowest = HEIGHT - LINE_HEIGHT / 2
    for number in reversed(down):
        placed[number] = min(placed[number], lowest)
        lowest = placed[number] - LINE_HEIGHT
    return placed


FILTERS = {"score_chart": score_chart}
"""Filters of templates, by their names there."""
