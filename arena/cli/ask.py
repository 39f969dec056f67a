"""The command ask: what bots of this machine would play, in a position or in all of a game."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import click

from arena.analyses.evaluations import Evaluation, Swing, agreed, swings
from arena.cli import InputError
from arena.cli.arguments import MOVE, PROCESSES, WALL, find_bots, split_words, time_control
from arena.cli.completing import words_of_game
from arena.cli.options import as_json
from arena.cli.progress_bar import ProgressBar
from arena.cli.replay import find_records, pick
from arena.cli.runner import MINIMUM, NO_BOX, Launcher, launch_all
from engine.analysis import Tree
from engine.asking import Opinion, opinions
from engine.clock import TimeControl
from engine.game import CHANCE, GameError, State
from engine.plurals import counted
from engine.protocol import share, visible
from engine.record import Fault, GameRecord, Ply, states
from engine.sitting import Answer, prove
from engine.translation import gettext, translated
from workers.cores import claimed_core


@dataclass(frozen=True, slots=True)
class _Asked:
    """A game, and the positions of it that bots are asked about."""

    game: GameRecord
    states: Sequence[State]
    """The position before each ply of it, and the last one."""
    plies: Sequence[int]
    """How many moves were played before each that is asked about."""
    played: Sequence[Ply] = ()
    """The plies of a game that was played."""


@click.command()
@click.argument(
    "words",
    metavar="[GAME [KEY=VALUE]...] BOT [BOT]...",
    nargs=-1,
    required=True,
    shell_complete=words_of_game,
)
@click.option("--after", metavar='"M M ..."', default="", help="Moves played before.")
@click.option("--position", metavar="TEXT", default="", help="Start from this position text.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Draws what the rules leave to the lot."
)
@click.option(
    "--record", "recorded", metavar="RECORD", help="Ask in a recorded game; all words are bots."
)
@click.option("--game", "number", metavar="N", type=click.IntRange(1), help="Which game of RECORD.")
@click.option("--ply", type=click.IntRange(0), help="Only in the position before this ply of it.")
@click.option("--server", metavar="URL", envvar="ARENA_SERVER", help="Whose game it is.")
@MOVE
@WALL
@NO_BOX
@MINIMUM
@PROCESSES
@as_json
def ask(
    words: tuple[str, ...],
    after: str,
    position: str,
    seed: int,
    recorded: str | None,
    number: int | None,
    ply: int | None,
    server: str | None,
    move_ms: int | None,
    wall_time: bool,
    no_box: bool,
    minimum: str,
    processes: int,
    in_json: bool,
) -> None:
    """Ask bots what they would play.

    A BOT is named as `arena play` takes it, and runs in the same box. Each is told of a game in the
    seat whose turn it is, with all that was played before, and says its move with whatever else it
    says: what it expects, the line that it sees, its numbers. It has --move milliseconds for each
    position.

    With --record the bots are asked in every position of a recorded game, as `arena replay` takes
    it, and those moves are told that gave much away.

    \b
    Examples:
      arena ask clobber size=5x6 ./mybot.py mcts --after "a2a1 b4b5"
      arena ask ./mybot.py alphabeta --record games.jsonl --game 3
      arena ask mcts --record https://arena.example/games/1207 --ply 20 --json
    """
    time = time_control(None, move_ms, wall_time=wall_time)
    if recorded is None:
        if number is not None or ply is not None:
            raise InputError(gettext("--game and --ply belong to --record"))
        asked, names = _position(words, after, position, seed, time)
    else:
        if after or position:
            raise InputError(
                gettext("--after and --position do not go with --record: --ply says where")
            )
        asked, names = _of_record(recorded, server, number, ply, time), list(words)
    if not names:
        raise InputError(gettext("name the bot that is to be asked, or several"))
    bots = find_bots(names)
    launchers = launch_all(
        bots,
        no_box=no_box,
        minimum=minimum,
        processes=processes,
        say=partial(click.echo, err=True),
        quiet=in_json,
    )
    if not in_json:
        _head(asked)
    told = _ask_all(asked, launchers, in_json=in_json)
    same = agreed(
        Evaluation(name, ply, one.seat, 0, one.move)
        for ply, its in told.items()
        for name, one in its.items()
        if isinstance(one, Ply)
    )
    said = _evaluations(asked, told)
    worst = swings(asked.game.variant, said, [one.seat for one in asked.played])
    if in_json:
        click.echo(json.dumps(_to_json(asked, told, same, worst)))
    elif len(asked.plies) > 1:
        _tail(asked, same, worst)
    failed = any(isinstance(one, Fault) for its in told.values() for one in its.values())
    sys.exit(1 if failed else 0)


def _position(
    words: Sequence[str], after: str, position: str, seed: int, time: TimeControl
) -> tuple[_Asked, list[str]]:
    """The position that is named, and the words that are bots.

    Raises:
        GameError: there is no such game or position, or a move is not legal.
        InputError: nobody is to move there.
    """
    variant, names = split_words(words[0], words[1:])
    tree = Tree.begin(variant.drawn(seed), position).reading(after)
    if any(one.parent != one.number - 1 for one in tree.nodes):
        raise InputError(gettext("--after takes the moves of one line, without variations"))
    game, state = tree.game(len(tree.nodes), time), tree.states[-1]
    if state.to_move is None:
        raise InputError(gettext("the game is over there: nobody is to move"))
    if state.to_move == CHANCE:
        drawn = ", ".join(islice(state.legal_moves(), 6))
        raise InputError(
            gettext(
                "it is drawn by lot what follows there: add it to --after (%(drawn)s)", drawn=drawn
            )
        )
    reached = list(states(game))
    return _Asked(game, reached, [len(game.plies)]), names


def _of_record(
    name: str, server: str | None, number: int | None, ply: int | None, time: TimeControl
) -> _Asked:
    """The game that is named, with the positions in which somebody was to move.

    Raises:
        InputError: there is none, it isn't said which, or the rules contradict it.
    """
    records = find_records(name, server)
    if number is None and len(records) > 1:
        raise InputError(
            gettext(
                "%(name)s has %(games)s games: say which with --game N",
                name=name,
                games=len(records),
            )
        )
    record = pick(records, name, number or 1)
    try:
        prove(record)
        reached = list(states(record))
    except GameError as error:
        raise InputError(
            gettext("the rules contradict this record: %(error)s", error=error)
        ) from None
    there = len(record.plies)
    if ply is not None and ply > there:
        raise InputError(
            gettext(
                "the game has %(plies)s, so there is no ply %(ply)s",
                plies=counted(there, "ply", "plies"),
                ply=ply,
            )
        )
    plies = [
        at
        for at, state in enumerate(reached)
        if state.to_move not in (None, CHANCE) and ply in (None, at)
    ]
    if not plies:
        raise InputError(gettext("no seat is to move there"))
    return _Asked(replace(record, time=time), reached, plies, record.plies)


Told = Mapping[int, Mapping[str, Answer]]
"""What each bot answered, by the plies that were asked about."""


def _ask_all(asked: _Asked, launchers: Sequence[Launcher], *, in_json: bool) -> Told:
    """Asks all bots, position by position, and shows each answer as it comes."""
    found: dict[int, dict[str, Answer]] = {ply: {} for ply in asked.plies}
    with claimed_core() as core, ExitStack() as held:
        answers: dict[str, Iterator[tuple[int, Answer]]] = {}
        for one in launchers:
            player = held.enter_context(closing(one.player(core=core)))
            answers[one.name] = opinions(asked.game, asked.plies, player)
        bar = ProgressBar("asking", "position", total=len(asked.plies)) if in_json else None
        with bar or ExitStack():
            for done, ply in enumerate(asked.plies, start=1):
                if not in_json and asked.played:
                    _say_played(asked, ply)
                for name, its in answers.items():
                    # One that has left is asked no more.
                    for _, answer in islice(its, 1):
                        found[ply][name] = answer
                        if not in_json:
                            click.echo(visible(f"{name:>16}: {_words(answer)}"))
                if bar:
                    bar.show(done)
    return found


def _evaluations(asked: _Asked, told: Told) -> list[Evaluation]:
    """What the players of a game expected, and what those who were asked do."""
    said = [
        (gettext("%(bot)s in the game", bot=asked.game.players[ply.seat]), at, ply)
        for at, ply in enumerate(asked.played)
    ]
    for at, its in told.items():
        said += [(name, at, one) for name, one in its.items() if isinstance(one, Ply)]
    return [
        Evaluation(who, at, ply.seat, value, ply.move)
        for who, at, ply in said
        if (value := share(ply.values)) is not None
    ]


def _who(asked: _Asked, ply: int) -> str:
    seat = asked.states[ply].to_move
    assert seat is not None
    name = translated(asked.game.variant.mover_name(seat))
    return f"{name} {asked.game.players[seat]}" if asked.played else name


def _head(asked: _Asked) -> None:
    """Prints what is asked about."""
    ply, words = asked.plies[0], str(asked.game.variant)
    if asked.played:
        words += f": {', '.join(asked.game.players)}"
    click.echo(visible(words))
    if len(asked.plies) == 1:
        position = gettext("position: %(position)s", position=asked.states[ply].text())
        click.echo(visible(position))
        if not asked.played:
            click.echo(visible(gettext("%(who)s is to move", who=_who(asked, ply))))


def _say_played(asked: _Asked, ply: int) -> None:
    """What was played in a position of a recorded game."""
    places: dict[str, object] = {"ply": ply, "who": _who(asked, ply)}
    if ply == len(asked.played):
        words = gettext("ply %(ply)s: %(who)s is to move", **places)
    else:
        places["move"] = asked.played[ply].move
        value = share(asked.played[ply].values)
        words = (
            gettext("ply %(ply)s: %(who)s played %(move)s", **places)
            if value is None
            else gettext(
                "ply %(ply)s: %(who)s played %(move)s, and expected %(share)s",
                share=f"{value:.0%}",
                **places,
            )
        )
    click.echo(visible(words))


def _words(answer: Answer) -> str:
    """All that a bot answered, in a line."""
    if isinstance(answer, Fault):
        return gettext(
            "left: %(ending)s, %(detail)s",
            ending=translated(answer.termination),
            detail=answer.detail,
        )
    its = Opinion.of(answer.seat, answer)
    parts = [its.move]
    if its.share is not None:
        parts.append(gettext("expects %(share)s", share=f"{its.share:.0%}"))
    parts += [f"{key} {value:g}" for key, value in answer.values.items() if key != "eval"]
    if its.pv:
        parts.append(gettext("line %(moves)s", moves=" ".join(its.pv)))
    parts += [gettext("tag %(tag)s", tag=tag) for tag in answer.tags]
    parts.append(f"{its.cpu_us / 1000:.1f} ms")
    return ", ".join(parts) + (f"; {its.text}" if its.text else "")


def _tail(asked: _Asked, same: Mapping[int, str], worst: Sequence[Swing]) -> None:
    """What a whole game comes to."""
    if same:
        as_played = sum(
            at < len(asked.played) and asked.played[at].move == move for at, move in same.items()
        )
        click.echo(
            gettext(
                "all agree in %(positions)s, and %(played)s of these moves were played",
                positions=counted(len(same), "position"),
                played=as_played,
            )
        )
    for one in worst:
        played = asked.played[one.place].move
        words = gettext(
            "ply %(ply)s: %(who)s gave away %(lost)s by %(move)s, says %(bot)s: "
            "%(before)s became %(after)s",
            ply=one.place,
            who=_who(asked, one.place),
            lost=f"{one.lost:.0%}",
            move=played,
            bot=one.who,
            before=f"{one.before:.0%}",
            after=f"{one.after:.0%}",
        )
        if one.better != played:
            words += "; " + gettext("%(move)s instead", move=one.better)
        click.echo(visible(words))


def _to_json(
    asked: _Asked, told: Told, same: Mapping[int, str], worst: Sequence[Swing]
) -> dict[str, Any]:
    def answer(name: str, its: Answer) -> dict[str, Any]:
        found = Opinion.of(0, its).to_json()
        del found["ply"], found["seat"]
        if isinstance(its, Ply):
            found["tags"] = list(its.tags)
        return {"bot": name, **found}

    return {
        "variant": str(asked.game.variant),
        "players": list(asked.game.players) if asked.played else None,
        "move_ms": asked.game.time.move_ms,
        "positions": [
            {
                "ply": ply,
                "position": asked.states[ply].text(),
                "to_move": (asked.states[ply].to_move or 0) + 1,
                "played": asked.played[ply].move if ply < len(asked.played) else None,
                "answers": [answer(name, one) for name, one in its.items()],
                "agreed": same.get(ply),
            }
            for ply, its in told.items()
        ],
        "swings": [
            {
                "ply": one.place,
                "seat": one.seat + 1,
                "move": asked.played[one.place].move,
                "who": one.who,
                "before": one.before,
                "after": one.after,
                "better": one.better,
            }
            for one in worst
        ],
    }
