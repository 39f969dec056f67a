"""What the sender sends, when, and what comes of it: with servers that misbehave, for hours too."""

from __future__ import annotations

import base64
import hmac
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.deeds import By, perform
from arena.ground import outside
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.outside import read_address
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    Delivery,
    DeliveryState,
    Hook,
    HookFormat,
    Mail,
    MailChoice,
    Notification,
    Scope,
    User,
    Wishes,
)
from arena.people import accounts
from arena.people.hooks import AddHook, RemoveHook, SendAgain, TryHook
from arena.people.notifications import notify
from arena.people.outbox import add_mail
from arena.sender import backlog, posting
from arena.sender.process import Sending
from tests.arena.meanwhile import at_once
from tests.arena.sender.receivers import Mailbox, Receiver, mail_server

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self, _: Session) -> datetime:
        return self.now

    def go_on(self, **by: float) -> None:
        self.now += timedelta(**by)


def settings_for(server: Receiver | None = None, port: int | None = None) -> Settings:
    """Settings with which a server of hooks may be reached, and mail goes out by a port."""
    found = Settings(site="https://arena.example/")
    if server is not None:
        found = replace(found, inside="localhost")
    if port is not None:
        server_url = f"smtp+plain://127.0.0.1:{port}"
        found = replace(found, mail=server_url, mail_from="arena@arena.example")
    return found


def somebody(session: Session, name: str = "ada", *, mail: MailChoice | None = None) -> int:
    """The id of a new user, who gets mail if they are said to want it."""
    user = accounts.add(session, ARENA, name, now=NOW)
    if mail is not None:
        user.mail = f"{name}@example.org"
        session.add(Wishes(user_id=user.id, mail=mail))
    return user.id


def add_hook(session: Session, person: int, url: str, form: HookFormat = HookFormat.JSON) -> int:
    """The id of a new hook."""
    hook = Hook(user_id=person, url=url, format=form, created=NOW)
    session.add(hook)
    session.flush()
    return hook.id


def tell(session: Session, *people: int, now: datetime = NOW) -> None:
    """Tells them something."""
    places = {"version": "my_bot v2", "ladder": "Clobber"}
    notify(session, people, "%(version)s passed its check for %(ladder)s", places, "/bots/x", now)


def turn(sender: Sending) -> None:
    """One turn, and whatever it began."""
    sender.turn()
    sender.join()


def log_of(database: Database) -> list[tuple[DeliveryState, int | None, int]]:
    """The state, the last status and the tries of each delivery."""
    with database.read() as session:
        columns = (Delivery.state, Delivery.status, Delivery.tries)
        return list(session.execute(sa.select(*columns).order_by(Delivery.id)))


# Hooks.


def test_a_hook_is_sent_what_its_owner_is_told(database: Database, hooks_server: Receiver) -> None:
    """As docs/notifications.md has it, signed as Standard Webhooks are; and nobody else's."""
    with database.begin() as session:
        ada, bob = somebody(session), somebody(session, "bob")
        hook = add_hook(session, ada, hooks_server.url)
        tell(session, ada, bob)
    sender = Sending(settings_for(hooks_server), database, Clock())
    turn(sender)
    turn(sender)
    ((path, headers, body),) = hooks_server.got
    assert path == "/hook?of=ada"
    assert json.loads(body) == {
        "type": "other",
        "version": 1,
        "timestamp": "2026-03-01T12:00:00+00:00",
        "data": {
            "id": 1,
            "text": "my_bot v2 passed its check for Clobber",
            "message": "%(version)s passed its check for %(ladder)s",
            "places": {"version": "my_bot v2", "ladder": "Clobber"},
            "url": "https://arena.example/bots/x",
        },
    }
    with database.read() as session:
        secret = session.get_one(Hook, hook).secret
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert len(key) == 32
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    right = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    assert headers["webhook-signature"] == f"v1,{right}"
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert log_of(database) == [(DeliveryState.ARRIVED, 204, 1)]


def test_the_signature_is_that_of_the_convention() -> None:
    """The example is that of its reference implementations' tests."""
    from arena.sender.messages import signature

    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_discord_gets_its_own_format(database: Database, hooks_server: Receiver) -> None:
    """It is in the person's language, without marks of Discord's, and mentions nobody."""
    with database.begin() as session:
        ada = somebody(session)
        session.get_one(User, ada).language = "it"
        add_hook(session, ada, hooks_server.url, HookFormat.DISCORD)
        places = {"version": "my_bot @everyone [x](y)", "ladder": "*Clobber*"}
        notify(session, [ada], "%(version)s passed its check for %(ladder)s", places, "/a", NOW)
    turn(Sending(settings_for(hooks_server), database, Clock()))
    sent = json.loads(hooks_server.got[0][2])
    assert sent["allowed_mentions"] == {"parse": []}
    text, link = sent["content"].split("\n")
    assert link == "<https://arena.example/a>"
    assert r"my\_bot @everyone \[x\]\(y\)" in text
    assert r"\*Clobber\*" in text
    assert "passed its check" not in text


@pytest.mark.long
@pytest.mark.parametrize("behaves", ["answers", "hangs", "resets", "redirects"])
def test_what_fails_is_tried_for_an_hour_and_arrives(
    sqlite_database: Database,
    hooks_server: Receiver,
    behaves: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that answers 500 for an hour, hangs, resets, or redirects inside, and is well then:
    it is tried less and less often, and everything arrives, once, in its order.
    """
    monkeypatch.setattr(posting.post, "__kwdefaults__", {"inside": (), "seconds": 0.05})
    hooks_server.status, hooks_server.behaves = 500, behaves
    if behaves == "redirects":
        hooks_server.behaves, hooks_server.status = "answers", 307
        hooks_server.headers = {"Location": f"https://127.0.0.1:{hooks_server.port}/inside"}
    clock = Clock()
    with sqlite_database.begin() as session:
        ada = somebody(session)
        add_hook(session, ada, hooks_server.url)
        for _ in range(3):
            tell(session, ada)
    sender = Sending(settings_for(hooks_server), sqlite_database, clock)
    for _ in range(120):
        turn(sender)
        clock.go_on(seconds=30)
    tries = len(hooks_server.got)
    assert 4 <= tries <= 8
    assert {path for path, _, _ in hooks_server.got} == {"/hook?of=ada"}
    assert {state for state, _, _ in log_of(sqlite_database)} == {DeliveryState.WAITS}
    hooks_server.status, hooks_server.behaves = 204, "answers"
    hooks_server.got.clear()
    for _ in range(160):
        turn(sender)
        clock.go_on(seconds=30)
    ids = [headers["webhook-id"] for _, headers, _ in hooks_server.got]
    assert len(ids) == len(set(ids)) == 3
    assert [state for state, _, _ in log_of(sqlite_database)] == [DeliveryState.ARRIVED] * 3


def test_one_that_never_answers_is_given_up_and_disabled(
    sqlite_database: Database, hooks_server: Receiver
) -> None:
    """A message after a day, the hook after three; its owner is told, and can have it tried."""
    hooks_server.status, clock = 500, Clock()
    with sqlite_database.begin() as session:
        ada = somebody(session)
        hook = add_hook(session, ada, hooks_server.url)
        tell(session, ada)
    sender = Sending(settings_for(hooks_server), sqlite_database, clock)
    for hour in range(26):
        clock.now = NOW + timedelta(hours=hour)
        turn(sender)
    ((state, status, tries),) = log_of(sqlite_database)
    assert (state, status) == (DeliveryState.GIVEN_UP, 500)
    assert 12 <= tries <= 26
    clock.now = NOW + timedelta(days=3, hours=1)
    with sqlite_database.begin() as session:
        tell(session, ada, now=clock.now)
    turn(sender)
    with sqlite_database.read() as session:
        assert session.get_one(Hook, hook).disabled == "nothing has arrived for 3 days"
        last = session.scalars(sa.select(Notification).order_by(Notification.id.desc())).first()
        assert last is not None
        assert (last.address, last.places) == (f"/hooks/{hook}", {"number": hook})
    before = len(hooks_server.got)
    with sqlite_database.begin() as session:
        tell(session, ada, now=clock.now)
    turn(sender)
    assert len(hooks_server.got) == before
    hooks_server.status = 200
    with sqlite_database.begin() as session:
        perform(session, TryHook(hook), as_person(session, ada, clock.now))
    turn(sender)
    assert json.loads(hooks_server.got[-1][2])["type"] == "test"
    with sqlite_database.read() as session:
        assert session.get_one(Hook, hook).disabled == ""


def test_a_hook_that_is_gone_is_sent_nothing_more(
    sqlite_database: Database, hooks_server: Receiver
) -> None:
    """410 says so for good."""
    hooks_server.status = 410
    with sqlite_database.begin() as session:
        ada = somebody(session)
        add_hook(session, ada, hooks_server.url)
        tell(session, ada)
        tell(session, ada)
    sender, clock = Sending(settings_for(hooks_server), sqlite_database, Clock()), Clock()
    for _ in range(3):
        turn(sender)
        clock.go_on(hours=2)
    assert len(hooks_server.got) == 1


def test_hooks_that_hang_are_in_nobody_elses_way(
    sqlite_database: Database, hooks_server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many somebody has: a person has one message sent at a time."""
    monkeypatch.setattr(backlog, "DAY", timedelta(days=1))
    hooks_server.behaves = "hangs"
    with sqlite_database.begin() as session:
        eve, ada = somebody(session, "eve"), somebody(session)
        for _ in range(5):
            add_hook(session, eve, hooks_server.url)
        add_hook(session, ada, hooks_server.url)
        for _ in range(4):
            tell(session, eve)
        tell(session, ada)
    sender = Sending(settings_for(hooks_server), sqlite_database, Clock())
    monkeypatch.setattr(posting.post, "__kwdefaults__", {"inside": (), "seconds": 0.3})
    sender.turn()
    sender.turn()
    began = time.monotonic()
    sender.join()
    assert time.monotonic() - began < 2
    assert len(hooks_server.got) == 2
    assert sum(tries for _, _, tries in log_of(sqlite_database)) == 2


def test_two_senders_send_nothing_doubled(database: Database, hooks_server: Receiver) -> None:
    """What one has taken is not the other's, until it may have died of it."""
    with database.begin() as session:
        for name in ("a", "b", "c"):
            person = somebody(session, name)
            add_hook(session, person, hooks_server.url)
            tell(session, person)
    clock = Clock()
    with database.begin() as session:
        taken = backlog.take_deliveries(session, (), 2, clock.now)
        assert len(taken) == 2
    sender = Sending(settings_for(hooks_server), database, clock)
    turn(sender)
    assert len(hooks_server.got) == 1
    clock.go_on(minutes=6)
    turn(sender)
    assert len(hooks_server.got) == 3


def test_a_hook_that_is_trusted_no_more_is_not_reached(
    sqlite_database: Database, hooks_server: Receiver
) -> None:
    """Nor any, where the operator wants none."""
    with sqlite_database.begin() as session:
        ada = somebody(session)
        add_hook(session, ada, hooks_server.url)
        tell(session, ada)
    turn(Sending(replace(settings_for(hooks_server), hooks="nobody"), sqlite_database, Clock()))
    assert log_of(sqlite_database) == [(DeliveryState.WAITS, None, 0)]
    turn(Sending(settings_for(), sqlite_database, Clock()))
    assert hooks_server.got == []
    with sqlite_database.read() as session:
        assert "not on the public internet" in session.scalars(sa.select(Delivery.answer)).one()


# What people do with hooks.


def as_person(session: Session, person: int, now: datetime = NOW) -> By:
    """Somebody who does something."""
    user = session.get_one(User, person)
    return By(Actor(user.id, user.name, ""), frozenset({Scope.SUBMIT}), now)


def test_a_hook_is_its_owners_alone(sqlite_database: Database) -> None:
    """Others are told that there is none, whatever they want with it."""
    with sqlite_database.begin() as session:
        ada, eve = somebody(session), somebody(session, "eve")
        ada_does, eve_does = as_person(session, ada), as_person(session, eve)
        hook = perform(session, AddHook("https://h.example.org/x"), ada_does).answer
        with pytest.raises(Refusal, match="begins with https"):
            perform(session, AddHook("http://h.example.org/x"), ada_does)
        perform(session, TryHook(hook.id), ada_does)
        with pytest.raises(Refusal, match="under way"):
            perform(session, TryHook(hook.id), ada_does)
        (sent,) = session.scalars(sa.select(Delivery.id)).all()
        with pytest.raises(Refusal, match="still to be sent"):
            perform(session, SendAgain(hook.id, sent), ada_does)
        for deed in (TryHook(hook.id), RemoveHook(hook.id), SendAgain(hook.id, sent)):
            with pytest.raises(NotThere, match=f"you have no hook {hook.id}"):
                perform(session, deed, eve_does)
        other = perform(session, AddHook("https://h.example.org/x"), eve_does).answer
        with pytest.raises(NotThere, match="there is no message"):
            perform(session, SendAgain(other.id, sent), eve_does)
        for _ in range(4):
            perform(session, AddHook("https://h.example.org/x"), ada_does)
        with pytest.raises(Refusal, match="5 hooks already"):
            perform(session, AddHook("https://h.example.org/x"), ada_does)
        perform(session, RemoveHook(hook.id), ada_does)
        assert session.scalars(sa.select(Delivery.id)).all() == []
        with pytest.raises(Refusal, match="sends nothing to hooks"):
            perform(
                session, AddHook("https://h.example.org"), replace(ada_does, may_have_hooks=False)
            )


def test_a_message_is_sent_again_as_the_same(
    sqlite_database: Database, hooks_server: Receiver
) -> None:
    """Its id is the one that the receiver may know."""
    with sqlite_database.begin() as session:
        ada = somebody(session)
        hook = add_hook(session, ada, hooks_server.url)
        tell(session, ada)
    sender = Sending(settings_for(hooks_server), sqlite_database, Clock())
    turn(sender)
    with sqlite_database.begin() as session:
        (sent,) = session.scalars(sa.select(Delivery.id)).all()
        perform(session, SendAgain(hook, sent), as_person(session, ada))
    turn(sender)
    assert len({headers["webhook-id"] for _, headers, _ in hooks_server.got}) == 1
    assert len(hooks_server.got) == 2


# Mail.


@pytest.fixture
def box() -> Mailbox:
    return Mailbox()


@pytest.fixture
def mail_port(box: Mailbox) -> Iterator[int]:
    with mail_server(box) as port:
        yield port


def test_what_people_are_told_comes_by_mail(
    database: Database, box: Mailbox, mail_port: int
) -> None:
    """It comes at once or once a day, together, in their language, if they have not read it."""
    with database.begin() as session:
        now_and_then = somebody(session, "ada", mail=MailChoice.DAILY)
        at_once = somebody(session, "bob", mail=MailChoice.AT_ONCE)
        session.get_one(User, at_once).language = "it"
        tell(session, now_and_then, at_once)
    clock = Clock()
    sender = Sending(settings_for(port=mail_port), database, clock)
    turn(sender)
    assert sorted(box.recipients) == [["ada@example.org"], ["bob@example.org"]]
    of_bob = next(one for one in box.letters if one["To"] == "bob@example.org")
    assert "Clobber" in of_bob["Subject"]
    assert "passed its check" not in of_bob["Subject"]
    assert "https://arena.example/bots/x" in of_bob.get_content()
    assert of_bob["From"] == "Arena <arena@arena.example>"
    assert of_bob["List-Unsubscribe"].strip().startswith("<https://arena.example/unsubscribe/")
    box.letters.clear()
    for minute in range(4):
        with database.begin() as session:
            tell(session, now_and_then, at_once, now=clock.now)
        clock.go_on(seconds=20)
        turn(sender)
        assert len(box.letters) == (minute >= 2)
    (letter,) = box.letters
    assert letter["To"] == "bob@example.org"
    assert letter.get_content().count("/bots/x") == 3
    with database.begin() as session:
        first = sa.select(Notification.id).where(Notification.user_id == now_and_then)
        read = session.scalars(first.order_by(Notification.id).limit(3)).all()
        session.execute(
            sa.update(Notification).where(Notification.id.in_(read)).values(read=clock.now)
        )
    clock.go_on(days=1)
    turn(sender)
    daily = next(one for one in box.letters if one["To"] == "ada@example.org")
    assert daily.get_content().count("/bots/x") == 2
    clock.go_on(days=2)
    turn(sender)
    assert len(box.letters) == 3
    with database.read() as session:
        assert session.scalars(sa.select(Mail.id)).all() == []


def test_a_letter_that_is_refused_for_good_is_not_tried_again(
    sqlite_database: Database, box: Mailbox, mail_port: int
) -> None:
    """One that is refused for now is; another beside them goes out."""
    box.answers = {"no@example.org": "550 no such user", "later@example.org": "451 later"}
    with sqlite_database.begin() as session:
        for address in ("no@example.org", "later@example.org", "yes@example.org"):
            add_mail(session, address, "hello", "text", NOW)
    clock = Clock()
    sender = Sending(settings_for(port=mail_port), sqlite_database, clock)
    turn(sender)
    assert box.recipients == [["yes@example.org"]]
    with sqlite_database.read() as session:
        rows = session.execute(sa.select(Mail.address, Mail.problem)).all()
        assert rows == [("later@example.org", "451 later")]
    box.answers.clear()
    clock.go_on(hours=1)
    turn(sender)
    assert box.recipients == [["yes@example.org"], ["later@example.org"]]


def test_a_letter_that_breaks_the_connection_is_in_no_others_way(
    sqlite_database: Database, box: Mailbox, mail_port: int
) -> None:
    """Nor is one that can't be written to its address, or one at which the server hangs up."""
    box.breaks_at, box.answers = "breaks@example.org", {"full@example.org": "421 too many"}
    with sqlite_database.begin() as session:
        for name in ("one", "breaks", "two", "full", "three", "a\nb", "four"):
            its = {"subject": "hello", "text": "text", "created": NOW, "due": NOW}
            session.add(Mail(address=f"{name}@example.org", **its))
            session.flush()
    sender = Sending(settings_for(port=mail_port), sqlite_database, Clock())
    turn(sender)
    assert box.recipients == [[f"{n}@example.org"] for n in ("one", "two", "three", "four")]
    with sqlite_database.read() as session:
        rows = session.execute(sa.select(Mail.address, Mail.problem).order_by(Mail.id)).all()
    said = {"breaks": "closed", "full": "421 too many", "a\nb": "line"}
    assert [address.partition("@")[0] for address, _ in rows] == list(said)
    for (_, problem), words in zip(rows, said.values(), strict=True):
        assert words in problem


def test_what_there_is_no_time_for_is_given_back(
    sqlite_database: Database, box: Mailbox, mail_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No letter is held for longer than its sender has it, and none is said to have been tried."""
    with sqlite_database.begin() as session:
        for name in ("one", "two", "three"):
            add_mail(session, f"{name}@example.org", "hello", "text", NOW)
    monkeypatch.setattr("arena.sender.post_office.BEGUN_WITHIN", 0.0)
    clock = Clock()
    sender = Sending(settings_for(port=mail_port), sqlite_database, clock)
    turn(sender)
    with sqlite_database.read() as session:
        rows = session.execute(sa.select(Mail.due, Mail.tries, Mail.problem)).all()
    assert rows == [(NOW, 0, "")] * 3
    monkeypatch.undo()
    turn(sender)
    assert len(box.letters) == 3


def test_two_senders_write_no_letter_twice(database: Database) -> None:
    """Neither at once nor one just after the other; what is told meanwhile comes, too."""
    with database.begin() as session:
        ada = somebody(session, "ada", mail=MailChoice.AT_ONCE)
        bob = somebody(session, "bob", mail=MailChoice.AT_ONCE)
        tell(session, ada, bob)

    def write(session: Session, now: datetime = NOW) -> None:
        backlog.write_letters(session, settings_for(port=25), now)

    def tell_and_write(session: Session) -> None:
        tell(session, ada)
        write(session)

    at_once(database, write, tell_and_write)
    letters = sa.select(sa.func.count(Mail.id))
    with database.begin() as session:
        write(session)
        assert session.scalar(letters) == 2
        write(session, NOW + timedelta(minutes=2))
        assert session.scalar(letters) == 3


def test_a_mail_server_that_is_away_is_waited_for(
    sqlite_database: Database, box: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is away, hangs, or ends each connection; what was to be sent arrives when it is back, and
    what has waited for two days is forgotten.
    """
    monkeypatch.setattr("arena.sender.post_office.SECONDS", 0.1)
    with sqlite_database.begin() as session:
        add_mail(session, "ada@example.org", "hello", "text", NOW)
    clock = Clock()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        turn(Sending(settings_for(port=port), sqlite_database, clock))
        clock.go_on(minutes=1)
        silent.listen()
        turn(Sending(settings_for(port=port), sqlite_database, clock))
    with sqlite_database.read() as session:
        ((tries, problem),) = session.execute(sa.select(Mail.tries, Mail.problem)).all()
        assert (tries, problem.rpartition(" ")[2]) == (2, "out")
    with mail_server(box) as port:
        clock.go_on(hours=1)
        turn(Sending(settings_for(port=port), sqlite_database, clock))
    assert box.recipients == [["ada@example.org"]]
    with sqlite_database.begin() as session:
        add_mail(session, "ada@example.org", "hello", "text", NOW)
    clock.go_on(days=3)
    turn(Sending(settings_for(), sqlite_database, clock))
    with sqlite_database.read() as session:
        assert session.scalars(sa.select(Mail.id)).all() == []


def test_mail_goes_by_tls_with_a_login(
    sqlite_database: Database,
    box: Mailbox,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the server says that it can; a certificate that does not hold is no server of ours."""
    with sqlite_database.begin() as session:
        add_mail(session, "ada@example.org", "hell\u00f6", "t\u00ebxt\n.\nmore", NOW)
    clock = Clock()
    with mail_server(box, certificate) as port:
        url = f"smtp://ada:a%2Fb%40c@localhost:{port}"
        settings = Settings(mail=url, mail_from="arena@arena.example")
        turn(Sending(settings, sqlite_database, clock))
        assert box.letters == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        clock.go_on(hours=1)
        turn(Sending(settings, sqlite_database, clock))
    (letter,) = box.letters
    assert letter["Subject"] == "hell\u00f6"
    assert letter.get_content().splitlines() == ["t\u00ebxt", ".", "more"]


def test_a_subject_is_one_line(sqlite_database: Database, box: Mailbox, mail_port: int) -> None:
    """Whatever a title or a name has in it makes no header of its own."""
    with sqlite_database.begin() as session:
        ada = somebody(session, mail=MailChoice.AT_ONCE)
        name = "x\r\nBcc: eve@example.org\u2028\x00"
        notify(session, [ada], "%(name)s", {"name": name.replace("\x00", "")}, "/", NOW)
    turn(Sending(settings_for(port=mail_port), sqlite_database, Clock()))
    assert box.recipients == [["ada@example.org"]]
    assert box.letters[0]["Bcc"] is None
    assert "Bcc: eve@example.org" in box.letters[0]["Subject"]


def test_a_name_that_leads_elsewhere_a_moment_later_changes_nothing(
    hooks_server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up once, and the answer is bounded and made visible."""
    asked: list[str] = []
    ask = socket.getaddrinfo

    def once(host: str, *words: Any, **more: Any) -> Any:
        if host == "localhost":
            asked.append(host)
        return ask("10.0.0.1" if len(asked) > 1 else host, *words, **more)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    hooks_server.status, hooks_server.answer = 200, b"thanks\x1b[31m\0" + b"x" * 10_000
    monkeypatch.setattr(outside, "is_public", lambda _: True)
    monkeypatch.setattr(outside, "is_own", lambda _: False)
    answer = posting.post(read_address(hooks_server.url), b"{}", {})
    assert (answer.status, answer.words[:16], len(asked)) == (200, r"thanks\x1b[31mxx", 1)
    assert len(answer.words) < 600
    ((path, headers, body),) = hooks_server.got
    host = f"localhost:{hooks_server.port}"
    assert (path, headers["Host"], body) == ("/hook?of=ada", host, b"{}")


def test_what_a_host_of_the_inside_says_is_not_kept(hooks_server: Receiver) -> None:
    """Whoever has a hook there would read by its log what only the operator's network does."""
    hooks_server.status, hooks_server.answer = 403, b"the key is 1234"
    answer = posting.post(read_address(hooks_server.url), b"{}", {}, inside={"localhost"})
    assert answer == posting.HookAnswer(403, "")


def test_a_hook_that_is_removed_meanwhile_is_in_nobodys_way(
    database: Database, hooks_server: Receiver
) -> None:
    """Neither of who tells something just then, nor of the sender that tries it; its log goes."""
    with database.begin() as session:
        ada = somebody(session)
        hook = add_hook(session, ada, hooks_server.url)
        tell(session, ada)
    with database.begin() as session:
        (taken,) = backlog.take_deliveries(session, (), 1, NOW)
    with database.begin() as session:
        tell(session, ada)
    with database.begin() as session:
        perform(session, RemoveHook(hook), as_person(session, ada))
    with database.begin() as session:
        backlog.note_delivery(session, taken.id, posting.HookAnswer(200), 1, NOW)
    with database.read() as session:
        assert session.scalars(sa.select(Delivery.id)).all() == []
        assert len(session.scalars(sa.select(Notification.id)).all()) == 2
