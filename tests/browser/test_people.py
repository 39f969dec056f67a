"""What people do at the site: sign in, send a bot by choosing or dropping it, read its findings."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from arena.ground.config import Settings
from arena.models import Check, JobStatus, Ladder
from arena.recorder import recording
from arena.schedule import leases
from engine import reporting
from tests.arena.issuing import issued
from tests.arena.web.signing_in import PASSWORD, person
from tests.browser.conftest import Watched

BOT = "import sys\nfor line in sys.stdin:\n    print('ready', flush=True)\n"
DROP = """({name, text}) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, {type: "text/plain"}));
  const frame = document.querySelector(".drop");
  for (const kind of ["dragenter", "dragover", "drop"]) {
    const how = {dataTransfer: carried, bubbles: true, cancelable: true};
    frame.dispatchEvent(new DragEvent(kind, how));
  }
}"""


def test_signing_in_leads_back(page: Page, site: Watched) -> None:
    """Whoever wants to enter a bot signs in, and is where they wanted to be."""
    page.goto(site.address("/"))
    page.get_by_role("button", name="Enter a bot").click()
    page.get_by_label("Name").fill("other")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(site.address("/submit"))
    expect(page.get_by_role("link", name="other")).to_be_visible()


def test_a_wrong_password_is_told(page: Page, site: Watched) -> None:
    """What was typed as a name survives, and the message is read out."""
    page.goto(site.address("/sign-in"))
    page.get_by_label("Name").fill("other")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("other")
    site.complaints[:] = [each for each in site.complaints if "422" not in each]


@pytest.mark.parametrize("way", ["choose", "drop"])
def test_a_bot_is_sent_and_its_findings_appear(
    owner: Page, site: Watched, tmp_path: Path, way: str
) -> None:
    """The file is named before it is sent; the findings of its check come without a reload."""
    name = f"by-{way}"
    owner.clock.install()
    owner.goto(site.address("/submit"))
    if way == "choose":
        (tmp_path / f"{name}.py").write_text(BOT)
        owner.locator("input[name=file]").set_input_files(tmp_path / f"{name}.py")
    else:
        owner.evaluate(DROP, {"name": f"{name}.py", "text": BOT})
    expect(owner.locator("#chosen")).to_have_text(f"{name}.py, 1 kB")
    expect(owner.get_by_label("Name")).to_have_attribute("placeholder", name)
    owner.get_by_role("button", name="Check and enter it").click()
    expect(owner).to_have_url(re.compile(r"/checks/\d+$"))
    owner.evaluate("window.untouched = true")
    answer(site, int(owner.url.rpartition("/")[2]))
    owner.clock.fast_forward(5_000)
    expect(owner.locator(".findings")).to_contain_text("It answers hello.")
    expect(owner.locator(".findings")).to_contain_text("It said nothing within 2 s.")
    assert owner.evaluate("window.untouched")


def answer(site: Watched, number: int) -> None:
    """The report of a worker on a check, as the recorder takes it."""
    now = datetime.now(UTC)
    with site.database.begin() as session:
        check = session.get_one(Check, number)
        check.status = JobStatus.OPEN
        lease = issued(session, check, Settings(), now).lease
        findings = (
            reporting.Finding(True, "It answers hello.", "hello"),
            reporting.Finding(False, "It said nothing within 2 s.", "ready"),
        )
        report = reporting.CheckReport(lease, "one", findings, "what it wrote to its log")
        assert recording.record_check(session, report, now) is leases.Fate.FIXED


def _fill(folder: Path, name: str, count: int) -> None:
    (folder / name).mkdir(parents=True)
    for number in range(count):
        (folder / name / f"m{number}.py").write_text("x = 1\n")


def test_what_is_no_part_of_a_bot_is_not_sent(owner: Page, site: Watched, tmp_path: Path) -> None:
    """Of a folder that has an environment and a repository beside the bot, as most have.

    As public reports have it of sites to which browsers sent node_modules and .git whole.
    """
    folder = tmp_path / "tidy"
    _fill(folder, ".venv/lib", 1100)
    for name in (".git", "lib", "lib/__pycache__"):
        _fill(folder, name, 2)
    (folder / "bot.py").write_text(BOT)
    owner.goto(site.address("/submit"))
    owner.locator("input[name=folder]").set_input_files(folder)
    expect(owner.locator("#chosen")).to_have_text("3 files, 1 kB; 1104 more are left out")
    sent = owner.evaluate(
        "[...new FormData(document.getElementById('submit')).getAll('folder')].map((f) => f.name)"
    )
    assert sorted(sent) == ["tidy/bot.py", "tidy/lib/m0.py", "tidy/lib/m1.py"]
    owner.get_by_role("button", name="Check and enter it").click()
    expect(owner).to_have_url(re.compile(r"/checks/\d+$"))
    answer = owner.request.get(site.address("/bots/tidy/versions/1.tar"))
    with tarfile.open(fileobj=io.BytesIO(answer.body())) as archive:
        assert {"bot.py", "lib/m0.py", "lib/m1.py"} <= {*archive.getnames()}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_weights_are_sent_in_parts(kind: str, owner: Page, site: Watched, tmp_path: Path) -> None:
    """As far as the ladder grants it, by the digest that the browser makes; or an archive whole."""
    net = bytes(range(251)) * (17 * 2**20 // 251)
    folder = tmp_path / "heavy"
    folder.mkdir()
    (folder / "bot.py").write_text(f"{BOT}# {kind}\n")
    (folder / "net.bin").write_bytes(net)
    with site.database.begin() as session:
        session.execute(sa.update(Ladder).where(Ladder.name == "ladder-0").values(bundle_bytes=0))
    owner.goto(site.address("/submit?ladder=ladder-0"))
    owner.locator("input[name=folder]").set_input_files(folder)
    expect(owner.locator("#chosen")).to_have_text(re.compile("too large: 17.0 MiB.*16 MiB are"))
    with site.database.begin() as session:
        granted = sa.update(Ladder).where(Ladder.name == "ladder-0").values(bundle_bytes=2**29)
        session.execute(granted)
    owner.goto(site.address("/submit?ladder=ladder-0"))
    if kind == "folder":
        owner.locator("input[name=folder]").set_input_files(folder)
    else:
        with tarfile.open(tmp_path / "heavy.tar", "w") as archive:
            archive.add(folder, "heavy")
        owner.locator("input[name=file]").set_input_files(tmp_path / "heavy.tar")
    owner.locator("#submit [name=name]").fill(f"heavy-{kind}")
    owner.get_by_role("button", name="Check and enter it").click()
    expect(owner).to_have_url(re.compile(r"/checks/\d+$"))
    answer = owner.request.get(site.address(f"/bots/heavy-{kind}/versions/1.tar"))
    with tarfile.open(fileobj=io.BytesIO(answer.body())) as archive:
        assert archive.extractfile("net.bin").read() == net


def test_too_many_files_are_told_before_they_are_sent(
    owner: Page, site: Watched, tmp_path: Path
) -> None:
    """With the folder in which they are; what was typed stays."""
    folder = tmp_path / "wide"
    _fill(folder, "data", 1001)
    (folder / "bot.py").write_text(BOT)
    owner.goto(site.address("/submit"))
    owner.locator("#submit [name=note]").fill("a long thought")
    owner.locator("input[name=folder]").set_input_files(folder)
    expect(owner.locator("#chosen")).to_have_text(
        "These are too many: 1002 files, most of them in data, and 1000 are allowed."
    )
    expect(owner.get_by_role("button", name="Check and enter it")).to_be_disabled()
    expect(owner.locator("#submit [name=note]")).to_have_value("a long thought")


@pytest.mark.long
def test_a_passkey_is_made_and_used(site: Watched, object_to: Callable[..., list[str]]) -> None:
    """The browser's own WebAuthn does it: alone, as the second factor, and by keyboard."""
    device = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    # Passkeys hold for names, and a number is none.
    named = site.address("").replace("127.0.0.1", "localhost")
    person(site.database, "keyholder")
    with site.context() as context:
        page = context.new_page()
        cdp = context.new_cdp_session(page)
        cdp.send("WebAuthn.enable")
        cdp.send("WebAuthn.addVirtualAuthenticator", {"options": device})

        def sign_in() -> None:
            page.goto(f"{named}/sign-in?next=/account/safety")
            page.get_by_label("Name").fill("keyholder")
            page.get_by_label("Password").fill(PASSWORD)
            page.keyboard.press("Enter")

        sign_in()
        page.get_by_role("button", name="Make a passkey").press("Enter")
        expect(page.get_by_label("Name")).to_be_focused()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("my device")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        objections = object_to(page)
        page.get_by_role("button", name="I have kept them").press("Enter")
        expect(page.get_by_text("my device")).to_be_visible()
        page.get_by_role("button", name="Sign out").press("Enter")
        page.goto(f"{named}/sign-in?next=/account/safety")
        page.get_by_role("button", name="Use a passkey").press("Enter")
        expect(page).to_have_url(f"{named}/account/safety")
        page.get_by_role("button", name="Sign out").press("Enter")
        expect(page).to_have_url(f"{named}/")
        sign_in()
        expect(page).to_have_url(f"{named}/sign-in/second")
        assert objections + object_to(page) == []
        page.get_by_role("button", name="Use a passkey").press("Enter")
        expect(page).to_have_url(f"{named}/account/safety")
    # That name is another than the one whose addresses are watched.
    site.complaints[:] = [one for one in site.complaints if f"asked {named}/" not in one]
