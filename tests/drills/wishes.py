"""What people in a crowd see, remember and fill in: mostly what makes sense, now and then not."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from random import Random
from typing import Any

from arena.formats.catalogue import FORMATS
from tests.arena.web.signing_in import PASSWORD
from tests.drills.fields import BOT

FIRST = [f"first-{number}" for number in range(8)]
"""The bots that are there from the start, with two versions each."""
STATES = [*12 * ["open"], *3 * ["paused"], *3 * ["frozen"], "closed"]
"""The states of a ladder, as often as each is wished for: one that is closed is never opened
again."""
LADDER = {
    "state": STATES, "draws": ["0.05", "0.2"], "weight": ["0.5", "1", "2"], "note": ["some words"],
    "memory": ["128M", "256M"], "threads": ["16", "32"],
}  # fmt: skip
"""Settings of a ladder that can change."""
SEEN = {"ladder": "ladders", "rival": "bots"}
FITTING: Mapping[str, Sequence[Any]] = {
    **dict.fromkeys(("confirmed", "open_source", "paused", "replay", "test_first"), (True, False)),
    **dict.fromkeys(("password", "again", "present"), (PASSWORD,)),
    **dict.fromkeys(("title", "note", "reason"), ("some words",)),
    "baseline": [f"{bot}:1" for bot in FIRST],
    "bot": FIRST,
    "candidate": [f"{bot}:2" for bot in FIRST],
    "elo0": [0.0],
    "elo1": [5.0, 150.0],
    "format": [*FORMATS],
    "game": ["oxoxo"],
    "max_games": [30, 40, 100],
    "name": [f"{name}-{number}" for name in ("any", "some") for number in range(100)],
    "options": [{}],
    "seat": [1, 2, 3],
    "state": STATES,
    "top": [2, 4, 6],
    "user": [f"person-{number}" for number in range(10)],
    "version": [1, 2, 3],
    "weight": [0.5, 1.0],
}
"""What fits a field of a form, or a property of what the API takes, by its name."""
NONSENSE = ("", "0", "-1", "2147483648", "x" * 200, "é\u202e", "nobody", "../..", "1e400")
KEPT = 60
"""How many of the latest addresses of a kind are remembered, and how many forms."""
CHOSEN = ("select", "radio", "button", "submit")


def shape(path: str) -> str:
    """What kind of address it is: every other part of one is a name or a number."""
    return "/".join(path.partition("?")[0].removeprefix("/api/v1").split("/")[1::2])


@dataclass(slots=True)
class Field:
    """What can be filled in, or chosen."""

    kind: str
    value: str
    choices: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Form:
    """A form that changes something, and its fields by their names."""

    action: str
    fields: dict[str, Field] = field(default_factory=dict)

    @property
    def secret(self) -> str:
        """What proves whose form it is."""
        return self.fields["csrf_token"].value


class Page(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self._address = address
        self._form: Form | None = None
        self._field = Field("", "")
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "a" and given.get("href", "").startswith("/"):
            self.links.append(given["href"].partition("#")[0])
        elif tag == "form" and given.get("method", "").lower() == "post":
            self._form = Form(given.get("action") or self._address)
            self.forms.append(self._form)
        elif tag == "option":
            self._field.choices.append(given.get("value", ""))
        elif tag in ("input", "select", "textarea", "button") and "name" in given and self._form:
            made = Field(given.get("type", tag), given.get("value", ""))
            self._field = self._form.fields.setdefault(given["name"], made)
            if tag != "select":
                self._field.choices.append(given.get("value", "y"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None


class Known:
    """What the crowd has seen of the arena, for anybody to ask for again."""

    def __init__(self) -> None:
        self._paths: dict[str, deque[str]] = {}
        self._forms: deque[Form] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def note(self, *paths: str, forms: Sequence[Form] = ()) -> None:
        """Remembers addresses and forms."""
        with self._lock:
            self._forms.extend(forms)
            for path in paths:
                kept = self._paths.setdefault(shape(path), deque(maxlen=KEPT))
                if path not in kept:
                    kept.append(path)

    def path(self, rng: Random) -> str:
        """An address: one of each shape as often as one of another."""
        with self._lock:
            return rng.choice(rng.choice(list(self._paths.values())))

    def form(self, rng: Random) -> Form | None:
        """A form that somebody saw."""
        with self._lock:
            return rng.choice(self._forms) if self._forms else None

    def one(self, kind: str, rng: Random) -> str:
        """The name or number of a ladder, a bot, a tournament and so on; now and then nonsense."""
        with self._lock:
            parts = [path.partition("?")[0].split("/") for path in self._paths.get(kind, ())]
        names = [part[2] for part in parts if len(part) > 2] or [str(rng.randint(1, 30))]
        return rng.choice(names if rng.random() < 0.97 else NONSENSE)


class Wishes:
    """What one person wants: a matter of chance, and of what the crowd knows."""

    def __init__(self, known: Known, rng: Random, name: str) -> None:
        self._known, self._rng, self._name = known, rng, name

    def fitting(self, name: str) -> Any:
        """What fits a field or a property of this name; None if nothing is known to."""
        rng = self._rng
        if name in SEEN:
            return self._known.one(SEEN[name], rng)
        if name == "bots":
            return rng.sample(FIRST, rng.choice([1, 1, 2, 2, 3, 4, 6]))
        if name == "settings":
            return {key: rng.choice(LADDER[key]) for key in rng.sample(list(LADDER), 2)}
        return rng.choice(FITTING[name]) if name in FITTING else None

    def program(self) -> tuple[str, bytes]:
        """A bot's file: of one of a few bots, and one of a few programs; some are broken."""
        rng, number = self._rng, self._rng.randrange(16)
        text = BOT.format(number=number, rest_seconds=0)
        broken = {
            0: "die;",
            1: text.replace("move $legal[$ply % @legal]", "move nowhere"),
            2: text.replace('if ($verb eq "go") {', 'if ($verb eq "go") { exit if rand() < .03;'),
        }
        name = rng.choice([rng.choice(FIRST), f"bot-of-{self._name}"])
        return f"{name}.pl", broken.get(number, text).encode()

    def form(self, form: Form, secret: str) -> tuple[list[tuple[str, str]], bool]:
        """What somebody with this secret fills in, and whether a bot's file goes with it."""
        filled = []
        for name, one in form.fields.items():
            if name == "csrf_token":
                filled.append((name, secret))
            elif one.kind == "hidden":
                filled.append((name, one.value))
            elif one.kind == "checkbox":
                filled += [(name, tick) for tick in one.choices if self._rng.random() < 0.5]
            elif one.kind in CHOSEN:
                choices = STATES if name == "state" else one.choices or NONSENSE
                filled.append((name, self._rng.choice(choices)))
            elif one.kind != "file":
                filled.append((name, self._text(name, one.value)))
        return filled, "file" in form.fields

    def _text(self, name: str, value: str) -> str:
        """What stands in a field already, what fits its name, or nonsense."""
        fitting, chance = self.fitting(name), self._rng.random()
        if chance < 0.04:
            return self._rng.choice(NONSENSE)
        return value if fitting is None or (value and chance < 0.5) else str(fitting)
