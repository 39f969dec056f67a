"""Every form of every page, filled with what nobody means well by.

The forms are found on the pages of the table of routes, as each kind of person sees them, so that
a new form is tried without being named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import BytesIO
from itertools import islice
from types import SimpleNamespace

import pytest
from werkzeug.test import TestResponse

from tests.arena.web.conftest import Site, furnish
from tests.arena.web.signing_in import Browser
from tests.arena.web.test_access import ROUTES, opened
from tests.conftest import DATABASES
from tests.furnished import furnished_database

MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
HOSTILE = {
    "markup": MARKUP,
    "right to left": "\N{RIGHT-TO-LEFT OVERRIDE}\u0628\u0648\u062a\N{COMBINING ACUTE ACCENT}" * 5,
    "long": "x" * 20_000,
    "nul": "a\0b",
    "lines": "a\r\nSet-Cookie: a=b\r\n\r\n<b>",
    "path": "../../../etc/passwd",
    "template": "{{ config }}${7*7}%s%n",
    "number": "9" * 400,
    "negative": "-1",
    "not a number": "nan",
    "nothing": "",
}
FOR_DATABASES = ("right to left", "long", "nul", "number", "negative")
"""Those of which databases take different views."""
FILE = re.compile(r"\.\w+$")
WITH_FORMS = (
    "/account",
    "/bots/",
    "/checks/",
    "/editor",
    "/ladders/",
    "/matches/",
    "/new-",
    "/operator",
    "/play",
    "/register",
    "/replay",
    "/reset/",
    "/sign-in",
    "/submit",
    "/tests",
    "/tournaments",
    "/users",
)
"""Where the pages with forms are."""
CLOSES = "/operator/maintenance"
"""It has all that follows refused."""
ENDS_SESSIONS = ("/sign-out", "/account/end-sessions")


@dataclass
class Form:
    """A form as it stands on a page."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    is_post: bool = True

    @property
    def takes_text(self) -> bool:
        """Whether anything in it is for people to fill."""
        return not self.fields.keys() <= {"csrf_token"}


class Forms(HTMLParser):
    """The forms of a page; what files they take is left out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page = page
        self.found: list[Form] = []
        self._open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._open = Form(given.get("action") or self.page, {}, given.get("method") == "post")
            self.found.append(self._open)
        elif self._open and tag in ("input", "select", "textarea", "button"):
            name = given.get("name")
            if name and given.get("type") != "file":
                self._open.fields.setdefault(name, given.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


@pytest.fixture(scope="module", params=DATABASES)
def besieged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimpleNamespace]:
    """An arena of its own, for much is changed; with the forms that were filled already.

    In the end the pages that show what came in obey nothing of it.
    """
    folder = tmp_path_factory.mktemp("besieged")
    with furnished_database(request, folder, furnish) as (database, numbers):
        site = Site(database, None, numbers)  # type: ignore[arg-type]
        door = opened(site, folder)
        for limiter in door.app.extensions["limiter"]:
            limiter.enabled = False  # or else most forms would only be told to wait
        door.asked = set()
        yield door
        for address in ("/", "/account", "/users", "/audit", "/operator", "/tests", "/tournaments"):
            answer = door.browsers["administrator"].get(address)
            assert answer.status_code == 200
            assert not obeyed(answer.text)
        door.app.extensions["arena.database"].close()


def forms(browser: Browser, door: SimpleNamespace) -> dict[str, Form]:
    """One of each kind of form that somebody sees."""
    found: dict[str, Form] = {}
    for (method, _), (pattern, _) in ROUTES.items():
        address = pattern.format(**door.numbers)
        if method != "GET" or not pattern.startswith(WITH_FORMS) or FILE.search(pattern):
            continue
        with browser.get(address) as answer:
            if answer.status_code != 200 or answer.mimetype != "text/html":
                continue
            reader = Forms(address)
            reader.feed(answer.text)
        for form in reader.found:
            kind = re.sub(r"\d+", "N", form.action.partition("?")[0])
            if kind in (CLOSES, *ENDS_SESSIONS):
                continue
            found.setdefault(f"{kind} {sorted(form.fields)}", form)
    return found


# Administrators come last: their forms may shut the others out, and make matches void.
SEEN = {
    "anonymous": {"/sign-in", "/register"},
    "other": {"/submit", "/account/tokens", "/account/password", "/play/on/ladder-N"},
    "owner": {"/tests/new", "/bots/bot-N/enter", "/play/N/move", "/play/N/resign"},
    "organiser": {"/new-ladder/clobber", "/new-tournament", "/matches/N/void"},
    "administrator": {"/users/invitations", "/users/other/role", "/operator/matches"},
}
"""Some of the forms that each must have been found to see."""
SEES_NO_MORE = ("other", "organiser")
"""Who has no form that neither an owner nor an administrator has: of the database nothing else is
asked by theirs."""


@pytest.mark.long
@pytest.mark.timeout(300)  # on a busy machine
@pytest.mark.parametrize(
    ("besieged", "kind"),
    [
        *(("sqlite", kind) for kind in SEEN),
        *(("postgresql", kind) for kind in SEEN if kind not in SEES_NO_MORE),
    ],
    indirect=["besieged"],
)
def test_no_form_can_be_broken(besieged: SimpleNamespace, kind: str) -> None:
    """Whatever stands in whichever field: no failure of ours, and nothing of it is obeyed.

    Neither in the answer nor, when all is over, on the pages that show what came in.
    """
    all_of_them = besieged.site.database.engine.dialect.name == "sqlite"
    hostile = {what: HOSTILE[what] for what in (HOSTILE if all_of_them else FOR_DATABASES)}
    asked: set[str] = besieged.asked
    browser: Browser = besieged.browsers[kind]
    secret = browser.secret("/sign-in" if kind == "anonymous" else "/account")
    found = forms(browser, besieged)
    assert {name.partition(" ")[0] for name in found} >= SEEN[kind]
    for name, form in found.items():
        if not form.is_post and name in asked:
            continue  # who it is that only asks makes no difference
        # Nor is what somebody gives read in another way for who is allowed the same after them.
        only_once = name in asked or not form.takes_text
        asked.add(name)
        for what, text in islice(hostile.items(), 1 if only_once else None):
            answer = filled(browser, form, text, secret)
            where = f"{name}, {what}: {answer.status_code}"
            assert answer.status_code < 500, where
            assert "Set-Cookie: a=b" not in str(answer.headers), where
            if answer.mimetype == "text/html":
                assert not obeyed(answer.text), where


def filled(browser: Browser, form: Form, text: str, secret: str) -> TestResponse:
    """What comes of a form with the same text in every field."""
    values = dict.fromkeys(form.fields, text)
    if "csrf_token" in values:
        values["csrf_token"] = secret
    if form.is_post:
        return browser.client.post(form.action, data=values)
    return browser.client.get(form.action, query_string=values)


def obeyed(page: str) -> bool:
    """Whether a page has of the markup what it must not have."""
    return "<script>alert" in page or "<img src=x" in page


# Which database it is matters to nothing that is refused before one is asked.
on_one = pytest.mark.parametrize("besieged", ["sqlite"], indirect=True)


@pytest.mark.long
@on_one
@pytest.mark.parametrize("secret", ["", "forged", "another's"])
def test_no_form_is_taken_without_its_secret(besieged: SimpleNamespace, secret: str) -> None:
    """One that is forged, or was another session's, is refused before anything is looked at."""
    browser: Browser = besieged.browsers["administrator"]
    secrets = {"": "", "forged": "x" * 90, "another's": Browser(besieged.app).secret()}
    found = {}
    for (method, endpoint), (pattern, _) in ROUTES.items():
        if method == "POST" and not pattern.startswith("/api/"):
            address = pattern.format(**besieged.numbers)
            answer = browser.client.post(address, data={"csrf_token": secrets[secret]})
            found[endpoint] = answer.status_code
    # Who is signed in already is led on from there, as whoever it was.
    assert found.pop("accounts.sign_in") == 302
    # Its address is the proof, and this one is none.
    assert found.pop("notifications.unsubscribe") == 404
    assert "administrator" in browser.get("/account").text
    assert found == dict.fromkeys(found, 400)


GUESS = '{"name": "ada", "password": "a guess"}'
FORM = "multipart/form-data"


@on_one
@pytest.mark.parametrize(
    ("kind", "status"), [("application/json", 415), ("application/x+json", 415), (FORM, 400)]
)
def test_a_page_takes_nothing_but_its_form(
    besieged: SimpleNamespace, kind: str, status: int
) -> None:
    """The library would read JSON, too, and a file for a text, past what counts sign-ins."""
    browser: Browser = besieged.browsers["administrator"]
    header = {"X-CSRFToken": browser.secret("/account")}
    found = {}
    for (method, endpoint), (pattern, _) in ROUTES.items():
        if method == "POST" and not pattern.startswith("/api/"):
            sent = {"name": (BytesIO(b"ada"), "ada")} if kind == FORM else GUESS
            address = pattern.format(**besieged.numbers)
            answer = browser.client.post(address, data=sent, content_type=kind, headers=header)
            found[endpoint] = answer.status_code
    assert found == dict.fromkeys(found, status)


def test_an_error_says_what_was_asked_and_obeys_none_of_it(besieged: SimpleNamespace) -> None:
    """Its words come from the address, and may come from elsewhere."""
    answer = besieged.browsers["anonymous"].get("/ladders/<b id=x>")
    assert answer.status_code == 404
    assert "&lt;b id=x&gt;" in answer.text
    assert "<b id=x>" not in answer.text
