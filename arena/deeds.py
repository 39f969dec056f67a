"""What can be changed: each deed is said once, and pages, API and commands are doors to it.

Theory of operation. A deed is a frozen dataclass. Its fields are what it asks for, each with its
words and limits, which it holds itself; its class says who may do it, at which address and by
which command; `do` does it in a transaction that somebody else began, writes the note in the
audit log, and tells what was done. A deed is known by its line in `arena.all_deeds`. From that
alone it has its operation of the API (`arena.web.api.deeds`), its command, on a data folder and
on a server (`arena.cli.deeds`), and what a page needs for a form (`arena.web.deeds`). Whatever a
door adds is its own: what a form looks like, where a page leads to. Each deed either adds only
(`makes`, `adds`), or tells what undoes it (`Done.undo`), or pages ask before it (`asks`).
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from sqlalchemy.orm import Session

from arena import sight
from arena.audit import Actor
from arena.ground.refusals import NotAllowed, WrongField
from arena.ground.texts import LONGEST, unkept
from arena.models import Bot, Competition, Scope
from arena.present import demand_no_maintenance, maintenance
from arena.sight import STRANGER, Reader
from engine.plurals import grouped
from engine.translation import gettext, translated

LONGEST_NAME, LONGEST_LINE, LONGEST_NOTE = 80, 500, LONGEST
"""How many characters names have, lines beside a title, and notes for everybody."""


@dataclass(frozen=True, slots=True)
class By:
    """Who does a deed, and when."""

    actor: Actor
    """Who that is in the audit log."""
    scopes: frozenset[Scope]
    now: datetime
    shared: frozenset[int] = frozenset()
    """The ids of the bots that they have without being their owner."""
    requests_a_day: int | None = None
    """How many matches they may ask for within a day; None for no limit."""
    asked_seconds_a_day: float | None = None
    """How long bots may think about what they ask them within a day; None for no limit."""
    stored_bytes: int | None = None
    """How much everybody may have stored who has no quota of their own; None for no limit."""
    bots_a_person: int | None = None
    """How many bots each person may have; None for any number."""
    may_have_hooks: bool = True
    """Whether messages may be sent for them to addresses elsewhere."""
    at_machine: bool = False
    """Whether it is who runs the arena, at its machine, who may do whatever an owner may."""

    reader: Reader = STRANGER
    """Whom they are as a reader, by which is decided what they see."""
    organised: frozenset[int] = frozenset()
    """The ids of the competitions that they are an organiser of, and of those within these."""

    def may(self, scope: Scope) -> bool:
        """Whether they may do what needs this scope."""
        return scope in self.scopes

    def organises(self, competition: Competition) -> bool:
        """Whether they are an organiser, of the site or of this competition."""
        return self.may(Scope.ORGANISE) or competition.id in self.organised

    def owns(self, bot: Bot) -> bool:
        """Whether a bot is their own, or shared with them."""
        return self.at_machine or bot.owner_id == self.actor.id or bot.id in self.shared

    def heads(self, bot: Bot) -> bool:
        """Whether they decide whose a bot is: its owner, or the captain of the team that is."""
        return self.at_machine or bot.person_id == self.actor.id


@dataclass(frozen=True, slots=True)
class Done:
    """What a deed did, and what takes it back."""

    said: str
    """What was done, in a sentence without its capital and its full stop."""
    answer: Any = None
    """What it was done to, or made: of the class that the deed says; None where it says none."""
    undo: tuple[Deed, ...] = ()
    """What takes it back, in this order; nothing where nothing does, or all was so before."""


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """What a field of a deed is, and what it may be."""

    words: str
    """What whoever is to fill it in is told, as a sentence without its full stop."""
    label: str = ""
    """What stands on a form, if those words are too long for one."""
    least: float | None = None
    most: float | None = None
    """The bounds of a number, the most characters of a text, the most there may be of names."""
    choices: tuple[str, ...] = ()


def asked(words: str, *, default: Any = MISSING, **limits: Any) -> Any:
    """A field of a deed; one without a default has to be given, and a text then not be empty."""
    meta = {"limits": FieldLimits(words, **limits)}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=dict, metadata=meta)
    return dataclasses.field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class Part:
    """A field of a deed, as doors see it."""

    name: str
    hint: Any
    """The type that it is declared to be."""
    kind: type
    """str, int, float, bool, or tuple (of texts) or Mapping (from texts)."""
    default: Any
    """MISSING where it has to be given."""
    limits: FieldLimits
    in_address: bool

    @property
    def needed(self) -> bool:
        """Whether it has to be given."""
        return self.default is MISSING

    def check(self, value: Any) -> None:
        """Refuses what is out of its limits.

        Raises:
            WrongField: it is.
        """
        texts = _texts(value)
        for what in filter(None, map(unkept, texts)):
            raise WrongField(self.name, gettext("leave out %(what)s", what=what))
        # What stands in an address is looked for: that nothing is called so is for `do` to say.
        must_say = self.needed and not self.in_address
        if must_say and (value == () or (isinstance(value, str) and not value.strip())):
            raise WrongField(self.name, gettext("this is needed"))
        if self.kind is not str and any(len(text) > LONGEST for text in texts):
            raise WrongField(
                self.name,
                gettext("give texts of at most %(most)s characters", most=grouped(LONGEST)),
            )
        its = self.limits
        if value is None or (not self.needed and value == self.default):
            return
        if its.choices and value not in its.choices:
            raise WrongField(
                self.name, gettext("it is one of %(choices)s", choices=", ".join(its.choices))
            )
        if self.kind in (int, float):
            least, most = its.least, its.most
            if not (least is None or least <= value) or not (most is None or value <= most):
                raise WrongField(self.name, _between(least, most))
        elif its.most is not None and len(value) > its.most:
            bound = grouped(its.most)
            if self.kind is str:
                raise WrongField(self.name, gettext("give at most %(most)s characters", most=bound))
            raise WrongField(self.name, gettext("give at most %(most)s of them", most=bound))


@dataclass(frozen=True)
class Deed:
    """Something that can be changed; its docstring tells everybody what it does."""

    scope: ClassVar[Scope]
    """What it takes to do it at all; `do` refuses for whom just this one is not."""
    address: ClassVar[str]
    """Its method and address in the API: ``POST /matches/<int:number>/void``."""
    command: ClassVar[str] = ""
    """Its command with its arguments, all else being options: ``match void NUMBER``. Empty for
    one that a command of its own stands before."""
    example: ClassVar[str] = ""
    """What is typed behind ``arena`` and the command's words."""
    subject: ClassVar[str]
    """What it is about, as the API's document groups operations."""
    answers: ClassVar[type | None] = None
    """The class of what it answers, which `arena.web.api.answers` has a shape for."""
    makes: ClassVar[bool] = False
    """Whether what it answers is new."""
    adds: ClassVar[bool] = False
    """Whether nothing that was there is changed for good or ended by it, nor by what it makes: it
    neither asks nor is undone."""
    in_maintenance: ClassVar[bool] = False
    """Whether it can be done during maintenance, when nothing else can be changed."""
    personal: ClassVar[bool] = False
    """Whether it is about somebody's own account, and done on its pages: a program may do it only
    by a token that has the scope admin besides its own, so that one for bots is none for the
    account."""
    lasting: ClassVar[str] = ""
    """What of it nobody can take back, in sentences; empty where its `Done` tells what does."""

    def __post_init__(self) -> None:
        for part in self.parts():
            part.check(getattr(self, part.name))

    @classmethod
    @cache
    def parts(cls) -> tuple[Part, ...]:
        """Its fields, those first that have to be given."""
        hints = get_type_hints(cls)
        in_address = set(re.findall(r"<(?:\w+:)?(\w+)>", cls.address))
        parts = [
            Part(
                field.name,
                hints[field.name],
                _kind(hints[field.name]),
                {} if field.default_factory is not MISSING else field.default,
                field.metadata["limits"],
                field.name in in_address,
            )
            for field in dataclasses.fields(cls)
        ]
        return tuple(sorted(parts, key=lambda part: not part.needed))

    @classmethod
    def words(cls) -> str:
        """What it does, as its class tells it."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def called(cls) -> str:
        """What programs call it: ``void_match``."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def concerns(self, session: Session) -> Competition | None:
        """The competition that it is about alone, whose organisers may do it, too, without the
        scope to organise; None if it is for organisers of the site.

        Raises:
            NotThere: there is no such one.
        """
        return None

    @classmethod
    def is_of_one(cls) -> bool:
        """Whether organisers of one competition may do it there."""
        return cls.concerns is not Deed.concerns

    def asks(self, session: Session, by: By) -> str:
        """What they are told before, who are to say that it is meant; empty to do it at once."""
        return translated(self.lasting)

    def ahead(self, session: Session, by: By) -> Deed:
        """The deed to do in its place, which knows what takes long to find: that is only read, and
        before the transaction in which it is done, since on SQLite nobody else writes meanwhile.

        Raises:
            Refusal: it can't be done so.
        """
        return self

    def do(self, session: Session, by: By) -> Done:
        """Does it, with its note in the audit log.

        Raises:
            Refusal: it can't be done so, or not by them.
        """
        raise NotImplementedError


def fields_of(deed: Deed) -> dict[str, Any]:
    """What a deed asks for, as it was filled in, by the names of its fields."""
    return {part.name: getattr(deed, part.name) for part in deed.parts()}


def perform(session: Session, deed: Deed, by: By) -> Done:
    """Does a deed for somebody, if they may.

    Raises:
        Refusal: it can't be done so, or not by them.
    """
    _demand(session, deed, by)
    return deed.do(session, by)


def look_ahead(reading: Callable[[], Session], deed: Deed, by: By) -> Deed:
    """The deed to perform for somebody in the place of one, which knows what takes long to find.

    Args:
        reading: gives a session that only reads.

    Raises:
        Refusal: it can't be done so, or not by them.
    """
    if type(deed).ahead is Deed.ahead:
        return deed
    with reading() as session:
        _demand(session, deed, by)
        return deed.ahead(session, by)


def _demand(session: Session, deed: Deed, by: By) -> None:
    """Refuses a deed that is not for somebody, or not now."""
    if not by.may(deed.scope) and not (deed.scope is Scope.ORGANISE and by.organised):
        raise _lacks(deed)
    sight.look_up(session, by.reader)
    if not by.may(deed.scope):
        its = deed.concerns(session)
        if its is None or its.id not in by.organised:
            raise _lacks(deed)
    if not deed.in_maintenance:
        demand_no_maintenance(maintenance(session))


def _lacks(deed: Deed) -> NotAllowed:
    return NotAllowed(gettext("this takes the scope %(scope)s", scope=deed.scope))


def asked_before(session: Session, deed: Deed, by: By) -> str:
    """What somebody is told before a deed, who is to say that it is meant; empty to do it at once.

    Raises:
        Refusal: it can't be done so.
    """
    sight.look_up(session, by.reader)
    return deed.asks(session, by)


def _between(least: float | None, most: float | None) -> str:
    """What is said of a number out of these bounds, of which there is one at least."""
    if least is not None and most is not None:
        bounds = {"least": grouped(least), "most": grouped(most)}
        return gettext("give a number from %(least)s to %(most)s", **bounds)
    if least is not None:
        return gettext("give a number from %(least)s", least=grouped(least))
    assert most is not None
    return gettext("give a number to %(most)s", most=grouped(most))


def _kind(hint: Any) -> type:
    """The plain type of what may be None, or is of several."""
    (some,) = [one for one in get_args(hint) if one is not NoneType] if _is_union(hint) else [hint]
    kind = get_origin(some) or some
    assert isinstance(kind, type)
    return Mapping if issubclass(kind, Mapping) else kind


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _texts(value: Any) -> list[str]:
    """All texts in the value of a field."""
    if isinstance(value, Mapping):
        return [str(one) for pair in value.items() for one in pair]
    return [value] if isinstance(value, str) else [*value] if isinstance(value, tuple) else []
