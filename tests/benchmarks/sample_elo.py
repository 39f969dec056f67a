"""The sample bots of a game against each other: how many Elo lie between them.

Run it as ``python -m tests.benchmarks.sample_elo GAME [KEY=VALUE]...``. All who can meet do, by
``arena play``, from openings of their own that are played from every seating. Elo is Bradley and
Terry's, as on a tournament's page, counted from the field's mean; a game lost by a fault is lost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import click

from arena.cli.arguments import listed_samples, split_words
from arena.ratings.bradley_terry import fit
from arena.ratings.result import GameResult
from engine.games import GAMES
from engine.match import entrants_needed
from engine.record import GameRecord
from tests.benchmarks.table import Table


@click.command()
@click.argument("game")
@click.argument("words", metavar="[KEY=VALUE]... [BOT]...", nargs=-1)
@click.option("--games", default=4, show_default=True, help="Of those who meet.")
@click.option("--move", default=100, show_default=True, help="Milliseconds a move.")
@click.option("--no-box", is_flag=True, help="Run the bots as plain processes.")
def main(game: str, words: Sequence[str], games: int, move: int, no_box: bool) -> None:
    """Plays and prints the table; without a BOT, of all samples that a ladder of the game has."""
    variant, chosen = split_words(game, words)
    entered = [one["name"] for one in listed_samples() if game in one.get("games", GAMES.singles)]
    bots, needed = chosen or entered, entrants_needed(variant)
    if needed < 2:
        raise click.UsageError(f"in {game} nobody plays against another")
    options = ["--games", str(games), "--move", str(move), "--concurrency", "1"]
    records = list[GameRecord]()
    for seed, meeting in enumerate(combinations(bots, needed)):
        asked = [*options, "--seed", str(seed), *(["--no-box"] if no_box else [])]
        records += meet([game, *(word for word in words if word not in chosen), *meeting, *asked])
    click.echo(table(f"{variant}, {len(records)} games at {move} ms a move", records))


def meet(words: Sequence[str]) -> list[GameRecord]:
    """The games that ``arena play`` plays when it is asked with these words."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "games.jsonl")
        command = [Path(sys.executable).with_name("arena"), "play", *words, "--records", file]
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        # By 1 it says that there were faults.
        if done.returncode not in (0, 1):
            raise click.ClickException(f"this could not be played: {' '.join(words)}")
        with file.open(encoding="utf-8") as lines:
            return [GameRecord.from_json(json.loads(line)) for line in lines]


def table(title: str, records: Iterable[GameRecord]) -> Table:
    """What the games say of each bot, the strongest first; places are counted from 1."""
    results, faults = list[GameResult[str]](), defaultdict[str, int](int)
    places, longest = defaultdict[str, list[int]](list), defaultdict[str, float](float)
    for record in records:
        results.append(GameResult(record.players, record.variant.side_of, record.ranks))
        for fault in record.faults:
            faults[record.players[fault.seat]] += 1
        for player, rank in dict(zip(record.players, record.ranks, strict=True)).items():
            places[player].append(rank)
        for ply in record.plies:
            bot = record.players[ply.seat] if ply.cpu_us is not None else ""
            longest[bot] = max(longest[bot], (ply.cpu_us or 0) / 1000)
    rows = [
        (
            bot,
            f"{its.elo:+.0f} [{its.lower:+.0f}, {its.upper:+.0f}]",
            len(places[bot]),
            f"{sum(places[bot]) / len(places[bot]):.2f}",
            faults[bot],
            f"{longest[bot]:.0f}",
        )
        for bot, its in fit(results).items()
    ]
    return Table(title, ("bot", "Elo, 95 %", "games", "mean place", "faults", "longest ms"), rows)


if __name__ == "__main__":
    main()
