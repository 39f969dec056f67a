"""The commands of strength tests that the arena's workers play: create, list, show, stop, ..."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.cli import InputError, deeds, refusing
from arena.cli.arguments import CLOCK, HYPOTHESES, clock_words, read_hypotheses
from arena.cli.client import Where, on_arena
from arena.cli.listing import show as show_rows
from arena.cli.options import as_json
from arena.cli.reading import read, read_all, told
from arena.cli.report import aligned
from arena.cli.strength_wait import wait_for, waiting
from arena.competitions import strength_tests
from arena.competitions.strength_deeds import CreateTest
from arena.competitions.strength_exclusions import ExcludeWorker
from arena.ground.config import Settings
from arena.ground.refusals import Refusal
from arena.models import WAITS, Approval, StrengthTest, TestVerdict
from arena.ratings.elo import Estimate
from arena.strength.forecast import Forecast
from arena.strength.words import chance_words, elo_words, forecast_lines, llr_words
from arena.web.api.results import ExclusionShape, TestShape
from arena.web.api.strength import BlockShape, EstimateShape, TestAsked
from engine.plurals import counted
from engine.protocol import visible
from engine.translation import N_, gettext


class CompetitionNumber(click.ParamType[int]):
    """A strength test by its number, 17, or by its name among all competitions, test-17; and so
    whatever else is called by its number.

    Args:
        word: what stands before the number.
        what: what it is called.
    """

    name = "number"

    def __init__(self, word: str, refusal: str) -> None:
        self._word, self._refusal = word, refusal

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> int:
        found = re.fullmatch(rf"(?:{self._word}-)?([0-9]{{1,20}})", str(value))
        if found is None:
            raise InputError(gettext(self._refusal, given=str(value)[:40]))
        return int(found[1])


NUMBER = CompetitionNumber(
    "test", N_("%(given)r is no strength test: give its number, as in 17 or test-17")
)
ELO = click.option(
    "--elo",
    metavar="ELO0,ELO1",
    help=f"Is it ELO1 rather than ELO0? By default the preset's, else {HYPOTHESES}.",
)
BUT_ESTIMATED = tuple(
    part.name for part in CreateTest.parts() if part.name not in TestAsked.model_fields
)
"""What an estimate does not ask for."""


@click.group()
def strength() -> None:
    """Strength tests between submitted versions: make one, tell what it would take, list them."""


@strength.command()
@deeds.options(CreateTest, "candidate", "baseline", but=("elo0", "elo1", "time"))
@CLOCK
@ELO
@on_arena
@as_json
def create(elo: str | None, clock: str | None, where: Where, in_json: bool, **given: Any) -> None:
    """Test one submitted version against another; a running arena begins at once.

    CANDIDATE and BASELINE are bots, or versions of them as in greedy:2; a bot alone is its newest
    version that was handed in.

    Example: arena strength create greedy:2 greedy:1 --ladder clobber-6x7
    """
    deed = deeds.made(CreateTest, **_asked(elo, clock, given))
    deeds.do_one(deed, where, in_json=in_json)


@strength.command()
@click.argument("number", type=NUMBER)
@waiting
@on_arena
def wait(number: int, where: Where, wait_seconds: float, **files: str | None) -> None:
    """Wait for the end of a strength test, and leave it in files.

    The exit code is 0 if it passed, 1 if it failed or could not be decided, and 3 if it has not
    ended in time, or was stopped. What is in the files is English: it is read elsewhere.

    Example: arena strength wait 17 --markdown comment.md --junit report.xml
    """
    sys.exit(wait_for(number, where, seconds=wait_seconds, **files))


@strength.command()
@deeds.options(CreateTest, but=(*BUT_ESTIMATED, "elo0", "elo1", "time"))
@CLOCK
@ELO
@click.option(
    "--draws",
    type=click.FloatRange(0, 1, max_open=True),
    help="Share of draws between equals; by default as on the ladder.",
)
@on_arena
@as_json
def estimate(
    elo: str | None,
    clock: str | None,
    draws: float | None,
    where: Where,
    in_json: bool,
    **given: Any,
) -> None:
    """Tell what a test would take, and its chance to pass, by the true difference.

    Nothing is made, and nothing played.

    Example: arena strength estimate --ladder clobber-6x7 --elo 0,5
    """
    asked = _asked(elo, clock, given) | ({} if draws is None else {"draws": draws})

    def here(session: Session, _: Settings) -> EstimateShape:
        with refusing(Refusal):
            return EstimateShape.told(TestAsked(**asked).estimate(session))

    found = told(
        where,
        lambda server: server.get("/tests/estimate", **asked),
        lambda *its: here(*its).model_dump(mode="json"),
    )
    if in_json:
        click.echo(json.dumps(found))
        return
    seconds, share = found["game_seconds"], f"{found['draws']:.0%}"
    if seconds is None:
        rests_on = gettext("%(share)s draws between equals", share=share)
    else:
        rests_on = gettext(
            "%(share)s draws between equals, %(seconds)s seconds a game",
            share=share,
            seconds=f"{seconds:.2f}",
        )
    rows = (gettext("game"), f"{found['game']}, {found['time']}"), (gettext("rests on"), rests_on)
    click.echo(aligned(rows))
    some = found["expected"][::4]
    points = [Forecast(one["elo"], one["passes"], one["fails"], one["games"]) for one in some]
    click.echo("\n".join(forecast_lines(points, [one["hours"] for one in some])))


def _asked(elo: str | None, clock: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """What was said of a test, by the names of the deed's fields."""
    if (given["ladder"] is None) == (given["game"] is None):
        raise InputError(gettext("say what is played: --ladder NAME, or --game GAME"))
    hypotheses = dict(zip(("elo0", "elo1"), read_hypotheses(elo), strict=True)) if elo else {}
    time = clock_words(clock, given["move"])
    return {"time": time, **hypotheses, **deeds.said(given)}


@strength.command("list")
@on_arena
@as_json
def list_tests(where: Where, in_json: bool) -> None:
    """List the strength tests, those that run first.

    Example: arena strength list
    """
    newest_first = sa.select(StrengthTest).order_by(StrengthTest.id.desc())
    found = read_all(where, "/tests", TestShape, lambda session: session.scalars(newest_first))
    show_rows(
        sorted(found, key=lambda one: one["verdict"] != TestVerdict.RUNNING),
        (
            *(N_("test"), N_("what"), N_("game"), N_("verdict"), N_("games")),
            *(N_("W-D-L"), "Elo", "LLR"),
        ),
        in_json,
        cells=lambda one: {
            "test": one["id"],
            "what": one["title"],
            "game": one["settings"]["game"],
            "verdict": WAITS if _waits(one) else one["verdict"],
            "W-D-L": f"{one['wins']}-{one['draws']}-{one['losses']}",
            "Elo": elo_words(Estimate.from_json(one)) if one["matches"] else "",
            "LLR": "" if one["llr"] is None else llr_words(one["llr"], one["llr_bounds"]),
        },
        kinds={"verdict": "a strength test"},
    )


def _waits(one: dict[str, Any]) -> bool:
    return bool(one["verdict"] == TestVerdict.RUNNING and one["approval"] == Approval.NEEDED)


@strength.command()
@click.argument("number", type=NUMBER)
@on_arena
@as_json
def show(number: int, where: Where, in_json: bool) -> None:
    """Show how a strength test stands.

    Example: arena strength show 17
    """

    def here(session: Session, _: Settings) -> TestShape:
        return TestShape.looked_up(session, strength_tests.find(session, number))

    found = read(where, f"/tests/{number}", here)
    if in_json:
        click.echo(json.dumps(found))
        return
    click.echo(visible(aligned(found["told"])))
    for line in _oddities(found):
        click.echo(visible(line))
    click.echo(visible(found["outcome"]))


def _oddities(found: Any) -> Iterator[str]:
    """What is odd about the workers of a test, a line each."""
    for one in found["workers"]:
        if one["excluded"] is not None:
            yield gettext(
                "%(worker)s: its games are left out (%(reason)s)",
                worker=one["worker"],
                reason=one["excluded"],
            )
        if one["chance"] is not None:
            yield gettext(
                "%(worker)s: its results differ from the others' (by chance %(chance)s)",
                worker=one["worker"],
                chance=chance_words(one["chance"]),
            )
    for one in found["speeds"]:
        if one["chance"] is not None:
            chance = chance_words(one["chance"])
            if one["speeds"]:
                yield gettext(
                    "at speeds of %(speeds)s: the results differ from the others' "
                    "(by chance %(chance)s)",
                    speeds=one["speeds"],
                    chance=chance,
                )
            else:
                yield gettext(
                    "at speeds not known: the results differ from the others' "
                    "(by chance %(chance)s)",
                    chance=chance,
                )
    if (rest := found["without_odd_workers"]) is not None:
        llr = rest["llr"]
        shown = "" if llr is None else f", LLR {llr_words(llr, rest['llr_bounds'])}"
        words = f"{elo_words(Estimate.from_json(rest))}{shown}"
        yield aligned([(gettext("without"), words)])


@strength.command()
@click.argument("number", type=NUMBER)
@click.argument("worker")
@on_arena
@as_json
def without(number: int, worker: str, where: Where, in_json: bool) -> None:
    """Show what a test says with the games of one of its workers, and what without them.

    Example: arena strength without 17 machine-2
    """
    found = _without(where, number, worker)
    click.echo(json.dumps(found)) if in_json else _show_both(found)


@strength.command()
@deeds.options(ExcludeWorker, "number", "worker", number=NUMBER)
@click.option("--yes", is_flag=True, help="Do not ask once more.")
@on_arena
@as_json
def exclude(yes: bool, where: Where, in_json: bool, **given: Any) -> None:
    """Leave all games of a worker out of a test's numbers, until they are counted again.

    Shows first what the test says with and without them, and asks.

    Example: arena strength exclude 17 machine-2 --why "its clock stood still"
    """
    deed = deeds.made(ExcludeWorker, **deeds.said(given))
    _show_both(_without(where, given["number"], given["worker"]), err=True)
    if not yes:
        click.confirm(gettext("Leave them out?"), abort=True, err=True)
    deeds.do_one(deed, where, in_json=in_json)


def _without(where: Where, number: int, worker: str) -> Any:
    def here(session: Session, _: Settings) -> ExclusionShape:
        with refusing(Refusal):
            test = strength_tests.find(session, number)
            return ExclusionShape.of_worker(session, test, worker)

    return read(where, f"/tests/{number}/without", here, worker=worker)


def _show_both(found: Any, *, err: bool = False) -> None:
    """Both numbers, what becomes of the verdict, and what the choice costs."""
    rows = [
        (gettext("with"), _stands(found["counted"])),
        (gettext("without"), _stands(found["without"])),
        (gettext("verdict"), visible(found["outcome"])),
    ]
    if found["odds"] is not None:
        rows.append((gettext("odds"), found["odds"]["said"]))
    click.echo(aligned(rows), err=err)


def _stands(its: Any) -> str:
    """How a test stands by some of its games, in a line."""
    llr = "" if its["llr"] is None else f", LLR {its['llr']:.2f}"
    return gettext(
        "%(elo)s, %(games)s, matches %(counts)s",
        elo=f"{elo_words(Estimate.from_json(its))}{llr}",
        games=counted(its["games"], "game"),
        counts=" ".join(map(str, its["counts"])),
    )


@strength.command()
@click.argument("number", type=NUMBER)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["text", "markdown", "svg"]),
    default="text",
    show_default=True,
    help="What it is printed as.",
)
@on_arena
@as_json
def block(number: int, kind: str, where: Where, in_json: bool) -> None:
    """Print the block of text by which people tell how a test stands.

    Example: arena strength block 17 --as markdown
    """

    def here(session: Session, _: Settings) -> BlockShape:
        return BlockShape.looked_up(session, strength_tests.find(session, number))

    found = read(where, f"/tests/{number}/block", here)
    click.echo(json.dumps(found) if in_json else visible(found[kind]))


deeds.add_commands(strength, number=NUMBER)
