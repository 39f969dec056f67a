"""How commands print what stands in a tournament, as the API has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from arena.cli.listing import show as show_rows
from arena.cli.listing import state_of
from arena.cli.tournament_progress_bar import label
from arena.competitions.dates import moment_words
from arena.formats.format import stage_words
from arena.formats.score import Score
from arena.formats.standings import TIE_BREAK_WORDS
from arena.ratings.elo import FEWEST_GAMES, TOO_FEW, signed
from engine.places import TWO, results_head, results_words
from engine.plurals import counted, decimal
from engine.protocol import visible
from engine.translation import N_, gettext, translated

MOST_COLUMNS = 20
"""A crosstable of more bots is shown in JSON and on its page alone."""


def print_tables(found: Mapping[str, Any], *, with_rounds: bool) -> None:
    """Standings, crosstable and bracket, with the rounds if they are asked for."""
    kind = translated(found["format_title"]).lower()
    _say(f"{found['title']}: {kind}, {found['variant']}, {found['time']}")
    state, games = state_of("a tournament", found["state"]), counted(found["games"], "game")
    if not found["standings"]:
        _print_sign_ups(found, state)
        return
    played = counted(found["matches"], "match", "matches")
    if found["planned"] is None:
        _say(f"{state}, {played}, {games}")
    else:
        _say(
            gettext(
                "%(state)s, %(done)s of %(matches)s, %(games)s",
                state=state,
                done=found["matches"],
                matches=counted(found["planned"], "match", "matches"),
                games=games,
            )
        )
    if found["called_off"] is not None:
        why = found["called_off"]
        _say(
            gettext(
                "called off: %(reason)s; nobody won it, and this is how far it came", reason=why
            )
        )
    _print_standings(found)
    for line in found["standings"]:
        if line["withdrawn"] is not None:
            _say(
                gettext(
                    "%(bot)s was withdrawn: %(reason)s", bot=label(line), reason=line["withdrawn"]
                )
            )
    for line in sorted(found["standings"], key=lambda line: line["seeding"]):
        if line["suspended"] is not None:
            _say(
                gettext(
                    "%(bot)s is suspended: %(reason)s", bot=label(line), reason=line["suspended"]
                )
            )
    for level in found["lots"]:
        _say(
            gettext(
                "level in all that counts, and put in order by the lot: %(bots)s",
                bots=", ".join(level),
            )
        )
    if len(found["standings"]) <= MOST_COLUMNS:
        _print_crosstable(found)
    _print_bracket(found["bracket"] or [])
    if with_rounds:
        _print_rounds(found["rounds"])


def _print_sign_ups(found: Mapping[str, Any], state: str) -> None:
    """Who signed up, of a tournament whose field is not drawn, or was too small."""
    if found["called_off"] is not None:
        _say(gettext("called off: %(reason)s", reason=found["called_off"]))
    elif found["entries_close"] is not None:
        _say(
            gettext(
                "%(state)s until %(moment)s, for %(places)s",
                state=state,
                moment=moment_words(datetime.fromisoformat(str(found["entries_close"]))),
                places=counted(found["sign_up"]["places"], "place"),
            )
        )
    lines = [
        {
            "#": one["place"],
            N_("bot"): one["bot"] + (f" v{one['version']}" if one["version"] else ""),
            N_("owner"): one["owner"],
            N_("waiting list"): gettext("yes") if one["waits"] else "",
            N_("checked in"): gettext("yes") if one["checked_in"] else "",
            N_("hindered"): one["hindered"] or "",
        }
        for one in found["sign_ups"]
    ]
    if lines:
        show_rows(lines, list(lines[0]), False)
    else:
        _say(gettext("nobody has signed up"))


def _say(text: str) -> None:
    """Prints a line in which strangers' words may be."""
    click.echo(visible(text))


def _print_standings(found: Mapping[str, Any]) -> None:
    by_share = found["by_share"]
    forfeited = any(line["unplayed"] for line in found["standings"])
    byes = not by_share and any(line["unplayed_points"] for line in found["standings"])
    lines = []
    for line in found["standings"]:
        tie_breaks = {
            TIE_BREAK_WORDS.get(key, key): decimal(value)
            for key, value in line["tie_breaks"].items()
            if key != "lot"
        }
        lines.append(
            {
                "#": "" if line["place"] is None else line["place"],
                N_("bot"): label(line),
                N_("points"): decimal(line["points"]),
                **({N_("by byes"): decimal(line["unplayed_points"])} if byes else {}),
                N_("games"): line["games"],
                **({N_("not played"): line["unplayed"]} if by_share and forfeited else {}),
                **({N_("a game"): decimal(line["points_a_game"])} if by_share else {}),
                **_results(line, found["sides"]),
                **tie_breaks,
                "Elo": _elo(line),
            }
        )
    show_rows(lines, list(lines[0]), False)


def _results(line: Mapping[str, Any], sides: int) -> dict[str, str]:
    counts = (line["wins"], line["draws"], line["losses"], line["places"])
    found = {results_head(sides): results_words(*counts)}
    if sides > TWO:
        mean = line["mean_place"]
        found[N_("mean place")] = "" if mean is None else f"{mean:.2f}"
    return found


def _elo(line: Mapping[str, Any]) -> str:
    if line["elo"] is None:
        return ""
    if line["games"] < FEWEST_GAMES:
        return translated(TOO_FEW)
    elo, *ends = (signed(line[key]) for key in ("elo", "elo_lower", "elo_upper"))
    return f"{elo} [{', '.join(ends)}]"


def _print_crosstable(found: Mapping[str, Any]) -> None:
    rows = [
        {
            "#": number,
            "bot": label(line),
            **{str(n): _cell(cell) for n, cell in enumerate(cells, 1)},
        }
        for number, (line, cells) in enumerate(
            zip(found["standings"], found["crosstable"], strict=True), 1
        )
    ]
    show_rows(rows, list(rows[0]), False, title=gettext("Points against each"))


def _print_bracket(ties: list[Mapping[str, Any]]) -> None:
    for tie in ties:
        if tie["decided"] and None in tie["bots"]:
            continue  # one of them had nobody to play against
        sides = " - ".join("?" if side is None else side for side in tie["bots"])
        score = " " + "-".join(map(decimal, tie["score"])) if any(tie["score"]) else ""
        if tie["winner"] is not None and tie["tie_break"]:
            score += ", " + gettext(
                "%(bot)s goes on as the %(tie_break)s",
                bot=tie["winner"],
                tie_break=translated(tie["tie_break"]),
            )
        _say(f"{stage_words(tie['stage'])}: {sides}{score}")


def _print_rounds(rounds: list[Mapping[str, Any]]) -> None:
    for each in rounds:
        click.echo(gettext("Round %(number)s", number=each["round"]))
        for pair in each["matches"]:
            points = (
                "-".join(map(decimal, pair["points"]))
                if pair["points"]
                else state_of("a match", pair["status"])
            )
            _say(f"  {' - '.join(pair['bots'])}: {points}")
        for bye in each["byes"]:
            words = gettext("%(bot)s has a bye", bot=bye["bot"])
            if bye["points"]:
                points = counted(bye["points"], "point")
                words = gettext("%(bot)s has a bye, for %(points)s", bot=bye["bot"], points=points)
            _say(f"  {words}")


def _cell(cell: Mapping[str, int] | None) -> str:
    if cell is None:
        return ""
    score = Score(cell["wins"], cell["draws"], cell["losses"])
    return gettext("%(points)s of %(games)s", points=decimal(score.points), games=score.games)
