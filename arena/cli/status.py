"""The command status: how bots stand on a server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from arena.cli.client import Name, RemoteArena, need_server, on_server
from arena.cli.listing import show
from arena.cli.options import as_json
from engine.places import results_words
from engine.protocol import visible
from engine.translation import N_, gettext
from workers.large_files import MIB

COLUMNS = (
    *(N_("bot"), N_("version"), N_("status"), N_("ladder"), N_("state")),
    *(N_("rating"), N_("rank"), N_("best rank"), N_("games"), N_("results"), N_("faults")),
    *(N_("check"), N_("its page")),
)
"""The columns of the table of bots."""


@click.command()
@click.argument("bot", type=Name("bots"), required=False)
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
        click.echo(gettext("the arena's notice: %(notice)s", notice=visible(notice)), err=True)
    # A server of the release before does not say.
    if "stored_bytes" in account:
        stored, most = (account[name] / MIB for name in ("stored_bytes", "quota_bytes"))
        click.echo(
            gettext(
                "stored of yours: %(stored)s MiB of %(most)s",
                stored=f"{stored:.1f}",
                most=f"{most:.1f}",
            ),
            err=True,
        )
    show(rows, COLUMNS, in_json, kinds={"status": "a version", "state": "a bot"})


def _rows(there: RemoteArena, name: str) -> Iterable[dict[str, Any]]:
    """The versions of a bot that are on a ladder, and its newest version wherever that is."""
    found = there.get(f"/bots/{name}")
    name, on = found["name"], found["ladders"]
    newest = there.get(f"/bots/{name}/versions", limit=1)["items"]
    # A server of the release before does not tell of checks.
    checks = {one["version"]: one.get("check") or {} for one in newest}
    for version in newest:
        if not any(one["version"] == version["version"] for one in on):
            yield _row(name, version["version"], version["status"], None, checks, there)
    for one in on:
        if one["state"] == "retired" and one["version"] != newest[0]["version"]:
            continue
        yield _row(name, one["version"], "ready", one, checks, there)


def _row(
    bot: str,
    version: int,
    state: str,
    entrant: dict[str, Any] | None,
    checks: dict[int, dict[str, Any]],
    there: RemoteArena,
) -> dict[str, Any]:
    found, check = entrant or {}, checks.get(version, {})
    return {
        "bot": bot,
        "version": version,
        "status": state,
        "ladder": found.get("competition", ""),
        "state": found.get("state", ""),
        "rating": f"{found['rating']:.0f} ± {found['interval']:.0f}" if found.get("games") else "",
        "rank": _rank(found),
        "best rank": found.get("best_rank") or "",
        "games": found.get("games", 0),
        "results": _results(found) if found else "",
        "faults": found.get("faults", 0),
        "check": check.get("outcome", ""),
        "its page": f"{there.address}{check['page']}" if check else "",
    }


def _results(entrant: dict[str, Any]) -> str:
    counts = (entrant[key] for key in ("wins", "draws", "losses", "places"))
    return results_words(*counts)


def _rank(entrant: dict[str, Any]) -> str:
    if entrant.get("rank"):
        return gettext("%(rank)s of %(number)s", rank=entrant["rank"], number=entrant["ranked"])
    return gettext("placement") if entrant.get("state") == "active" else ""
