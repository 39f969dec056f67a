"""Codes of apps and recovery codes: which are right, and that each counts once."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from passlib.totp import TOTP

from arena.audit import ARENA
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.models import Passkey, Role, User
from arena.people import accounts, second_factor, sessions
from arena.people.accounts import PeopleError

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    """The table of RFC 6238, appendix B, for SHA-1; of its eight digits apps show the last six."""
    moment = datetime.fromtimestamp(seconds, UTC)
    assert second_factor.step_of(SECRET, code[-6:], moment) == seconds // 30
    assert second_factor.step_of(SECRET, code[-6:], moment, seconds // 30) is None


@pytest.mark.parametrize(
    ("off", "holds"), [(-90, False), (-30, True), (0, True), (30, True), (90, False)]
)
def test_a_clock_may_be_off_by_one_step(off: int, holds: bool) -> None:
    """And no more, or else a code that somebody saw would hold for long."""
    code = TOTP(key=SECRET).generate(NOW + timedelta(seconds=off)).token
    assert (second_factor.step_of(SECRET, code, NOW) is not None) == holds


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "abcdef", "\N{ARABIC-INDIC DIGIT ONE}" * 6]
)
def test_what_is_no_code_is_none(code: str) -> None:
    """Whatever is typed is an answer, and no failure."""
    assert second_factor.step_of(SECRET, code, NOW) is None


def test_an_app_reads_whose_secret_it_is() -> None:
    """Apps have the form of its address in common; a port is no part of it."""
    read = urlsplit(second_factor.address(SECRET, "ada", "localhost:8000"))
    assert (read.scheme, read.netloc, read.path) == ("otpauth", "totp", "/localhost%208000:ada")
    assert parse_qs(read.query) == {"secret": [SECRET], "issuer": ["localhost 8000"]}


def code_at(moment: datetime) -> str:
    return str(TOTP(key=SECRET).generate(moment).token)


def person(database: Database, **more: object) -> User:
    with database.begin() as session:
        return accounts.add(session, ARENA, "ada", now=NOW, **more)  # type: ignore[arg-type]


def test_each_code_lets_in_once(database: Database) -> None:
    """So do those of the app and of recovery; dashes, spaces and letters' size don't matter."""
    ada = person(database)
    with database.begin() as session:
        user = session.get_one(User, ada.id)
        with pytest.raises(PeopleError, match="not the app's present code"):
            second_factor.turn_on(session, ARENA, user, SECRET, "000000", NOW)
        codes = second_factor.turn_on(session, ARENA, user, SECRET, code_at(NOW), NOW)
    assert len(set(codes)) == second_factor.CODES
    later = NOW + timedelta(minutes=1)
    taken = []
    for typed in (
        code_at(NOW),  # by which the app was set up
        code_at(later),
        code_at(later),
        codes[0],
        codes[0],
        codes[1].replace("-", " ").upper(),
        "nonsense",
        "",
    ):
        with database.begin() as session:
            user = session.get_one(User, ada.id)
            taken.append(second_factor.take(session, user, typed, later))
    assert taken == ["", "app", "", "recovery code", "", "recovery code", "", ""]
    with database.begin() as session:
        assert second_factor.codes_left(session, ada.id) == second_factor.CODES - 2
        user = session.get_one(User, ada.id)
        second_factor.turn_off(session, ARENA, user, NOW)
        assert second_factor.codes_left(session, ada.id) == 0
        assert not second_factor.is_asked(session, user)


def test_recovery_codes_stay_with_a_passkey(database: Database) -> None:
    """They go with the last second factor; a reset takes them all, and ends the sessions."""
    ada = person(database)
    with database.begin() as session:
        user = session.get_one(User, ada.id)
        session.add(
            Passkey(
                user_id=user.id, name="key", credential="id", public_key=b"", sign_count=0,
                created=NOW,
            )
        )  # fmt: skip
        second_factor.turn_on(session, ARENA, user, SECRET, code_at(NOW), NOW)
        second_factor.turn_off(session, ARENA, user, NOW)
        assert second_factor.codes_left(session, user.id) == second_factor.CODES
        assert second_factor.whose(session) == {user.id}
        key = sessions.begin(session, user, "192.0.2.1", "", NOW).key
        second_factor.reset(session, ARENA, user, NOW)
        assert second_factor.whose(session) == set()
        assert sessions.find(session, key, NOW) is None


@pytest.mark.parametrize(
    ("setting", "role", "lacks"),
    [
        ("nobody", Role.ADMINISTRATOR, False),
        ("administrators", Role.ORGANISER, False),
        ("administrators", Role.ADMINISTRATOR, True),
        ("organisers", Role.PARTICIPANT, False),
        ("organisers", Role.ORGANISER, True),
        ("organisers", Role.ADMINISTRATOR, True),
        ("everybody", Role.PARTICIPANT, True),
    ],
)
def test_who_must_have_one(
    sqlite_database: Database, setting: str, role: Role, lacks: bool
) -> None:
    """As the operator says; who has one lacks none."""
    ada = person(sqlite_database, role=role)
    settings = Settings(second_factor=setting)
    with sqlite_database.begin() as session:
        user = session.get_one(User, ada.id)
        assert second_factor.is_lacking(session, user, settings) == lacks
        second_factor.turn_on(session, ARENA, user, SECRET, code_at(NOW), NOW)
        assert not second_factor.is_lacking(session, user, settings)


CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0"


@pytest.mark.parametrize(
    ("agent", "called"),
    [
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Safari/537.36", "Chrome, Windows"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {CHROME} Safari/537.36 Edg/131.0", "Edge, Linux"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/1", "Firefox, Linux"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, "
            "like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
            "Safari, iPhone",
        ),
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME} Mobile Safari/537.36", "Chrome, Android"),
        ("curl/8.9.1", "curl"),
        ("python-requests/2.32", "python-requests"),
        ("", ""),
        ("<script>", ""),
    ],
)  # fmt: skip
def test_browsers_are_told_apart(agent: str, called: str) -> None:
    """The words that they send tell; what says nothing of the kind is called by its first."""
    assert sessions.browser_of(agent) == called


def test_sessions_end_by_themselves(database: Database) -> None:
    """Those unused for thirty days, and of too many that which was unused for longest."""
    ada = person(database)
    with database.begin() as session:
        user = session.get_one(User, ada.id)
        old = sessions.begin(session, user, "192.0.2.1", "", NOW - timedelta(days=31)).key
        assert sessions.find(session, old, NOW) is None
        begun = [
            sessions.begin(session, user, "192.0.2.1", "", NOW + timedelta(minutes=number)).key
            for number in range(sessions.MOST + 1)
        ]
        later = NOW + timedelta(days=1)
        assert sessions.find(session, begun[0], later) is None
        assert sessions.find(session, begun[1], later) is not None
        assert len(sessions.listed(session, user.id, later)) == sessions.MOST
