"""A strength test as the block of text that people paste where they tell of one.

It has the lines of OpenBench's and fishtest's, so that whoever knows these reads it, and programs
that read these do: Elo with half of its interval, the LLR between its bounds for two hypotheses,
games, and how many pairs had 0, 0.5, 1, 1.5 and 2 points.
"""

from __future__ import annotations

from arena.strength.sequential import SequentialTest
from engine.clock import TimeControl
from engine.protocol import visible

PAIR_CELLS = 5
"""The scores of a pair of games."""


def block_rows(test: SequentialTest) -> list[tuple[str, str]]:
    """What is known of a test, as names and texts of one line."""
    settings, terms, found = test.settings, test.settings.terms, test.estimate
    conditions = f"{_time(settings.time)} {settings.game_words}"
    rows = []
    if test.matches:
        half = (found.upper - found.lower) / 2
        exact = f"{found.elo + 0.0:.2f} +- {half:.2f} (95%)"
        rows.append(("Elo", exact if found.tells and found.has_bounds else found.words))
    if terms.games is None:
        lower, upper = test.llr_bounds
        bounds = f"[{terms.elo0:.2f}, {terms.elo1:.2f}]"
        # These tools mean normalized Elo where nothing is said.
        unit = " logistic" if terms.model == "logistic" else ""
        rows.append(("SPRT", conditions))
        rows.append(("LLR", f"{test.llr:.2f} ({lower:.2f}, {upper:.2f}) {bounds}{unit}"))
    else:
        rows.append(("Conf", conditions))
    rows.append(("Games", f"N: {test.games} W: {test.wins} L: {test.losses} D: {test.draws}"))
    name = "Ptnml" if len(test.counts) == PAIR_CELLS else "Scores"
    rows.append((name, f"[{', '.join(map(str, test.counts))}]"))
    return rows


def block_title(test: SequentialTest) -> str:
    """Who is tested against whom, in a line."""
    settings = test.settings
    return visible(f"{settings.candidate.name} against {settings.baseline.name}", but="")


def block_text(test: SequentialTest) -> str:
    """The block, without who is tested."""
    return "\n".join(f"{name:<6}| {text}" for name, text in block_rows(test))


def block_markdown(test: SequentialTest, verdict: str) -> str:
    """The block as Markdown, with who is tested, and what became of it."""
    # In a span of code nothing of a name is markup; it ends by more backticks than are in it.
    title = block_title(test)
    fence = "`" * (1 + max(map(len, _runs_of_backticks(title)), default=0))
    space = " " if "`" in title else ""
    return f"{fence}{space}{title}{space}{fence}: {verdict}\n\n```\n{block_text(test)}\n```\n"


def _runs_of_backticks(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def _time(time: TimeControl) -> str:
    """A time control as such blocks have it: ``10.0+0.10s``, or ``0.1s a move``."""
    whose = " (reference machine)" if time.reference else ""
    if time.time_ms is None:
        return f"{(time.move_ms or 0) / 1000:g}s a move{whose}"
    return f"{time.time_ms / 1000:.1f}+{time.inc_ms / 1000:.2f}s{whose}"
