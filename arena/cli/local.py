"""Commands on ladders and their bots: submit, bots, ladders, leaderboard, ratings."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena import audit
from arena.bots.intake import TakenIn
from arena.bots.submissions import active_on, hand_in
from arena.cli import InputError, refusing
from arena.cli.arguments import HYPOTHESES, Seconds, read_hypotheses
from arena.cli.boxed import pack
from arena.cli.client import Name, Where, on_arena
from arena.cli.data_folder import opened
from arena.cli.listing import show
from arena.cli.options import NamedPath, as_json, on_data
from arena.cli.progress_bar import ProgressBar
from arena.cli.reading import read_all, told
from arena.cli.remote import submit_there, whole_board
from arena.cli.sources import git_folder
from arena.competitions.founding import find_named
from arena.competitions.kinds import names_of
from arena.competitions.strength_plans import MAX_GAMES
from arena.ground.config import Settings
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    JobStatus,
    Ladder,
    User,
)
from arena.people import accounts
from arena.recorder.rebuild import rebuild, rebuild_beside
from arena.strength.terms import StrengthTerms
from arena.web import leaderboards
from arena.web.api.ladder_shapes import BoardShape, ListedLadder
from engine.plurals import counted
from workers import bundles
from workers.archives import BundleError
from workers.bundles import Bundle


@click.command()
@click.argument("file", type=NamedPath(path_type=Path), required=False)
@click.option("--ladder", "ladder_name", required=True, help="The ladder that it is to enter.")
@click.option("--git", "repository", metavar="URL#REV", help="Take it from a git repository.")
@click.option("--name", help="The bot's name; by default its file's.")
@click.option("--note", default="", help="What is new in this version.")
@click.option("--owner", help="Whose bot it is; by default you.")
@click.option(
    "--test-first",
    is_flag=True,
    help="It enters when it has passed a strength test against the active version.",
)
@click.option("--elo", metavar="ELO0,ELO1", help="Of that test; by default 0,10.")
@click.option("--max-games", type=click.IntRange(1), help="Of that test, at most.")
@click.option("--wait", is_flag=True, help="On a server: wait for its check, and show it.")
@click.option("--wait-seconds", type=Seconds(1), default=600.0, help="At most; 600 by default.")
@on_arena
def submit(
    file: Path | None,
    ladder_name: str,
    repository: str | None,
    name: str | None,
    note: str,
    owner: str | None,
    test_first: bool,
    elo: str | None,
    max_games: int | None,
    wait: bool,
    wait_seconds: float,
    where: Where,
) -> None:
    """Submit a bot to a ladder.

    With --server, or after arena login, it is submitted there; otherwise, and always with --data,
    to the arena of this machine. With --wait the exit code is 1 if it did not pass its check.

    FILE is a program, a folder or an archive; with --git it is a revision of a repository
    instead, a branch, a tag or a whole commit, and of that a folder if one is named behind it
    (URL#REV:FOLDER). The bot is checked by a game against itself, and enters the ladder when it
    has passed. A bot of the same name gets a new version.

    \b
    Examples:
      arena submit mybot.py --ladder clobber-6x7
      arena submit mybot.py --ladder clobber-6x7 --server https://arena.example --wait
      arena submit --git https://example.org/me/mybot.git#v2 --ladder clobber-6x7
    """
    wish = _wish(test_first, elo, max_games)
    with refusing(BundleError):
        bundle = _bundle(file, repository)
    there = where.server()
    if there is not None:
        if owner is not None:
            raise InputError("--owner is for this machine's arena; a server goes by the token")
        fields = {"ladder": ladder_name, "name": name or bundle.name, "note": note}
        if wish is not None:
            fields |= {"test_first": "true", "elo0": str(wish.elo0), "elo1": str(wish.elo1)}
            fields["max_games"] = str(wish.max_games)
        sys.exit(submit_there(there, bundle, fields, wait=wait, seconds=wait_seconds))
    if wait:
        raise InputError("--wait is for a server: name one with --server, or log in")
    with opened(where.data) as (database, settings):
        bundles.store(settings.bundles, bundle)
        large = {one.digest: one.size for one in bundle.large}
        taken = TakenIn(
            bundle.digest,
            bundle.size,
            bundle.language,
            bundle.name,
            large,
            bundle.manifest.runtime,
        )

        def enter(session: Session) -> str:
            now = datetime.now(UTC)
            version = hand_in(
                session,
                audit.operator(),
                _user(session, owner if owner is not None else audit.machine_user(), now),
                name or bundle.name,
                taken,
                find_named(session, Ladder, ladder_name),
                note=note,
                test_first=wish,
                now=now,
            )
            size = f"{version.language}, {version.size} bytes"
            then = _prospect(session, version, ladder_name, wish)
            return f"{version.label} was taken in ({size}); {then}. See: arena bots"

        click.echo(database.run(enter))


def _prospect(
    session: Session, version: BotVersion, ladder_name: str, wish: StrengthTerms | None
) -> str:
    """What becomes of a version that was taken in."""
    active = active_on(session, find_named(session, Ladder, ladder_name), version.bot_id)
    if active is not None and active.version_id == version.id:
        return f"it plays on {ladder_name} already, and is checked once more"
    entry = f"it is checked, and enters {ladder_name} when it has passed"
    if wish is None:
        return entry
    if active is None:
        return f"{entry}, since no version is there to test it against"
    return f"{entry} that and a strength test against {active.version.label}"


def _wish(test_first: bool, elo: str | None, max_games: int | None) -> StrengthTerms | None:
    if not test_first:
        if elo is not None or max_games is not None:
            raise InputError("--elo and --max-games are for a test: add --test-first")
        return None
    elo0, elo1 = read_hypotheses(HYPOTHESES if elo is None else elo)
    return StrengthTerms(elo0, elo1, max_games=max_games or MAX_GAMES)


def _bundle(file: Path | None, repository: str | None) -> Bundle:
    """What is submitted.

    Raises:
        BundleError: it is no bot.
        InputError: both or none are given, or the repository can't be fetched.
    """
    if (file is None) == (repository is None):
        raise InputError("give the path of a bot, or --git URL#REV")
    if file is not None:
        return pack(file)
    assert repository is not None
    # Large files are read from there until the command has ended.
    return pack(click.get_current_context().with_resource(git_folder(repository)))


def _user(session: Session, name: str, now: datetime) -> User:
    name = name.strip()[:40]
    if not name:
        raise InputError("the owner's name is empty: give one with --owner")
    found = accounts.find(session, name)
    if found is None:
        found = User(name=name, created=now)
        session.add(found)
        session.flush()
    return found


@click.command()
@on_data
@as_json
def bots(data: Path | None, in_json: bool) -> None:
    """List the bots, their versions and what became of their checks.

    Example: arena bots
    """
    with opened(data) as (database, _), database.read() as session:
        versions = session.scalars(
            sa.select(BotVersion)
            .join(BotVersion.bot)
            .order_by(Bot.name, BotVersion.number)
            .options(joinedload(BotVersion.bot).joinedload(Bot.owner))
        ).all()
        checks: dict[int, Check] = {}
        for check in session.scalars(sa.select(Check).order_by(Check.id)):
            if check.version_id not in checks or not check.passed:
                checks[check.version_id] = check
        counts = sa.select(Entrant.version_id, sa.func.count()).group_by(Entrant.version_id)
        counts = counts.join(Ladder, Ladder.id == Entrant.competition_id)
        entered = {row[0]: row[1] for row in session.execute(counts)}
        rows = [
            {
                "bot": version.bot.name,
                "version": version.number,
                "owner": version.bot.owner.name,
                "language": version.language,
                "status": str(version.status),
                "ladders": entered.get(version.id, 0),
                "check": _check_words(checks.get(version.id)),
                "digest": version.digest,
            }
            for version in versions
        ]
    show(rows, ("bot", "version", "owner", "language", "status", "ladders", "check"), in_json)


def _check_words(check: Check | None) -> str:
    if check is None:
        return ""
    failed = [finding["words"] for finding in check.findings if not finding["kept"]]
    if failed:
        return "; ".join(failed)
    if check.passed:
        return f"passed, but entered nothing: {check.problem}" if check.problem else "passed"
    return "cancelled" if check.status is JobStatus.VOID else str(check.status)


@click.command()
@on_arena
@as_json
def ladders(where: Where, in_json: bool) -> None:
    """List the ladders, the first made first.

    Example: arena ladders
    """
    newest_first = sa.select(Ladder).order_by(Ladder.id.desc())
    show(
        read_all(where, "/ladders", ListedLadder, lambda its: its.scalars(newest_first))[::-1],
        ("ladder", "variant", "time", "state", "games", "leader"),
        in_json,
        cells=lambda one: {"ladder": one["name"]},
    )


@click.command()
@click.argument("ladder_name", type=Name(), metavar="LADDER")
@on_arena
@as_json
def leaderboard(ladder_name: str, where: Where, in_json: bool) -> None:
    """Show a ladder's leaderboard, of a server or of this machine's arena as arena submit does.

    Example: arena leaderboard clobber-6x7
    """

    def here(session: Session, _: Settings) -> dict[str, Any]:
        board = leaderboards.board(session, find_named(session, Ladder, ladder_name))
        return BoardShape.of(board).model_dump(mode="json")

    found = told(where, lambda server: whole_board(server, ladder_name), here)
    if in_json:
        click.echo(json.dumps(found))
        return
    rows = [
        row
        | {
            "rank": row["rank"] or "placement",
            "rating": f"{row['rating']:.0f} ± {row['interval']:.0f}",
            "W-D-L": f"{row['wins']}-{row['draws']}-{row['losses']}",
            "score": f"{row['score']:.1%}",
        }
        for row in found["bots"]
    ]
    columns = ("rank", "bot", "version", "owner", "rating", "games", "W-D-L", "score", "faults")
    show(rows, columns, in_json, title=found["variant"])


@click.group()
def ratings() -> None:
    """Ratings, made anew from the results."""


@ratings.command("rebuild")
@click.option("--check", is_flag=True, help="Only say whether they come out equal.")
@on_data
@as_json
def rebuild_command(check: bool, data: Path | None, in_json: bool) -> None:
    """Make ratings and counters anew from the results, and say whether they came out equal.

    Example: arena ratings rebuild --check
    """
    found = []
    with opened(data) as (database, _):
        with database.read() as session:
            kept = sa.select(Competition.id, Competition.games)
            kept = kept.where(Competition.kind.in_(names_of(lambda kind: kind.checked))).order_by(
                Competition.id
            )
            rows = session.execute(kept).all()
        with ProgressBar("rebuilding", "game", total=sum(games for _, games in rows)) as bar:
            for id_, _ in rows:
                if not check:
                    found.append(rebuild_beside(database, id_, bar.advance))
                    continue
                with database.read() as session:
                    competition = session.get_one(Competition, id_)
                    found.append(rebuild(session, competition, write=False, advance=bar.advance))
    if in_json:
        click.echo(json.dumps([asdict(one) | {"equal": one.equal} for one in found]))
    else:
        for one in found:
            what = "equal" if one.equal else f"{len(one.differences)} ratings or counters differ"
            entrants = counted(one.entrants, "entrant")
            click.echo(f"{one.competition}: {counted(one.games, 'game')}, {entrants}: {what}")
            for difference in one.differences[:5]:
                click.echo(f"  {difference}")
    sys.exit(0 if all(one.equal for one in found) or not check else 1)
