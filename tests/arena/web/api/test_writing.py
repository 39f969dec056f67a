"""What programs change by the API: who may, and that it is done by the rules of the pages."""

from __future__ import annotations

import io
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from arena import audit
from arena.audit import ARENA
from arena.models import Bot, Check, GameSeat, JobStatus, PlayedGame, Role, Scope, VersionStatus
from arena.people.accounts import add_token
from arena.web.lookup import find_game
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import now, person
from tests.conftest import on_both

API = "/api/v1"
BOT = b"import sys\nfor line in sys.stdin:\n    print('ready', flush=True)\n"
KINDS = ("anonymous", "other", "owner", "organiser", "administrator")


def send(
    arena: SimpleNamespace, method: str, address: str, who: str = "owner", **more: Any
) -> TestResponse:
    """A request with somebody's token."""
    token = arena.tokens.get(who)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    there = API + address.format(**arena.numbers)
    return arena.app.test_client().open(there, method=method, headers=headers, **more)


def upload(arena: SimpleNamespace, who: str = "owner", **fields: Any) -> TestResponse:
    files = fields.pop("files", [("mine.py", BOT)])
    data = {"ladder": "ladder-0", "file": [(io.BytesIO(text), name) for name, text in files]}
    kind = "multipart/form-data"
    fields = {**data, **fields}
    return send(arena, "POST", "/submissions", who, data=fields, content_type=kind)


# 409 is what those get who may, of what can't be done as things stand.
@pytest.mark.parametrize(
    ("method", "address", "body", "answers"),
    [
        ("POST", "/bots/bot-0/enter", {"ladder": "none"}, (401, 403, 404, 403, 403)),
        ("POST", "/bots/bot-0/retire", {"ladder": "none"}, (401, 403, 404, 403, 403)),
        ("PATCH", "/bots/bot-0", {"open_source": False}, (401, 403, 200, 403, 403)),
        ("POST", "/bots/bot-0/share", {"user": "nobody"}, (401, 403, 409, 403, 403)),
        ("POST", "/bots/bot-0/unshare", {"user": "nobody"}, (401, 403, 409, 403, 403)),
        ("POST", "/ladders", {"name": "!", "game": "clobber"}, (401, 403, 409, 409, 409)),
        ("PATCH", "/ladders/ladder-0", {"settings": {"x": "y"}}, (401, 403, 409, 409, 409)),
        (
            "POST",
            "/tournaments",
            {"name": "!", "ladder": "ladder-0", "format": "round-robin"},
            (401, 403, 409, 409, 409),
        ),
        ("PATCH", "/tournaments/cup", {"state": "paused"}, (401, 403, 200, 200, 200)),
        ("POST", "/tournaments/cup/enter", {"bots": ["x"]}, (401, 403, 409, 409, 409)),
        ("POST", "/tournaments/cup/withdraw", {"bot": "x"}, (401, 409, 409, 409, 409)),
        ("POST", "/tournaments/cup/withdraw", {"bot": "bot-1"}, (401, 403, 200, 409, 409)),
        ("POST", "/tournaments/cup/call-off", {"note": " "}, (401, 403, 422, 422, 422)),
        ("POST", "/matches", {"ladder": "ladder-0", "bots": ["x"]}, (401, 409, 409, 409, 409)),
        (
            "POST",
            "/tests",
            {"candidate": "bot-0:1", "baseline": "bot-2:1", "ladder": "none"},
            (401, 403, 404, 404, 404),
        ),
        ("POST", "/tests/{ended}/stop", None, (401, 403, 409, 409, 409)),
        ("POST", "/tests/{ended}/extend", {"max_games": 1}, (401, 403, 409, 409, 409)),
        ("GET", "/checks/{check}", None, (401, 404, 200, 404, 404)),
        ("GET", "/bots/bot-0/checks", None, (401, 403, 200, 403, 403)),
        ("GET", "/games/{trio}/logs/1", None, (401, 403, 200, 403, 403)),
        ("GET", "/account", None, (401, 200, 200, 200, 200)),
        ("GET", "/overview", None, (401, 403, 200, 200, 200)),
        ("GET", "/users", None, (401, 403, 200, 403, 200)),
        ("GET", "/audit", None, (401, 403, 200, 403, 200)),
        ("GET", "/sittings", None, (401, 200, 200, 200, 200)),
        ("GET", "/sittings/{sitting}", None, (200, 200, 200, 200, 200)),
        ("POST", "/matches/{waiting}/void", {"note": "x"}, (401, 403, 409, 409, 409)),
        ("POST", "/matches/{waiting}/requeue", None, (401, 403, 409, 409, 409)),
    ],
)
def test_each_may_what_the_table_says(
    arena: SimpleNamespace, method: str, address: str, body: Any, answers: tuple[int, ...]
) -> None:
    """With a token and no form's secret: no other site could send it."""
    found = tuple(send(arena, method, address, who, json=body).status_code for who in KINDS)
    assert found == answers


def test_a_token_may_no_more_than_its_scopes(arena: SimpleNamespace) -> None:
    """Whatever its owner may; one that is made up is nobody's."""
    with arena.database.begin() as session:
        user = person(arena.database, "administrator", Role.ADMINISTRATOR)
        arena.tokens["reader"] = add_token(session, ARENA, user, "r", [Scope.READ], now())
    arena.tokens["forger"] = "arena_made-up"
    for who, status, words in (
        ("reader", 403, "This token has no scope organise."),
        ("forger", 401, ""),
    ):
        answer = send(arena, "PATCH", "/tournaments/cup", who, json={"state": "open"})
        assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
        assert words in answer.json["detail"]


def test_a_session_alone_changes_nothing(arena: SimpleNamespace) -> None:
    """A page of another site could send its cookie along."""
    client = arena.app.test_client()
    page = client.get("/sign-in").text
    secret = page.split('name="csrf_token" value="')[1].split('"')[0]
    form = {"name": "administrator", "password": "correct horse battery", "csrf_token": secret}
    assert client.post("/sign-in", data=form).status_code == 302
    assert client.get(f"{API}/account").json["name"] == "administrator"
    answer = client.patch(f"{API}/tournaments/cup", json={"state": "open"})
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (
            b'{"name": "x", "game": "clobber", "options": {"size": "\\ud800"}}',
            422,
            "a surrogate pair",
        ),
        (b'{"name": "x", "game": "clobber", "options": {"\\udfff": 1}}', 422, "a surrogate pair"),
        (b'{"name": ' + b"9" * 9000 + b"}", 400, "no JSON: a number in it has too many digits."),
        (b'{"name": "\xff"}', 400, "no JSON: it is no UTF-8."),
    ],
    ids=["text", "key", "number", "bytes"],
)
def test_what_json_can_name_and_nobody_can_keep_is_refused(
    arena: SimpleNamespace, body: bytes, status: int, words: str
) -> None:
    """Also where just anything may stand; RFC 8259, 8.2, leaves half of a pair to the receiver."""
    answer = send(arena, "POST", "/ladders", data=body, content_type="application/json")
    assert answer.status_code == status
    assert words in answer.json["detail"]


@pytest.mark.parametrize(
    ("body", "mimetype", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"max_games": NaN}', "application/json", 422),
        (b'{"max_games": 1e400}', "application/json", 422),
        (b'{"max_games": ' + b"9" * 4000 + b"}", "application/json", 422),
        (b'{"max_games": ' + b"9" * 9000 + b"}", "application/json", 400),
        (b'{"max_games": 1, "more": 1}', "application/json", 422),
        (b'{"max_games": 1}', "text/plain", 415),
        (b'{"x": "' + b"x" * 400_000 + b'"}', "application/json", 413),
    ],
    ids=str,
)
def test_what_is_no_request_is_refused(
    arena: SimpleNamespace, body: bytes, mimetype: str, status: int
) -> None:
    """Before anything is looked up, by a problem document."""
    answer = send(arena, "POST", "/tests/{ended}/extend", data=body, content_type=mimetype)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "The body is no JSON: Expecting value: line 1 column 1 (char 0)."),
        (b'{"a": 1,\n', "Expecting property name enclosed in double quotes: line 2 column 1"),
        (b'{"a": "\xff"}', "The body is no JSON: it is no UTF-8."),
        (b"[" * 100_000, "The JSON is nested too deeply."),
    ],
    ids=["nothing", "broken off", "Latin-1", "deep"],
)
def test_what_is_no_json_is_told_where(arena: SimpleNamespace, body: bytes, words: str) -> None:
    """The mistake and its place."""
    about = {"data": body, "content_type": "application/json"}
    answer = send(arena, "POST", "/tests/{ended}/extend", **about)
    assert words in answer.json["detail"]


@pytest.mark.parametrize(
    ("method", "address", "body"),
    [
        ("PATCH", "/bots/%09", {"open_source": True}),
        ("PATCH", "/ladders/%20", {"settings": {}}),
        ("POST", "/tournaments/%20/call-off", {"note": "rain"}),
        ("POST", "/users/%09/role", {"role": "participant"}),
    ],
)
def test_nothing_has_a_blank_name(
    arena: SimpleNamespace, method: str, address: str, body: dict[str, Any]
) -> None:
    """An address with one is of nothing that is there, as with any other name that nobody has."""
    answer = send(arena, method, address, "administrator", json=body)
    assert (answer.status_code, answer.json["title"]) == (404, "Not Found")


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 501], ids=["NUL", "surrogate", "long"])
def test_texts_that_no_database_keeps_are_refused(arena: SimpleNamespace, text: str) -> None:
    """Every field of free text refuses them."""
    body = {"candidate": "bot-0", "baseline": "bot-1", "ladder": "ladder-0", "note": text}
    assert send(arena, "POST", "/tests", json=body).status_code == 422
    body = {"name": "n", "ladder": "ladder-0", "format": "swiss", "note": text}
    assert send(arena, "POST", "/tournaments", json=body).status_code == 422
    body = {"name": "n", "ladder": "ladder-0", "format": "swiss", "title": text}
    assert send(arena, "POST", "/tournaments", json=body).status_code == 422
    if text != "\ud800":
        assert upload(arena, note=text).status_code == 422


@on_both("arena")
def test_a_bot_is_submitted_checked_entered_and_retired(arena: SimpleNamespace) -> None:
    """A token alone does it all, from its files to the ladder and back."""
    made = upload(arena, name="mine", note=HOSTILE)
    assert made.status_code == 201, made.text
    check = made.json
    assert (check["bot"], check["version"], check["passed"]) == ("mine", 1, None)
    assert made.headers["Location"].endswith(f"{API}/checks/{check['number']}")
    with arena.database.begin() as session:
        found = session.get_one(Check, check["number"])
        found.status, found.version.status = JobStatus.FIXED, VersionStatus.READY
        found.findings = [{"kept": True, "words": HOSTILE, "clause": "hello", "lines": ["> hello"]}]
    seen = send(arena, "GET", f"/checks/{check['number']}").json
    assert (seen["passed"], seen["findings"][0]["words"]) == (True, HOSTILE)
    assert send(arena, "GET", "/account").json["bots"].count("mine") == 1
    entry = send(arena, "POST", "/bots/mine/enter", json={"ladder": "ladder-0"}).json
    assert entry["active"] is False
    assert entry["check"]["ladder"] == "ladder-0"
    assert send(arena, "POST", "/bots/mine/withdraw").json == {
        "left": 0,
        "said": "the bot mine is withdrawn: it left 0 ladders",
    }
    cancelled = send(arena, "GET", f"/checks/{entry['check']['number']}").json
    assert cancelled["cancelled"]
    assert (cancelled["status"], cancelled["passed"]) == ("void", None)
    again = send(arena, "POST", "/bots/bot-2/retire", json={"ladder": "ladder-0"})
    assert again.json["state"] == "retired"
    twice = send(arena, "POST", "/bots/bot-2/retire", json={"ladder": "ladder-0"})
    assert (twice.status_code, twice.json["detail"]) == (
        409,
        "The bot bot-2 is not on the ladder ladder-0.",
    )
    back = send(arena, "POST", "/bots/bot-2/enter", json={"ladder": "ladder-0", "version": 1})
    assert (back.json["active"], back.json["check"]) == (True, None)
    with arena.database.read() as session:
        deeds = [entry.action for entry in audit.entries(session, count=20)]
    assert {"submit", "enter", "retire"} <= set(deeds)


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"ladder": "none"}, 404, "There is no ladder none."),
        ({"name": "../x"}, 409, "'../x' is no name for a bot: 1 to 40 letters, digits, "),
        ({"files": []}, 422, "file: "),
        ({"ladder": []}, 422, "ladder: Field required."),
        ({"files": [("../x.py", BOT)]}, 409, "is no name for a file"),
        ({"files": [("x.zip", b"no zip")]}, 409, ""),
    ],
    ids=["no ladder", "no name", "no file", "ladder unsaid", "a path", "no archive"],
)
def test_submissions_are_refused(
    arena: SimpleNamespace, fields: dict[str, Any], status: int, words: str
) -> None:
    """It is a sentence that says why."""
    answer = upload(arena, **fields)
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert words in answer.json["detail"]


PART = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\nladder-0\r\n'


@pytest.mark.parametrize(
    "body",
    [b"", PART % b"ladder", PART % b'file"; filename="\xf6.py' + b"--x--\r\n"],
    ids=["empty", "cut", "latin-1"],
)
def test_an_upload_that_can_not_be_read_is_not_said_to_lack_fields(
    arena: SimpleNamespace, body: bytes
) -> None:
    """As when a script makes the form itself, or a file's name comes from an old system."""
    kind = {"content_type": "multipart/form-data; boundary=x", "data": body}
    answer = send(arena, "POST", "/submissions", **kind)
    assert (answer.status_code, "multipart" in answer.json["detail"]) == (400, True)


def test_what_is_too_large_is_refused_before_it_is_read(arena: SimpleNamespace) -> None:
    """Somebody with an account has more room; others have no more than for any form."""
    kind = {"content_type": "multipart/form-data; boundary=x", "data": b"x" * 22_000_000}
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    many = {**kind, "data": part * 20_001 + b"--x--\r\n"}
    for sent in (kind, many):
        answer = send(arena, "POST", "/submissions", **sent)
        assert (answer.status_code, answer.mimetype) == (413, "application/problem+json")
        assert "a bot may have 1000 files, of 16 MiB together;" in answer.json["detail"]
    assert send(arena, "POST", "/submissions", "anonymous", **kind).status_code == 401


def test_a_folder_is_submitted_file_by_file(arena: SimpleNamespace) -> None:
    """Each under its path; the folder names the bot."""
    files = [("folded/bot.py", BOT), ("folded/lib/x.py", b"x = 1\n")]
    assert upload(arena, files=files).json["bot"] == "folded"


@on_both("arena")
def test_an_organiser_makes_what_there_is_to_play(arena: SimpleNamespace) -> None:
    """A ladder, a tournament on one, and what becomes of them."""
    body = {
        "name": "blitz",
        "game": "clobber",
        "options": {"size": "5x6"},
        "settings": {"time": "5+0.05", "title": HOSTILE[:120].replace("\u202e", "")},
    }
    made = send(arena, "POST", "/ladders", "organiser", json=body)
    assert made.status_code == 201, made.text
    assert (made.json["variant"], made.json["state"]) == ("clobber size=5x6", "open")
    assert send(arena, "POST", "/ladders", "organiser", json=body).status_code == 409
    changes = {"settings": {"state": "frozen"}}
    changed = send(arena, "PATCH", "/ladders/blitz", "organiser", json=changes)
    assert changed.json["state"] == "frozen"
    wrong = {**body, "name": "other", "options": {"size": "big"}}
    assert send(arena, "POST", "/ladders", "organiser", json=wrong).status_code == 409
    cup = {
        "name": "mini",
        "ladder": "ladder-0",
        "format": "swiss",
        "bots": ["bot-0:1", "bot-1:1", "bot-3:1"],
        "settings": {"rounds": 2},
        "seed": 7,
        "paused": True,
    }
    made = send(arena, "POST", "/tournaments", "organiser", json=cup)
    assert made.status_code == 201, made.text
    assert (made.json["settings"], made.json["seed"]) == ({"rounds": 2}, 7)
    whole = send(arena, "GET", "/tournaments/mini").json
    assert (whole["state"], len(whole["standings"])) == ("paused", 3)
    assert [line["bot"] for line in whole["standings"]].count("bot-0") == 1
    for where, body in (("enter", {"bots": ["bot-2:1"]}), ("withdraw", {"bot": "bot-0"})):
        changed = send(arena, "POST", f"/tournaments/mini/{where}", "organiser", json=body)
        assert changed.status_code == 200, changed.text
    whole = send(arena, "GET", "/tournaments/mini").json
    assert sorted(line["bot"] for line in whole["standings"]) == ["bot-1", "bot-2", "bot-3"]
    paused = send(arena, "PATCH", "/tournaments/mini", "organiser", json={"state": "paused"})
    assert paused.json["state"] == "paused"
    why = {"note": "too few bots"}
    called_off = send(arena, "POST", "/tournaments/mini/call-off", "organiser", json=why)
    assert (called_off.json["state"], called_off.json["called_off"]) == ("called off", why["note"])
    again = send(arena, "PATCH", "/tournaments/mini", "organiser", json={"state": "open"})
    assert (again.status_code, "was called off" in again.json["detail"]) == (409, True)


@pytest.mark.long
@on_both("arena")
def test_matches_are_asked_for_within_a_number_a_day(arena: SimpleNamespace) -> None:
    """Anybody with an account asks for them, for no rating."""
    body = {"ladder": "ladder-0", "bots": ["bot-1:1", "bot-3:1"]}
    made = send(arena, "POST", "/matches", "other", json=body)
    assert made.status_code == 201, made.text
    assert (made.json["rated"], made.json["bots"]) == (False, ["bot-1 v1", "bot-3 v1"])
    own = send(arena, "GET", "/account/matches", "other").json["items"]
    assert made.json["number"] in [one["number"] for one in own]
    others = send(arena, "GET", "/account/matches", "organiser").json["items"]
    assert made.json["number"] not in [one["number"] for one in others]
    for _ in range(49):
        last = send(arena, "POST", "/matches", "other", json=body)
    assert last.status_code == 201
    refused = send(arena, "POST", "/matches", "other", json=body)
    assert refused.status_code == 409
    assert "50 matches may be asked for within 24 hours" in refused.json["detail"]


def test_a_strength_test_is_made_stopped_extended_and_cloned(arena: SimpleNamespace) -> None:
    """The owner of the bots does it; somebody else's test is not touched."""
    body = {
        "candidate": "bot-3:1",
        "baseline": "bot-1:1",
        "ladder": "ladder-0",
        "max_games": 200,
        "note": HOSTILE,
    }
    made = send(arena, "POST", "/tests", json=body)
    assert made.status_code == 201, made.text
    number = made.json["id"]
    assert (made.json["verdict"], made.json["note"]) == ("running", HOSTILE)
    assert made.json["settings"]["allow_faults"] is False
    assert send(arena, "POST", f"/tests/{number}/stop", "other").status_code == 403
    assert send(arena, "POST", f"/tests/{number}/stop").json["verdict"] == "stopped"
    assert send(arena, "POST", f"/tests/{number}/stop").status_code == 409
    longer = send(arena, "POST", f"/tests/{number}/extend", json={"max_games": 400})
    assert (longer.json["verdict"], longer.json["settings"]["max_games"]) == ("running", 400)
    clone = send(arena, "POST", f"/tests/{number}/clone")
    assert clone.status_code == 201
    assert clone.json["settings"]["seed"] != made.json["settings"]["seed"]


def test_an_organiser_decides_about_matches(arena: SimpleNamespace) -> None:
    """One is void and played again, another is tried again; both can be read and are noted."""
    body = {"note": HOSTILE, "replay": True}
    made = send(arena, "POST", "/matches/{played}/void", "organiser", json=body)
    assert made.status_code == 200, made.text
    assert (made.json["match"]["status"], made.json["match"]["problem"]) == ("void", HOSTILE)
    again = send(arena, "GET", f"/matches/{made.json['replayed_as']}").json
    assert (again["status"], again["bots"]) == ("open", made.json["match"]["bots"])
    twice = send(arena, "POST", "/matches/{played}/void", "organiser", json=body)
    assert "is void already" in twice.json["detail"]
    tried = send(arena, "POST", "/matches/{aside}/requeue", "organiser")
    assert (tried.status_code, tried.json["status"]) == (200, "open")
    noted = send(arena, "GET", "/audit?actor=Organiser&limit=2", "administrator")
    assert [one["action"] for one in noted.json["items"]] == ["requeue match", "void match"]
    assert noted.headers["Cache-Control"] == "private, no-store"


def test_users_and_sittings_are_listed(arena: SimpleNamespace) -> None:
    """Users for administrators, by role; of the sittings everybody's own."""
    users = send(arena, "GET", "/users?role=organiser", "administrator").json["items"]
    assert [user["name"] for user in users] == ["organiser"]
    assert {"password", "handle", "totp_secret", "mail"} & set(users[0]) == set()
    assert send(arena, "GET", "/sittings", "other").json["items"] == []
    (sitting,) = send(arena, "GET", "/sittings").json["items"]
    assert sitting["number"] == arena.numbers["sitting"]
    assert (sitting["plies"], sitting["to_move"], sitting["waits_for_bot"]) == (0, 1, False)
    assert [seat["bot"] for seat in sitting["seats"]] == [None]
    record = send(arena, "GET", "/sittings/{sitting}/record", "anonymous").json
    assert (record["game"], record["moves"]) == ("puzzle", [])


def test_versions_checks_and_games_of_others_stay_closed(arena: SimpleNamespace) -> None:
    """Code is its owner's until it is opened."""
    there = "/bots/bot-0/versions/1/files"
    assert send(arena, "GET", there, "other").status_code == 403
    assert send(arena, "GET", there, "anonymous").status_code == 401
    with arena.database.read() as session:
        other = session.scalar(sa.select(sa.func.max(Check.id))) + 1
    assert send(arena, "GET", f"/checks/{other}").status_code == 404


@pytest.mark.parametrize("address", ["/games/{trio}/logs/1", "/bots/bot-0/versions/1/files"])
def test_a_token_that_only_submits_reads_no_code_and_no_logs(
    arena: SimpleNamespace, address: str
) -> None:
    """What the scopes promise of a token that a bot's CI may lose; on the pages, too."""
    for scope in (Scope.SUBMIT, Scope.READ):
        with arena.database.begin() as session:
            owner = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one().owner
            arena.tokens[scope] = add_token(session, ARENA, owner, scope, [scope], now())
    refused = send(arena, "GET", address, Scope.SUBMIT)
    assert (refused.status_code, refused.json["detail"]) == (403, "This token has no scope read.")
    assert send(arena, "GET", address, Scope.READ).status_code in (200, 404)  # kept nowhere: 404
    bearer = {"Authorization": f"Bearer {arena.tokens[Scope.SUBMIT]}"}
    page = address.format(**arena.numbers).replace("/files", ".tar")
    assert arena.client.get(page, headers=bearer).status_code == 403


@pytest.mark.parametrize(
    ("log", "days", "words"),
    [
        ("thinking\n", 0, "thinking\n"),
        ("", 0, "The bot wrote nothing.\n"),
        ("", 91, "Logs are kept for 90 days.\n"),
    ],
)
def test_an_empty_log_says_why(arena: SimpleNamespace, log: str, days: int, words: str) -> None:
    """A game that ended long ago may have had one."""
    game = arena.numbers["trio"]
    with arena.database.begin() as session:
        session.get_one(PlayedGame, game).finished = now() - timedelta(days=days)
        session.get_one(GameSeat, (game, 0)).log = log
        owner = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one().owner
        arena.tokens["reader"] = add_token(session, ARENA, owner, "reads", [Scope.READ], now())
    answer = send(arena, "GET", "/games/{trio}/logs/1", "reader")
    assert (answer.status_code, answer.text) == (200, words)


@pytest.mark.parametrize(
    ("ply", "words"),
    [
        ("{opening}", "hello\n"),  # where its game begins
        ("9", "thinking\n"),
        ("1", "The bot wrote nothing at this ply.\n"),
        ("x", "hello\nply 8: thinking\n"),
    ],
)
def test_a_log_by_plies(arena: SimpleNamespace, ply: str, words: str) -> None:
    """What belongs to a position of the replay, for whom the whole log is."""
    game = arena.numbers["trio"]
    with arena.database.begin() as session:
        session.get_one(GameSeat, (game, 0)).log = "hello\nply 8: thinking\n"
        opening = find_game(session, game)[1].opening
        owner = session.scalars(sa.select(Bot).where(Bot.name == "bot-0")).one().owner
        token = add_token(session, ARENA, owner, "reads", [Scope.READ], now())
    address = f"/games/{game}/logs/1?ply={ply.format(opening=opening)}"
    assert arena.client.get(address).status_code == 302  # to sign in
    answer = arena.client.get(address, headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.text) == (200, words)


@pytest.mark.long
def test_changes_are_limited(arena: SimpleNamespace) -> None:
    """600 an hour of each kind, after which one waits."""
    arena.tokens["hasty"] = arena.tokens["administrator"]
    for _ in range(600):
        answer = send(arena, "POST", "/tests/{ended}/stop", "hasty")
        if answer.status_code == 429:
            break
    answer = send(arena, "POST", "/tests/{ended}/stop", "hasty")
    assert (answer.status_code, answer.mimetype) == (429, "application/problem+json")
    assert int(answer.headers["Retry-After"]) > 0
