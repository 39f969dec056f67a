"""How mail goes out: by the operator's server (SMTP), one letter after the other."""

from __future__ import annotations

import smtplib
import ssl
import time
from collections.abc import Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from arena.ground.config import Settings
from arena.models import Mail

SECONDS = 20.0
"""How long each step with the server may take."""
BEGUN_WITHIN = 30.0
"""The seconds after which no further letter is begun: even if each step with the server takes as
long as it may, it is over before another sender may take it (`arena.sender.backlog.LETTER_HELD`).
"""
PORTS = {"smtps": 465, "smtp": 587, "smtp+plain": 25}


class MailFate(NamedTuple):
    """What became of a letter."""

    problem: str = ""
    """Empty if the server has it."""
    for_good: bool = False
    """Whether it is not to be tried again."""


class MailServer:
    """The server that ARENA_MAIL names."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.mail)
        self._scheme = parts.scheme
        self._host = parts.hostname or ""
        self._port = parts.port or PORTS[parts.scheme]
        self._login = parts.username and (unquote(parts.username), unquote(parts.password or ""))
        self._from, self._site = settings.mail_from, settings.pages

    def send(self, letters: Sequence[Mail]) -> list[MailFate]:
        """Sends letters one after the other, and says of each what became of it.

        A letter at which the connection breaks is to blame for that alone: the next one has
        another. Those at the end that there was no time for have no fate.
        """
        fates: list[MailFate] = []
        until = time.monotonic() + BEGUN_WITHIN
        server: smtplib.SMTP | None = None
        for letter in letters:
            if time.monotonic() > until:
                break
            if server is None or server.sock is None:
                try:
                    server = self._connected()
                except (OSError, smtplib.SMTPException) as error:
                    # The server is away, or refuses us: it will be so for all that are left.
                    return fates + [MailFate(_words(error))] * (len(letters) - len(fates))
            try:
                fates.append(self._send(server, letter))
            except (OSError, smtplib.SMTPException, ValueError) as error:
                fates.append(MailFate(_words(error)))
                server.close()
        if server is not None and server.sock is not None:
            with suppress(OSError, smtplib.SMTPException):
                server.quit()
        return fates

    def _connected(self) -> smtplib.SMTP:
        tls = ssl.create_default_context()
        if self._scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self._host, self._port, timeout=SECONDS, context=tls
            )
        else:
            server = smtplib.SMTP(self._host, self._port, timeout=SECONDS)
        try:
            if self._scheme == "smtp":
                server.starttls(context=tls)
            if self._login:
                server.login(*self._login)
        except BaseException:
            server.close()
            raise
        return server

    def _send(self, server: smtplib.SMTP, letter: Mail) -> MailFate:
        """Sends one letter.

        Raises:
            OSError, SMTPException, ValueError: the connection broke, or this is no letter that
                the server can be given.
        """
        try:
            server.send_message(self.written(letter), self._from, [letter.address])
        except smtplib.SMTPRecipientsRefused as error:
            code, words = error.recipients[letter.address]
            return MailFate(f"{code} {words.decode(errors='replace')}", 500 <= code < 600)
        except smtplib.SMTPSenderRefused as error:
            return MailFate(_words(error))  # it is ours to mend, and so not for good
        except smtplib.SMTPResponseException as error:
            return MailFate(_words(error), 500 <= error.smtp_code < 600)
        return MailFate()

    def written(self, letter: Mail) -> EmailMessage:
        """A letter as it travels; no header has more than its line, whatever a subject says."""
        message = EmailMessage(policy=SMTP)
        message["From"] = f"Arena <{self._from}>"
        message["To"] = letter.address
        message["Subject"] = letter.subject
        message["Date"] = format_datetime(letter.created)
        # The same each time that it is tried, so that who gets it twice sees it once.
        moment = int(letter.created.timestamp())
        message["Message-ID"] = f"<{letter.id}.{moment}@{self._from.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        if letter.unsubscribe:
            message["List-Unsubscribe"] = f"<{self._site}{letter.unsubscribe}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(letter.text)
        return message


def _words(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return f"{error.smtp_code} {text}"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
