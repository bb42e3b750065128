"""A job listens on another port of the console's host, and somebody opens its page in the browser in which they are
signed in.

The browser gives the job their cookie: cookies know no ports. What the job then has must open no door.
"""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.jobs import FOR_EVER, training
from tests.e2e.world import PASSWORD, World

SPY = Path(__file__).parent / "spy"


@pytest.fixture(scope="module")
def endless(world: World) -> str:
    """The victim's own job: it trains, and says so."""
    return running(world, training(world, "endless", FOR_EVER, cpu=0.25, duration="1h", parameters={"busy": 0.02}))


@pytest.fixture(scope="module")
def done(world: World) -> str:
    """A job of theirs that has left a model."""
    job = training(world, "done", 3, pause=0.02, model={"name": "little"})
    world.until(job, lambda view: view["state"] == "succeeded")
    return job


@pytest.fixture(scope="module")
def spy(world: World) -> str:
    """Somebody else's job, which listens."""
    role = {"name": "spy", "command": "python spy.py", "resources": {"cpu": 0.25, "memory": "64MiB"}}
    return running(world, world.submit({"name": "spy", "code": str(SPY), "roles": [role], "duration": "1h"}))


def running(world: World, job: str) -> str:
    world.until(job, lambda view: view["state"] == "running")
    return job


def said(world: World, job: str, word: str) -> Any:
    """What the job first printed behind this word, once it has."""
    text = ""
    with world.client() as client:
        for piece in client.get(job).logs(follow=True):
            text += piece
            for line in text.split("\n")[:-1]:
                if line.startswith(word + " "):
                    return json.loads(line.partition(" ")[2])
    raise AssertionError(f"the job ended and had not said {word}: {text}")


def visit(world: World, spy: str, console: Console, job: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Open the spy's page in the console's browser; return the headers it received and what its page reports."""
    origin = f"http://127.0.0.1:{said(world, spy, 'PORT')}"
    refusals = ("CORS", "403", "net::ERR_FAILED", "WebSocket connection", "MIME type")
    console.watch.expect(f"request to another origin: {origin}", *refusals)
    page = console.page.context.new_page()
    page.goto(f"{origin}/#{world.url}%20{job}")
    expect(page).to_have_title("reported")
    page.close()
    return said(world, spy, "HEADERS"), said(world, spy, "REPORT")


def doors(job: str, model: str) -> list[str]:
    """One address of every kind that only looks."""
    task = f"/jobs/{job}/attempts/last/tasks/task0-0/log"
    return [
        "/session",
        "/jobs",
        "/tokens",
        f"/jobs/{job}",
        "/feed",
        f"/feed?job={job}",
        task,
        f"{task}/follow",
        f"{task}/download",
        f"/jobs/{job}/logs.zip",
        f"/jobs/{job}/files?path=",
        f"/jobs/{model}/files/download?path=model",
        "/models/little/versions/1/download",
        "/cluster",
    ]


def test_what_a_jobs_page_gets_opens_no_door(world: World, console: Console, spy: str, endless: str, done: str) -> None:
    """R138: the cookie reaches the job, as cookies do; without the key of the console's origin it is worth nothing."""
    console.open_job(endless, "logs")
    headers, report = visit(world, spy, console, endless)
    received = next(value for key, value in headers.items() if key.lower() == "cookie")
    assert "tm_session=" in received  # the attack begins as it is told
    assert report == {"cookie": "", "storage": [], "succeeded": []}

    key = console.page.evaluate("localStorage.getItem('trainmaster.key')")
    assert len(key) >= 43
    assert key not in json.dumps([headers, report])
    api, cookie = world.url + "/api/v1", {"cookie": received}
    with httpx.Client(base_url=api, headers=cookie, trust_env=False, timeout=60) as thief:
        for path in doors(endless, done):
            with thief.stream("GET", path) as answer:
                assert answer.status_code == 401, path
            with thief.stream("GET", path, headers={"x-session-key": key}) as answer:
                assert answer.status_code == 200, path  # so it was the key that was missing
        for method, path in (
            ("POST", "/jobs"),
            ("POST", f"/jobs/{endless}/stop"),
            ("POST", "/tokens"),
            ("POST", "/uploads"),
            ("POST", "/session/ticket"),
            ("POST", "/session/password"),
            ("DELETE", "/session"),
            ("DELETE", f"/jobs/{done}"),
        ):
            assert thief.request(method, path, json={}).status_code == 401, path
    socket = f"{world.url.replace('http', 'ws')}/api/v1/jobs/{endless}/exec"
    with pytest.raises(InvalidStatus) as refused:
        connect(socket, additional_headers={"cookie": received}, origin=world.url, proxy=None)  # type: ignore[arg-type]
    assert refused.value.response.status_code == 401


def test_the_console_itself_goes_on(
    world: World, console: Console, spy: str, endless: str, done: str, tmp_path: Path
) -> None:
    """The list, the live feed, a followed log, every kind of download: in the browser that has been on the job's
    page.
    """
    console.open()
    visit(world, spy, console, endless)
    fresh = training(world, "fresh", 2, pause=0.02)
    expect(console.row(fresh).get_by_test_id("state")).to_have_attribute("data-state", "succeeded")
    console.open_job(endless, "logs")
    seen = console.at("log").locator(".tm-log-line").last.inner_text()
    console.page.wait_for_function(
        "old => [...document.querySelectorAll('.tm-log-line')].at(-1)?.innerText !== old", arg=seen
    )
    console.open_job(done, "logs")
    console.press("log-download-menu")
    with console.downloading(tmp_path / "task.log"):
        console.press("log-download")
    assert b"epoch=3 of=3" in (tmp_path / "task.log").read_bytes()
    console.open_job(done, "json")
    with console.downloading(tmp_path / "job.json"):
        console.press("document-download")
    assert json.loads((tmp_path / "job.json").read_text())["name"] == "done"
    console.open("/models/little")
    with console.downloading(tmp_path / "model.zip"):
        console.press("model-download")
    assert (tmp_path / "model.zip").read_bytes().startswith(b"PK")
    secrets = [console.page.evaluate("localStorage.getItem('trainmaster.key')"), "ticket="]
    assert not [secret for secret in secrets if secret in (world.home / "server.log").read_text()]


def test_tabs_are_signed_in_and_out_together(new_console: Open, signed_in: Path) -> None:
    """The key belongs to the origin: a second tab has it, a reload keeps it, and who signs out in one tab has in
    all.
    """
    console = new_console()
    console.watch.expect("401")
    console.page.goto("/")
    console.at("username").fill("admin")
    console.at("password").fill(PASSWORD)
    console.press("sign-in")
    expect(console.at("feed")).to_have_attribute("data-status", "live")
    other = Console(console.page.context.new_page(), console.watch)
    other.open()
    console.page.reload()
    expect(console.at("feed")).to_have_attribute("data-status", "live")
    console.press("user-menu")
    console.press("sign-out")
    expect(console.at("password")).to_be_visible()
    expect(other.at("password")).to_be_visible()
    other.at("password").fill(PASSWORD)
    other.press("sign-in")
    expect(other.at("feed")).to_have_attribute("data-status", "live")
    expect(console.at("feed")).to_have_attribute("data-status", "live")


def test_a_cookie_from_before_keys_were_asked_for_leads_to_the_sign_in_page(new_console: Open, signed_in: Path) -> None:
    """After an upgrade people sign in once more; nothing breaks, and the old cookie is replaced."""
    console = new_console(cookies=signed_in)
    console.watch.expect("401")
    console.page.goto("/")
    console.page.evaluate("localStorage.removeItem('trainmaster.key')")
    console.page.reload()
    console.at("username").fill("admin")
    console.at("password").fill(PASSWORD)
    console.press("sign-in")
    expect(console.at("feed")).to_have_attribute("data-status", "live")
