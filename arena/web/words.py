"""What pages say in words and numbers: times, ratings, endings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from markupsafe import Markup

from arena.formats.standings import TIE_BREAK_WORDS
from arena.lists.counts import in_words
from arena.models import PlayedGame, VersionStatus
from arena.ratings.chance import beyond_chance
from arena.ratings.elo import signed
from arena.ratings.trueskill import Rating
from engine.clock import TimeControl
from engine.game import Seat, Termination, Variant
from engine.places import mean_place, ordinal_said, results_head
from engine.plurals import capitalized, counted, decimal, either, grouped, listed
from engine.protocol import visible
from engine.record import Fault, GameRecord
from engine.scene import Paint
from engine.sitting import goes_on
from engine.translation import N_, gettext, ngettext, pgettext, translated


def sentence(said: Exception | str) -> str:
    """What is said, as a sentence of a page; the name of a file stays as it is."""
    words = str(said)
    end = "" if words.endswith("?") else "."
    if "." in words.partition(" ")[0].rstrip(".:,;"):
        return f"{words.rstrip('.')}{end}"
    return f"{capitalized(words).rstrip('.')}{end}"


ENDINGS: Mapping[Termination, str] = {
    Termination.NORMAL: N_("by the rules"),
    Termination.REPETITION: N_("repetition"),
    Termination.PLY_LIMIT: N_("ply limit"),
    Termination.ILLEGAL: N_("illegal move"),
    Termination.TIMEOUT: N_("out of time"),
    Termination.CRASH: N_("crash"),
    Termination.MEMORY: N_("out of memory"),
    Termination.PROTOCOL: N_("unreadable answer"),
    Termination.START: N_("no start"),
    Termination.RESIGN: N_("resigned"),
    Termination.VOID: N_("void"),
}


def ago(moment: datetime | None) -> Markup:
    """How long ago a moment was, with the exact time on hover."""
    if moment is None:
        return Markup("{}").format(gettext("never"))
    seconds = max(0, int((datetime.now(UTC) - moment).total_seconds()))
    if seconds < 10:
        words = gettext("just now")
    elif seconds < 60:
        words = gettext("%(number)s s ago", number=seconds)
    elif seconds < 60 * 60:
        words = gettext("%(number)s min ago", number=seconds // 60)
    elif seconds < 24 * 60 * 60:
        words = gettext("%(number)s h ago", number=seconds // (60 * 60))
    else:
        days = seconds // (24 * 60 * 60)
        words = ngettext("%(number)s day ago", "%(number)s days ago", days, number=days)
    exact = moment.astimezone(UTC).isoformat(" ", "seconds").removesuffix("+00:00")
    # Nothing here is anybody's text, and a page has a hundred of these.
    return Markup(  # noqa: S704
        f'<time datetime="{moment.isoformat()}" title="{exact} UTC">{words}</time>'
    )


def checked(status: VersionStatus) -> str:
    """What is known of a version; its check may wait, be under way, set aside or cancelled."""
    if status is VersionStatus.CHECKING:
        return gettext("not checked yet")
    if status is VersionStatus.READY:
        return pgettext("a version", "ready")
    return pgettext("a version", "refused")


def time_control(control: TimeControl) -> str:
    """A time control in words: ``100 ms of CPU time a move``."""
    if control.charge == "wall":
        charged = gettext("wall time")
    elif control.reference:
        charged = gettext("CPU time of the reference machine")
    else:
        charged = gettext("CPU time")
    if control.move_ms is not None:
        return gettext(
            "%(time)s of %(charged)s a move", time=duration(control.move_ms), charged=charged
        )
    time = duration(control.time_ms or 0)
    if control.inc_ms:
        more = duration(control.inc_ms)
        return gettext(
            "%(time)s of %(charged)s a game, and %(more)s more a move",
            time=time,
            charged=charged,
            more=more,
        )
    return gettext("%(time)s of %(charged)s a game", time=time, charged=charged)


def duration(milliseconds: float) -> str:
    """A length of time: ``7.5 ms``, ``120 ms``, ``2.5 s``."""
    if milliseconds >= 1000:
        return (
            f"{milliseconds / 1000:.3g} s" if milliseconds < 1e6 else f"{milliseconds / 1000:.0f} s"
        )
    return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"


def opposed(names: Sequence[str]) -> str:
    """Those who play against each other: ``greedy v2 against random v1``; of more than two, who may
    be allies, ``a, b and c``.
    """
    if len(names) != 2:
        return listed(names)
    one, other = names
    return gettext("%(one)s against %(other)s", one=one, other=other)


def ending(termination: Termination) -> str:
    """How a game or a seat's part in it ended, in two words."""
    return translated(ENDINGS[termination])


def tie_break(name: str) -> str:
    """What a tie-break is called."""
    return translated(TIE_BREAK_WORDS.get(name, name))


def opening_words(variant: Variant, options: Mapping[str, str], moves: Sequence[str]) -> str:
    """An opening in words: the options that it alone has, such as a position, and its moves.

    Args:
        variant: of the competition.
        options: of the match.
    """
    return in_words(variant.options, options, moves)


def outcome(record: GameRecord, people: Collection[int] = ()) -> str:
    """What came of a game, and whose fault it was, in whole sentences.

    Args:
        people: the seats that no bot has.
    """
    sentences = [_left(record, fault, people) for fault in record.faults]
    names = record.variant.seat_names
    winners = [names[seat] for seat, rank in enumerate(record.ranks) if rank == 1]
    if goes_on(record):
        sentences.append(gettext("It goes on."))
    elif record.variant.seats == 1:
        points = counted(record.scores[0], "point")
        sentences.append(f"{points}.")
    elif len(winners) == len(names):
        sentences.append(gettext("A draw."))
    elif not winners:  # in a record that no rules confirm
        sentences.append(gettext("Nobody wins."))
    else:
        several = " and " in " and ".join(winners)  # one seat's name may say two colours
        who = listed([translated(name) for name in winners])
        sentences.append(ngettext("%(who)s wins.", "%(who)s win.", 1 + several, who=who))
    if record.termination is Termination.REPETITION:
        sentences.append(gettext("The game ended when a position came back."))
    elif record.termination is Termination.PLY_LIMIT:
        sentences.append(
            gettext("The game ended at a limit of plies: in all, or without progress.")
        )
    return " ".join(sentences)


CAME = {
    2: N_("You came second of %(count)s."),
    3: N_("You came third of %(count)s."),
    4: N_("You came fourth of %(count)s."),
}


def own_result(ranks: Sequence[int], sides: Sequence[int], seat: Seat) -> str:
    """What came of a game for a seat, said to whoever sat there; empty where nobody won.

    Args:
        sides: the side of each seat.
    """
    count = len(set(sides))
    if set(ranks) == {1}:
        return ""
    if ranks[seat] == 1:
        return gettext("You won.")
    if count == 2:
        return gettext("You lost.")
    return gettext(CAME[ranks[seat]], count=count)


def _left(record: GameRecord, fault: Fault, people: Collection[int]) -> str:
    """Who left the game, when and why: ``Black's bot (greedy v2) left after ply 30: crash, ...``"""
    seat, player = translated(record.variant.seat_names[fault.seat]), record.players[fault.seat]
    if fault.seat in people:
        who = f"{seat} ({player})"
    else:
        who = gettext("%(seat)s's bot (%(player)s)", seat=seat, player=player)
    if fault.termination is Termination.RESIGN:
        if not fault.ply:
            return gettext("%(who)s resigned before the first ply.", who=who)
        return gettext("%(who)s resigned after ply %(ply)s.", who=who, ply=fault.ply)
    why = ", ".join(filter(None, [ending(fault.termination), fault.detail.rstrip(".")]))
    if not fault.ply:
        return gettext("%(who)s left before the first ply: %(why)s.", who=who, why=why)
    return gettext("%(who)s left after ply %(ply)s: %(why)s.", who=who, ply=fault.ply, why=why)


def winners(game: PlayedGame) -> set[int]:
    """The seats that won a game: none where all came out the same, each with half a point."""
    return {seat.seat for seat in game.seats if seat.rank == 1 and seat.points > 0.5}


def by_side(names: Sequence[str], sides: Sequence[int]) -> list[str]:
    """Those of each side together: ``a and b`` and ``c`` of three, of whom two are allies.

    Args:
        names: of each seat; who holds several of one side is named once.
        sides: of each seat.
    """
    allies: dict[int, dict[str, None]] = {}
    for name, side in zip(names, sides, strict=True):
        allies.setdefault(side, {})[name] = None
    return [listed(list(those)) for those in allies.values()]


def display(mu: float) -> float:
    """The number that people see for a mu."""
    return Rating(mu=mu).display


def margin(sigma: float) -> float:
    """How far the 95 % interval of a sigma reaches to each side of `display`."""
    return Rating(sigma=sigma).display_margin


def tint(share: float, games: int, expected: float = 0.5) -> str:
    """The classes of a cell that shows a share of the points of some games: coloured by how far
    it is above or below what was expected, unless chance explains that.
    """
    if not beyond_chance(share, games, expected):
        return ""
    above, far = share > expected, abs(share - expected) > 0.25
    return f"tint tint-{(4 if far else 3) if above else (0 if far else 1)}"


def sides(variant: Variant) -> int:
    """How many sides a game has; of more than two a result is a place."""
    return len(set(variant.side_of))


COIN_PAINTS = frozenset(Paint) - {Paint.NEUTRAL}


def seat_class(name: str) -> str:
    """The class by which the stylesheet knows a seat, which is often named for a colour."""
    return "of-" + name.lower().replace(" ", "-")


def paints_of(name: str) -> list[Paint]:
    """The colours that a seat is named for, such as blue and red of "Blue and red"."""
    return [Paint(word) for word in name.lower().split() if word in COIN_PAINTS]


def coin(name: str) -> str:
    """The classes of a seat's coin, in up to two colours; empty for a seat without any."""
    paints = paints_of(name)[:2]
    return " ".join(["coin", *map("{}-{}".format, ("left", "right"), paints)]) if paints else ""


FILTERS = {
    "ago": ago,
    "by_side": by_side,
    "capitalized": capitalized,
    "checked": checked,
    "coin": coin,
    "counted": counted,
    "decimal": decimal,
    "display": display,
    "duration": duration,
    "ending": ending,
    "grouped": grouped,
    "listed": listed,
    "either": either,
    "margin": margin,
    "mean_place": mean_place,
    "ordinal": ordinal_said,
    "results_head": results_head,
    "seat_class": seat_class,
    "sides": sides,
    "signed": signed,
    "tie_break": tie_break,
    "time_control": time_control,
    "tint": tint,
    "visible": visible,
    "winners": winners,
}
"""Filters of templates, by their names there."""
