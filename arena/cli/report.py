"""What a strength test says: its progress, its result, and the files that it leaves."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time as wall
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Protocol
from xml.etree import ElementTree

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table

from arena.cli import InputError, writing
from arena.cli.listing import BAD, DOUBTFUL, GOOD
from arena.cli.progress_bar import OnTerminal
from arena.ratings.sprt import Decision
from arena.strength.sequential import SequentialTest
from arena.strength.words import elo_words, games_words, llr_words, pace_words, result_rows
from engine.plurals import counted, time_span
from engine.translation import ENGLISH, N_, gettext, speaking, spoken

LINE_SECONDS = 10
"""How often a line tells of the progress where it can't renew in place."""
SAVE_SECONDS = 1
PRINTED = "-"
"""The name of a report's file that is printed instead."""
NOTHING_KNOWN = 3
"""The exit code of a test that tells nothing of its bots."""
LONGEST_BASE = 200
"""Bytes of a file's name, which a file system gives 255, without its ending."""


class Display(OnTerminal):
    """The progress of a test: renewed in place on a terminal, now and then a line elsewhere."""

    def __init__(self, test: SequentialTest) -> None:
        self._test = test
        self._before = test.games
        self._started = self._told = wall.monotonic()
        self._stopping = False
        self._spoken = spoken()
        console = Console(stderr=True)
        if console.is_terminal:
            self._shown = Live(get_renderable=self._table, console=console, transient=True)

    def show(self, test: SequentialTest, *, stopping: bool = False) -> None:
        """Tells of one more match."""
        self._test, self._stopping = test, stopping
        now = wall.monotonic()
        if not self._shown and now - self._told >= LINE_SECONDS:
            self._told = now
            click.echo(self._line(), err=True)

    def _line(self) -> str:
        """How it stands, its pace last."""
        test = self._test
        places = {
            "games": counted(test.games, "game"),
            "results": games_words(test),
            "elo": elo_words(test.estimate),
            "pace": self._pace(),
        }
        if test.settings.terms.games:
            return gettext("%(games)s, W-D-L %(results)s, Elo %(elo)s; %(pace)s", **places)
        return gettext(
            "%(games)s, W-D-L %(results)s, Elo %(elo)s, LLR %(llr)s; %(pace)s",
            llr=llr_words(test.llr, test.llr_bounds),
            **places,
        )

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        with speaking(self._spoken):  # which the thread that draws does not by itself
            for name, text in [*result_rows(self._test), (gettext("speed"), self._pace())]:
                table.add_row(name, text)
        return table

    def _pace(self) -> str:
        """Games a second, the time gone, and that left by estimate."""
        gone = wall.monotonic() - self._started
        played = self._test.games - self._before
        if self._stopping:
            return gettext("stopping after %(time)s", time=time_span(gone))
        pace = pace_words(self._test, played, gone)
        return gettext("%(pace)s, %(time)s gone", pace=pace, time=time_span(gone))


def how_ended(*, is_wish: bool) -> str:
    """How a run came to its end before it was over, for `Saves.keep_unfinished`."""
    if is_wish:
        return N_("interrupted after %(games)s")
    return N_("broken off after %(games)s")


class Savable(Protocol):
    """What is played in the course of hours, and can go on from a file."""

    @property
    def games(self) -> int: ...
    def to_json(self) -> dict[str, Any]: ...


class Saves:
    """The file from which a test, or a tuning, can go on."""

    def __init__(self, name: str | None, of: str, *, may_exist: bool) -> None:
        """Takes the name that was asked for, and what is saved in words that can name a file.

        Raises:
            InputError: nothing can be written there, or something is there that may not.
        """
        self._path = Path(name) if name else None
        self._of = of
        self._saved = 0.0
        self._refused = False
        check_writable(name)
        if self._path and not may_exist and self._path.exists():
            raise InputError(
                gettext(
                    "%(name)s is there already: go on with --resume %(name)s, or remove it",
                    name=name,
                )
            )

    def offer(self, test: Savable, *, last: bool = False) -> None:
        """Saves into the file that was asked for, if one was, once a second."""
        now = wall.monotonic()
        if self._path and (last or now - self._saved >= SAVE_SECONDS):
            self._saved = now
            _write(self._path, json_text(test.to_json()))

    def try_now(self, test: Savable) -> None:
        """As `offer`, but says once that it can't be: it may at the end, and there it matters."""
        try:
            self.offer(test)
        except InputError as refusal:
            if not self._refused:
                self._refused = True
                click.echo(refusal.message, err=True)

    def keep_at_once(self, test: Savable) -> str:
        """Saves it while matches are under way still; says where."""
        if not test.games:
            return ""
        with suppress(InputError):  # at the end it is tried again, and then told
            return gettext("saved in %(path)s", path=self.keep(test)) + "; "
        return ""

    def keep_unfinished(self, test: Savable, how: str) -> None:
        """Saves what has not come to its end, and says how to go on with it.

        Args:
            how: it was ended, as a message with a place for the number of ``games``.

        Raises:
            InputError: it can't be saved.
        """
        click.echo(gettext(how, games=counted(test.games, "game")), err=True)
        if test.games:
            kept = self.keep(test)
            click.echo(
                gettext("saved; go on with the same command and --resume %(path)s", path=kept),
                err=True,
            )

    def keep(self, test: Savable) -> Path:
        """Saves in any case, and says where.

        That is a new folder among the temporary ones if nothing can be written in this one, or its
        disk is full: what was played in hours is not to be lost by where somebody stood.
        """
        if self._path is None:
            self._path = _free_path(self._of)
        try:
            self.offer(test, last=True)
        except InputError as refusal:
            try:
                self._path = Path(tempfile.mkdtemp(prefix="arena-test-")) / self._path.name
                self.offer(test, last=True)
            except (OSError, InputError):
                raise refusal from None
            click.echo(refusal.message, err=True)
        return self._path


def _free_path(of: str) -> Path:
    words, _, kind = of.rpartition(".")
    base = re.sub(r"[^\w.#-]", "_", words).encode()[:LONGEST_BASE].decode(errors="ignore")
    number, path = 1, Path(f"{base}.{kind}.json")
    while path.exists():
        number += 1
        path = Path(f"{base}-{number}.{kind}.json")
    return path


def report(
    test: SequentialTest, seconds: float, level: str, first_faults: Sequence[str]
) -> dict[str, Any]:
    """The result as JSON's types, in English; what it takes to go on is in it too.

    Args:
        level: of the weakest box in which it was played.
        first_faults: in words, that of each bot that had one.
    """
    with speaking(ENGLISH):
        played = {
            "decision": str(test.decision),
            "verdict": test.verdict,
            "passed": test.decision is Decision.ACCEPT,
            "matches": test.matches,
            "games": test.games,
            **test.estimate.to_json(),
            **test.llr_json(),
            "first_faults": list(first_faults),
            "seconds": round(seconds, 3),
            "isolation": level,
        }
        return test.to_json() | {"result": played}


def aligned(rows: Iterable[tuple[str, str]]) -> str:
    """Lines of what each of these is called and what it comes to, one below the other."""
    rows = list(rows)
    width = max([8, *(len(name) for name, _ in rows)])
    return "\n".join(f"{name:<{width}} {text}" for name, text in rows)


def check_writable(name: str | None) -> None:
    """Refuses a name under which no file can be written, before that costs any game.

    Raises:
        InputError: there is no such folder, or no name, or it is a folder's or too long, or
            nothing may be written there.
    """
    if name is None:
        return
    if not name:
        raise InputError(gettext("an empty word names no file to write"))
    with writing(name):
        if not Path(name).absolute().parent.is_dir():
            raise InputError(gettext("can't write %(name)s: there is no such folder", name=name))
        if Path(name).is_dir():
            raise InputError(gettext("can't write %(name)s: it is a folder", name=name))
        if not _is_device(Path(name)):
            with _beside(Path(name)):
                pass  # it can be made, then


def read_json(name: str) -> Any:
    """What was saved of a test.

    Raises:
        InputError: it can't be read, or is none.
    """
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            gettext("can't read %(name)s: %(reason)s", name=name, reason=error.strerror)
        ) from None
    except (ValueError, RecursionError):
        raise InputError(
            gettext("%(name)s is no saved test: give a file of --save or --json", name=name)
        ) from None


def leave(files: Sequence[tuple[str | None, Callable[[], str]]], show: Callable[[], None]) -> None:
    """Writes reports, and then prints: the one whose file is ``-``, or else what ``show`` prints.

    The files come first, since nobody may be there any more who reads what is printed. And that is
    printed even if a file turns out not to be writable: the games were not played for nothing.

    Args:
        files: the name of each report's file, if it is wanted, and what makes its text.

    Raises:
        InputError: a file can't be written; the others were.
    """
    refusals = []
    for name, text in files:
        if name and name != PRINTED:
            try:
                _write(Path(name), text())
            except InputError as refusal:
                refusals.append(refusal)
    printed = [text for name, text in files if name == PRINTED]
    for text in printed:
        click.echo(text(), nl=False)
    if not printed:
        show()
    if refusals:
        raise refusals[0]


def verdict_line(words: str, decision: Decision, *, spoilt: bool) -> tuple[str, str]:
    """A verdict with the colour in which it is said."""
    colours = {Decision.ACCEPT: GOOD, Decision.REJECT: BAD}
    return words, BAD if spoilt else colours.get(decision, DOUBTFUL)


def verdict_code(decision: Decision, *, spoilt: bool) -> int:
    """The exit code of a test: 3 says that faults have spoilt it, so that nothing is known."""
    if spoilt:
        return NOTHING_KNOWN
    return 0 if decision is Decision.ACCEPT else 1


class Case(NamedTuple):
    """What a JUnit report says of a test, in English."""

    name: str
    of: str
    """What is played."""
    seconds: float
    told: Sequence[tuple[str, str]]
    """How it stands, as names and texts."""
    outcome: str
    passed: bool
    is_known: bool
    """Whether it ended by a verdict that says something of the two."""
    lines: Sequence[str] = ()
    """What else there is to say of one that did not pass."""


def junit_text(test: SequentialTest, seconds: float, first_faults: Sequence[str]) -> str:
    """A JUnit report of one case, in English, for systems that show those.

    Of a test that is spoilt by faults, or not finished, it is an error.

    Args:
        first_faults: in words, that of each bot that had one.
    """
    with speaking(ENGLISH):
        verdict, rows = test.verdict, result_rows(test)
    name = f"{test.settings.candidate.name} against {test.settings.baseline.name}"
    is_known = test.decision is not Decision.CONTINUE and not test.is_spoilt
    passed = test.decision is Decision.ACCEPT
    its = test.settings.game_words, seconds, rows, verdict, passed, is_known, first_faults
    return junit(Case(name, *its))


def junit(its: Case) -> str:
    """A JUnit report of a test, as `junit_text` has it."""
    kind = "failure" if its.is_known else "error"
    counts = {"failures": 0, "errors": 0}
    if not its.passed:
        counts[f"{kind}s"] = 1
    suite = ElementTree.Element(
        "testsuite",
        {key: str(count) for key, count in counts.items()},
        name="arena test",
        tests="1",
        time=f"{its.seconds:.3f}",
    )
    case = ElementTree.SubElement(
        suite, "testcase", classname=its.of, name=its.name, time=f"{its.seconds:.3f}"
    )
    if not its.passed:
        problem = ElementTree.SubElement(case, kind, message=its.outcome)
        problem.text = "\n".join(its.lines)
    output = ElementTree.SubElement(case, "system-out")
    output.text = "\n".join(f"{name}: {text}" for name, text in its.told)
    text = ElementTree.tostring(suite, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def json_text(data: dict[str, Any]) -> str:
    """Writes JSON for a file: with indents, so that people can read it, too."""
    return json.dumps(data, indent=1) + "\n"


def _write(path: Path, text: str) -> None:
    """Replaces the file at once, so that no half of it is ever there.

    A link stays one, and its target is replaced; a device or a pipe is written to.

    Raises:
        InputError: it can't be written.
    """
    with writing(path):
        if _is_device(path):
            path.write_text(text, encoding="utf-8")
            return
        with _beside(path) as fresh:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(_target(path))


def _target(path: Path) -> Path:
    """Where links lead; a link to itself leads there."""
    return Path(os.path.realpath(path))


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A new file beside the one that a path leads to, gone at the end unless it replaced that."""
    target = _target(path)
    with suppress(FileNotFoundError):
        target.lstat()  # which refuses a name that is too long
    fresh = target.with_name(f"{token_hex(8)}.part")  # the target's own may leave room for no more
    fresh.touch(exist_ok=False)
    try:
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)
