"""The command replay: shows records of games and proves them against the rules."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from arena.cli import InputError, writing
from arena.cli.keys import is_terminal
from arena.cli.listing import BAD, GOOD, say
from arena.cli.options import NamedPath, as_json
from arena.cli.viewer import print_texts, view
from engine import pgn, svg
from engine.clicks import illustrate
from engine.game import CHANCE
from engine.game_files import pgn_games, record_of, text_of, variants_with_pgn
from engine.plurals import counted
from engine.protocol import visible
from engine.record import GameRecord, RecordError, parse_records, states
from engine.sitting import goes_on, prove
from engine.translation import gettext, translated


@click.command()
@click.argument("record", type=NamedPath(), metavar="RECORD")
@click.option("--game", "number", type=click.IntRange(1), help="Only this game of the file.")
@click.option("--ply", type=click.IntRange(0), help="Show the position before this ply.")
@click.option(
    "--draw",
    "output",
    type=NamedPath(dir_okay=False),
    help="Write that position (by default the last) as SVG.",
)
@click.option("--server", metavar="URL", envvar="ARENA_SERVER", help="Whose game it is.")
@click.option("--board", is_flag=True, help="Show the board in the terminal; arrow keys move it.")
@click.option("--text", "as_text", is_flag=True, help="Print the positions as text.")
@click.option("--browser", is_flag=True, help="Show the replay in a browser.")
@click.option(
    "--html",
    "page",
    type=NamedPath(dir_okay=False),
    help="Write the replay as one file for browsers, which needs no network.",
)
@click.option(
    "--gif", "film", type=NamedPath(dir_okay=False), help="Write it as an animated picture."
)
@click.option("--pgn", "as_pgn", is_flag=True, help="Print the games as PGN, where they have it.")
@as_json
def replay(
    record: str,
    number: int | None,
    ply: int | None,
    output: str | None,
    server: str | None,
    board: bool,
    as_text: bool,
    browser: bool,
    page: str | None,
    film: str | None,
    as_pgn: bool,
    in_json: bool,
) -> None:
    """Replay a record and prove it against the rules.

    RECORD is a file of one or more games, one a line, as `arena play --records` writes it;
    `-` reads standard input. It may be the address of a game's page, too, or its number at the
    server of --server or of arena login.

    Of several games each has a file of its own: --html cup.html writes cup-1.html, cup-2.html and
    so on. Where there is no terminal, --board prints what --text does.

    \b
    Examples:
      arena replay games.jsonl --game 3 --board
      arena replay games.jsonl --html game.html --gif game.gif
      arena replay games.jsonl --pgn > games.pgn
      arena replay https://arena.example/games/1207
    """
    records = find_records(record, server)
    if number is not None:
        records = [pick(records, record, number)]
    is_one = len(records) == 1
    if not is_one and (ply is not None or output or board or browser):
        raise InputError(
            gettext(
                "%(name)s has %(number)s games: say which with --game N",
                name=record,
                number=len(records),
            )
        )
    if as_pgn and (ply is not None or output or in_json):
        raise InputError(gettext("--pgn prints whole games: leave out --ply, --draw and --json"))
    if sum((board, as_text, as_pgn, in_json)) > 1:
        raise InputError(
            gettext("--board, --text, --pgn and --json each print games: give one of them")
        )
    if output and (board or as_text or in_json):
        raise InputError(gettext("--draw draws one position: leave out --board, --text and --json"))
    failed = 0
    for index, game in enumerate(records, start=number or 1):
        problem = _refutation(game)
        failed += bool(problem)
        if ply is not None and ply > len(game.plies):
            plies = counted(len(game.plies), "ply", "plies")
            raise InputError(
                gettext(
                    "the game has %(plies)s, so there is no position %(ply)s", plies=plies, ply=ply
                )
            )
        if page or film or browser:
            # It takes longer to import than a file to replay.
            from arena.cli import replay_files

            numbered = None if is_one else index
            if page:
                replay_files.write_page(page, numbered, game, ply=ply, problem=problem)
            if film:
                replay_files.write_animation(film, numbered, game)
            if browser:
                replay_files.open_page(game, ply=ply, problem=problem)
        if board and is_terminal():
            view(game, ply=ply, title=_summary(game), end=_verdict(problem))
        elif board or as_text:
            _say(_summary(game) if is_one else _numbered(index, game))
            print_texts(game, ply=ply)
            _say_verdict(problem)
        elif as_pgn:
            if problem:
                words = gettext(
                    "game %(number)s: REFUTED: %(problem)s", number=index, problem=problem
                )
                click.echo(visible(words), err=True)
            click.echo(pgn.write(game, round=str(index), comments=True))
        elif in_json:
            click.echo(
                json.dumps(
                    {
                        "game": index,
                        "valid": not problem,
                        "problem": problem or None,
                        "digest": game.digest(),
                        "record": game.to_json(),
                    }
                )
            )
        elif not is_one:
            _say(_numbered(index, game, problem))
        else:
            _show(game, problem, ply, output)
    if not (is_one or in_json or as_pgn):
        click.echo(
            gettext(
                "%(games)s, %(failed)s refuted by the rules",
                games=counted(len(records), "game"),
                failed=failed,
            )
        )
    sys.exit(1 if failed else 0)


def _numbered(number: int, game: GameRecord, problem: str = "") -> str:
    """A line about one of several games."""
    summary = _summary(game)
    if problem:
        return gettext(
            "game %(number)s: %(summary)s; REFUTED: %(problem)s",
            number=number,
            summary=summary,
            problem=problem,
        )
    return gettext("game %(number)s: %(summary)s", number=number, summary=summary)


def pick(records: Sequence[GameRecord], name: str, number: int) -> GameRecord:
    """The game of this number, from 1, of those of a file.

    Raises:
        InputError: there is none.
    """
    if number > len(records):
        raise InputError(
            gettext(
                "%(name)s has %(games)s, so there is no game %(number)s",
                name=name,
                games=counted(len(records), "game"),
                number=number,
            )
        )
    return records[number - 1]


def _refutation(game: GameRecord) -> str:
    """What the rules have against a game; empty if they confirm it."""
    try:
        prove(game)
    except RecordError as error:
        return str(error)
    return ""


def _say(line: str) -> None:
    """Prints a line with words of a record, which may be anybody's."""
    click.echo(visible(line))


def find_records(name: str, server: str | None) -> list[GameRecord]:
    """The records of a file, or that of a game elsewhere."""
    page = re.fullmatch(r"(https?://[^?#]+)/games/([0-9]+)(?:/[0-9]*|\.\w+)?(?:[?#].*)?", name)
    numbered = name.isascii() and name.isdigit() and not Path(name).exists()
    if not page and not numbered:
        if re.match("https?://", name):
            raise InputError(
                gettext(
                    "%(name)s is no address of a game: give one such as .../games/1207", name=name
                )
            )
        return read_records(name)
    from arena.cli.client import need_server  # it takes longer to import than a file to replay

    there = need_server(page[1] if page else server)
    found = there.get(f"/games/{page[2] if page else name}/record")
    try:
        return [GameRecord.from_json(found)]
    except RecordError as error:
        raise InputError(f"{name}: {error}") from None


def read_records(name: str) -> list[GameRecord]:
    """The records of a file, one a line; or the games of PGN as records.

    Raises:
        InputError: the file can't be read, or a line is no record of a format known here.
    """
    try:
        text = sys.stdin.read() if name == "-" else text_of(Path(name).read_bytes())
        if not text.strip():
            raise RecordError(gettext("it is empty: give a file that `arena play --records` wrote"))
        if games := pgn_games(text):
            return [record_of(game, variants_with_pgn(game.tags.get("FEN", ""))) for game in games]
        return parse_records(text)
    except OSError as error:
        raise InputError(
            gettext("can't read %(name)s: %(reason)s", name=name, reason=error.strerror)
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            gettext("%(name)s is no text: give what `arena play --records` wrote", name=name)
        ) from None
    except RecordError as error:
        raise InputError(f"{name}: {error}") from None


def _summary(game: GameRecord) -> str:
    plies = counted(len(game.plies), "ply", "plies")
    if goes_on(game):
        return gettext(
            "%(variant)s: %(players)s (goes on, %(plies)s)",
            variant=game.variant,
            players=", ".join(game.players),
            plies=plies,
        )
    result = ", ".join(
        f"{name} {score:g}" for name, score in zip(game.players, game.scores, strict=True)
    )
    return f"{game.variant}: {result} ({translated(game.termination)}, {plies})"


def _show(game: GameRecord, problem: str, ply: int | None, output: str | None) -> None:
    """One game in full: its moves with their times, its end, and a position if asked for."""
    _say(_summary(game))
    _say(
        gettext(
            "seed %(seed)s, %(time)s, began %(moment)s, box: %(level)s",
            seed=game.seed,
            time=game.time.words,
            moment=game.started,
            level=game.isolation,
        )
    )
    faults = {fault.ply: fault for fault in game.faults}
    for number, move in enumerate(game.plies):
        if number in faults:
            _show_fault(game, number)
        time = gettext("opening") if number < game.opening else ""
        if move.cpu_us is not None:
            time = f"{move.cpu_us / 1000:.1f} ms"
        text = f"  {move.text}" if move.text else ""
        who = gettext("chance") if move.seat == CHANCE else game.players[move.seat]
        _say(f"{number:4}  {who:<16} {move.move:<12} {time:>10}{text}")
    _show_fault(game, len(game.plies))
    if not goes_on(game):
        places = ", ".join(
            f"{name} {rank}" for name, rank in zip(game.players, game.ranks, strict=True)
        )
        _say(gettext("ranks: %(places)s", places=places))
    _say_verdict(problem)
    if problem or (ply is None and output is None):
        return
    reached = list(states(game))
    index = len(reached) - 1 if ply is None else ply
    _say(
        gettext(
            "position before ply %(ply)s: %(position)s", ply=index, position=reached[index].text()
        )
    )
    if output:
        last = game.plies[index - 1].move if index else None
        before = reached[index - 1] if index else None
        picture = svg.render(illustrate(reached[index], last=last, before=before))
        with writing(output):
            Path(output).write_text(picture, encoding="utf-8")


def _say_verdict(problem: str) -> None:
    say((visible(_verdict(problem)), BAD if problem else GOOD))


def _verdict(problem: str) -> str:
    if problem:
        return gettext("REFUTED by the rules: %(problem)s", problem=problem)
    return gettext("confirmed by the rules")


def _show_fault(game: GameRecord, ply: int) -> None:
    for fault in game.faults:
        if fault.ply == ply:
            words = gettext(
                "%(player)s left: %(ending)s, %(detail)s",
                player=game.players[fault.seat],
                ending=translated(fault.termination),
                detail=fault.detail,
            )
            _say(f"      {words}")
