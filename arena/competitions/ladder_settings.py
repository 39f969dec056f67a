"""How a ladder is made and changed: each setting as a text, read and refused in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.competitions import members
from arena.competitions.books import demand_fitting, policy_of
from arena.competitions.founding import add_named, come_back, demand_name, fair_start, weigh_anew
from arena.competitions.machines import MACHINES, is_reference
from arena.competitions.visibility import change_visibility
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import Approval, CompetitionState, HomeRule, Ladder, OpeningPolicy, Visibility
from engine.clock import LONGEST_MS, parse_time
from engine.game import GameError, Variant
from engine.jobs import MOST_PROCESSES
from engine.seeds import derive
from engine.translation import N_, gettext

CHANGED = "change ladder"
"""The deed, as the audit log has it."""
NO_LIMIT = "any"
"""What stands for any number."""
CHANGED_TO_THE_LAST = ("title", "note", "visibility")
"""What can be changed of a ladder that is closed."""
SIZE = re.compile(r"([1-9][0-9]{0,9})([kMG]?)", re.ASCII)
UNITS = {"": 1, "k": 2**10, "M": 2**20, "G": 2**30}
SIZES = {"memory": (2**24, 2**36), "bundle": (2**10, 2**30), "log": (0, 2**24)}
"""The least and the most that these may be, in bytes."""


@dataclass(frozen=True, slots=True)
class LadderSetting:
    """Something about a ladder that can be chosen."""

    words: str
    """What it is, and what it may be; translated where it is shown."""
    default: str
    read: Callable[[str], dict[str, Any]]
    """The columns that a text stands for; raises ValueError with what it must be."""
    show: Callable[[Ladder], str]
    """The text that stands for what a ladder has."""
    choices: tuple[str, ...] = ()
    """All that it can be, where those are few."""
    stays: bool = False
    """Whether it can't be changed any more once there are matches: other games would be rated."""
    of_site: bool = False
    """Whether it is for organisers of the site alone, as it takes of what all share."""


def _text(column: str, most: int) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        if len(text) > most or not text.isprintable():
            raise ValueError(gettext("a line of %(most)s printable characters at most", most=most))
        return {column: text.strip()}

    return read


def _number(
    column: str, least: float, most: float, kind: type[int] | type[float]
) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        words = gettext("a number from %(least)s to %(most)s", least=f"{least:g}", most=f"{most:g}")
        try:
            number = kind(text)
        except ValueError:
            raise ValueError(words) from None
        if not least <= number <= most:
            raise ValueError(words)
        return {column: number}

    return read


def _quota(column: str) -> Callable[[str], dict[str, Any]]:
    read_number = _number(column, 0, 100_000, int)

    def read(text: str) -> dict[str, Any]:
        return {column: None} if text in ("", NO_LIMIT) else read_number(text)

    return read


def _quota_words(most: int | None) -> str:
    return NO_LIMIT if most is None else str(most)


def _size(name: str) -> Callable[[str], dict[str, Any]]:
    least, most = SIZES[name]

    def read(text: str) -> dict[str, Any]:
        found = SIZE.fullmatch(text)
        size = int(found[1]) * UNITS[found[2]] if found else 0 if text == "0" else -1
        if not least <= size <= most:
            raise ValueError(
                gettext(
                    "bytes such as 512k or 256M, from %(least)s to %(most)s",
                    least=in_words(least),
                    most=in_words(most),
                )
            )
        return {f"{name}_bytes": size}

    return read


def in_words(size: int) -> str:
    """A number of bytes as it is given: ``256M``."""
    for unit, factor in reversed(UNITS.items()):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def _time(text: str) -> dict[str, Any]:
    try:
        time = parse_time(text)
    except GameError:
        raise ValueError(
            gettext(
                "seconds a game, from 0.001 to %(most)s, and more a move, such as 10+0.1",
                most=LONGEST_MS // 1000,
            )
        ) from None
    return {"time_ms": time.time_ms, "inc_ms": time.inc_ms, "move_ms": None}


def _move(text: str) -> dict[str, Any]:
    columns = _number("move_ms", 1, 600_000, int)(text)
    return {**columns, "time_ms": None, "inc_ms": 0}


def _choice(column: str, *kinds: Any) -> Callable[[str], dict[str, Any]]:
    known = {str(kind): kind for kind in kinds}

    def read(text: str) -> dict[str, Any]:
        if text not in known:
            raise ValueError(gettext("one of %(choices)s", choices=", ".join(known)))
        return {column: known[text]}

    return read


def _yes_or_no(column: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        if text not in ("yes", "no"):
            raise ValueError(gettext("yes or no"))
        return {column: text == "yes"}

    return read


def _machine(text: str) -> dict[str, Any]:
    return {"reference": is_reference(text)}


def _openings(text: str) -> dict[str, Any]:
    if text == OpeningPolicy.BOOK:
        raise ValueError(gettext("random, empty, or the name of a book"))
    return {**policy_of(text)}


def _time_words(ladder: Ladder) -> str:
    seconds = [] if ladder.time_ms is None else [ladder.time_ms / 1000, ladder.inc_ms / 1000]
    return "+".join(map(_exact, seconds))


def _exact(number: float) -> str:
    """A number with every digit that it was given."""
    return f"{number:.12g}"


SETTINGS: Mapping[str, LadderSetting] = {
    "title": LadderSetting(
        N_("its name for people"), "", _text("title", 120), lambda one: one.title
    ),
    "note": LadderSetting(N_("a line about it"), "", _text("note", 1000), lambda one: one.note),
    "visibility": LadderSetting(
        N_(
            "who sees it: public (everybody), unlisted (who has its address) or private (its "
            "members alone)"
        ),
        str(Visibility.PUBLIC),
        _choice("visibility", *Visibility),
        lambda one: str(one.visibility),
        tuple(map(str, Visibility)),
    ),
    "anonymous": LadderSetting(
        N_(
            "yes or no: whether bots play on it under made-up names, and without their owners', "
            "until it is closed; chosen when it is made"
        ),
        "no",
        _yes_or_no("anonymous"),
        lambda one: "yes" if one.anonymous else "no",
        ("yes", "no"),
    ),
    "state": LadderSetting(
        N_(
            "open (it plays), paused (it makes no matches for now), frozen (it takes no bots "
            "either) or closed (over for ever)"
        ),
        "open",
        _choice("state", *CompetitionState),
        lambda one: str(one.state),
        tuple(map(str, CompetitionState)),
    ),
    "draws": LadderSetting(
        N_("how likely a draw between equals is; a change has all ratings made anew"),
        "0.05",
        _number("draw_probability", 0.001, 0.95, float),
        lambda one: _exact(one.draw_probability),
    ),
    "weight": LadderSetting(
        N_("how many times the workers' time of a plain ladder it gets while they are scarce"),
        "1",
        _number("weight", 0.01, 100, float),
        lambda one: _exact(one.weight),
        of_site=True,
    ),
    "openings": LadderSetting(
        N_(
            "random (a balanced opening for each match), empty (the game's start), or the name of "
            "a book"
        ),
        "random",
        _openings,
        lambda one: one.openings_words,
        stays=True,
    ),
    "time": LadderSetting(
        N_("seconds a game and more a move, such as 10+0.1"), "", _time, _time_words, stays=True
    ),
    "move": LadderSetting(
        N_("milliseconds a move"),
        "100",
        _move,
        lambda one: "" if one.move_ms is None else str(one.move_ms),
        stays=True,
    ),
    "charge": LadderSetting(
        N_("cpu (a bot's clock counts its CPU time) or wall"),
        "cpu",
        _choice("charge", "cpu", "wall"),
        lambda one: one.charge,
        ("cpu", "wall"),
        stays=True,
        of_site=True,
    ),
    "machine": LadderSetting(
        N_(
            "own (milliseconds of whichever machine plays) or reference (those of the reference "
            "machine: a slower one grants more of its own, and a worker that is too slow, too "
            "busy or has more slots than cores plays none)"
        ),
        "own",
        _machine,
        lambda one: MACHINES[one.reference],
        MACHINES,
        of_site=True,
    ),
    "home": LadderSetting(
        N_(
            "whether bots may play that stay on their authors' machines: no, beside (those that "
            "are uploaded), or only"
        ),
        "no",
        _choice("home", *HomeRule),
        lambda one: str(one.home),
        tuple(map(str, HomeRule)),
    ),
    "options": LadderSetting(
        N_("yes or no: whether matches may be asked for in which bots are told options"),
        "yes",
        _yes_or_no("allows_options"),
        lambda one: "yes" if one.allows_options else "no",
        ("yes", "no"),
    ),
    "approval": LadderSetting(
        N_(
            "whether strength tests, tunings and gauntlets by its rules need a second person's "
            "approval before they begin: no or needed"
        ),
        "no",
        _choice("approval", Approval.NO, Approval.NEEDED),
        lambda one: str(one.approval),
        (str(Approval.NO), str(Approval.NEEDED)),
    ),
    "each": LadderSetting(
        N_("how many bots each person may enter, those that left included; any for no limit"),
        NO_LIMIT,
        _quota("most_bots"),
        lambda one: _quota_words(one.most_bots),
    ),
    "active": LadderSetting(
        N_("how many bots each person may have active at a time; any for no limit"),
        NO_LIMIT,
        _quota("most_active"),
        lambda one: _quota_words(one.most_active),
    ),
    "uploads": LadderSetting(
        N_("how many versions each person may hand in within 24 hours; any for no limit"),
        NO_LIMIT,
        _quota("most_uploads"),
        lambda one: _quota_words(one.most_uploads),
    ),
    "memory": LadderSetting(
        N_("what a bot's processes may hold, such as 256M"),
        "256M",
        _size("memory"),
        lambda one: in_words(one.memory_bytes),
        of_site=True,
    ),
    "threads": LadderSetting(
        N_("how many threads a bot may have, those of its interpreter included"),
        "16",
        _number("threads", 1, 1024, int),
        lambda one: str(one.threads),
        of_site=True,
    ),
    "processes": LadderSetting(
        N_("how many processes a bot may have; more than one takes workers of level full"),
        "1",
        _number("processes", 1, MOST_PROCESSES, int),
        lambda one: str(one.processes),
        of_site=True,
    ),
    "bundle": LadderSetting(
        N_("how large a bot's files may be together, such as 16M"),
        "16M",
        _size("bundle"),
        lambda one: in_words(one.bundle_bytes),
        of_site=True,
    ),
    "log": LadderSetting(
        N_("how much of a bot's standard error is kept of a game, such as 64k"),
        "64k",
        _size("log"),
        lambda one: in_words(one.log_bytes),
        of_site=True,
    ),
}
"""What can be chosen about a ladder, by the names that commands and forms have for it."""


def create(
    session: Session,
    actor: Actor,
    name: str,
    variant: Variant,
    chosen: Mapping[str, str],
    now: datetime,
) -> Ladder:
    """Makes a ladder, which is open at once unless its state is chosen.

    Args:
        name: in addresses and commands.
        chosen: texts by the names of `SETTINGS`; what is missing is by default.

    Raises:
        Refusal: the name is none or is taken, or a setting can't be so.
    """
    demand_name(session, name, "ladder")
    defaults = {key: setting.default for key, setting in SETTINGS.items() if setting.default}
    if "time" in chosen:
        del defaults["move"]
    columns: dict[str, Any] = {}
    for its in _read({"title": name, **defaults, **chosen}).values():
        columns |= its
    demand_fitting(session, columns["book_name"], variant)
    _demand_machine(columns)
    _demand_boxed(columns)
    ladder = Ladder(
        name=name,
        creator_id=actor.id,
        variant=variant,
        seed=derive(0, "ladder", name),
        created=now,
        **columns,
    )
    ladder.head_start = fair_start(session, ladder.weight)
    add_named(session, ladder)
    members.begin(session, ladder, now)
    detail = ", ".join([str(variant), *(f"{key}={text}" for key, text in chosen.items())])
    audit.note(session, actor, "create ladder", f"ladder {name}", detail, now=now)
    return ladder


def change(
    session: Session, actor: Actor, ladder: Ladder, chosen: Mapping[str, str], now: datetime
) -> list[str]:
    """Changes settings of a ladder.

    Args:
        chosen: texts by the names of `SETTINGS`.

    Returns:
        What is different now, in words; nothing if it was so before.

    Raises:
        Refusal: a setting can't be so, or stays as it is on this ladder.
    """
    lock(session, ladder)
    columns = _read(chosen)
    different = {
        key: its
        for key, its in columns.items()
        if any(getattr(ladder, column) != value for column, value in its.items())
    }
    finals = [key for key in different if key not in CHANGED_TO_THE_LAST]
    if ladder.state is CompetitionState.CLOSED and finals:
        raise Refusal(
            gettext(
                "the ladder %(name)s is closed, and its table final: its %(key)s stays as "
                "it is, only its title, note and visibility can be changed",
                name=ladder.name,
                key=finals[0],
            )
        )
    for key in different:
        if SETTINGS[key].stays and ladder.matches_made:
            raise Refusal(
                gettext(
                    "the ladder %(name)s has matches by its %(key)s, which therefore stays as it "
                    "is: make another ladder",
                    name=ladder.name,
                    key=key,
                )
            )
    if "anonymous" in different:
        raise Refusal(
            gettext(
                "whether a ladder is anonymous is chosen when it is made; arena competition reveal "
                "%(name)s ends it",
                name=ladder.name,
            )
        )
    if "openings" in different:
        demand_fitting(session, different["openings"]["book_name"], ladder.variant)
    names = ("reference", "charge", "home", "anonymous")
    now_its = {name: getattr(ladder, name) for name in names}
    for its in different.values():
        now_its |= its
    _demand_machine(now_its)
    _demand_boxed(now_its)
    seen = different.pop("visibility", None)
    seen_before = ladder.visibility
    if seen is not None:
        change_visibility(session, ladder, seen["visibility"], actor, now)
    before, weight = {key: SETTINGS[key].show(ladder) for key in different}, ladder.weight
    for its in different.values():
        for column, value in its.items():
            setattr(ladder, column, value)
    if "draws" in different:
        ladder.rebuild_due = True
    if "weight" in different:
        weigh_anew(ladder, weight)
    if "state" in different:
        if ladder.state is CompetitionState.CLOSED:
            ladder.finished = now
        if ladder.state is CompetitionState.OPEN:
            come_back(session, ladder)
    words = [
        f"{key}: {before[key] or 'none'} → {SETTINGS[key].show(ladder) or 'none'}"
        for key in different
    ]
    if words:
        detail = "; ".join(words)
        audit.note(session, actor, CHANGED, f"ladder {ladder.name}", detail, now=now)
    if seen is not None:
        words.append(f"visibility: {seen_before} → {ladder.visibility}")
    return words


def _demand_machine(columns: Mapping[str, Any]) -> None:
    """Refuses the reference machine's clock where nothing can be measured by it."""
    if not columns["reference"]:
        return
    if columns["charge"] == "wall":
        raise Refusal(
            gettext("the reference machine's clock counts CPU time: choose charge=cpu with it")
        )
    if columns["home"] is not HomeRule.NO:
        raise Refusal(
            gettext(
                "nobody knows how fast the machines of bots at home are: a ladder with "
                "home=%(home)s keeps the clock of its own machines",
                home=columns["home"],
            )
        )


def _demand_boxed(columns: Mapping[str, Any]) -> None:
    """Refuses bots at home where nobody is to know whose a bot is: who is connected tells it."""
    if columns["anonymous"] and columns["home"] is not HomeRule.NO:
        raise Refusal(gettext("an anonymous ladder takes no bots at home: choose home=no"))


def _read(chosen: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The columns that each of some settings stands for."""
    if "time" in chosen and "move" in chosen:
        raise Refusal(gettext("choose time or move, not both"))
    columns = {}
    for key, text in chosen.items():
        setting = SETTINGS.get(key)
        if setting is None:
            raise Refusal(
                gettext(
                    "a ladder has no %(key)r; it has %(settings)s",
                    key=key[:40],
                    settings=", ".join(SETTINGS),
                )
            )
        try:
            columns[key] = setting.read(text)
        except ValueError as error:
            raise Refusal(
                gettext(
                    "%(key)s=%(text)s can't be: %(key)s is %(error)s",
                    key=key,
                    text=text[:60],
                    error=error,
                )
            ) from None
    if not columns.get("title", {"title": "some"})["title"]:
        raise Refusal(gettext("the title is empty"))
    return columns
