"""Who comes in: by a WebSocket or by polls, again after a break, and never in another's place."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.links import LinkEnd, Parcel
from engine.player import VoidGameError
from tests.workers.home.callers import CALLER, Client, HomeWorker, RefusedError, home_worker
from workers.at_home import AwayError
from workers.home import sessions

VERSION = int(CALLER["version"])  # type: ignore[call-overload]


@pytest.fixture
def worker() -> Iterator[HomeWorker]:
    with home_worker() as made:
        yield made


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def poll(
    worker: HomeWorker, end: LinkEnd, session: str, *, waits: bool = False, **said: Any
) -> dict[str, Any]:
    """What a poll is answered, after its answer was taken in."""
    near, far = socket.socketpair()
    parcel = end.parcel() or Parcel(end.got, end.said + 1)
    body = {"session": session, **parcel.to_json(), "waits": waits, **said}
    worker.hand_over({"kind": "poll", **CALLER, "body": body}, far)
    with near, http.client.HTTPResponse(near) as answer:
        near.settimeout(25.0)
        answer.begin()
        told = json.loads(answer.read())
    if answer.status != 200:
        return {"status": answer.status, **told}
    assert isinstance(told, dict)
    told["heard"] = list(end.take(Parcel.from_json(told)))
    return told


def test_who_is_connected_is_present_until_it_is_not(worker: HomeWorker) -> None:
    client = Client(worker, games=3)
    until(lambda: worker.lobby.connected() == {VERSION: 3})
    client.say({"is": "games", "games": 0})
    until(lambda: worker.lobby.connected() == {})
    client.say({"is": "games", "games": 2})
    until(lambda: worker.lobby.connected() == {VERSION: 2})
    client.cut()
    until(lambda: worker.lobby.connected() == {})
    client.come_back()
    until(lambda: worker.lobby.connected() == {VERSION: 2})


def test_a_bot_that_is_away_is_asked_for_nothing(worker: HomeWorker) -> None:
    """It is nobody's fault: the arena did not know yet."""
    with pytest.raises(AwayError):
        worker.lobby.start(VERSION)
    client = Client(worker)
    until(lambda: worker.lobby.connected())
    worker.lobby.start(VERSION).kill()
    client.cut()
    until(lambda: not worker.lobby.connected())
    with pytest.raises(VoidGameError):
        worker.lobby.start(VERSION)


def test_a_message_in_flight_comes_once_after_a_break(worker: HomeWorker) -> None:
    client = Client(worker)
    until(lambda: worker.lobby.connected())
    program = worker.lobby.start(VERSION)
    opened = client.hear()
    assert opened == {"is": "open", "program": program.number}
    client.cut()
    until(lambda: not worker.lobby.connected())
    worker.lobby.call(program.link.tell, program, "hello protocol=1\n")
    back = client.come_back()
    assert not back.is_new
    assert back.hear() == {"is": "tell", "program": program.number, "text": "hello protocol=1\n"}
    assert back.hear(0.2) is None
    program.kill()
    assert back.hear() == {"is": "close", "program": program.number}


def test_who_comes_back_to_what_is_gone_begins_anew(worker: HomeWorker) -> None:
    """As after the death of the home worker."""
    client = Client(worker)
    client.session = "0" * 32
    client.cut()
    until(lambda: not worker.lobby.connected())
    assert client.come_back().is_new


def test_there_is_one_client_of_a_version_at_a_time(worker: HomeWorker) -> None:
    first = Client(worker)
    until(lambda: worker.lobby.connected())
    with pytest.raises(RefusedError, match="connected already: end the other one first"):
        Client(worker, client="another")
    assert worker.lobby.connected() == {VERSION: 1}
    first.cut()
    until(lambda: not worker.lobby.connected())
    assert Client(worker).is_new


def test_a_session_is_its_users_alone(worker: HomeWorker) -> None:
    """Whoever learns its name has still to be an owner of the bot, and the one who began it."""
    client = Client(worker)
    other = {**CALLER, "user": 2}
    with pytest.raises(RefusedError, match=r"this session is another's"):
        Client(worker, session=client.session, caller=other)
    with pytest.raises(RefusedError, match=r"giant v1 is connected already"):
        Client(worker, session="guessed", caller=other)


def test_a_greeting_whose_answer_was_lost_is_said_again(worker: HomeWorker) -> None:
    """The same client says it: the session that it never heard of is none that keeps it out."""
    Client(worker, client="it")
    until(lambda: worker.lobby.connected())
    again = Client(worker, client="it")
    assert again.is_new
    until(lambda: worker.lobby.connected() == {VERSION: 1})


def test_the_successor_of_a_killed_client_that_polled_comes_in_at_once(
    worker: HomeWorker,
) -> None:
    """Nothing tells that it is gone but its successor; another client is told when to try again."""
    first = poll(worker, LinkEnd(), "", client="it")
    assert first["new"]
    refused = poll(worker, LinkEnd(), "", client="another")
    assert refused["status"] == 409
    assert "end the other one first; if that is gone, it is known within 30 s" in refused["detail"]
    again = poll(worker, LinkEnd(), "", client="it")
    assert (again["new"], again["session"] == first["session"]) == (True, False)


def test_a_poll_begins_no_session_but_by_a_greeting(worker: HomeWorker) -> None:
    """Those of a client whose home worker has died come in at any time, and in any order."""
    answer = poll(worker, LinkEnd(), "0" * 32, waits=True)
    assert (answer["session"], answer["heard"], worker.lobby.connected()) == ("", [], {})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("no JSON", "no parcel: it is no JSON"),
        ([], "no parcel: it is no object"),
        ({"got": 99, "first": 1, "says": []}, "it has heard message 99"),
        ({"got": 0, "first": 9, "says": [{"is": "games"}]}, "message 9 came, and 2 is the next"),
        ({"got": 0, "first": 2, "says": [{"is": "dance"}]}, "no parcel: its 'program' is no num"),
        (
            {"got": 0, "first": 2, "says": [{"is": "dance", "program": 1}]},
            "there is no message 'dance'",
        ),
        ({"got": 0, "first": 2, "says": [{"is": "games", "games": 99}]}, "at most 32 games"),
        (
            {"got": 0, "first": 2, "says": [{"is": "said", "program": 1, "text": 5}]},
            "what a program says is a text",
        ),
        (b"\x00\x01", "a parcel is one text, in one frame"),
    ],
    ids=range(9),
)
def test_who_breaks_the_rules_of_the_link_is_out(worker: HomeWorker, said: Any, words: str) -> None:
    """With all its games, and is told why."""
    client = Client(worker)
    until(lambda: worker.lobby.connected())
    program = worker.lobby.start(VERSION)
    while client.hear(0.1):
        pass
    client.send_raw(said)
    assert words in client.reason
    assert program.wait(60)
    assert words in program.kill()
    assert worker.lobby.connected() == {}


def test_polls_do_what_a_websocket_does(worker: HomeWorker) -> None:
    end = LinkEnd()
    first = poll(worker, end, "", client="it")
    assert first["new"]
    session = first["session"]
    end.say({"is": "games", "games": 2})
    poll(worker, end, session)
    assert worker.lobby.connected() == {VERSION: 2}
    found: list[dict[str, Any]] = []
    waiting = threading.Thread(
        target=lambda: found.append(poll(worker, end, session, waits=True)), daemon=True
    )
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive(), "there is nothing to be said yet"
    program = worker.lobby.start(VERSION)
    waiting.join(5.0)
    assert found[0]["heard"] == [{"is": "open", "program": program.number}]
    # What was answered on a connection that broke is said again.
    as_before = LinkEnd()
    as_before.say({"is": "games", "games": 2})
    as_before.connect(1)
    lost = poll(worker, as_before, session, waits=True)
    program.kill()
    assert lost["heard"] == [{"is": "open", "program": program.number}]


def test_a_poll_that_is_taken_back_is_a_connection_lost(worker: HomeWorker) -> None:
    end = LinkEnd()
    session = poll(worker, end, "", client="it")["session"]
    end.say({"is": "games", "games": 1})
    poll(worker, end, session)
    near, far = socket.socketpair()
    parcel = Parcel(end.got, end.said + 1).to_json()
    body = {"session": session, **parcel, "waits": True}
    worker.hand_over({"kind": "poll", **CALLER, "body": body}, far)
    time.sleep(0.1)
    assert worker.lobby.connected() == {VERSION: 1}
    near.close()
    until(lambda: not worker.lobby.connected())


def test_a_poll_of_what_is_no_parcel_is_refused(worker: HomeWorker) -> None:
    assert poll(worker, LinkEnd(), "", client="it", got="x") == {
        "status": 409,
        "detail": "no parcel: its 'got' is no number",
    }


@pytest.mark.parametrize("letter", [b"", b"{}", b"no", b'{"kind": "telegraph"}'])
def test_what_is_no_letter_is_dropped(worker: HomeWorker, letter: bytes) -> None:
    """And its connection closed; others come in as before."""
    near, far = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as home, far:
        home.connect(str(worker.place))
        socket.send_fds(home, [letter or b" "], [far.fileno()])
    near.settimeout(5.0)
    assert near.recv(10) == b""
    near.close()
    assert Client(worker).is_new


def test_a_session_without_a_connection_ends(
    worker: HomeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "AWAY_SECONDS", 0.1)
    client = Client(worker)
    until(lambda: worker.lobby.connected())
    program = worker.lobby.start(VERSION)
    client.cut()
    assert program.wait(60)
    assert program.kill() == "no connection for 0 s"


def test_a_client_that_acknowledges_nothing_is_cut_off(
    worker: HomeWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its machine may be gone without a word: whoever waits for it waits in vain."""
    monkeypatch.setattr(sessions, "DEAD_SECONDS", 0.3)
    client = Client(worker)
    until(lambda: worker.lobby.connected())
    client.ack_seconds = 60.0
    program = worker.lobby.start(VERSION)
    until(lambda: not worker.lobby.connected())
    program.kill()
