"""The shelf of games: who declares them, and the games, each loaded when it is first named.

A distribution puts games on the shelf by entry points in the group ``arena.games``, as this
program does with its own. What an entry point names is a `Game` of the same name, or a mapping of
words to games, which are then called by both: ``openspiel:chess``. One that can't be loaded stops
nothing: it is told why where somebody asks for it.

Distributions are looked for as pip leaves them, by their ``.dist-info`` folders on the module
search path. `importlib.metadata` finds the same and some more (zipped ones), and takes longer
than all else that a bot does at its start.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.declaring import fault_of_game, in_a_line
from engine.game import Game, Move, OptionError, Seat, State, Termination, Variant
from engine.guesses import alike, did_you_mean, instead
from engine.rules_trail import at
from engine.scene import Scene, Square
from engine.translation import ENGLISH, N_, gettext, speaking

GROUP = "arena.games"
OWN = "game-bot-arena"
"""The distribution that the engine is a part of; its games come first, and keep their names."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
"""What a game may be called, and a family."""
VERSION = re.compile(r"[\w.+!-]{1,40}", re.ASCII)
"""What the version of a game's rules may be: it is a part of a queue's name."""
ENTRY = re.compile(r"\s*([^=\s]+)\s*=\s*([\w.]+):([\w.]+)\s*(?:\[([\w, .-]*)\])?\s*")
"""An entry point, by https://packaging.python.org/specifications/entry-points/."""
WORD = re.compile(r"\w{1,60}", re.ASCII)
"""What a game of a family may be called behind its colon."""
IMPORT_SECONDS = 30.0
"""How long the import of a stranger's game may take."""
HEADER = re.compile(r"^(Name|Version): *(\S+)", re.MULTILINE)


class UnknownGameError(OptionError, KeyError):
    """A game that is not on the shelf, or can't be loaded; one sentence that says which."""

    __str__ = OptionError.__str__


@dataclass(frozen=True, slots=True)
class Edition:
    """Which rules a game is played by: whose, and which version of them."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


@dataclass(frozen=True, slots=True)
class Declared:
    """An entry point: a game, or a family of games, as a distribution declares it."""

    name: str
    module: str
    attribute: str
    extras: tuple[str, ...]
    """The extras of its distribution that have to be installed with it."""
    package: str
    version: str


SEATS = (N_("Seat 1"), N_("Seat 2"), N_("Seat 3"), N_("Seat 4"), N_("Seat 5"), N_("Seat 6"))
"""What the first seats of any game are called; further ones are called so in English alone."""


class SeatNames(tuple[str, ...]):
    """Names of the seats of a game of which nobody knows how many it has: each has one."""

    __slots__ = ()

    def __getitem__(self, seat: Any) -> Any:
        return _seat(seat) if isinstance(seat, int) else super().__getitem__(seat)


def _seat(seat: Seat) -> str:
    return SEATS[seat] if 0 <= seat < len(SEATS) else f"Seat {seat + 1}"


class Missing(Variant):
    """A variant that can't be made, as that of a game that is not on the shelf.

    It can be named, and not played.
    """

    max_plies = 0

    def __init__(self, game: str, options: Mapping[str, str], seats: int, reason: str) -> None:
        """Takes what is known of it, and why it is not here."""
        super().__init__(dict(options))
        self.game, self.seats, self.reason = game, seats, reason
        self.seat_names = SeatNames(map(_seat, range(seats)))

    def initial(self, seed: int = 0) -> State:
        """An empty board that says why there is nothing on it."""
        return MissingState(self)

    def read(self, text: str) -> State:
        """Raises: UnknownGameError: always."""
        raise UnknownGameError(self.reason)


@dataclass(frozen=True, slots=True)
class MissingState(State):
    """A position of a game that is not on the shelf, of which nobody knows how it goes on."""

    variant: Missing

    @property
    def to_move(self) -> Seat | None:
        return 0

    def legal_moves(self) -> Sequence[Move]:
        return []

    def judge(self, move: str, /) -> object:
        """Raises: UnknownGameError: always."""
        raise UnknownGameError(self.variant.reason)

    def play(self, move: Move) -> State:
        """Raises: UnknownGameError: always."""
        raise UnknownGameError(self.variant.reason)

    def ending(self) -> Termination | None:
        return None

    def scores(self) -> tuple[float, ...]:
        return (0.0,) * self.variant.seats

    def text(self) -> str:
        return "?"

    def scene(self) -> Scene:
        words = gettext("%(game)s: no board here", game=self.variant.game)
        return Scene(words, (Square("a1", 0, 0),), (), captions=(words, self.variant.reason))


class Shelf(Mapping[str, Game]):
    """Games by their names.

    Asking for one raises `UnknownGameError`, which is a KeyError, with the reason.
    """

    def __init__(self, declared: Iterable[Declared] | None = None) -> None:
        """Takes what is declared; by default what is installed, looked for when first needed."""
        self._given = declared
        self.look_again()

    def look_again(self) -> None:
        """Forgets what was found: packages may have been installed since, or put on the path."""
        self._declared: dict[str, Declared] | None = None
        self._loaded: dict[str, Game | Mapping[str, Game]] = {}
        self._failed: dict[str, str] = {}
        self._absent: dict[str, str] = {}

    @property
    def declared(self) -> Mapping[str, Declared]:
        """What is declared, by name, in the order of the shelf; whether or not it can be loaded."""
        if self._declared is None:
            declared: dict[str, Declared] = {}
            for each in installed() if self._given is None else self._given:
                first = declared.setdefault(each.name, each)
                if first is not each:
                    self._failed[f"{each.name} of {each.package}"] = (
                        f"the name {each.name} is taken by {first.package}"
                    )
                elif not NAME.fullmatch(each.name):
                    self._failed[each.name] = (
                        "a game's name is up to 40 small letters, digits and -, a letter first"
                    )
            # All at once: another thread may ask meanwhile.
            self._declared = declared
        return self._declared

    def __getitem__(self, name: str) -> Game:
        family, colon, word = name.partition(":")
        found = self._load(family)
        if isinstance(found, Mapping) and word:
            return self._of_family(found, family, word)
        if isinstance(found, Mapping):
            raise UnknownGameError(
                gettext(
                    "%(family)s is a family of games: name one, as in %(family)s:WORD",
                    family=family,
                )
            )
        if colon:
            raise UnknownGameError(
                gettext(
                    "%(family)s is one game; there is no %(name)r", family=family, name=name[:80]
                )
            )
        return found

    def __iter__(self) -> Iterator[str]:
        for name in self.declared:
            try:
                found = self._load(name)
            except UnknownGameError:
                continue
            if isinstance(found, Mapping):
                games = (f"{name}:{word}" for word in self._words_of(name, found))
                yield from (game for game in games if game not in self._failed)
            else:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        # Mapping's own would take an error of another kind for an answer.
        try:
            return isinstance(name, str) and self[name] is not None
        except UnknownGameError:
            return False

    def find(self, name: str, options: Mapping[str, str], seats: int = 2) -> Variant:
        """A variant for who only looks: one that can merely be named, where it can't be made.

        Its game isn't here, has such options no more, or its rules fail.

        Args:
            seats: how many it is to have, where that can't be known.
        """
        try:
            # The reason is kept with the variant, whoever looks at it later.
            with speaking(ENGLISH), at(name, "making a variant"):
                return self[name].variant(**options)
        except OptionError as error:
            reason = str(error)
        except Exception as error:  # a stranger's rules
            reason = f"the rules of {name} can't make this variant: {in_a_line(error)}"
        return Missing(name, options, seats, reason)

    @property
    def singles(self) -> dict[str, Game]:
        """The games that stand for themselves: those of no family, of which there may be many."""
        return {name: game for name, game in self.items() if ":" not in name}

    @property
    def default(self) -> Game:
        """The game of who names none.

        Raises:
            UnknownGameError: the shelf is empty.
        """
        others: list[Game] = []
        # One by one, as a family is loaded only where no game before it is the one.
        for game in self.values():
            if game.is_first:
                return game
            others.append(game)
        if not others:
            raise UnknownGameError(gettext("there is no game here; 'arena games' says why"))
        return others[0]

    @property
    def faults(self) -> Mapping[str, str]:
        """What is declared and can't be on the shelf, with the reason, once all was tried."""
        for _ in self:
            pass
        return self._failed

    @property
    def absent(self) -> Mapping[str, str]:
        """What could be on the shelf if something more was installed, and what that is."""
        for _ in self:
            pass
        return self._absent

    def take_off(self, name: str, reason: str) -> None:
        """Has a game that was loaded be one of the `faults`, until this process ends.

        Args:
            reason: what is wrong with it.
        """
        self._failed[name] = reason
        self._loaded.pop(name, None)

    def edition(self, name: str) -> Edition:
        """Which rules a game of the shelf is played by.

        Raises:
            UnknownGameError: it is not on the shelf.
        """
        declared = self.declared.get(name.partition(":")[0])
        game = self[name]
        assert declared is not None
        return Edition(game.package or declared.package, game.version or declared.version)

    def editions(self) -> list[Edition]:
        """Those of all games of the shelf, each once."""
        return sorted({self.edition(name) for name in self}, key=str)

    def rules(self, name: str) -> str:
        """The edition of a game in words; empty if it is not on the shelf."""
        try:
            return str(self.edition(name))
        except UnknownGameError:
            return ""

    def whose(self, name: str) -> str:
        """The edition of a game in words; of one taken off the shelf, who declares it."""
        declared = self.declared.get(name.partition(":")[0])
        return self.rules(name) or (f"{declared.package} {declared.version}" if declared else "")

    def demand(self, name: str, rules: str) -> None:
        """Refuses what is to be played by other rules of a game than those that are here.

        Args:
            rules: an edition in words; empty for whichever they are.

        Raises:
            UnknownGameError: they are others, or the game is not here.
        """
        here = str(self.edition(name))
        if rules not in ("", here):
            raise UnknownGameError(
                gettext(
                    "%(name)s by the rules of %(rules)s is needed; here is %(here)s",
                    name=name,
                    rules=rules[:100],
                    here=here,
                )
            )

    def _load(self, name: str) -> Game | Mapping[str, Game]:
        """The game or family of an entry point.

        Raises:
            UnknownGameError: there is none, or it can't be loaded.
        """
        if (known := self._loaded.get(name)) is not None:
            return known
        declared = self.declared.get(name)
        if declared is None:
            there = instead(name[:40], self.declared)
            raise UnknownGameError(
                gettext("there is no game %(name)r; %(there)s", name=name[:40], there=there)
            )
        reason = self._failed.get(name) or self._absent.get(name)
        if reason is None:
            found, reason, is_absent = _import(declared)
            if found is not None:
                self._loaded[name] = found
                return found
            (self._absent if is_absent else self._failed)[name] = reason
        raise UnknownGameError(
            gettext(
                "the game %(name)s of %(package)s %(version)s can't be loaded: %(reason)s",
                name=name,
                package=declared.package,
                version=declared.version,
                reason=reason,
            )
        )

    def _words_of(self, name: str, family: Mapping[str, Game]) -> list[str]:
        """The games of a family; none, and its fault, if it can't list them."""
        try:
            words = list(family)
            if not all(isinstance(word, str) and WORD.fullmatch(word) for word in words):
                raise TypeError("it lists games whose names are no words")
        except Exception as error:
            self.take_off(name, in_a_line(error))
            return []
        return words

    def _of_family(self, games: Mapping[str, Game], family: str, word: str) -> Game:
        if reason := self._failed.get(f"{family}:{word}"):
            raise UnknownGameError(
                gettext(
                    "%(family)s:%(word)s can't be loaded: %(reason)s",
                    family=family,
                    word=word,
                    reason=reason,
                )
            )
        try:
            game = games[word]
        except KeyError:
            near = alike(word[:40], self._words_of(family, games))
            there = did_you_mean(near) if near else gettext("'arena games' lists those that it has")
            raise UnknownGameError(
                gettext(
                    "%(family)s has no game %(word)r; %(there)s",
                    family=family,
                    word=word[:40],
                    there=there,
                )
            ) from None
        except Exception as error:
            raise UnknownGameError(
                gettext(
                    "%(family)s:%(word)s can't be loaded: %(error)s",
                    family=family,
                    word=word,
                    error=in_a_line(error),
                )
            ) from None
        if game.name != f"{family}:{word}":
            raise UnknownGameError(
                gettext(
                    "%(family)s:%(word)s can't be loaded: it is called %(name)r",
                    family=family,
                    word=word,
                    name=game.name,
                )
            )
        if wrong := fault_of_game(game):
            raise UnknownGameError(
                gettext(
                    "%(family)s:%(word)s can't be loaded: %(wrong)s",
                    family=family,
                    word=word,
                    wrong=wrong,
                )
            )
        return game


def _import(declared: Declared) -> tuple[Game | Mapping[str, Game] | None, str, bool]:
    """What an entry point names.

    Returns:
        The game or family, if it is one; else why it is none, and whether it only takes that an
        extra is installed.
    """
    where = f"{declared.module}:{declared.attribute}"
    try:
        found = _found(declared) if declared.package == OWN else _aside(declared)
    except ImportError as error:
        if declared.extras:
            extras = ",".join(declared.extras)
            return None, f"it needs pip install '{declared.package}[{extras}]' ({error})", True
        return None, in_a_line(error), False
    except (Exception, SystemExit) as error:  # whatever a stranger's module does
        return None, in_a_line(error), False
    if isinstance(found, Game):
        if found.name != declared.name:
            reason = f"{where} is called {found.name!r}, and declared as {declared.name!r}"
        elif found.version and not VERSION.fullmatch(found.version):
            reason = f"{where} has a version {found.version[:60]!r}, which is none"
        elif not (reason := fault_of_game(found)):
            return found, "", False
    elif isinstance(found, Mapping):
        return found, "", False
    else:
        reason = f"{where} is {type(found).__name__}, and neither a Game nor a mapping of games"
    return None, reason, False


def _found(declared: Declared) -> object:
    """What an entry point names, imported if it is not yet."""
    found: object = importlib.import_module(declared.module)
    for attribute in declared.attribute.split("."):
        found = getattr(found, attribute)
    return found


def _aside(declared: Declared) -> object:
    """What a stranger's entry point names, which may do anything while it is imported.

    A thread of its own does it, which can be left if it does not end; and as threads inherit it
    from whoever starts them, those that the module leaves behind keep no process from ending.
    What it prints is a message: standard output is the caller's, who may be writing JSON there, or
    moves to a referee.

    Raises:
        TimeoutError: it takes longer than `IMPORT_SECONDS`.
        Exception, SystemExit: what the module raises.
    """
    import contextlib
    import threading

    came: list[object] = []
    raised: list[BaseException] = []

    def bring() -> None:
        try:
            came.append(_found(declared))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=bring, name=f"import of {declared.name}", daemon=True)
    with contextlib.redirect_stdout(sys.stderr):
        try:
            thread.start()
        except RuntimeError:  # a box of few threads, in which a bot hurts itself alone
            bring()
        else:
            thread.join(IMPORT_SECONDS)
    for error in raised:
        if isinstance(error, (Exception, SystemExit)):
            raise error
        raise RuntimeError(f"it raises {type(error).__name__}")
    if not came:
        raise TimeoutError(f"its import takes longer than {IMPORT_SECONDS:g} s")
    return came[0]


def installed() -> list[Declared]:
    """What distributions on the module search path declare: this program's own, then by name.

    Of a clone of this program its pyproject.toml speaks, installed or not.
    """
    found: dict[str, list[Declared]] = {}
    if of_clone := _of_clone():
        found[OWN] = of_clone
    for folder in sys.path:
        for package, version, text in _metadata_folders(folder or os.curdir):
            if package not in found:  # the first on the path is the one that is imported
                found[package] = list(_read(text, package, version))
    everything = [each for declared in found.values() for each in declared]
    return sorted(everything, key=lambda each: (each.package != OWN, each.package, each.name))


def _metadata_folders(folder: str) -> Iterator[tuple[str, str, str]]:
    """Name, version and entry points of the distributions in a folder that have any of ours."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".dist-info")]
    except OSError:
        return
    for name in sorted(names):
        try:
            text = _text(os.path.join(folder, name, "entry_points.txt"))
            if GROUP in text:
                header = _text(os.path.join(folder, name, "METADATA")).partition("\n\n")[0]
                known = dict(HEADER.findall(header))
                yield normal(known["Name"]), known["Version"], text
        except (OSError, ValueError, KeyError):
            continue


def _read(text: str, package: str, version: str) -> Iterator[Declared]:
    """Our group of an ``entry_points.txt``."""
    group = ""
    for line in text.splitlines():
        if line.startswith("["):
            group = line.strip(" []")
        elif group == GROUP and (entry := ENTRY.fullmatch(line)):
            yield _declared(entry, package, version)


def _text(file: str) -> str:
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def _of_clone() -> list[Declared]:
    """What the pyproject.toml beside the engine declares; nothing if it is not this program's."""
    file = os.path.join(os.path.dirname(os.path.dirname(__file__)), "pyproject.toml")
    if not os.path.isfile(file):
        return []
    import tomllib

    try:
        project = tomllib.loads(_text(file))["project"]
        name, version = normal(project["name"]), project["version"]
    except (OSError, ValueError, KeyError):
        return []
    # Among installed packages anybody's file may lie there.
    entries = project.get("entry-points", {}).get(GROUP, {}) if name == OWN else {}
    found = (ENTRY.fullmatch(f"{key} = {value}") for key, value in entries.items())
    return [_declared(entry, name, version) for entry in found if entry]


def _declared(entry: re.Match[str], package: str, version: str) -> Declared:
    name, module, attribute, extras = entry.groups()
    words = tuple(word.strip() for word in (extras or "").split(",") if word.strip())
    return Declared(name, module, attribute, words, package, version)


def normal(name: str) -> str:
    """The one spelling of a distribution's name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
