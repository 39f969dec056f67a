"""An arena elsewhere, as its API tells of it, and the token that it is asked with.

Addresses and tokens come from ``--server`` and ``arena login``, or from ARENA_SERVER and
ARENA_TOKEN where nobody can type. A token goes to the server that it is of and nowhere else:
not to another address in an argument, and not where a server redirects to.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

import click
from click.core import ParameterSource
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import encode_multipart

from arena.cli import InputError, writing
from arena.cli.completing import named
from arena.cli.options import on_data
from engine.protocol import visible
from engine.translation import N_, gettext, spoken, translated

F = TypeVar("F", bound=Callable[..., Any])

API = "/api/v1"
LINES = "application/x-ndjson"
WAIT_SECONDS = 60.0
PART = 1 << 18
"""Bytes of a download that are taken at once."""
NO_SUCH_ADDRESS = N_("There is nothing at this address.")
"""What an arena says of an operation that it does not know."""


class ServerFault(click.ClickException):
    """A server that can't be reached, or failed: nothing that who asked did wrong."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Login:
    """A server and a token of it."""

    server: str
    token: str


def login_file() -> Path:
    """The file in this user's folder of settings that holds server and token."""
    return Path(click.get_app_dir("arena")) / "login.json"


def read_token(text: str, what: str = "") -> str:
    """A token, without the line's end or the spaces around it.

    Args:
        what: the words for it in a refusal, which must not show a secret; by default it is "this".

    Raises:
        InputError: it is none.
    """
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise InputError(
            gettext(
                "%(what)s is no token: make one on your account's page",
                what=what or gettext("this"),
            )
        )
    return token


def stored_login() -> Login | None:
    """The login of this user; None if there is none.

    Raises:
        InputError: it can't be read, or has no token.
    """
    file = login_file()
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        what = gettext("that of %(file)s", file=file)
        return Login(str(data["server"]), read_token(str(data["token"]), what))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            gettext("can't read %(file)s: log in again with arena login URL", file=file)
        ) from None


def store_login(login: Login) -> Path:
    """Keeps a login where only this user reads it, and says where."""
    file = login_file()
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump({"server": login.server, "token": login.token}, out)
    return file


def server_address(text: str) -> str:
    """An arena's address, as it is kept.

    Raises:
        InputError: it is none.
    """
    return whole_address(text if "//" in text else f"https://{text}")


def whole_address(text: str) -> str:
    """An arena's address that says whether it is of http or https, as it is kept."""
    try:
        parts = urllib.parse.urlsplit(text)
        # As whoever opens it reads them: an overlong part of a name is none, nor is port 99999.
        host, _ = (parts.hostname or "").encode("idna"), parts.port
        right = parts.scheme in ("http", "https") and host and not parts.query
    except ValueError:
        right = False
    if not right:
        raise InputError(
            gettext("%(text)r is no address of an arena, such as https://arena.example", text=text)
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


class Name(click.types.StringParamType):
    """What a server calls something: a part of an address, so neither empty nor of several.

    Args:
        kind: of which kind it is, as the API lists it, such as ``ladders``.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value or "/" in value:
            self.fail(gettext("%(value)r is no name", value=value), param, ctx)
        return super().convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        return named(self._kind)(ctx, param, incomplete)


def on_server(command: F) -> F:
    """Adds the option that names a server."""
    words = "The address of an arena elsewhere; by default that of arena login."
    return click.option("--server", metavar="URL", envvar="ARENA_SERVER", help=words)(command)


def on_arena(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name an arena, for a command that takes it as ``where``."""

    @wraps(command)
    def call(server: str | None, data: Path | None, **given: Any) -> Any:
        return command(where=Where(server, data), **given)

    words = "This machine's arena in that folder; without it and a server or login, that in var."
    return on_server(on_data(call, words))


@dataclass(frozen=True, slots=True)
class Where:
    """Which arena a command is about: one on a server, or that of a data folder."""

    named: str | None = None
    """The address that ``--server`` gives."""
    data: Path | None = None
    """The folder that ``--data`` names."""

    def server(self) -> RemoteArena | None:
        """The server that it is on; None if it is in a data folder of this machine.

        A data folder that is named comes before all, then ``--server``, then a login.

        Raises:
            InputError: a data folder and a server are named, or a token is none.
        """
        if self.data is not None:
            if self.named is not None and not _is_of_environment("server"):
                raise InputError(gettext("give --server or --data, not both"))
            return None
        login, given = stored_login(), os.environ.get("ARENA_TOKEN")
        token = read_token(given, "ARENA_TOKEN") if given else None
        if self.named is None:
            return RemoteArena(login.server, token or login.token) if login else None
        address = server_address(self.named)
        if token is None and login is not None and login.server == address:
            token = login.token
        return RemoteArena(address, token)


def _is_of_environment(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is ParameterSource.ENVIRONMENT


def need_server(server: str | None) -> RemoteArena:
    """The server that a command is about.

    Raises:
        InputError: none is named.
    """
    found = Where(server).server()
    if found is None:
        raise InputError(gettext("which arena? Give --server URL, or log in with arena login URL"))
    return found


class _StayThere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token is not for wherever that leads."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        raise InputError(
            gettext(
                "the server sends its visitors to %(address)s: log in there instead",
                address=newurl[:200],
            )
        )


_OPENER = urllib.request.build_opener(_StayThere)


class RemoteArena:
    """The API of an arena elsewhere."""

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address
        self._token = token

    @property
    def credentials(self) -> dict[str, str]:
        """The headers by which it knows who asks."""
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def get(self, path: str, **query: Any) -> Any:
        """What an address of the API answers, as JSON's types.

        Raises:
            InputError: the server refuses it.
            ServerFault: the server can't be reached, or fails.
        """
        return told_json(self._ask("GET", self._there(path, query)))

    def text(self, path: str) -> str:
        """What an address of the API answers, as text; errors as for `get`."""
        return self._ask("GET", self._there(path, {})).decode("utf-8", "replace")

    def all(self, path: str, **query: Any) -> Iterator[Any]:
        """What a list of the API has, page by page; errors as for `get`."""
        found = self.get(path, **query)
        yield from found["items"]
        while found["next"]:
            found = told_json(self._ask("GET", urllib.parse.urljoin(self.address, found["next"])))
            yield from found["items"]

    def lines(self, path: str, **query: Any) -> tuple[Iterator[bytes], int | None]:
        """The lines of an address that answers many, as they come.

        With how many they are, if the server knows. Errors as for `get`.
        """
        headers = {"Accept-Encoding": "gzip"}
        answer = self._open("GET", self._there(path, query), headers=headers)
        total = answer.headers.get("X-Total-Count", "")
        if not total.isdecimal() and answer.headers.get_content_type() != LINES:
            answer.close()
            raise ServerFault(gettext("the server sends no list: is that the address of an arena?"))
        return self._lines(answer), int(total) if total.isdecimal() else None

    def _lines(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        packed = answer.headers.get("Content-Encoding") == "gzip"
        with answer:
            try:
                yield from gzip.GzipFile(fileobj=answer) if packed else answer
            except (EOFError, OSError, http.client.HTTPException) as error:
                raise self._broken_off(error) from None

    def _broken_off(self, error: Exception) -> ServerFault:
        return ServerFault(
            gettext(
                "the download from %(server)s broke off: %(error)s",
                server=self.address,
                error=error,
            )
        )

    def parts(self, path: str) -> Iterator[bytes]:
        """What an address of the API answers, as it comes; errors as for `get`."""
        with self._open("GET", self._there(path, {})) as answer:
            try:
                while part := answer.read(PART):
                    yield part
            except (OSError, http.client.HTTPException) as error:
                raise self._broken_off(error) from None

    def stream(self, path: str, after: str, seconds: float) -> http.client.HTTPResponse:
        """A stream of the pages' (Server-Sent Events), after an event; errors as for `get`.

        Args:
            path: the page's.
            after: the event's id; empty for the beginning.
            seconds: after which a silent one is given up.
        """
        headers = {"Last-Event-ID": after} if after else {}
        return self._open("GET", f"{self.address}{path}", headers=headers, seconds=seconds)

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Has something done, and gives what the server answers; errors as for `get`.

        Args:
            path: with what is quoted in it.
            body: sent as JSON; none if it is empty.
        """
        headers = {"Content-Type": "application/json"} if body else {}
        content = json.dumps(body).encode() if body else b""
        return told_json(self._ask(method, f"{self.address}{API}{path}", content, headers))

    def send_bytes(self, method: str, path: str, body: bytes, **query: Any) -> Any:
        """Sends a part of a file, and gives what the server answers; errors as for `get`."""
        headers = {"Content-Type": "application/octet-stream"}
        return told_json(self._ask(method, self._there(path, query), body, headers))

    def upload(self, path: str, fields: Mapping[str, str], name: str, content: IO[bytes]) -> Any:
        """Sends a form with a file; errors as for `get`."""
        kind, body = form_with_file(fields.items(), name, content)
        return told_json(self._ask("POST", self._there(path, {}), body, {"Content-Type": kind}))

    def _there(self, path: str, query: Mapping[str, Any]) -> str:
        given = {key: value for key, value in query.items() if value is not None}
        address = f"{self.address}{API}{urllib.parse.quote(path)}"
        return f"{address}?{urllib.parse.urlencode(given)}" if given else address

    def _ask(self, *request: Any) -> bytes:
        """All that is answered to a request, with the arguments of `_open`."""
        with self._open(*request) as answer:
            try:
                return answer.read()
            except (OSError, http.client.HTTPException) as error:
                raise ServerFault(
                    gettext(
                        "the answer of %(server)s broke off: %(error)s",
                        server=self.address,
                        error=error,
                    )
                ) from None

    def _open(
        self,
        method: str,
        address: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = WAIT_SECONDS,
    ) -> http.client.HTTPResponse:
        request = urllib.request.Request(address, body, dict(headers or {}), method=method)  # noqa: S310
        request.add_header("Accept-Language", spoken().language)
        for name, value in self.credentials.items():
            request.add_unredirected_header(name, value)
        try:
            answer: http.client.HTTPResponse = _OPENER.open(request, timeout=seconds)
            for asked, name in urllib.parse.parse_qsl(answer.headers.get("Arena-Renamed", "")):
                its = {"asked": visible(asked), "name": visible(name)}
                click.echo(gettext("%(asked)s is called %(name)s now", **its), err=True)
            return answer
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(self.address, error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            words = gettext(
                "can't reach %(server)s: %(reason)s", server=self.address, reason=reason
            )
            raise ServerFault(words) from None


def form_with_file(
    fields: Iterable[tuple[str, str]], name: str, content: IO[bytes]
) -> tuple[str, bytes]:
    """A form with a field ``file``, as it is sent: its content type and its body.

    Args:
        fields: the other ones; a name may come several times.
        name: the file's.
    """
    file = FileStorage(content, filename=name, content_type="application/octet-stream")
    boundary, body = encode_multipart(MultiDict([*fields, ("file", file)]))
    return f"multipart/form-data; boundary={boundary}", body


def told_json(text: bytes) -> Any:
    """What a server tells as JSON.

    Raises:
        ServerFault: it is none; or, when it is looked at, lacks something.
    """
    try:
        return json.loads(text, object_hook=_Told)
    except ValueError:
        words = gettext("the server answers no JSON: is that the address of an arena?")
        raise ServerFault(words) from None


class _Told(dict[str, Any]):
    """What a server tells of something. One of a release before may lack what is asked of it."""

    def __missing__(self, key: str) -> NoReturn:
        raise ServerFault(
            gettext(
                "the server does not tell %(key)r: it is older than this program, or no arena; "
                "use the program of its release, or have it upgraded",
                key=key,
            )
        )


def _refusal(server: str, error: urllib.error.HTTPError) -> click.ClickException:
    """What a refusal is for who asked: wrong usage, or a fault of the server's."""
    try:
        detail = str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError, OSError):
        detail = ""
    if error.code == 401:
        return InputError(
            gettext(
                "%(server)s wants a token that it knows: log in with arena login %(server)s",
                server=server,
            )
        )
    if error.code >= 500 or error.code == 429:
        reason = detail or gettext("status %(number)s", number=error.code)
        return ServerFault(
            gettext("%(server)s can't do it: %(reason)s", server=server, reason=reason)
        )
    if error.code == 405 or detail in (NO_SUCH_ADDRESS, translated(NO_SUCH_ADDRESS)):
        return InputError(
            gettext(
                "%(server)s has nothing to do this by: there is no such name or number, or the "
                "arena is of another release",
                server=server,
            )
        )
    return InputError(
        detail
        or gettext(
            "%(server)s answers by status %(number)s: is that the address of an arena?",
            server=server,
            number=error.code,
        )
    )
