"""A recorded game asked again: whether bots play now what they played then."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from arena.cli import InputError
from arena.cli.arguments import GivenBot
from arena.cli.replay import pick, read_records
from arena.cli.runner import Launcher
from arena.cli.trace import print_logs, traced_channel
from engine.channel import PipeChannel
from engine.game import Seat
from engine.plurals import counted, listed
from engine.process import BotProcess
from engine.protocol import visible
from engine.record import GameRecord, RecordError
from engine.reproduction import ReproducedMove, reproduce
from engine.sitting import goes_on
from engine.translation import gettext, ngettext


def pick_record(name: str, number: int | None) -> GameRecord:
    """The game of a file that is meant.

    Raises:
        InputError: the file can't be read, it isn't said which, or that game is not over.
    """
    records = read_records(name)
    if number is None and len(records) > 1:
        raise InputError(
            gettext(
                "%(name)s has %(number)s games: say which with --game N",
                name=name,
                number=len(records),
            )
        )
    record = pick(records, name, number or 1)
    if goes_on(record):
        raise InputError(gettext("the game goes on: bots are asked again in games that are over"))
    return record


@dataclass(frozen=True, slots=True)
class Show:
    """What is to be shown beside the answers, and how."""

    trace: bool
    logs: bool
    in_json: bool


def ask_again(
    record: GameRecord,
    seating: Mapping[Seat, int],
    bots: Sequence[GivenBot],
    launchers: Sequence[Launcher],
    show: Show,
    core: int | None,
    only: int | None,
) -> int:
    """Asks the bots in their seats of a record, and shows what they answer; the exit code.

    Args:
        only: in the position after so many plies alone, at which it is the turn of one of them.
        core: where the bots run.
    """
    players: dict[Seat, BotProcess] = {}
    names: dict[Seat, str] = {}
    for seat, entrant in seating.items():
        names[seat] = bots[entrant].name
        channel = traced_channel(names[seat]) if show.trace else PipeChannel
        players[seat] = launchers[entrant].player(core=core, open_channel=channel)
    answers: list[ReproducedMove] = []
    try:
        for answer in reproduce(record, players, only=only):
            answers.append(answer)
            if not show.in_json:
                _print(answer, names[answer.seat])
    except RecordError as error:
        raise InputError(
            gettext("the rules contradict this record: %(error)s", error=error)
        ) from None
    finally:
        for player in players.values():
            player.close()
        if show.logs:
            print_logs(
                list(names.values()), [players[seat].take_log() for seat in names], list(names)
            )
    differ = sum(not answer.same for answer in answers)
    if show.in_json:
        click.echo(
            json.dumps({"answers": [_to_json(answer) for answer in answers], "differ": differ})
        )
    else:
        click.echo(
            ngettext(
                "%(answers)s, %(number)s differs from the record",
                "%(answers)s, %(number)s differ from the record",
                differ,
                answers=counted(len(answers), "answer"),
                number=differ,
            )
        )
    return 1 if differ else 0


def check_ply(record: GameRecord, seating: Mapping[Seat, int], ply: int) -> None:
    """Refuses to ask in a position in which none of these seats was asked.

    Raises:
        InputError: it was another's turn, or nobody's.
    """
    asked = [fault.seat for fault in record.faults if fault.ply == ply]
    if record.opening <= ply < len(record.plies):
        asked.append(record.plies[ply].seat)
    if not set(asked) & set(seating):
        last = len(record.plies)
        turns = listed([gettext("seat %(number)s", number=seat + 1) for seat in asked if seat >= 0])
        if turns:
            words = gettext("--ply %(ply)s: it was asked of %(seats)s", ply=ply, seats=turns)
        else:
            words = gettext(
                "--ply %(ply)s: no bot was asked, of %(number)s plies", ply=ply, number=last
            )
        raise InputError(words)


def seat_bots(
    record: GameRecord, bots: Sequence[GivenBot], seats: Sequence[int]
) -> dict[Seat, int]:
    """The number of the bot for each seat that is asked.

    Raises:
        InputError: it can't be told.
    """
    there = len(record.players)
    for seat in seats:
        if seat > there:
            raise InputError(
                gettext(
                    "the game has %(seats)s, so there is no seat %(number)s",
                    seats=counted(there, "seat"),
                    number=seat,
                )
            )
        if seats.count(seat) > 1:
            raise InputError(
                gettext("--seat %(seat)s is given twice: a seat has one bot", seat=seat)
            )
    if len(bots) == 1:
        chosen = (
            [seat - 1 for seat in seats]
            or [seat for seat, name in enumerate(record.players) if name == bots[0].name]
            or ([0] if there == 1 else [])
        )
        if not chosen:
            raise InputError(
                gettext(
                    "%(name)s did not play this game (%(players)s did): say which seat it takes "
                    "with --seat S",
                    name=bots[0].name,
                    players=", ".join(record.players),
                )
            )
        return dict.fromkeys(chosen, 0)
    if seats and len(seats) == len(bots):
        return {seat - 1: entrant for entrant, seat in enumerate(seats)}
    if not seats and len(bots) == there:
        return {seat: seat for seat in range(there)}
    raise InputError(
        gettext(
            "give one bot, or %(seats)s, or a --seat for each of the %(bots)s",
            seats=there,
            bots=len(bots),
        )
    )


def _print(answer: ReproducedMove, name: str) -> None:
    if answer.same:
        same = gettext("as recorded")
    else:
        same = gettext("DIFFERS: recorded %(move)s", move=answer.recorded)
    detail = f" ({answer.detail})" if answer.detail else ""
    who = gettext("ply %(ply)s  seat %(seat)s", ply=f"{answer.ply:3}", seat=answer.seat + 1)
    click.echo(visible(f"{who} {name}: {answer.now}{detail}  {same}"))


def _to_json(answer: ReproducedMove) -> dict[str, object]:
    return {
        "ply": answer.ply,
        "seat": answer.seat + 1,
        "recorded": answer.recorded,
        "now": answer.now,
        "detail": answer.detail,
        "same": answer.same,
    }
