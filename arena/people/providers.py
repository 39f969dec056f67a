"""The providers of sign-ins that an operator names: a file of TOML, a table for each.

A table is called what stands in addresses, and has these keys:

- ``kind``: ``openid`` (OpenID Connect, found by its issuer), ``github`` or ``gitlab``; by default
  what the table is called, if that is one of them, or else ``openid``,
- ``title``: what stands on the button; by default GitHub or GitLab,
- ``issuer``: its address; by default https://github.com or https://gitlab.com,
- ``client_id`` and ``client_secret``, or ``client_secret_file``: what it knows this arena by,
- ``accounts``: who of those whom nobody knows here may make an account by it: ``open``,
  ``invitation`` or ``closed``; by default as ARENA_REGISTRATION.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from arena.ground.config import SettingError, Settings
from engine.translation import gettext

KINDS = {
    "openid": ("", ""),
    "github": ("GitHub", "https://github.com"),
    "gitlab": ("GitLab", "https://gitlab.com"),
}
"""The kinds of providers with title and issuer, where those are known."""
KEYS = frozenset(
    {"kind", "title", "issuer", "client_id", "client_secret", "client_secret_file", "accounts"}
)
ACCOUNTS = ("open", "invitation", "closed")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Provider:
    """Who tells the arena who somebody is."""

    name: str
    title: str
    kind: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    accounts: str
    """Who may make an account by it: open, invitation or closed; empty for as ARENA_REGISTRATION
    says."""


def load(settings: Settings) -> dict[str, Provider]:
    """The providers of an arena by their names, in the order of their file.

    Raises:
        SettingError: the file, or something in it, can't be used.
    """
    if not settings.providers:
        return {}
    file = Path(settings.providers)
    try:
        tables = tomllib.loads(file.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _unusable(file, getattr(error, "strerror", None) or str(error)) from None
    found = {name: _provider(file, name, its) for name, its in tables.items()}
    issuers = [one.issuer for one in found.values()]
    if len(set(issuers)) < len(issuers):
        raise _unusable(file, gettext("two of its tables have the same issuer"))
    return found


def _provider(file: Path, name: str, its: Any) -> Provider:
    def refuse(words: str) -> SettingError:
        return _unusable(file, gettext("in [%(table)s] %(words)s", table=name[:60], words=words))

    if not isinstance(its, dict):
        raise _unusable(file, gettext("%(key)r stands outside of a table", key=name[:60]))
    if not NAME.fullmatch(name):
        raise refuse(gettext("the name is to be of small letters, digits and '-'"))
    for key, value in its.items():
        if key not in KEYS:
            keys = ", ".join(sorted(KEYS))
            raise refuse(gettext("%(key)r is none of %(keys)s", key=key[:60], keys=keys))
        if not isinstance(value, str) or not value:
            raise refuse(gettext("%(key)s is to be a text", key=key))
    kind = its.get("kind", name if name in KINDS else "openid")
    if kind not in KINDS:
        raise refuse(gettext("kind is one of %(choices)s", choices=", ".join(KINDS)))
    accounts = its.get("accounts", "")
    if accounts and accounts not in ACCOUNTS:
        raise refuse(gettext("accounts is one of %(choices)s", choices=", ".join(ACCOUNTS)))
    title, issuer = KINDS[kind]
    values = {"title": title, "issuer": issuer} | its
    for key in ("title", "issuer", "client_id"):
        if not values.get(key):
            raise refuse(gettext("%(key)s is missing", key=key))
    issuer = values["issuer"].rstrip("/") if kind == "github" else values["issuer"]
    address = urlsplit(issuer)
    if not (address.scheme == "https" or (address.scheme == "http" and address.hostname in LOCAL)):
        raise refuse(gettext("issuer is to begin with https://"))
    if ("client_secret" in its) == ("client_secret_file" in its):
        raise refuse(gettext("give client_secret or client_secret_file"))
    secret = its.get("client_secret", "")
    if not secret:
        try:
            secret = Path(its["client_secret_file"]).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise refuse(
                gettext("client_secret_file can't be read: %(error)s", error=error)
            ) from None
    return Provider(name, values["title"][:60], kind, issuer, values["client_id"], secret, accounts)


def _unusable(file: Path, words: str) -> SettingError:
    return SettingError(
        gettext("ARENA_PROVIDERS=%(file)s can't be used: %(words)s", file=file, words=words)
    )
