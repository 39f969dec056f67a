"""The command submit: a bot is handed in, to this machine's arena or to a server."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from sqlalchemy.orm import Session

from arena import audit
from arena.bots.forges import Commit
from arena.bots.intake import TakenIn
from arena.bots.submissions import active_on, hand_in
from arena.cli import InputError, refusing
from arena.cli.arguments import HYPOTHESES, Seconds, read_hypotheses
from arena.cli.boxed import pack
from arena.cli.checks import FAILED, UNDER_WAY, enters, fate, show_finding, show_log
from arena.cli.client import RemoteArena, ServerFault, Where, on_arena
from arena.cli.completing import named
from arena.cli.data_folder import opened
from arena.cli.listing import BAD, GOOD, say, state_of
from arena.cli.options import NamedPath
from arena.cli.report import check_writable, json_text, leave
from arena.cli.sending import send_large_files
from arena.cli.sources import commit_at, git_folder
from arena.competitions.founding import find_named
from arena.competitions.strength_plans import MAX_GAMES
from arena.ground import texts
from arena.ground.db import database_time
from arena.models import BotVersion, Ladder, User
from arena.people import accounts
from arena.strength.terms import StrengthTerms
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext
from workers import bundles
from workers.archives import BundleError
from workers.bundles import Bundle

LOOK_SECONDS = 1.0
LEFT = {
    "bots": N_("%(left)s of %(most)s bots"),
    "active": N_("%(left)s of %(most)s active at a time"),
    "uploads": N_("%(left)s of %(most)s versions within 24 hours"),
}
"""What is said of each quota of a ladder."""
LONGEST_SUBJECT = 200
"""Characters of a commit's message that are sent."""


@click.command()
@click.argument("file", type=NamedPath(path_type=Path), required=False)
@click.option(
    "--ladder",
    "ladder_name",
    required=True,
    shell_complete=named("ladders"),
    help="The ladder that it is to enter.",
)
@click.option("--git", "repository", metavar="URL#REV", help="Take it from a git repository.")
@click.option("--name", help="The bot's name; by default its file's.")
@click.option("--note", default="", help="What is new in this version.")
@click.option("--owner", help="Whose bot it is; by default you.")
@click.option(
    "--team",
    shell_complete=named("teams"),
    help="On a server: the team of yours whose bot it is.",
)
@click.option(
    "--test-first",
    is_flag=True,
    help="It enters when it has passed a strength test against the active version.",
)
@click.option("--elo", metavar="ELO0,ELO1", help="Of that test; by default 0,10.")
@click.option("--max-games", type=click.IntRange(1), help="Of that test, at most.")
@click.option(
    "--try",
    "only_tried",
    is_flag=True,
    help="On a server: have it checked without handing it in; it enters nothing.",
)
@click.option("--wait", is_flag=True, help="On a server: wait for its check, and show it.")
@click.option("--wait-seconds", type=Seconds(1), default=600.0, help="At most; 600 by default.")
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="On a server: write its check, as it is known at the end.",
)
@on_arena
def submit(
    file: Path | None,
    ladder_name: str,
    repository: str | None,
    name: str | None,
    note: str,
    owner: str | None,
    team: str | None,
    test_first: bool,
    elo: str | None,
    max_games: int | None,
    only_tried: bool,
    wait: bool,
    wait_seconds: float,
    json_file: str | None,
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
      arena submit mybot.py --ladder clobber-6x7 --team knights
      arena submit --git https://example.org/me/mybot.git#v2 --ladder clobber-6x7
    """
    wish = _wish(test_first, elo, max_games)
    with refusing(BundleError):
        bundle, commit = _bundle(file, repository)
    if commit is not None:
        click.echo(_words(commit), err=True)
    check_writable(json_file)
    there = where.server()
    if there is not None:
        if only_tried and wish is not None:
            raise InputError(gettext("what is only tried enters nothing: leave out --test-first"))
        if owner is not None:
            raise InputError(
                gettext("--owner is for this machine's arena; a server goes by the token")
            )
        fields = {"ladder": ladder_name, "name": name or bundle.name, "note": note}
        if commit is not None:
            fields |= {
                "commit": commit.hash,
                "commit_subject": texts.cut(commit.subject, LONGEST_SUBJECT),
                "commit_repository": commit.repository,
                "commit_dirty": str(commit.dirty).lower(),
            }
        if only_tried:
            fields["enters"] = "false"
        if team is not None:
            fields["team"] = team
        if wish is not None:
            fields |= {"test_first": "true", "elo0": str(wish.elo0), "elo1": str(wish.elo1)}
            fields["max_games"] = str(wish.max_games)
        keep = Kept(json_file)
        try:
            code = submit_there(there, bundle, fields, wait=wait, seconds=wait_seconds, keep=keep)
        finally:
            keep.write()
        sys.exit(code)
    if team is not None:
        raise InputError(gettext("--team is for a server: here --owner takes a team's name, too"))
    if wait or only_tried or json_file is not None:
        raise InputError(
            gettext("--try, --wait and --json are for a server: name one with --server, or log in")
        )
    with opened(where.data) as (database, settings):
        bundles.store(settings.bundles, bundle)
        large = {one.digest: one.size for one in bundle.large}
        taken = TakenIn(
            bundle.digest,
            bundle.size,
            bundle.files_bytes,
            bundle.language,
            bundle.name,
            large,
            bundle.manifest.runtime,
        )

        def enter(session: Session) -> str:
            now = database_time(session)
            version = hand_in(
                session,
                audit.operator(),
                _user(session, owner if owner is not None else audit.machine_user(), now),
                name or bundle.name,
                taken,
                find_named(session, Ladder, ladder_name),
                note=note,
                test_first=wish,
                commit=commit,
                now=now,
            )
            return gettext(
                "%(version)s was taken in (%(language)s, %(size)s bytes); %(prospect)s. "
                "See: arena bots",
                version=version.label,
                language=version.language,
                size=bundle.files_bytes,
                prospect=_prospect(session, version, ladder_name, wish),
            )

        click.echo(database.run(enter))


def _prospect(
    session: Session, version: BotVersion, ladder_name: str, wish: StrengthTerms | None
) -> str:
    """What becomes of a version that was taken in."""
    active = active_on(session, find_named(session, Ladder, ladder_name), version.bot_id)
    if active is not None and active.version_id == version.id:
        return gettext(
            "it plays on %(ladder)s already, and is checked once more", ladder=ladder_name
        )
    if wish is None:
        return gettext(
            "it is checked, and enters %(ladder)s when it has passed", ladder=ladder_name
        )
    if active is None:
        return gettext(
            "it is checked, and enters %(ladder)s when it has passed, since no version is there "
            "to test it against",
            ladder=ladder_name,
        )
    return gettext(
        "it is checked, and enters %(ladder)s when it has passed that and a strength test "
        "against %(version)s",
        ladder=ladder_name,
        version=active.version.label,
    )


def _wish(test_first: bool, elo: str | None, max_games: int | None) -> StrengthTerms | None:
    if not test_first:
        if elo is not None or max_games is not None:
            raise InputError(gettext("--elo and --max-games are for a test: add --test-first"))
        return None
    elo0, elo1 = read_hypotheses(HYPOTHESES if elo is None else elo)
    return StrengthTerms(elo0, elo1, max_games=max_games or MAX_GAMES)


def _words(commit: Commit) -> str:
    """Tells whoever submits a bot by which commit it is."""
    if commit.dirty:
        return gettext(
            "of commit %(commit)s, with changes that are in no commit", commit=commit.short
        )
    return gettext("of commit %(commit)s", commit=commit.short)


def _bundle(file: Path | None, repository: str | None) -> tuple[Bundle, Commit | None]:
    """What is submitted, and the commit that it is of.

    Raises:
        BundleError: it is no bot.
        InputError: both or none are given, or the repository can't be fetched.
    """
    if (file is None) == (repository is None):
        raise InputError(gettext("give the path of a bot, or --git URL#REV"))
    if file is not None:
        return pack(file), commit_at(file)
    assert repository is not None
    # Large files are read from there until the command has ended.
    folder, commit = click.get_current_context().with_resource(git_folder(repository))
    return pack(folder), commit


def _user(session: Session, name: str, now: datetime) -> User:
    name = name.strip()[:40]
    if not name:
        raise InputError(gettext("the owner's name is empty: give one with --owner"))
    found = accounts.find(session, name)
    if found is None:
        found = User(name=name, created=now)
        session.add(found)
        session.flush()
    return found


class Kept:
    """The file in which the check is written as it is known at the end, if one is wanted."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self.check: dict[str, Any] | None = None

    def write(self) -> None:
        """Writes it, if there is one.

        Raises:
            InputError: it can't be written.
        """
        if self._name is not None and self.check is not None:
            text = json_text(self.check)
            leave([(self._name, lambda: text)], lambda: None)


def submit_there(
    server: RemoteArena,
    bundle: Bundle,
    fields: dict[str, str],
    *,
    wait: bool,
    seconds: float,
    keep: Kept,
) -> int:
    """Submits a bot, and watches its check if that is wanted; the exit code.

    Args:
        keep: is given the check, as soon as there is one.

    Raises:
        InputError: the server refuses it.
        ServerFault: it fails, or the check has not ended after so many seconds.
    """
    ladder = server.get(f"/ladders/{fields['ladder']}")
    if "most_bots" in ladder:  # an older server does not say
        path = f"/ladders/{fields['ladder']}/quotas"
        whose = {"team": fields["team"]} if "team" in fields else {}
        if refusal := server.get(path, bot=fields["name"], **whose)["refusal"]:
            raise InputError(visible(refusal))
    if bundle.large:
        most = ladder["bundle_bytes"]
        if bundle.size > most:
            raise InputError(
                gettext(
                    "the bot has %(size)s bytes, and %(ladder)s takes at most %(most)s",
                    size=bundle.size,
                    ladder=fields["ladder"],
                    most=most,
                )
            )
        send_large_files(server, bundle.large)
    file = f"{fields['name']}.tar"
    check = server.upload("/submissions", fields, file, io.BytesIO(bundle.archive))
    keep.check = check
    label = f"{check['bot']} v{check['version']}"
    click.echo(
        gettext(
            "%(version)s was taken in at %(address)s (%(language)s, %(size)s bytes); check "
            "%(check)s for %(ladder)s began",
            version=label,
            address=server.address,
            language=bundle.language,
            size=bundle.files_bytes,
            check=check["number"],
            ladder=check["ladder"],
        )
    )
    if _has_quotas(ladder):
        _tell_quotas(server.get(f"/ladders/{fields['ladder']}/quotas", bot=check["bot"]))
    if not wait:
        click.echo(gettext("See: %(command)s", command=f"arena logs --check {check['bot']}"))
        return 0
    check = keep.check = _watch(server, check, seconds)
    if check["passed"]:
        say(f"{label} ", (gettext("passed its check"), GOOD), fate(check))
        return FAILED if enters(check) and check.get("fate") == "not entered" else 0
    if check.get("cancelled"):
        click.echo(
            gettext(
                "the check of %(version)s was cancelled: %(reason)s",
                version=label,
                reason=check["cancelled"],
            )
        )
        return FAILED
    if any(not finding["kept"] for finding in check["findings"]):
        show_log(check)
        say(f"{label} ", (gettext("did not pass its check"), BAD))
        return FAILED
    why = check["problem"] or gettext("it could not be tried")
    raise ServerFault(
        gettext(
            "the check of %(version)s is %(status)s, through no fault of it: %(reason)s",
            version=label,
            status=state_of("a check", check["status"]),
            reason=why,
        )
    )


def _has_quotas(ladder: Mapping[str, Any]) -> bool:
    """Whether each person may have only so much on a ladder; an older server does not say."""
    quotas = "most_bots", "most_active", "most_uploads"
    return any(ladder.get(quota) is not None for quota in quotas)


def _tell_quotas(told: Mapping[str, Any]) -> None:
    """Says what is left of what each person may have."""
    words = [
        gettext(text, left=max(0, told[key]["most"] - told[key]["had"]), most=told[key]["most"])
        for key, text in LEFT.items()
        if told[key]["most"] is not None
    ]
    click.echo(gettext("Left there: %(quotas)s.", quotas=", ".join(words)))


def _watch(server: RemoteArena, check: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Tells the findings of a check as they come, until it has ended."""
    told, away, waits, ends = 0, "", "", time.monotonic() + seconds
    console = Console(stderr=True)
    with (
        console.status(gettext("waiting for a worker"))
        if console.is_terminal
        else _nothing() as status
    ):
        while True:
            for finding in check["findings"][told:]:
                show_finding(finding)
            told = len(check["findings"])
            if check["status"] not in UNDER_WAY:
                return check
            # A server of the release before does not say.
            if (why := check.get("waits", "")) != waits:
                waits = why
                if why:
                    click.echo(gettext("it waits: %(reason)s", reason=visible(why)), err=True)
            if time.monotonic() > ends:
                raise ServerFault(
                    gettext(
                        "check %(number)s has not ended after %(time)s; it goes on, see "
                        "arena logs --check %(bot)s",
                        number=check["number"],
                        time=counted(seconds, "second"),
                        bot=check["bot"],
                    )
                )
            if status and (told or check["status"] == "issued"):
                status.update(gettext("checking, %(findings)s", findings=counted(told, "finding")))
            time.sleep(LOOK_SECONDS)
            try:
                check, away = server.get(f"/checks/{check['number']}"), ""
            except ServerFault as fault:
                # The check goes on there, whatever hinders us from hearing of it.
                if time.monotonic() > ends:
                    raise
                if fault.message != away:
                    away = fault.message
                    click.echo(gettext("%(problem)s; asking again", problem=away), err=True)


@contextmanager
def _nothing() -> Iterator[None]:
    yield None
