"""A course of 60 students in earnest: from a list of names to grades, in a whole arena with real
bots in real boxes, by what teachers and students have: commands, the API and pages.
"""

from __future__ import annotations

import csv
import http.cookiejar
import io
import json
import re
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.cli.client import form_with_file
from arena.ground.db import Database
from arena.models import SCOPES, Role, User
from arena.people import accounts
from tests import postgres
from tests.arena.courses.homework import BROKEN, FIRST, half_copied, program, renamed
from tests.arena.running import RunningArena, arena, short_folder, until
from tests.arena.test_end_to_end import LADDER, furnish_small
from tests.arena.web.signing_in import now
from tests.arena.web.test_unseen import SECRETS, addresses

pytestmark = [pytest.mark.extras, pytest.mark.timeout(3600)]

COUNT = 60
COURSE, MARKING = "ai-1", "ai-1-marking"
MARKS = "random 50% 10\ngreedy share 20\nlate 1h -10%"
TWICE, AGAIN, NOTHING, LATE, BOTH, REFUSED = 3, 13, 55, (56, 57), 58, 59
"""Who hands in twice in time, fields an older version again, hands in nothing, late alone, late
besides, and what is refused."""
COPIES = {(7, 8), (20, 21), (30, 31)}
READER, OTHER = 1, 2
"""The student who looks around, and another."""
PASSWORD = "of one's own choice"


def student(number: int) -> str:
    """What a student is called: as nothing else that pages say."""
    return f"pupil-{number:02}"


def bot(number: int) -> str:
    """What their bot is called."""
    return f"work-of-{student(number)}"


def work(number: int) -> str:
    """What a student hands in."""
    if number == REFUSED:
        return BROKEN
    if number == 31:
        return half_copied(program(30), program(31))
    originals = {copy: original for original, copy in COPIES}
    return renamed(program(originals[number])) if number in originals else program(number)


class Classes:
    """The arena, as its teacher and students speak to it."""

    def __init__(self, running: RunningArena, database: Database) -> None:
        self.running, self.database = running, database
        self.address = f"http://127.0.0.1:{running.port}"
        self.tokens: dict[str, str] = {}

    def operate(self, *words: str) -> str:
        """A command of who runs the arena."""
        return self._command(*words, "--data", str(self.running.data), **self.running.variables)

    def teach(self, *words: str) -> str:
        """A command of the teacher's, far away."""
        its = {"ARENA_SERVER": self.address, "ARENA_TOKEN": self.tokens["teacher"]}
        return self._command(*words, **its)

    def _command(self, *words: str, **variables: str) -> str:
        done = arena(*words, **variables)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def give_token(self, name: str, role: Role = Role.ORGANISER) -> None:
        with self.database.begin() as session:
            user = session.scalars(sa.select(User).where(User.name == name)).one()
            token = accounts.add_token(session, ARENA, user, "course", SCOPES[role], now())
        self.tokens[name] = token

    def ask(self, who: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """What an operation answers somebody."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        headers |= {"Content-Type": kind} if data else {}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                raise AssertionError(self.running.log("web")[-3000:]) from error
            raise

    def visitor(self, name: str) -> Visitor:
        """Somebody at a browser, let in by a link."""
        with self.database.begin() as session:
            user = session.scalars(sa.select(User).where(User.name == name)).one()
            link = f"/reset/{accounts.first_link(session, user, now())}"
        found = Visitor(self.address)
        found.choose_password(link)
        return found

    def hand_in(self, number: int, text: str) -> int:
        """A student hands a program in; gives the number of its check."""
        name = student(number)
        fields = [("ladder", COURSE), ("name", bot(number))]
        kind, body = form_with_file(fields, f"{name}.py", io.BytesIO(text.encode()))
        return int(self.ask(name, "/submissions", body, kind)["number"])

    def is_checked(self, number: int, check: int) -> bool:
        return self.is_over(student(number), check)

    def is_over(self, who: str, check: int) -> bool:
        return self.ask(who, f"/checks/{check}")["passed"] is not None


class Visitor:
    """Somebody at a browser."""

    def __init__(self, address: str) -> None:
        self.address = address
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(cookies)

    def get(self, path: str, fields: dict[str, str] | None = None) -> tuple[int, bytes]:
        """What comes from an address, or when a form is sent there."""
        data = urllib.parse.urlencode(fields).encode() if fields else None
        request = urllib.request.Request(f"{self.address}{path}", data, {"Referer": self.address})
        try:
            with self.opener.open(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def choose_password(self, link: str) -> None:
        """Chooses a password by a link of the teacher's list."""
        found = re.search(rb'name="csrf_token" value="([^"]+)"', self.get(link)[1])
        assert found
        secret = found[1].decode()
        fields = {"csrf_token": secret, "password": PASSWORD, "again": PASSWORD}
        status, page = self.get(link, fields)
        assert status == 200, page


def test_sixty_students_from_a_list_to_grades(postgres_url: str) -> None:
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {what}", flush=True)

    with (
        postgres.database(postgres_url) as url,
        closing(Database(url)) as database,
        short_folder() as folder,
    ):
        furnish_small(database, kept=("random", "greedy"))
        settings = {"ARENA_GAMES": "clobber", "ARENA_LEASE_SECONDS": "60"}
        with RunningArena(folder, ARENA_DATABASE=url, **settings) as running:
            running.start()
            classes = Classes(running, database)
            set_up(classes)
            say("the class is there")
            handed = hand_in(classes)
            say("all was handed in")
            await_marks(classes)
            say("all is marked")
            look_at_grades(classes)
            look_at_likenesses(classes)
            look_at_files(classes, handed)
            say("teacher's work is looked at")
            looked = look_at_the_rest(classes)
            say(f"{looked} addresses were tried as a student")


def set_up(classes: Classes) -> None:
    """The ladder, its teacher, the reference bots, and what everybody is given."""

    def are_there() -> bool:
        there = classes.running.page(f"/api/v1/ladders/{LADDER}/leaderboard")[1]
        return all(f'"{name}"' in there for name in ("random", "greedy"))

    until(are_there, "the reference bots passed their checks", seconds=300, pause=1)
    classes.operate("ladder", "create", COURSE, "--game", "clobber size=4x3", "--move", "2000",
                    "--visibility", "private", "--anonymous", "yes")  # fmt: skip
    for name in (LADDER, COURSE):
        # The machine is to be had for checks and marking alone.
        classes.operate("ladder", "change", name, "state=paused")
    classes.operate("user", "add", "teacher")
    classes.operate("competition", "add-member", COURSE, "teacher", "--role", "organiser")
    classes.give_token("teacher")
    fields = [("ladder", COURSE), ("name", "skeleton")]
    kind, body = form_with_file(fields, "skeleton.py", io.BytesIO(FIRST.encode()))
    check = classes.ask("teacher", "/submissions", body, kind)["number"]
    until(lambda: classes.is_over("teacher", check), "a check", seconds=300, pause=1)
    take_late_ones(classes, datetime.now(UTC) + timedelta(hours=1))


def hand_in(classes: Classes) -> dict[str, dict[int, str]]:
    """The class comes, and hands in until the deadline and after it; gives what counts of each, of
    that in time and of what is late."""
    names = classes.running.data / "names.csv"
    names.write_text("\n".join(["name", *map(student, range(COUNT))]))
    told = classes.teach("competition", "import-members", COURSE, str(names))
    links = {int(one["name"][-2:]): one["link"] for one in csv.DictReader(io.StringIO(told))}
    assert sorted(links) == list(range(COUNT))
    for number, link in links.items():
        if number != NOTHING:
            Visitor(classes.address).choose_password(link)
            classes.give_token(student(number), Role.PARTICIPANT)
    handed: dict[str, dict[int, str]] = {"in time": {}, "late": {}}
    checks = [(TWICE, classes.hand_in(TWICE, program(103)))]
    for number in set(range(COUNT)) - {NOTHING, *LATE}:
        handed["in time"][number] = work(number)
        checks.append((number, classes.hand_in(number, work(number))))
    del handed["in time"][REFUSED]
    # An older version is fielded again, when both have passed.
    (first,) = [check for number, check in checks if number == AGAIN]
    until(lambda: classes.is_checked(AGAIN, first), "a check", seconds=600, pause=1)
    second = classes.hand_in(AGAIN, program(113))
    until(lambda: classes.is_checked(AGAIN, second), "a check", seconds=600, pause=1)
    classes.ask(student(AGAIN), f"/bots/{bot(AGAIN)}/enter", {"version": 1, "ladder": COURSE})
    deadline = datetime.now(UTC) + timedelta(seconds=30)
    classes.teach("date", "set", COURSE, "freeze", deadline.isoformat())
    until(lambda: datetime.now(UTC) > deadline + timedelta(seconds=1), "the deadline")
    for number in (*LATE, BOTH):
        handed["late"][number] = program(200 + number)
        classes.hand_in(number, program(200 + number))
    take_late_ones(classes, datetime.now(UTC))
    with pytest.raises(urllib.error.HTTPError) as refused:
        classes.hand_in(BOTH, program(300))
    assert b"frozen since" in refused.value.read()
    return handed


def take_late_ones(classes: Classes, end: datetime) -> None:
    """Sets until when late ones are taken, with the other rules of the course."""
    classes.teach("course", "set", COURSE, "--references", "random,greedy", "--marks", MARKS,
                  "--cycles", "1", "--late-until", end.isoformat(),
                  "--given", "skeleton")  # fmt: skip


def await_marks(classes: Classes) -> None:
    """Waits until all is played, the second time with what came late."""

    def is_over() -> bool:
        found = classes.ask("teacher", f"/ladders/{COURSE}/course")
        assert found["problem"] == ""
        late = [one["mark"] for one in found["students"] if one["late"]]
        return found["final"] and len(late) == 3 and all(late)

    until(is_over, "all hand-ins are marked", seconds=3000, pause=5)


def look_at_grades(classes: Classes) -> None:
    """Marks are as one counts them oneself, from the games as they are published to the teacher."""
    course = classes.ask("teacher", f"/ladders/{COURSE}/course")
    export = f"{classes.address}/api/v1/games.jsonl?competition={course['marking']}"
    headers = {"Authorization": f"Bearer {classes.tokens['teacher']}"}
    request = urllib.request.Request(export, headers=headers)
    won: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with urllib.request.urlopen(request, timeout=60) as answer:
        for line in answer:
            one, other = json.loads(line)["seats"]
            for own, its in ((one, other), (other, one)):
                point = 0.5 if own["rank"] == its["rank"] else float(own["rank"] < its["rank"])
                won[own["bot"], own["version"]][its["bot"]].append(point)
    told = {one["user"]: one for one in course["students"]}
    assert sorted(told) == list(map(student, range(COUNT)))
    spread = set()
    for number in range(COUNT):
        one = told[student(number)]
        if number in (NOTHING, REFUSED):
            assert one["counts"] is one["mark"] is None
            continue
        its = won[one["counts"]["bot"], one["counts"]["version"]]
        assert {name: len(points) for name, points in its.items()} == {"random": 2, "greedy": 2}
        points = 10 * (sum(its["random"]) >= 1) + 20 * sum(its["greedy"]) / 2
        points *= 0.9 if number in LATE else 1
        assert one["mark"]["points"] == pytest.approx(points), one
        assert (one["counts"]["late_seconds"] > 0) == (number in LATE)
        spread.add(points)
    assert len(spread) > 2
    assert told[student(AGAIN)]["counts"]["version"] == 1
    assert told[student(TWICE)]["counts"]["version"] == 2
    assert told[student(BOTH)]["late"] is not None


def look_at_files(classes: Classes, handed: dict[str, dict[int, str]]) -> None:
    """The archive has what was handed in by the deadline, and nothing else."""
    teacher = classes.visitor("teacher")
    for asked, wanted in (
        ("", handed["in time"]),
        ("?late=yes", handed["in time"] | {n: handed["late"][n] for n in LATE}),
    ):
        status, archive = teacher.get(f"/ladders/{COURSE}/course.tar{asked}")
        assert status == 200
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            texts = {
                one.name: file.read().decode() for one in tar if (file := tar.extractfile(one))
            }
        programs = {name: text for name, text in texts.items() if name.endswith(".py")}
        assert programs == {
            f"{student(number)}/{student(number)}.py": text for number, text in wanted.items()
        }
    status, table = teacher.get(f"/ladders/{COURSE}/course.csv")
    assert status == 200
    rows = list(csv.DictReader(io.StringIO(table.decode())))
    told = classes.ask("teacher", f"/ladders/{COURSE}/course")["students"]
    assert [row["name"] for row in rows] == [one["user"] for one in told]
    for row, one in zip(rows, told, strict=True):
        assert (
            row["mark"] == ""
            if one["mark"] is None
            else (float(row["mark"]) == pytest.approx(one["mark"]["points"], abs=1e-5))
        )
    first, second = (student(number) for number in (7, 8))
    pair = f"/ladders/{COURSE}/course/alike?first={first}&second={second}"
    status, page = teacher.get(pair)
    assert status == 200
    assert b"my_value" in page
    for what in ("course", "course.csv", "course.tar", "course/alike"):
        begun = time.monotonic()
        assert teacher.get(f"/ladders/{COURSE}/{what}")[0] == 200
        print(f"{what} took {time.monotonic() - begun:.2f} s", flush=True)


def look_at_likenesses(classes: Classes) -> None:
    """The copies are found, and nobody else."""

    def is_read() -> bool:
        return classes.ask("teacher", f"/ladders/{COURSE}/course/alike")["waiting"] == 0

    until(is_read, "all hand-ins are read", seconds=300, pause=2)
    found = json.loads(classes.teach("course", "alike", COURSE, "--least", "0", "--json"))
    shares = {(one["first"], one["second"]): one["share"] for one in found["pairs"]}
    copies = {tuple(map(student, pair)) for pair in COPIES}
    print(sorted(shares.values(), reverse=True)[:8])
    assert found["unread"] == []
    assert found["compared"] == COUNT - 2
    assert {pair for pair, share in shares.items() if share > 0.3} == copies


def _said(page: bytes) -> str:
    """What a page says, whenever it is asked for."""
    return SECRETS.sub("", page.decode("latin-1"))


def _called(text: str, others: dict[str, str]) -> str:
    """A text with other names in it."""
    for name, other in others.items():
        text = text.replace(name, other)
    return text


def look_at_the_rest(classes: Classes) -> int:
    """What a student finds of others: nothing that tells how they are marked."""
    reader = classes.visitor(student(READER))
    classes.teach("course", "publish", COURSE)
    course = classes.ask("teacher", f"/ladders/{COURSE}/course")
    marking, nothing = course["marking"], f"{MARKING}-99"
    game = classes.ask("teacher", f"/games?competition={marking}")["items"][0]
    numbers = {"solo": game["number"], "trio": game["number"]}
    numbers |= dict.fromkeys(("played", "running", "waiting", "aside"), game["match"])
    tried = set()
    for address in addresses(numbers):
        for one in (address.replace("ladder-0", COURSE), address.replace("ladder-0", marking)):
            its = one.replace("/cup", f"/{marking}").replace("/somebody", f"/{student(OTHER)}")
            tried |= {its, its.replace("bot-0", bot(OTHER)), its.replace("bot-0", bot(READER))}
    for path in sorted(tried):
        status, page = reader.get(path)
        assert status < 500 or path == "/readyz", (path, status)
        text = _said(page)
        unknown = {marking: nothing, student(OTHER): student(99)}
        if any(name in path for name in unknown):  # it is as one that is not there
            wanted = reader.get(_called(path, unknown))
            assert (status, _called(text, unknown)) == (wanted[0], _said(wanted[1])), path
        else:
            assert marking not in text, path
            assert set(re.findall(r"pupil-\d+", text)) <= {student(READER)}, path
    own = classes.ask(student(READER), f"/ladders/{COURSE}/course")
    assert [one["user"] for one in own["students"]] == [student(READER)]
    its = next(one for one in course["students"] if one["user"] == student(READER))
    assert own["students"][0]["mark"] == its["mark"]
    return len(tried)
