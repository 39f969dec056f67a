"""Who is in a crowd: people with a browser, an account and a token, and an operator beside them.

What is refused is refused. An error is what is the arena's own fault: an answer of 500, none at
all, a traceback.
"""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import re
import subprocess
import threading
import traceback
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import sqlalchemy as sa

from arena import audit
from arena.cli.client import form_with_file
from arena.ground.db import Database
from arena.models import SCOPES, ApiToken, Role
from arena.people import accounts
from tests.arena.running import RunningArena, arena
from tests.arena.web.signing_in import PASSWORD, person
from tests.drills.wishes import Form, Known, Page, Wishes

ANSWER_SECONDS = 60.0
FORM = "application/x-www-form-urlencoded"
BOSS = "boss"
"""An administrator who takes no part, and lends out a token: who may do all makes most trouble."""
STARTS = (
    "/", "/account", "/submit", "/play", "/tests", "/tests/new", "/tournaments", "/new-tournament",
    "/users", "/operator", "/audit", "/register", "/sign-in",
)  # fmt: skip
Operation = tuple[str, str, Mapping[str, Any]]
"""Its method, its path with names in braces, and the schema of what it takes."""
NO_PAGE = re.compile(r"\.\w+$|^/(static|docs|metrics|new-ladder)\b")


def role_of(name: str) -> Role:
    """What somebody may do, as long as nobody changes it."""
    number = 0 if name == BOSS else int(name.rpartition("-")[2]) % 4
    return {0: Role.ADMINISTRATOR, 1: Role.ORGANISER}.get(number, Role.PARTICIPANT)


@dataclass(slots=True)
class Crowd:
    """What its people share: where they are, what they know, and what came of what they did."""

    running: RunningArena
    database: Database
    names: Sequence[str]
    known: Known = field(default_factory=Known)
    over: threading.Event = field(default_factory=threading.Event)
    asked: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    _tokens: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.running.port}"

    def note(self, kind: str, *, done: bool, error: str = "") -> None:
        """Counts something that was asked for."""
        with self._lock:
            self.asked[kind] += 1
            self.done[kind] += done
            self.errors += [error] if error else []

    def let_in(self) -> None:
        """Gives everybody an account, or their password and their role again."""
        for name in (BOSS, *self.names):
            person(self.database, name, role_of(name), active=True, must_change=False)

    def token(self, name: str, *, new: bool = False) -> str:
        """Somebody's token, for all that they may do."""
        with self._lock:
            if new or name not in self._tokens:
                with self.database.begin() as session:
                    user, now = accounts.get(session, name), datetime.now(UTC)
                    session.execute(sa.delete(ApiToken).where(ApiToken.user_id == user.id))
                    scopes = SCOPES[user.role]
                    token = accounts.add_token(session, audit.ARENA, user, "crowd", scopes, now)
                self._tokens[name] = token
            return self._tokens[name]

    def command(self, *words: str) -> None:
        """A command on the arena's machine, to its end."""
        problem, code, data = "", 3, self.running.data
        try:
            done = arena(*words, "--data", str(data), cwd=None, **self.running.variables)
        except subprocess.TimeoutExpired as late:
            problem = str(late)
        else:
            code = done.returncode
            if "Traceback" in done.stderr or code not in (0, 1, 2):
                problem = f"arena {' '.join(words)}: {code} {done.stderr}"
        self.note(f"arena {' '.join(words[:2])}", done=code == 0, error=problem)


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: what a form leads to is a page like any other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """None for all."""


class Visitor:
    """A person; what they wish is a matter of the seed and of what they see."""

    def __init__(self, name: str, seed: int, crowd: Crowd) -> None:
        self.name = name
        self._crowd, self._known = crowd, crowd.known
        self._rng = Random(f"{seed} {name}")
        self._wishes = Wishes(crowd.known, self._rng, name)
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies, _Stay)

    def stay(self) -> None:
        """Does one thing after the other until it is over."""
        try:
            operations = self._learn()
            self._sign_in()
            while not self._crowd.over.is_set():
                kind = self._rng.choices(["look", "call", "send", "play"], [35, 50, 10, 5])[0]
                if kind == "look":
                    self._look()
                elif kind == "call":
                    self._call(*self._rng.choice(operations))
                elif kind == "play":
                    self._play()
                elif form := self._known.form(self._rng):
                    self._send(form, Page("/account", self._ask("/account")[1]))
        except Exception:
            self._crowd.errors.append(f"{self.name}: {traceback.format_exc()}")

    def _ask(
        self, path: str, body: bytes | None = None, content: str = FORM, *,
        method: str = "", kind: str = "", **headers: str,
    ) -> tuple[int, str]:  # fmt: skip
        """One request: the status of its answer, 0 if there was none, and the text.

        Args:
            content: the type of the body.
            kind: what it is counted as, if not by the first part of its path.
        """
        method = method or ("GET" if body is None else "POST")
        url, headers["Content-Type"] = urljoin(self._crowd.url, path), content
        request = urllib.request.Request(url, body, headers, method=method)
        there = ""
        try:
            with self._opener.open(request, timeout=ANSWER_SECONDS) as answer:
                status, text = answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as refused:
            status, text = refused.code, refused.read().decode(errors="replace")
            there = urlsplit(refused.headers.get("Location") or "").path
        except (OSError, http.client.HTTPException) as error:
            status, text = 0, repr(error)
        problem = f"{self.name}: {method} {path} {(body or b'')[:300]!r}: {status} {text[-300:]}"
        kind = kind or f"{method} /{path.partition('?')[0].split('/')[1]}"
        fine = 0 < status < 500
        self._crowd.note(kind, done=0 < status < 400, error="" if fine else problem)
        if there == "/sign-in":
            self._sign_in()
        elif there:
            self._known.note(there)
        return status, text

    # By the pages.

    def _sign_in(self) -> None:
        for form in Page("/sign-in", self._ask("/sign-in")[1]).forms:
            if "password" in form.fields:
                fields = {"csrf_token": form.secret, "name": self.name, "password": PASSWORD}
                self._ask("/sign-in", urlencode(fields).encode())

    def _look(self) -> None:
        """Goes to a page, and sends some of its forms."""
        seen = self._rng.random() < 0.7
        path = self._known.path(self._rng) if seen else self._rng.choice(STARTS)
        status, text = self._ask(path)
        page = Page(path, text)
        forms = [form for form in page.forms if form.action != "/sign-out"]
        links = [link for link in page.links if not NO_PAGE.search(link.partition("?")[0])]
        self._known.note(*links, forms=forms)
        if status == 200:
            for form in self._rng.sample(forms, min(2, len(forms))):
                self._send(form, page)

    def _send(self, form: Form, page: Page) -> None:
        """Sends a form, with the secret of a page of one's own."""
        if page.forms:
            fields, file = self._wishes.form(form, page.forms[0].secret)
            content, body = FORM, urlencode(fields).encode()
            if file:
                content, body = self._with_bot(fields)
            self._ask(form.action, body, content)

    # By the API.

    def _learn(self) -> list[Operation]:
        """The API's operations by its own description, each as often as it is to be called.

        What changes something is more to the point than what tells, and what makes more is best.
        """
        found = json.loads(self._ask("/api/v1/openapi.json")[1])
        operations: list[Operation] = []
        for path, methods in found["paths"].items():
            for method, its in methods.items():
                name = ""
                for taken in its.get("requestBody", {}).get("content", {}).values():
                    name = taken["schema"]["$ref"].rpartition("/")[2]
                schema = found["components"]["schemas"].get(name, {})
                times = 1 if method == "get" else 5 if "{" in path else 15
                operations += times * [(method.upper(), path.removeprefix("/api/v1"), schema)]
        return operations

    def _call(self, method: str, path: str, schema: Mapping[str, Any]) -> None:
        """Calls the API as it says that it can be called."""
        collection, wishes = path.split("/")[1], self._wishes

        def part(found: re.Match[str]) -> str:
            wish = None if found[1] == "name" else wishes.fitting(found[1])
            return quote(str(self._known.one(collection, self._rng) if wish is None else wish), "")

        wish = {
            key: self._rng.choice(its.get("enum", [wishes.fitting(key)]))
            for key, its in schema.get("properties", {}).items()
            if key in schema.get("required", ()) or self._rng.random() < 0.3
        }
        if "format" in wish:
            wish.pop("settings", None)  # those of a format are no ladder's
        sent = {key: value for key, value in wish.items() if value is not None}
        here, whose = re.sub(r"{(\w+)}", part, path), BOSS if self._rng.random() < 0.6 else ""
        made = self._api(method, here, sent, whose, kind=f"{method} {path}", file="file" in wish)
        if made and "name" in wish and path == f"/{collection}":
            self._known.note(f"{path}/{wish['name']}")

    def _api(
        self, method: str, path: str, wish: Mapping[str, Any] = {}, whose: str = "", *,
        kind: str = "", file: bool = False,
    ) -> str:  # fmt: skip
        """One request with a token, by default one's own; what is answered, nothing if refused."""
        content, body = "application/json", json.dumps(wish).encode()
        if file:
            fields = [(key, str(value)) for key, value in wish.items()]
            content, body = self._with_bot(fields)
        status, text = self._ask(
            f"/api/v1{path}", None if method == "GET" else body, content, method=method,
            kind=kind or f"{method} own games",
            Authorization=f"Bearer {self._crowd.token(whose or self.name)}",
        )  # fmt: skip
        if status == 401:
            self._crowd.token(whose or self.name, new=True)
        return text if 0 < status < 400 else ""

    def _with_bot(self, fields: Sequence[tuple[str, str]]) -> tuple[str, bytes]:
        """A form with a bot's file: its content type, and what is sent."""
        name, program = self._wishes.program()
        return form_with_file(fields, name, BytesIO(program))

    def _play(self) -> None:
        """Moves in a game against bots, if there is one, or gives it up."""
        games = json.loads(self._api("GET", "/sittings") or "{}").get("sittings", ())
        path = f"/sittings/{self._rng.choice(games)['number']}" if games else ""
        for _ in range(4 if games else 0):
            seen = json.loads(self._api("GET", path) or "{}")
            if not seen.get("legal") or seen.get("waits_for_bot"):
                break
            if self._rng.random() < 0.05:
                self._api("POST", f"{path}/resign", {"ply": seen["plies"]})
            else:
                wish = {"move": self._rng.choice(seen["legal"]), "ply": seen["plies"]}
                self._api("POST", f"{path}/move", wish)


def operate(crowd: Crowd, rng: Random, folder: Path) -> None:
    """Gives one command as the arena's operator, who lets people in again, too."""
    one, wishes, backup = crowd.known.one, Wishes(crowd.known, rng, BOSS), folder / "crowd.tar"
    ladder, bot = one("ladders", rng), one("bots", rng)
    crowd.command(*rng.choice([
        ("ratings", "rebuild"),
        ("ratings", "rebuild", "--check"),
        ("backup", str(backup)),
        ("match", "requeue", "--all"),
        ("match", "void", str(rng.randint(1, 100)), "--note", "by the operator"),
        ("ladder", "change", ladder, "state=open"),
        ("ladder", "change", ladder, f"draws=0.{rng.randint(1, 5)}"),
        ("tournament", "withdraw", one("tournaments", rng), wishes.fitting("bot")),
        ("bot", "retire", bot, ladder),
        ("bot", "enter", bot, ladder),
        ("match", "request", ladder, wishes.fitting("candidate"), wishes.fitting("baseline")),
        ("notice", "a line"),
        ("user", "list"),
        ("bots",),
    ]))  # fmt: skip
    backup.unlink(missing_ok=True)
    crowd.let_in()
