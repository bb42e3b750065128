"""Notifications: who hears of what, in the console, by e-mail and by webhook; once, and nothing of what is hidden."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tests.fixtures.people import person
from tests.fixtures.receivers import Mailbox, hooks
from tests.fixtures.two_people import two_people
from tests.scenario.conftest import FarEngine, WatchfulMachines
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.access.visible import NOTHING
from trainmaster.answers import NoticeView
from trainmaster.core.cluster import Budget, Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, RateLimited
from trainmaster.core.folders.room import Use
from trainmaster.queue.forecasting.calibration import _Told
from trainmaster.service.notices import sending, watching
from trainmaster.service.notices.kinds import IDLE, LIMIT, WAITS
from trainmaster.service.use_cases.notices.choosing import Switches
from trainmaster.service.use_cases.notices.webhooks import WantedWebhook
from trainmaster.service.use_cases.people.accounts import NewPerson

LOCAL = {"webhooks": {"allow": ["127.0.0.0/8"], "http": True}}


@pytest.fixture
async def open_stage(tmp_path: Path, machines: WatchfulMachines) -> Any:
    """Fake machines, and webhooks that may go to loopback."""
    async with Stage(tmp_path / "home", LOCAL, engine=lambda: FarEngine(machines)) as stage:
        yield stage


async def heard(stage: Stage, who: Principal, count: int, **wanted: Any) -> list[NoticeView]:
    """Return what somebody was told, newest first, once it is as much."""
    for _ in range(2000):
        page = await stage.platform.notifications.page(who, 100, None, **wanted)
        if len(page.items) >= count:
            return page.items
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited in vain for {count} notifications: {page.items}")


async def until(true: Callable[[], Awaitable[Any]]) -> Any:
    for _ in range(2000):
        if found := await true():
            return found
        await asyncio.sleep(0.02)
    raise AssertionError("waited in vain")


async def a_person(stage: Stage, name: str, workspace: str = "default", role: str = "member") -> Principal:
    await stage.platform.accounts.add(NewPerson(name, workspace=workspace, workspace_role=role), ADMIN)
    return person(name, workspace, role=role)


async def fails(stage: Stage, who: Principal, name: str = "a", **fields: Any) -> str:
    view, _ = await stage.platform.submit({"spec": fake_spec(name, "exit 3", **fields)}, who, None)
    await stage.ended(view.id)
    return str(view.id)


# -- in the console --------------------------------------------------------------------------------------------------


async def test_ends_are_told_to_their_owner_once_and_what_one_did_oneself_is_not(fake: Stage) -> None:
    ann = await a_person(fake, "ann")
    failed = await fails(fake, ann)
    good, _ = await fake.platform.submit({"spec": fake_spec("good", "true", model={"save": False})}, ann, None)
    await fake.ended(good.id)
    theirs, _ = await fake.platform.submit({"spec": fake_spec("theirs", "sleep infinity")}, ann, None)
    await fake.platform.stop(theirs.id, ADMIN)
    mine, _ = await fake.platform.submit({"spec": fake_spec("mine", "sleep infinity")}, ann, None)
    await fake.platform.stop(mine.id, ann)
    last = await fails(fake, ann, "last")
    found = await heard(fake, ann, 4)
    assert [(one.kind, one.job) for one in found] == [
        ("failed", last), ("ended", theirs.id), ("ended", good.id), ("failed", failed),
    ]  # fmt: skip
    assert found[3].text.en == (
        "Job a failed: The command ended with a non-zero exit code (main-0 ended with exit code 3)"
    )
    assert found[1].text.zh == "任务 theirs 已被 admin 停止"
    assert await heard(fake, ADMIN, 0) == []  # others' jobs, though an administrator sees them
    assert (await fake.platform.notifications.unread(ann)).unread == 4
    assert (await fake.platform.notifications.read(ann, [found[0].id])).unread == 3
    assert [one.id for one in await heard(fake, ann, 3, unread=True)] == [one.id for one in found[1:]]
    assert [one.job for one in await heard(fake, ann, 2, kinds=["ended"])] == [theirs.id, good.id]
    assert (await fake.platform.notifications.read(ann, None)).unread == 0


async def test_nobody_reads_or_marks_those_of_others(fake: Stage) -> None:
    ann, bob = await a_person(fake, "ann"), await a_person(fake, "bob")
    await fails(fake, ann)
    [one] = await heard(fake, ann, 1)
    await fake.platform.notifications.read(bob, [one.id])
    await fake.platform.notifications.read(ADMIN, None)
    assert (await fake.platform.notifications.unread(ann)).unread == 1
    assert (await fake.platform.notifications.page(bob, 10, None)).items == []


async def test_the_beginning_of_an_id_will_do_as_for_tokens(fake: Stage) -> None:
    """For whom the notification is; what begins none of theirs is named, and nothing is marked."""
    ann, bob = await a_person(fake, "ann"), await a_person(fake, "bob")
    await fails(fake, ann)
    await fails(fake, ann, "b")
    first, second = await heard(fake, ann, 2)
    read = fake.platform.notifications.read
    assert (await read(ann, [second.id[:8]])).unread == 1
    assert [one.id for one in await heard(fake, ann, 1, unread=True)] == [first.id]
    for who, beginning in ((ann, first.id[:3]), (bob, first.id[:8])):
        with pytest.raises(InvalidSpec) as refused:
            await read(who, [second.id, beginning])
        assert [(one.path, one.value) for one in refused.value.problems] == [("ids.1", beginning)]
    assert (await fake.platform.notifications.unread(ann)).unread == 1
    assert (await read(ann, [second.id, first.id[:4]])).unread == 0


async def test_a_server_that_ends_before_it_told_tells_once_after_its_start(fake: Stage) -> None:
    fake.platform.context.notices.teller.tell_new = lambda: asyncio.sleep(3600)  # type: ignore[method-assign]
    ann = await a_person(fake, "ann")
    job = await fails(fake, ann)
    assert (await fake.platform.notifications.page(ann, 10, None)).items == []
    await fake.restart()
    assert [one.job for one in await heard(fake, ann, 1)] == [job]
    await fake.restart()
    again = await fails(fake, ann)
    assert [one.job for one in await heard(fake, ann, 2)] == [again, job]


async def test_a_switch_decides_and_the_feed_tells_whom_it_concerns(fake: Stage) -> None:
    ann = await a_person(fake, "ann")
    after = await fake.platform.choosing.change(ann, {"failed": Switches(console=False)})
    assert (after.kinds["failed"].console, after.kinds["ended"].console) == (False, True)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.choosing.change(ann, {"fails": Switches(), "sleeps": Switches()})
    assert [one.path for one in refused.value.problems] == ["kinds.fails", "kinds.sleeps"]
    items = fake.platform.feed.subscribe(NOTHING, fake.platform.feed.seq, person="ann")
    waiting = asyncio.ensure_future(anext(items))
    others = fake.platform.feed.subscribe(NOTHING, fake.platform.feed.seq, person="bob", idle_s=0.5)
    elsewhere = asyncio.ensure_future(anext(others))
    await fails(fake, ann)
    good, _ = await fake.platform.submit({"spec": fake_spec("good", "true", model={"save": False})}, ann, None)
    assert [one.job for one in await heard(fake, ann, 1)] == [good.id]
    assert (await waiting).event == "notices"
    assert (await elsewhere).event == "idle"
    await items.aclose()  # type: ignore[attr-defined]
    await others.aclose()  # type: ignore[attr-defined]


async def test_who_was_preempted_or_waits_longer_than_foreseen_hears_of_it_once(fake: Stage) -> None:
    first, second, _ = await two_people(fake)  # the job `gives` of the first made room for the second's
    found = await heard(fake, first.who, 1, kinds=["preempted"])
    assert [one.job for one in found] == [first.jobs["gives"]]
    assert second.name not in found[0].text.en + found[0].text.zh
    watch, clock, waits = fake.platform.context.notices.watch, fake.platform.context.clock, first.jobs["waits"]
    told = fake.platform.context.forecasts.calibration
    told._told[waits] = _Told(clock(), 60.0, clock() + 60.0)
    watch.expected(waits, told.until(waits))
    assert watch._timers._at[f"waits {waits}"] == pytest.approx(clock() + 60 + watching.SLACK_S, abs=30)
    watch._due(f"waits {waits}")  # too early
    fake.let_pass(60 + watching.SLACK_S + 1)
    watch._timers._fire()
    [late] = await heard(fake, first.who, 1, kinds=[WAITS])
    assert (late.job, late.kind) == (waits, "waits")
    watch._due(f"waits {waits}")
    await asyncio.gather(*watch._telling)
    assert len(await heard(fake, first.who, 1, kinds=[WAITS])) == 1


async def test_a_time_limit_that_is_near_is_told_once_for_each_limit(fake: Stage) -> None:
    ann = await a_person(fake, "ann")
    view, _ = await fake.platform.submit({"spec": fake_spec("a", "sleep infinity", duration=3600)}, ann, None)
    await fake.running(view.id)
    watch = fake.platform.context.notices.watch
    assert watch._timers._at[f"limit {view.id}"] == pytest.approx(fake.clock() + 3600 - watching.LEAD_S, abs=60)
    fake.let_pass(3600 - watching.LEAD_S + 10)
    watch._timers._fire()
    [near] = await heard(fake, ann, 1, kinds=[LIMIT])
    assert "14m" in near.text.en
    await fake.platform.change(view.id, ann, duration_s=7200.0)
    assert f"limit {view.id}" in watch._timers._at
    fake.let_pass(3600)
    watch._timers._fire()
    assert len(await heard(fake, ann, 2, kinds=[LIMIT])) == 2


async def test_gpus_that_do_nothing_for_half_an_hour_are_told_once(fake: Stage) -> None:
    ann = await a_person(fake, "ann")
    document = fake_spec("a", "sleep infinity", resources={"gpu": 2})
    view, _ = await fake.platform.submit({"spec": document}, ann, None)
    await fake.running(view.id)
    watch = fake.platform.context.notices.watch
    path = Path(fake.platform.layout.task(view.id, 1, 0, 0).usage)
    path.parent.mkdir(parents=True, exist_ok=True)

    async def minute(gpu: float | None) -> None:
        fake.let_pass(60)
        with path.open("a") as file:
            file.write(json.dumps([fake.clock(), 1, 1, 0, 0, None, None, gpu, 1, 1]) + "\n")
        await watch.look()

    for _ in range(20):
        await minute(0.0)
    await minute(0.9)
    path.write_text("")
    for _ in range(29):
        await minute(0.0)
    assert await heard(fake, ann, 0, kinds=[IDLE]) == []  # since it did something, not since it began
    for _ in range(5):
        await minute(0.0)
    [idle] = await heard(fake, ann, 1, kinds=[IDLE])
    assert idle.text.en.startswith("Job a holds 2 GPUs that have done nothing for 3")
    await minute(0.0)
    assert len(await heard(fake, ann, 1, kinds=[IDLE])) == 1


async def test_a_budget_is_told_to_who_leads_the_workspace_and_hidden_from_who_left(fake: Stage) -> None:
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    lead = await a_person(fake, "lead", "vision", "owner")
    ann = await a_person(fake, "ann", "vision")
    await fake.platform.balances.set_budget(Budget("vision", None, 10_000_000, (50,)), ADMIN)
    await fake.platform.balances.enter("vision", ADMIN, "correction", -6_000_000, "moved")
    await fake.platform.balances.tell_alarms()
    watch = fake.platform.context.notices.watch
    await watch.look()
    [told] = await heard(fake, lead, 1)
    assert (told.kind, told.workspace) == ("budget", "vision")
    await watch.look()
    assert len(await heard(fake, lead, 1)) == 1
    assert await heard(fake, ann, 0) == []
    left = person("lead", "default")
    assert (await fake.platform.notifications.page(left, 10, None)).items == []
    assert (await fake.platform.notifications.unread(left)).unread == 0


async def test_a_storage_quota_is_told_once_to_who_leads_and_to_whose_it_is(fake: Stage) -> None:
    quota = Workspace("vision", storage={"mib": 10}, storage_per_person={"files": 5})
    await fake.platform.administer.put_workspace(quota, ADMIN)
    lead = await a_person(fake, "lead", "vision", "owner")
    ann = await a_person(fake, "ann", "vision")
    watch, kept = fake.platform.context.notices.watch, fake.platform.context.kept
    await watch.look()
    assert kept.hold("a", ("vision", "ann"), Use(8 << 20, 4)) is None
    await watch.look()
    await watch.look()
    [told] = await heard(fake, lead, 1)
    assert (told.kind, told.workspace) == ("storage", "vision")
    assert told.text.en == "80% of what workspace vision may keep are taken: 8MiB of 10MiB"
    [mine] = await heard(fake, ann, 1)
    assert mine.text.en == "80% of the files that user ann in workspace vision may keep are there: 4 of 5"
    assert kept.hold("a", ("vision", "ann"), Use(10 << 20, 4)) is None
    await watch.look()
    kept.let_go("a")
    await watch.look()
    assert kept.hold("a", ("vision", "ann"), Use(9 << 20, 4)) is None
    await watch.look()
    assert [one.text.en[:4] for one in await heard(fake, lead, 2)] == ["100%", "80% "]
    assert len(await heard(fake, ann, 1)) == 1


async def test_of_a_person_the_newest_are_kept(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainmaster.store.notices.rows.MOST", 3)
    ann = await a_person(fake, "ann")
    jobs = [await fails(fake, ann, f"j{nth}") for nth in range(5)]
    await until(lambda: _newest(fake, ann, jobs[-1]))
    assert [one.job for one in await heard(fake, ann, 3)] == jobs[:1:-1]


async def _newest(stage: Stage, who: Principal, job: str) -> bool:
    found = await heard(stage, who, 0)
    return bool(found) and found[0].job == job


# -- webhooks --------------------------------------------------------------------------------------------------------


def verify(came: Any, secret: str) -> None:
    """Check a message as the specification's own libraries do."""
    signed = f"{came.headers['webhook-id']}.{came.headers['webhook-timestamp']}.".encode() + came.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert came.headers["webhook-signature"] == f"v1,{wanted}"


async def test_a_webhook_is_signed_repeated_after_500_and_listed(
    open_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "PAUSES_S", (0.1,) * 9)
    ann = await a_person(open_stage, "ann")
    async with hooks(500, 200) as receiver:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(receiver.url, "mine"))
        job = await fails(open_stage, ann)
        first, second = (await receiver.until(2))[:2]
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    verify(second, made.secret)
    assert (second.json["type"], second.json["data"]["job"]["id"]) == ("job.failed", job)
    assert second.json["data"]["verdict"] == "exit_code"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", second.json["timestamp"])

    async def sent() -> Any:
        [one] = (await open_stage.platform.webhooks.deliveries(ann, made.id[:7])).items
        return one if one.state == "sent" else None

    done = await until(sent)
    assert (done.tries, done.status, done.error) == (2, 200, None)
    assert (await open_stage.platform.webhooks.all(ann)).items[0].failures == 0


async def test_a_receiver_that_is_dead_is_switched_off_and_its_owner_hears_of_it(
    open_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "PAUSES_S", (0.02,) * 9)
    ann = await a_person(open_stage, "ann")
    async with hooks(503) as receiver:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(receiver.url))
        await fails(open_stage, ann)
        [told] = await heard(open_stage, ann, 1, kinds=["webhook"])
    assert "10 deliveries in a row failed, the last one with: status 503" in told.text.en
    [broken] = (await open_stage.platform.webhooks.all(ann)).items
    assert (broken.state, broken.failures) == ("broken", 10)
    assert len(receiver.came) == 10
    async with hooks(200) as better:
        after = await open_stage.platform.webhooks.change(ann, made.id[:7], url=better.url, on=True)
        assert (after.state, after.failures, after.error) == ("on", 0, None)
        await fails(open_stage, ann, "b")
        await better.until(1)


async def test_a_slow_receiver_delays_no_other_and_is_given_up_in_time(
    open_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_stage.platform.context.notices.sender._poster, "_patience_s", 0.5)
    ann, bob = await a_person(open_stage, "ann"), await a_person(open_stage, "bob")
    async with hooks(None) as slow, hooks(200) as quick:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(slow.url))
        await open_stage.platform.webhooks.add(bob, WantedWebhook(quick.url))
        await fails(open_stage, ann)
        await slow.until(1)
        await fails(open_stage, bob)
        await quick.until(1)

        async def failed() -> Any:
            [one] = (await open_stage.platform.webhooks.deliveries(ann, made.id)).items
            return one if one.error is not None else None

        assert (await until(failed)).error.en == "no answer within 0.5s"


async def test_no_redirect_is_followed(open_stage: Stage) -> None:
    ann = await a_person(open_stage, "ann")
    async with hooks(302) as receiver:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(receiver.url))
        done = await open_stage.platform.webhooks.test(ann, made.id[:7])
    assert (done.state, done.status) == ("failed", 302)
    assert done.error is not None
    assert done.error.en == "a redirect (status 302), which is not followed"
    assert [one.path for one in receiver.came] == ["/hook"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://127.0.0.1/x", "webhook_number_refused"),
        ("https://localhost:9000/x", "webhook_address_refused"),
        ("https://169.254.169.254/latest", "webhook_number_refused"),
        ("https://10.1.2.3/", "webhook_number_refused"),
        ("https://[::1]/", "webhook_number_refused"),
        ("https://[::ffff:10.0.0.1]/", "webhook_number_refused"),
        ("https://0.0.0.0/", "webhook_number_refused"),
        ("https://224.0.0.1/", "webhook_number_refused"),
        ("http://example.org/", "webhook_not_https"),
        ("ftp://example.org/", "webhook_not_https"),
        ("https://ann:secret@127.0.0.1/", "webhook_with_credentials"),
        ("https:///path", "webhook_not_url"),
        ("https://127.0.0.1/#x", "webhook_with_fragment"),
    ],
)
async def test_what_is_no_good_receiver_is_refused_with_the_field(fake: Stage, url: str, code: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.webhooks.add(ADMIN, WantedWebhook(url, kinds=("failed", "sleeps")))
    found = {one.path: one.code for one in refused.value.problems}
    assert found == {"url": code, "kinds.1": "no_such_notice_kind"}
    assert "secret" not in str([one.to_json() for one in refused.value.problems])


async def test_a_webhook_of_a_workspace_is_its_leaders_and_ends_with_their_role(open_stage: Stage) -> None:
    await open_stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    lead = await a_person(open_stage, "lead", "vision", "admin")
    ann = await a_person(open_stage, "ann", "vision")
    eve = await a_person(open_stage, "eve")
    webhooks = open_stage.platform.webhooks
    async with hooks(200) as receiver:
        wanted = WantedWebhook(receiver.url, "team", "vision", ("failed",))
        for stranger in (ann, eve):
            with pytest.raises((Forbidden, NotFound)):
                await webhooks.add(stranger, wanted)
        made = await webhooks.add(lead, wanted)
        for stranger in (ann, eve):
            for asked in (webhooks.deliveries, webhooks.test, webhooks.drop):
                for ref in (made.id, made.id[:7]):
                    with pytest.raises(NotFound):
                        await asked(stranger, ref)
        job = await fails(open_stage, ann, "canary", workspace="vision")
        [came] = (await receiver.until(1))[:1]
        assert came.json["data"]["job"] == {"id": job, "name": "canary", "owner": "ann"}
        await open_stage.platform.members.put("vision", "lead", "member", ADMIN)
        await fails(open_stage, ann, "hidden", workspace="vision")
        async with hooks(200) as mark:
            await webhooks.add(ann, WantedWebhook(mark.url))
            await fails(open_stage, ann, "after", workspace="vision")
            await mark.until(1)  # what came before it was told, too, or never will be
        assert len(receiver.came) == 1


async def test_what_waits_is_not_sent_to_who_may_see_it_no_more(
    open_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy is asked when it is sent, not only when it happened."""
    monkeypatch.setattr(sending, "PAUSES_S", (0.3,) * 9)
    await open_stage.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    lead = await a_person(open_stage, "lead", "vision", "admin")
    ann = await a_person(open_stage, "ann", "vision")
    async with hooks(500, 200) as receiver:
        made = await open_stage.platform.webhooks.add(lead, WantedWebhook(receiver.url, "", "vision"))
        await fails(open_stage, ann, "canary", workspace="vision")
        await receiver.until(1)
        await open_stage.platform.members.put("vision", "lead", "viewer", ADMIN)

        async def dropped() -> Any:
            found = await asyncio.to_thread(
                open_stage.platform.context.notices.tables.deliveries.newest, "webhook", [made.id]
            )  # fmt: skip
            return found[0] if found and found[0].state == "dropped" else None

        assert (await until(dropped)).error.code == "delivery_not_visible"
        assert len(receiver.came) == 1


async def test_tests_are_limited(open_stage: Stage) -> None:
    ann = await a_person(open_stage, "ann")
    async with hooks(200) as receiver:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(receiver.url, "mine"))
        found = await asyncio.gather(
            *(open_stage.platform.webhooks.test(ann, made.id) for _ in range(50)), return_exceptions=True
        )
    assert sum(isinstance(one, RateLimited) for one in found) == 40
    assert len(receiver.came) == 10
    verify(receiver.came[0], made.secret)
    assert receiver.came[0].json["type"] == "test"


# -- mails -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def mailing(tmp_path: Path, machines: WatchfulMachines) -> Any:
    """The platform with a real mail server: STARTTLS with a certificate of its own authority, name and password."""
    cert, key, password = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "password"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(cert), "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    password.write_text("opensesame\n")
    import ssl

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(cert, key)

    def signs_in(server: Any, session: Any, envelope: Any, mechanism: str, auth: Any) -> AuthResult:
        return AuthResult(success=(auth.login, auth.password) == (b"trainmaster", b"opensesame"))

    box = Mailbox()
    server = Controller(
        box, hostname="localhost", port=0, tls_context=tls, require_starttls=True, authenticator=signs_in,
        auth_required=True,
    )  # fmt: skip
    await asyncio.to_thread(_start, server)
    config = {
        "mail": {
            "host": "localhost", "port": server.port, "user": "trainmaster", "password_file": str(password),
            "sender": "tm@example.org", "ca": str(cert), "link": "https://train.example.org",
        },
    }  # fmt: skip
    try:
        async with Stage(tmp_path / "home", config, engine=lambda: FarEngine(machines)) as stage:
            yield stage, box
    finally:
        await asyncio.to_thread(server.stop)


def _start(server: Controller) -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server.port = free.getsockname()[1]
    server.hostname = "127.0.0.1"
    server.start()


async def confirmed(stage: Stage, box: Mailbox, who: Principal, address: str, language: str = "en") -> None:
    had = len(box.mails)
    asked = await stage.platform.choosing.ask(who, address, language)
    assert (asked.asked, asked.address) == (address, None)
    to, mail = (await box.until(had + 1))[-1]
    assert to == [address]
    code = re.search(r"\b\d{6}\b", mail.get_content())
    assert code is not None
    assert (await stage.platform.choosing.confirm(who, code[0])).address == address


async def test_no_mail_goes_anywhere_before_the_code_came_back(mailing: tuple[Stage, Mailbox]) -> None:
    stage, box = mailing
    ann = await a_person(stage, "ann")
    for bad in ("ann", "ann@", "a b@example.org", "ann@example.org\nBcc: eve@example.org", "安@example.org"):
        with pytest.raises(InvalidSpec):
            await stage.platform.choosing.ask(ann, bad)
    await stage.platform.choosing.ask(ann, "ann@example.org")
    wrong = await asyncio.gather(
        *(stage.platform.choosing.confirm(ann, "no") for _ in range(50)), return_exceptions=True
    )
    assert sum(isinstance(one, InvalidSpec) for one in wrong) == 5  # then the code is worth nothing
    code = re.search(r"\b\d{6}\b", box.mails[0][1].get_content())
    assert code is not None
    with pytest.raises(Conflict):
        await stage.platform.choosing.confirm(ann, code[0])
    await fails(stage, ann)
    assert len(box.mails) == 1
    await confirmed(stage, box, ann, "ann@example.org")
    found = await asyncio.gather(
        *(stage.platform.choosing.ask(ann, "ann@example.org") for _ in range(10)), return_exceptions=True
    )
    assert sum(isinstance(one, RateLimited) for one in found) == 7


async def test_what_comes_together_becomes_one_mail_in_the_language_chosen(mailing: tuple[Stage, Mailbox]) -> None:
    stage, box = mailing
    ann, bob = await a_person(stage, "ann"), await a_person(stage, "bob")
    await confirmed(stage, box, ann, "ann@example.org", "zh")
    await confirmed(stage, box, bob, "bob@example.org")
    jobs = [await fails(stage, ann, name) for name in ("one", "two")]
    await fails(stage, bob, "canary")
    await heard(stage, ann, 2)
    await heard(stage, bob, 1)
    assert len(box.mails) == 2  # the codes: mails wait for what else happens
    stage.let_pass(60)
    stage.platform.context.notices.sender.wake()
    mails = {to[0]: mail for to, mail in (await box.until(4))[2:]}
    assert mails["ann@example.org"]["Subject"] == "[Trainmaster] 2 条通知"
    text = mails["ann@example.org"].get_content()
    assert "任务 one 失败：命令返回非零退出码" in text
    assert all(f"https://train.example.org/jobs/{job}" in text for job in jobs)
    assert "canary" not in text
    assert mails["bob@example.org"]["Subject"].startswith("[Trainmaster] Job canary failed")
    # the next one waits until five minutes have passed since
    await fails(stage, ann, "three")
    await heard(stage, ann, 3)
    [waiting] = stage.platform.context.notices.tables.deliveries.waiting_for("mail", "ann")
    assert waiting.next_at > stage.clock() + 200


async def test_a_mail_that_is_refused_for_good_is_shown_and_not_repeated(mailing: tuple[Stage, Mailbox]) -> None:
    stage, box = mailing
    ann = await a_person(stage, "ann")
    await confirmed(stage, box, ann, "ann@example.org")
    box.refuse = "550 No such mailbox"
    await fails(stage, ann)
    await heard(stage, ann, 1)
    stage.let_pass(60)
    stage.platform.context.notices.sender.wake()

    async def shown() -> Any:
        return (await stage.platform.choosing.settings(ann)).trouble

    assert "550" in (await until(shown)).text.en
    assert stage.platform.context.notices.tables.deliveries.waiting_for("mail", "ann") == []
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.choosing.ask(ann, "other@example.org")
    assert refused.value.problems[0].path == "address"


async def test_who_is_deleted_leaves_no_address_and_no_webhook(open_stage: Stage) -> None:
    ann = await a_person(open_stage, "ann")
    async with hooks(200) as receiver:
        made = await open_stage.platform.webhooks.add(ann, WantedWebhook(receiver.url))
    await fails(open_stage, ann)
    await heard(open_stage, ann, 1)
    await open_stage.platform.accounts.delete("ann", ADMIN, "stop")
    tables = open_stage.platform.context.notices.tables
    assert tables.webhooks.find(made.id) is None
    assert tables.settings.of(["ann"]) == {}
    assert (await open_stage.platform.notifications.page(ann, 10, None)).items == []
