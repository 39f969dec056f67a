"""How a strength test stands, as SVG: the path of its LLR, its Elo on an axis, its scores as bars.

Beside each picture the page has the same in words or numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from arena.ratings.elo import Estimate, elo_of, signed
from arena.strength.block import PAIR_CELLS
from arena.strength.sequential import SequentialTest
from engine.plurals import counted, grouped
from engine.translation import gettext

WIDTH, HEIGHT = 420, 190
"""Three of them stand side by side."""
AXES = (25, 50, 100, 200, 400, 800, 1200)
"""How far an Elo axis may reach to either side: the shortest that the interval has room on."""
PAIR_SCORES = ("0", "½", "1", "1½", "2")
MOST_BARS = 13
"""The most scores that are drawn with numbers; matches of four seats have more."""


def llr_path(points: Sequence[tuple[int, float]], test: SequentialTest) -> Markup:
    """The LLR by matches, between the bound at which the test fails and that at which it passes.

    Args:
        points: matches and the LLR after them, from (0, 0) on.
    """
    if len(points) < 2:
        return Markup("")
    left, right, top, bottom = 2, WIDTH - 2, 22, HEIGHT - 22
    lower, upper = test.llr_bounds
    low = min(lower, *(llr for _, llr in points))
    high = max(upper, *(llr for _, llr in points))
    matches = points[-1][0]

    def y(llr: float) -> float:
        return bottom - (llr - low) * (bottom - top) / (high - low)

    line = " ".join(
        f"{left + number * (right - left) / matches:.1f},{y(llr):.1f}" for number, llr in points
    )
    bounds = Markup("").join(
        Markup(
            '<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text x="{}" y="{:.1f}">{}</text>'
        ).format(name, left, right, y(value), y(value), left + 4, y(value) - 5, words)
        for name, value, words in (
            ("bound-won", upper, gettext("passes %(llr)s", llr=f"{upper:.2f}")),
            ("grid", 0.0, ""),
            ("bound-lost", lower, gettext("fails %(llr)s", llr=f"{lower:.2f}")),
        )
    )
    words = gettext(
        "The LLR over %(matches)s matches: now %(llr)s, between %(lower)s, where the test fails, "
        "and %(upper)s, where it passes",
        matches=grouped(matches),
        llr=f"{points[-1][1]:.2f}",
        lower=f"{lower:.2f}",
        upper=f"{upper:.2f}",
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<polyline class="line" points="{}" fill="none"/>'
        '<text x="{}" y="{}">{}</text>'
        '<text x="{}" y="{}" text-anchor="end">{}</text></svg>'
    ).format(
        WIDTH, HEIGHT, words, bounds, line, left, HEIGHT - 6, counted(0, "match", "matches"),
        right, HEIGHT - 6, grouped(matches),
    )  # fmt: skip


def elo_axis(found: Estimate) -> Markup:
    """The Elo as a dot with its 95 % interval as whiskers; nothing where there is none to tell."""
    if not found.tells:
        return Markup("")
    width, height, middle = WIDTH, 64, 22
    limit = elo_of(1)
    ends = [end for end in (found.lower, found.upper) if abs(end) < limit]
    reach = next((one for one in AXES if one >= max(map(abs, ends))), AXES[-1])

    def x(elo: float) -> float:
        return width / 2 + min(max(elo, -reach), reach) * (width / 2 - 24) / reach

    marks = Markup("").join(
        Markup(
            '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="6" y2="42"/>'
            '<text x="{:.1f}" y="58" text-anchor="middle">{}</text>'
        ).format(
            "mark" if mark else "zero", x(mark), x(mark), x(mark), signed(mark) if mark else "0"
        )
        for mark in (-reach, -reach / 2, 0, reach / 2, reach)
    )
    side = "won" if found.lower > 0 else "lost" if found.upper < 0 else "open"
    # Without an end on one side nobody knows where the dot is.
    dot = Markup('<circle cx="{:.1f}" cy="{}" r="6"/>').format(x(found.elo), middle)
    return Markup(
        '<svg class="chart axis {}" viewBox="0 0 {} {}" role="img" aria-label="Elo {}">{}'
        '<line class="whisker" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>{}</svg>'
    ).format(
        side,
        width,
        height,
        found.words,
        marks,
        x(found.lower),
        x(found.upper),
        middle,
        middle,
        dot if found.has_bounds else "",
    )


def score_bars(counts: Sequence[int]) -> Markup:
    """How many matches had each score, from the worst to the best: of pairs of games, five bars."""
    total, most = sum(counts), max(counts)
    if not total:
        return Markup("")
    top, bottom = 20, HEIGHT - 26
    step = WIDTH / len(counts)
    is_pair = len(counts) == PAIR_CELLS
    bars = Markup("")
    for number, count in enumerate(counts):
        height = count * (bottom - top) / most
        middle = len(counts) // 2
        name = "won" if number > middle else "lost" if number < middle else "drawn"
        centre = (number + 0.5) * step
        bars += Markup(
            '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
        ).format(name, centre - 0.35 * step, bottom - height, 0.7 * step, height)
        if len(counts) <= MOST_BARS:
            label = PAIR_SCORES[number] if is_pair else f"{number / 2:g}"
            bars += Markup(
                '<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>'
                '<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>'
            ).format(centre, bottom - height - 6, grouped(count), centre, bottom + 18, label)
    words = ", ".join(
        gettext("%(points)s points %(times)s times", points=f"{number / 2:g}", times=grouped(count))
        for number, count in enumerate(counts)
    )
    return Markup(
        '<svg class="chart bars-of-scores" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, bottom + 26, words, bars)


FILTERS = {"llr_path": llr_path, "elo_axis": elo_axis, "score_bars": score_bars}
"""Filters of templates, by their names there."""
