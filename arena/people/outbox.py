"""Mail that waits to be sent.

Whoever has something to write adds a letter in the transaction of what it is about; the sender
(`arena.sender`) takes it from there. Nothing else of the arena ever speaks to a mail server.
"""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy.orm import Session

from arena.ground.refusals import Refusal
from arena.ground.texts import cut
from arena.models import Mail
from engine.translation import gettext

LONGEST_SUBJECT = 200
# What of RFC 5321's addresses is in use: no quoted names, no address in brackets, plain ASCII.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@"
    r"(?=.{1,189}\Z)([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?",
    re.ASCII,
)


def demand_address(address: str) -> str:
    """A mail address without the space around it.

    Raises:
        Refusal: it is none.
    """
    address = address.strip()
    if not _ADDRESS.fullmatch(address):
        raise Refusal(
            gettext("%(address)r is no mail address: name@example.org", address=address[:80])
        )
    return address


def add_mail(
    session: Session,
    address: str,
    subject: str,
    text: str,
    now: datetime,
    *,
    unsubscribe: str = "",
) -> None:
    """Has a letter sent, in the caller's transaction; where no mail is set up it is dropped later.

    Args:
        address: one that `demand_address` lets pass.
        subject: one line, in the reader's language; what is no printable character is left out.
        text: plain text.
        unsubscribe: the path of the page where no more of its kind can be asked for.

    Raises:
        Refusal: the address is none.
    """
    line = "".join(sign if sign.isprintable() else " " for sign in subject)
    letter = Mail(
        address=demand_address(address),
        subject=cut(line, LONGEST_SUBJECT),
        text=text,
        unsubscribe=unsubscribe,
        created=now,
        due=now,
    )
    session.add(letter)
