"""Commands on an arena elsewhere: status, logs, export, and how a bot is submitted there."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from arena.cli import InputError, writing
from arena.cli.client import Name, RemoteArena, ServerFault, need_server, on_server
from arena.cli.listing import show
from arena.cli.options import NamedPath, as_json
from arena.cli.progress_bar import ProgressBar
from arena.cli.sending import send_large_files
from arena.cli.streams import reader_has_gone
from engine.plurals import counted
from engine.protocol import visible
from workers.bundles import Bundle
from workers.large_files import MIB

LOOK_SECONDS = 1.0
COLUMNS = (
    *("bot", "version", "status", "ladder", "state"),
    *("rating", "rank", "best rank", "games", "W-D-L", "faults"),
)
"""The columns of the table of bots."""
FAILED = 1
"""The exit code when a bot did not pass, or passed and entered nothing."""
UNDER_WAY = ("open", "issued")
"""How checks stand that have not ended."""


def submit_there(
    server: RemoteArena, bundle: Bundle, fields: dict[str, str], *, wait: bool, seconds: float
) -> int:
    """Submits a bot, and watches its check if that is wanted; the exit code.

    Raises:
        InputError: the server refuses it.
        ServerFault: it fails, or the check has not ended after so many seconds.
    """
    if bundle.large:
        most = server.get(f"/ladders/{fields['ladder']}")["bundle_bytes"]
        if bundle.size > most:
            raise InputError(
                f"the bot has {bundle.size} bytes, and {fields['ladder']} takes at most {most}"
            )
        send_large_files(server, bundle.large)
    file = f"{fields['name']}.tar"
    check = server.upload("/submissions", fields, file, io.BytesIO(bundle.archive))
    label = f"{check['bot']} v{check['version']}"
    click.echo(
        f"{label} was taken in at {server.address} ({bundle.language}, "
        f"{bundle.size} bytes); check {check['number']} for {check['ladder']} began"
    )
    if not wait:
        click.echo(f"See: arena logs --check {check['bot']}")
        return 0
    check = _watch(server, check, seconds)
    if check["passed"]:
        click.echo(f"{label} passed its check{_fate(check)}")
        return FAILED if check.get("fate") == "not entered" else 0
    if check.get("cancelled"):
        click.echo(f"the check of {label} was cancelled: {check['cancelled']}")
        return FAILED
    if any(not finding["kept"] for finding in check["findings"]):
        _show_log(check)
        click.echo(f"{label} did not pass its check")
        return FAILED
    why = check["problem"] or "it could not be tried"
    raise ServerFault(f"the check of {label} is {check['status']}, through no fault of it: {why}")


def _fate(check: dict[str, Any]) -> str:
    """What became of a version that passed its check, in words; nothing if the server says none."""
    ladder, problem = check["ladder"], check["problem"]
    return {
        "entered": f", and is entered on {ladder}",
        "to be tested": f", and enters {ladder} when it has passed test {check.get('test')}",
        "not entered": f", but is not entered on {ladder}{problem and f': {problem}'}",
    }.get(check.get("fate") or "", "")


def _watch(server: RemoteArena, check: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Tells the findings of a check as they come, until it has ended."""
    told, away, waits, ends = 0, "", "", time.monotonic() + seconds
    console = Console(stderr=True)
    with console.status("waiting for a worker") if console.is_terminal else _nothing() as status:
        while True:
            for finding in check["findings"][told:]:
                click.echo(_finding(finding))
            told = len(check["findings"])
            if check["status"] not in UNDER_WAY:
                return check
            # A server of the release before does not say.
            if (why := check.get("waits", "")) != waits:
                waits = why
                if why:
                    click.echo(f"it waits: {visible(why)}", err=True)
            if time.monotonic() > ends:
                raise ServerFault(
                    f"check {check['number']} has not ended after {counted(seconds, 'second')}; "
                    f"it goes on, see arena logs --check {check['bot']}"
                )
            if status and (told or check["status"] == "issued"):
                status.update(f"checking, {counted(told, 'finding')}")
            time.sleep(LOOK_SECONDS)
            try:
                check, away = server.get(f"/checks/{check['number']}"), ""
            except ServerFault as fault:
                # The check goes on there, whatever hinders us from hearing of it.
                if time.monotonic() > ends:
                    raise
                if fault.message != away:
                    away = fault.message
                    click.echo(f"{away}; asking again", err=True)


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


def _finding(finding: dict[str, Any]) -> str:
    mark = "FAIL" if not finding["kept"] else "ok  " if finding["applies"] else "-   "
    lines = [] if finding["kept"] else [f"       {line}" for line in finding["lines"]]
    clause = f"{finding['clause']}: " if finding["clause"] else ""
    return visible("\n".join([f"  {mark} {clause}{finding['words']}", *lines]))


def _show_log(check: dict[str, Any]) -> None:
    """What the bot and its build wrote, tracebacks and compilers' errors among it."""
    if check["log"]:
        click.echo(f"--- what it wrote\n{visible(check['log'].rstrip())}")


def whole_board(server: RemoteArena, ladder: str) -> dict[str, Any]:
    """A ladder's leaderboard with all its pages, as `arena.web.exports` has it."""
    path = f"/ladders/{ladder}/leaderboard"
    board: dict[str, Any] = server.get(path)
    bots = list(board["bots"])
    for page in range(2, board["pages"] + 1):
        bots += server.get(path, page=page)["bots"]
    return {**board, "page": None, "pages": 1, "bots": bots}


@click.command()
@click.argument("bot", type=Name(), required=False)
@on_server
@as_json
def status(bot: str | None, server: str | None, in_json: bool) -> None:
    """Show how bots stand: their versions, and where they play.

    Without BOT these are your own bots, and standard error says how many bytes of yours are
    stored, of how many that may be. What the operator tells all visitors comes first, on
    standard error.

    Example: arena status mybot --server https://arena.example
    """
    there = need_server(server)
    account: dict[str, Any] = {"bots": [bot]} if bot else there.get("/account")
    rows = [row for name in account["bots"] for row in _rows(there, name)]
    if notice := there.get("/notice")["text"]:
        click.echo(f"the arena's notice: {visible(notice)}", err=True)
    # A server of the release before does not say.
    if "stored_bytes" in account:
        stored, most = (account[name] / MIB for name in ("stored_bytes", "quota_bytes"))
        click.echo(f"stored of yours: {stored:.1f} MiB of {most:.1f}", err=True)
    show(rows, COLUMNS, in_json)


def _rows(there: RemoteArena, name: str) -> Iterable[dict[str, Any]]:
    """Of a bot each version on a ladder, and its newest version wherever that is."""
    found = there.get(f"/bots/{name}")
    name, on = found["name"], found["ladders"]
    newest = there.get(f"/bots/{name}/versions", limit=1)["items"]
    for version in newest:
        if not any(one["version"] == version["version"] for one in on):
            yield _row(name, version["version"], version["status"], None)
    for one in on:
        if one["state"] == "retired" and one["version"] != newest[0]["version"]:
            continue
        yield _row(name, one["version"], "ready", one)


def _row(bot: str, version: int, state: str, entrant: dict[str, Any] | None) -> dict[str, Any]:
    found = entrant or {}
    return {
        "bot": bot,
        "version": version,
        "status": state,
        "ladder": found.get("competition", ""),
        "state": found.get("state", ""),
        "rating": f"{found['rating']:.0f} ± {found['interval']:.0f}" if found else "",
        "rank": _rank(found),
        "best rank": found.get("best_rank") or "",
        "games": found.get("games", 0),
        "W-D-L": f"{found['wins']}-{found['draws']}-{found['losses']}" if found else "",
        "faults": found.get("faults", 0),
    }


def _rank(entrant: dict[str, Any]) -> str:
    if entrant.get("rank"):
        return f"{entrant['rank']} of {entrant['ranked']}"
    return "placement" if entrant.get("state") == "active" else ""


class _GameNumber(click.IntRange):
    """Refuses a bot's name in the words of this command."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"{value!r} is no number of a game; give one, or --check BOT", param, ctx)


@click.command()
@click.argument("game", type=_GameNumber(1), required=False)
@click.option(
    "--check", "bot", type=Name(), metavar="BOT", help="The last check of a bot of yours instead."
)
@click.option("--seat", type=click.IntRange(1), help="Of the game only this seat.")
@on_server
@as_json
def logs(
    game: int | None, bot: str | None, seat: int | None, server: str | None, in_json: bool
) -> None:
    """Show what bots logged and wrote to standard error: in a game, or in their check.

    You see the logs of your own bots, and of those that their owners opened. Of a check you see
    the findings, too, and the exit code is 1 if it did not pass, or entered nothing.

    \b
    Examples:
      arena logs 1207
      arena logs --check mybot
    """
    if (game is None) == (bot is None):
        raise InputError("give the number of a game, or --check BOT")
    there = need_server(server)
    if bot is not None:
        sys.exit(_show_check(there, bot, in_json))
    found = [
        {**one, "log": text}
        for one in there.get(f"/games/{game}")["seats"]
        if seat in (None, one["seat"])
        for text in _log(there, f"/games/{game}/logs/{one['seat']}", asked=seat is not None)
    ]
    if not found:
        raise InputError(f"of game {game} there is no such log for you")
    if in_json:
        click.echo(json.dumps(found))
        return
    for one in found:
        click.echo(f"--- seat {one['seat']}, {one['bot']} v{one['version']}")
        click.echo(visible(one["log"].rstrip("\n")))


def _log(there: RemoteArena, path: str, *, asked: bool) -> list[str]:
    """The log of a seat; none if it is not for us and nobody asked for just this one."""
    try:
        return [there.text(path)]
    except InputError:
        if asked:
            raise
        return []


def _show_check(there: RemoteArena, bot: str, in_json: bool) -> int:
    checks = there.get(f"/bots/{bot}/checks", limit=1)["items"]
    if not checks:
        raise InputError(f"the bot {bot} was never checked")
    check = checks[0]
    if in_json:
        click.echo(json.dumps(check))
    else:
        what = {None: f"is {check['status']}", True: "passed", False: "did not pass"}
        label = f"{check['bot']} v{check['version']}"
        click.echo(
            f"check {check['number']} of {label} for {check['ladder']} {what[check['passed']]}"
            f"{_fate(check)}"
        )
        if check.get("cancelled"):
            click.echo(f"it was cancelled: {check['cancelled']}")
        for finding in check["findings"]:
            click.echo(_finding(finding))
        _show_log(check)
    ended = check["status"] not in UNDER_WAY
    failed = ended and (not check["passed"] or check.get("fate") == "not entered")
    return FAILED if failed else 0


@click.command()
@click.argument("competition", type=Name(), required=False)
@click.option(
    "--where",
    "words",
    multiple=True,
    metavar="WORD=TEXT",
    help="Only such games: bot=greedy, ending=timeout, and what else the page Games asks for.",
)
@click.option(
    "-o", "--output", type=NamedPath(dir_okay=False, path_type=Path), help="The file to write."
)
@click.option("--after", type=click.IntRange(0), help="Only games of higher numbers.")
@on_server
def export(
    competition: str | None,
    words: Sequence[str],
    output: Path | None,
    after: int | None,
    server: str | None,
) -> None:
    """Download games as JSON Lines, which arena replay reads.

    COMPETITION is a ladder, a tournament, or test-5 for strength test 5; without it they are of
    all. --where narrows them as the list of games on the pages does. Without -o they go to
    standard output. FILE is replaced when all of them have come; until then they are in
    FILE.part. What was interrupted goes on with --after and the number of the last game that came.

    Example: arena export clobber-6x7 --where bot=greedy --where ending=timeout -o games.jsonl
    """
    wanted = _read_where(competition, words)
    lines, total = need_server(server).lines("/games.jsonl", **wanted, after=after)
    if output is None:
        for line in takewhile(lambda _: not reader_has_gone(), lines):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    count = _keep(_told(lines, total), output)
    click.echo(f"{counted(count, 'game is', 'games are')} in {output}", err=True)


def _read_where(competition: str | None, words: Sequence[str]) -> dict[str, str]:
    """The words of a filter, which the server reads.

    Raises:
        InputError: one is no such word, or is said twice.
    """
    said = {} if competition is None else {"competition": competition}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not re.fullmatch("[a-z]+", name) or name == "after":
            raise InputError(f"--where {word[:60]!r}: write WORD=TEXT, as in ending=timeout")
        if name in said:
            raise InputError(f"--where {word[:60]!r}: {name} is said twice")
        said[name] = text
    return said


def _keep(lines: Iterable[bytes], output: Path) -> int:
    """Writes lines to a file, which is replaced when all are there, and says how many they are.

    A link stays one, and its target is replaced; a device or a pipe is written to.

    Raises:
        InputError: it can't be written.
        ServerFault: they broke off; what came is kept beside the file.
    """
    target = Path(os.path.realpath(output))
    is_device = os.path.exists(target) and not os.path.isfile(target)
    part = target if is_device else target.with_name(f"{target.name}.part")
    count = 0
    try:
        with writing(output):
            with part.open("wb") as file:
                for line in lines:
                    file.write(line)
                    count += 1
            if not is_device:
                part.replace(target)
    except ServerFault as error:
        came = f"{counted(count, 'game that came is', 'games that came are')} in {part}"
        raise ServerFault(f"{error.message}; {came}") from None
    return count


def _told(lines: Iterable[bytes], total: int | None) -> Iterator[bytes]:
    """Passes lines on, and tells how many there were."""
    with ProgressBar("downloading", "game", total=total) as bar:
        for line in lines:
            bar.advance()
            yield line
