"""Charts as SVG, drawn here so that they need no script; the stylesheet gives them colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from markupsafe import Markup, escape

from arena.ratings.trueskill import Rating
from arena.strength.sequential import SequentialTest
from engine.plurals import grouped
from engine.translation import gettext

WIDTH, HEIGHT = 640, 220
LABEL_WIDTH = 36
"""What the name of a version takes on a phone, where letters are largest."""


@dataclass(frozen=True, slots=True)
class RatedGame:
    """What a game made of a bot's rating."""

    version: int
    rating: Rating
    number: int = 0
    """The number of the game."""


def sparkline(values: Sequence[float], span: float) -> Markup:
    """A few values as a line.

    Args:
        span: how many units its height is, which all of a table have in common.
    """
    if len(values) < 2:
        return Markup("")
    middle = (min(values) + max(values)) / 2
    points = " ".join(
        f"{number * 90 / (len(values) - 1) + 1:.1f},{12 - (value - middle) * 20 / span:.1f}"
        for number, value in enumerate(values)
    )
    words = gettext("from %(begin)s to %(end)s", begin=f"{values[0]:.0f}", end=f"{values[-1]:.0f}")
    # The rest is numbers: to have them escaped one by one takes a tenth of a leaderboard's time.
    return Markup(  # noqa: S704
        '<svg class="spark" viewBox="0 0 92 24" role="img" '
        f'aria-label="{escape(words)}">'
        f'<polyline points="{points}" fill="none"/></svg>'
    )


def shares(wins: int, draws: int, losses: int) -> Markup:
    """A bar of games won, drawn and lost."""
    each = 100 / max(wins + draws + losses, 1)
    bars = "".join(
        f'<rect class="{name}" x="{before * each:.2f}" width="{number * each:.2f}" height="10"/>'
        for name, before, number in (
            ("won", 0, wins),
            ("drawn", wins, draws),
            ("lost", wins + draws, losses),
        )
    )
    return Markup(  # noqa: S704 - numbers alone, as in a sparkline
        '<svg class="shares" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{bars}</svg>"
    )


def ticks(low: float, high: float, most: int = 5) -> range:
    """Multiples of 1, 2 or 5 times a power of ten from low to high, at most so many."""
    step = next(
        factor * 10**power
        for power in count()
        for factor in (1, 2, 5)
        if high - low < most * factor * 10**power
    )
    return range(math.ceil(low / step) * step, math.floor(high) + 1, step)


def grid(
    values: Iterable[int], y: Callable[[float], float], *, left: float, right: float
) -> Markup:
    """A line across a chart at each of some values, with its number before it."""
    return Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text x="{}" y="{:.1f}" dy=".35em" text-anchor="end">{}</text>'
        ).format(left, right, y(value), y(value), left - 6, y(value), value)
        for value in values
    )


def rating_chart(games: Sequence[RatedGame]) -> Markup:
    """A rating with its 95 % band over some games, with a mark where each version began."""
    if len(games) < 2:
        return Markup("")
    left, right, top, bottom = 58, WIDTH - 8, 8, HEIGHT - 26
    ratings = [(game.rating.display, game.rating.display_margin) for game in games]
    low = min(rating - margin for rating, margin in ratings)
    high = max(rating + margin for rating, margin in ratings)
    xs = [left + number * (right - left) / (len(games) - 1) for number in range(len(games))]

    def y(value: float) -> float:
        return bottom - (value - low) * (bottom - top) / (high - low)

    upper = [f"{x:.1f},{y(mid + margin):.1f}" for x, (mid, margin) in zip(xs, ratings, strict=True)]
    lower = [f"{x:.1f},{y(mid - margin):.1f}" for x, (mid, margin) in zip(xs, ratings, strict=True)]
    line = [f"{x:.1f},{y(mid):.1f}" for x, (mid, _) in zip(xs, ratings, strict=True)]
    begins = [
        (x, game.version)
        for number, (x, game) in enumerate(zip(xs, games, strict=True))
        if number == 0 or game.version != games[number - 1].version
    ]
    # Of versions that follow each other closely the last is named.
    following = [x for x, _ in begins[1:]] + [math.inf]
    marks = Markup("").join(
        Markup(
            '<line class="mark" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>'
            '<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>'
        ).format(
            x, x, top, bottom, x, HEIGHT - 8, f"v{version}" if after - x >= LABEL_WIDTH else ""
        )
        for (x, version), after in zip(begins, following, strict=True)
    )
    words = gettext(
        "Rating with its 95 %% band over %(games)s games, from %(begin)s to %(end)s",
        games=len(games),
        begin=f"{ratings[0][0]:.0f}",
        end=f"{ratings[-1][0]:.0f}",
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}'
        '<polygon class="band" points="{}"/>'
        '<polyline class="line" points="{}" fill="none"/></svg>'
    ).format(
        WIDTH,
        HEIGHT,
        words,
        grid(ticks(low, high), y, left=left, right=right),
        marks,
        " ".join(upper + lower[::-1]),
        " ".join(line),
    )


def curve(points: Sequence[tuple[int, float]], of: str) -> Markup:
    """A number as a line.

    Args:
        points: where, and how large it is there.
        of: of what that is the number: of a game, say.
    """
    if len(points) < 2:
        return Markup("")
    left, right, top, bottom = 58, WIDTH - 8, 8, HEIGHT - 26
    values = [value for _, value in points]
    low, high = min(values), max(values)
    begin, end = points[0][0], points[-1][0]

    def y(value: float) -> float:
        # Halves, for the whole span may be more than a float holds.
        share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
        return bottom - share * (bottom - top)

    drawn = [
        f"{left + (at - begin) * (right - left) / (end - begin):.1f},{y(value):.1f}"
        for at, value in points
    ]
    edges = Markup("").join(
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text x="{}" y="{:.1f}" dy=".35em" text-anchor="end">{:.4g}</text>'
        ).format(left, right, y(value), y(value), left - 6, y(value), value)
        for value in {low, high}
    )
    first, last = grouped(begin), grouped(end)
    words = gettext(
        "%(of)s %(first)s to %(last)s: from %(low)s to %(high)s",
        of=of,
        first=first,
        last=last,
        low=f"{low:.6g}",
        high=f"{high:.6g}",
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<polyline class="line" points="{}" fill="none"/>'
        '<text x="{}" y="{}">{} {}</text>'
        '<text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(
        WIDTH, HEIGHT, words, edges, " ".join(drawn),
        left, HEIGHT - 8, of, first, right, HEIGHT - 8, last,
    )  # fmt: skip


def llr_bar(test: SequentialTest, *, large: bool = False) -> Markup:
    """The LLR of a strength test between its bounds, from failed on the left to passed."""
    sprt = test.settings.sprt
    span = sprt.upper - sprt.lower
    zero, here = (
        100 * (min(max(x, sprt.lower), sprt.upper) - sprt.lower) / span for x in (0, test.llr)
    )
    words = gettext(
        "LLR %(llr)s between %(lower)s and %(upper)s",
        llr=f"{test.llr:.2f}",
        lower=f"{sprt.lower:.2f}",
        upper=f"{sprt.upper:.2f}",
    )
    return Markup(
        '<svg class="llr{}" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        'aria-label="{}"><title>{}</title><rect class="ground" width="100" height="100"/>'
        '<rect class="{}" x="{:.2f}" width="{:.2f}" height="100"/>'
        '<line class="zero" x1="{:.2f}" x2="{:.2f}" y1="0" y2="100"/></svg>'
    ).format(
        " large" if large else "",
        words,
        words,
        "won" if here >= zero else "lost",
        min(zero, here),
        abs(here - zero),
        zero,
        zero,
    )


FILTERS = {
    "llr_bar": llr_bar,
    "rating_chart": rating_chart,
    "shares": shares,
    "sparkline": sparkline,
}
"""Filters of templates, by their names there."""
