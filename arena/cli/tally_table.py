"""How `arena play` prints what its games came to."""

from __future__ import annotations

import click
from rich.markup import escape

from arena.cli.listing import BAD, print_table, say
from arena.cli.tally import RunTally
from engine.places import TWO, mean_place, results_head, results_words
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext


def _row(tally: RunTally, number: int) -> dict[str, str]:
    """What the table tells of a bot, by its headings."""
    line = tally.lines[number]
    sides = len(set(tally.variant.side_of))
    results = results_words(line.wins, line.draws, line.losses, line.places)
    row = {N_("games"): str(line.games), results_head(sides): results}
    if sides > TWO:
        row[N_("mean place")] = f"{mean_place(line.score, sides):.2f}"
    else:
        row[N_("score")] = f"{line.score:.1%}"
    if tally.elo and tally.elo[number].tells:
        row["Elo"] = tally.elo[number].measured
    if tally.variant.seats == 1:
        # Who plays alone wants to know how far it came, too.
        row[N_("points a game")] = f"{line.scored / max(1, line.games):.1f}"
    faults = line.faults.total()
    row[N_("faults")] = f"[{BAD}]{faults}[/]" if faults else "0"
    return row | {
        N_("ms a move"): f"{line.mean_ms:.1f}",
        N_("longest"): f"{line.longest_us / 1000:.1f}",
    }


def print_tally(tally: RunTally) -> None:
    """Prints the table, what was wrong, and how long it took."""
    rows = [_row(tally, number) for number in range(len(tally.lines))]
    headings = {N_("bot"): False, **dict.fromkeys(rows[0], True)}
    cells = [
        [escape(line.name), *row.values()] for line, row in zip(tally.lines, rows, strict=True)
    ]
    print_table(headings, cells, title=str(tally.variant))
    if tally.elo and not tally.elo[0].tells:
        click.echo(f"Elo: {tally.elo[0].words}")
    for line in tally.lines:
        for detail in line.fault_details:
            say((visible(f"{line.name}: {detail}"), BAD))
        for error in line.errors:
            say(f"    {visible(error)}")
    say(
        gettext(
            "%(games)s in %(seconds)s s, %(rate)s games a second",
            games=counted(tally.games, "game"),
            seconds=f"{tally.seconds:.1f}",
            rate=f"{tally.games / tally.seconds:.1f}",
        )
    )
    say(gettext("digest %(digest)s", digest=tally.digest()))
