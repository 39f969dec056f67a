"""How commands print what stands in a tournament."""

from __future__ import annotations

import click

from arena.cli.listing import show as show_rows
from arena.competitions.results import Results
from arena.formats.catalogue import FORMATS
from arena.formats.score import Score
from arena.models import JobStatus
from arena.ratings.elo import signed
from engine.plurals import decimal

MOST_COLUMNS = 20
"""A crosstable of more bots is shown in JSON and on its page alone."""


def print_tables(found: Results, *, with_rounds: bool) -> None:
    """Standings, crosstable and bracket, with the rounds if they are asked for."""
    one = found.tournament
    of = "" if found.planned is None else f" of {found.planned}"
    click.echo(f"{one.title}: {FORMATS[one.format].title.lower()}, {one.variant}, {one.time.words}")
    click.echo(f"{one.standing}, {found.count(JobStatus.FIXED)}{of} matches, {one.games} games")
    if one.is_called_off:
        click.echo(f"called off: {one.reason}; nobody won it, and this is how far it came")
    _print_standings(found)
    for line in found.standings:
        if (why := found.withdrawn(line.number)) is not None:
            click.echo(f"{found.label(line.number)} was withdrawn: {why}")
    for entrant in found.suspended:
        click.echo(f"{entrant.version.label} is suspended: {entrant.reason}")
    for level in found.by_lot:
        click.echo(f"level in all that counts, and put in order by the lot: {', '.join(level)}")
    if len(found.standings) <= MOST_COLUMNS:
        _print_crosstable(found)
    _print_bracket(found)
    if with_rounds:
        _print_rounds(found)


def _print_standings(found: Results) -> None:
    by_share = FORMATS[found.tournament.format].by_share
    forfeited = any(line.unplayed for line in found.standings)
    lines = []
    for line in found.standings:
        strength = line.strength
        elo = (
            f"{signed(strength.elo)} [{signed(strength.lower)}, {signed(strength.upper)}]"
            if strength
            else ""
        )
        tie_breaks = {key: decimal(value) for key, value in line.tie_breaks.items() if key != "lot"}
        lines.append(
            {
                "#": "" if line.place is None else line.place,
                "bot": found.label(line.number),
                "points": decimal(line.points),
                "games": line.games,
                **({"not played": line.unplayed} if by_share and forfeited else {}),
                **({"a game": decimal(line.share)} if by_share else {}),
                "W-D-L": f"{line.wins}-{line.draws}-{line.losses}",
                **tie_breaks,
                "Elo": elo,
            }
        )
    show_rows(lines, list(lines[0]), False)


def _print_crosstable(found: Results) -> None:
    rows = [
        {
            "#": number,
            "bot": found.label(line.number),
            **{str(n): _cell(cell) for n, cell in enumerate(cells, 1)},
        }
        for number, (line, cells) in enumerate(zip(found.standings, found.cells, strict=True), 1)
    ]
    show_rows(rows, list(rows[0]), False, title="Points against each")


def _print_bracket(found: Results) -> None:
    for tie in found.ties:
        if tie.decided and tie.loser is None:
            continue
        sides = " - ".join("?" if side is None else found.label(side) for side in tie.sides)
        score = " " + "-".join(map(decimal, tie.score)) if any(tie.score) else ""
        if tie.winner is not None and tie.tie_break:
            score += f", {found.label(tie.winner)} goes on as the {tie.tie_break}"
        click.echo(f"{tie.stage}: {sides}{score}")


def _print_rounds(found: Results) -> None:
    for each in found.rounds:
        click.echo(f"Round {each.number}")
        for pair in each.pairs:
            names = " - ".join(map(found.label, pair.fixture.entrants))
            points = "-".join(map(decimal, pair.points)) if pair.points else pair.words
            click.echo(f"  {names}: {points}")
        for bye in each.byes:
            click.echo(f"  {found.label(bye.fixture.entrants[0])} sits out")


def _cell(cell: Score | None) -> str:
    if cell is None:
        return ""
    return f"{decimal(cell.points)}/{cell.games}"
