"""One job from start to end as its page shows it, live: state, log, charts, events, text; and what is done with it."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.jobs import FOR_EVER, plain, training
from tests.e2e.world import World
from trainmaster.core.folders.layout import Layout


@pytest.fixture(scope="module")
def endless(world: World) -> str:
    """A gang of two with a card each that trains until it is stopped."""
    job = training(world, "endless", FOR_EVER, replicas=2, gpu=1, duration="1h", parameters={"busy": 0.02})
    world.until(job, lambda view: view["state"] == "running")
    return job


@pytest.fixture(scope="module")
def done(world: World) -> str:
    """A training that has ended well and left a model."""
    job = training(world, "done", 5, pause=0.02, model={"name": "little"})
    world.until(job, lambda view: view["state"] == "succeeded")
    return job


def test_state_and_progress_change_by_themselves(world: World, console: Console) -> None:
    """R200, R204: nobody reloads: the job goes from running to succeeded under the eyes of who looks."""
    job = training(world, "short", 2000, pause=0.15)
    console.open_job(job)
    console.expect_state("running")
    expect(console.at("tasks")).to_contain_text("trainer-0")
    expect(console.at("timeline")).to_have_count(0)  # a single attempt needs no picture
    expect(console.at("parameters")).to_contain_text("epochs")
    expect(console.at("metric-loss").get_by_test_id("chart")).to_be_visible()
    expect(console.at("last-lines")).to_contain_text("epoch=")
    expect(console.at("where")).to_contain_text("node-")
    expect(console.at("pace")).to_be_visible()
    bar = console.page.get_by_role("progressbar").first.locator(".tm-progress-track")
    expect(bar).to_be_visible()
    assert (bar.bounding_box() or {"width": 0})["width"] > 300
    expect(console.page).to_have_title(re.compile("short · Running"))
    Path(Layout(str(world.home)).outputs(job), "go").touch()
    console.expect_state("succeeded")
    expect(console.at("saved-model").first).to_contain_text("short")
    expect(console.at("stop")).to_have_count(0)
    console.press("tab-events")
    expect(console.at("events").locator("li[data-kind=reaped]")).to_have_count(0)  # of no use to most
    console.press("events-all")
    for kind in ("submitted", "placed", "started", "saved", "reaped"):
        expect(console.at("events").locator(f'li[data-kind="{kind}"]').first).to_be_visible()
    console.press("events-people")
    expect(console.at("events").locator("li")).to_have_count(1)
    expect(console.at("events")).to_contain_text("Submitted")
    console.press("tab-json")
    expect(console.at("document")).to_contain_text("python train.py")
    console.page.get_by_text("OpenPAI", exact=True).click()
    expect(console.at("document")).to_contain_text("taskRoles")


def test_the_log_grows_under_the_eyes(world: World, endless: str, console: Console) -> None:
    """R206-R208: the last line is always another one while it is followed, of either replica."""
    console.open_job(endless, "logs")
    log = console.at("log")
    expect(log).to_contain_text("epoch=")
    expect(console.at("log-follow")).to_have_attribute("aria-pressed", "true")
    seen = log.locator(".tm-log-line").last.inner_text()
    console.page.wait_for_function(
        "old => [...document.querySelectorAll('.tm-log-line')].at(-1)?.innerText !== old", arg=seen
    )
    console.page.wait_for_function(  # a log of a few lines cannot be scrolled
        "() => { const log = document.querySelector('[data-testid=log]'); return log.scrollTop > 400 }"
    )
    log.hover()
    console.page.mouse.wheel(0, -400)  # who scrolls up wants to read
    expect(console.at("log-follow")).to_have_attribute("aria-pressed", "false")
    console.press("log-follow")
    expect(console.at("log-follow")).to_have_attribute("aria-pressed", "true")
    console.choose("log-task", "trainer-1")
    expect(log).to_contain_text("epoch=")
    console.press("log-top")
    expect(log).to_contain_text("training with lr=0.1")


@pytest.mark.parametrize("button", ["log-follow", "log-top"])
def test_who_stops_following_is_not_taken_back_to_the_end(endless: str, console: Console, button: str) -> None:
    """A scroll of the page's own is told after the click, when it is still at the end."""
    console.open_job(endless, "logs")
    expect(console.at("log")).to_contain_text("epoch=")
    console.page.evaluate(
        """async button => {
            const at = name => document.querySelector(`[data-testid=${name}]`);
            const log = at("log");
            log.scrollTop = log.scrollHeight;
            at(button).click();
            await new Promise(done => setTimeout(done));
            log.dispatchEvent(new Event("scroll"));
        }""",
        button,
    )
    expect(console.at("log-follow")).to_have_attribute("aria-pressed", "false")
    if button == "log-top":
        expect(console.at("log")).to_contain_text("training with lr=0.1")


def test_the_log_is_searched_and_downloaded_whole(world: World, done: str, console: Console, tmp_path: Path) -> None:
    """R207, R221: hits are counted and marked; the file is the same to the byte; all logs come as one archive."""
    console.open_job(done, "logs")
    console.at("log-search").fill("epoch=3 ")
    expect(console.at("log-hits")).to_have_text("1 of 1")
    expect(console.at("log").locator("mark")).to_have_text("epoch=3 ")
    console.at("log-search").fill("nowhere to be found")
    expect(console.at("log-hits")).to_have_text("Nothing found")
    console.press("log-download-menu")
    with console.downloading(tmp_path / "task.log"):
        console.press("log-download")
    (log,) = (world.home / "jobs").glob(f"*/{done}/attempts/1/task0-0/log")
    assert (tmp_path / "task.log").read_bytes() == log.read_bytes()
    assert b"epoch=5 of=5" in log.read_bytes()
    console.press("log-download-menu")
    with console.downloading(tmp_path / "all.zip"):
        console.page.get_by_text("All logs (zip)").last.click()
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert any(archive.read(name) == log.read_bytes() for name in archive.namelist())


def test_a_link_leads_to_a_line(done: str, console: Console) -> None:
    """R207: a number is clicked, the link is copied; whoever opens it sees that line marked."""
    console.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    console.open_job(done, "logs")
    console.at("log").get_by_role("button", name="4", exact=True).click()
    console.press("log-link")
    link = console.page.wait_for_function("() => navigator.clipboard.readText()").json_value()  # it is copied after it
    console.page.goto(link)
    expect(console.at("log").locator(".tm-now")).to_contain_text("epoch=3 of=5")


def test_logs_of_a_gang_are_merged_and_side_by_side(endless: str, console: Console) -> None:
    """R207, R208: all replicas by time, each line with whose it is and when it was seen; or each in a pane."""
    console.open_job(endless, "logs")
    console.press("logs-merged")
    merged = console.at("logs-together")
    for who in ("trainer-0", "trainer-1"):
        expect(merged.locator(".tm-log-who", has_text=who).first).to_be_visible()
    console.press("log-times")
    expect(merged.locator(".tm-log-line time").first).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    times = merged.locator(".tm-log-line time").all_inner_texts()
    seen = [time for time in (text.removeprefix("≤") for text in times) if time]
    assert seen == sorted(seen)
    last = merged.locator(".tm-log-line").last.inner_text()
    console.page.wait_for_function(
        "old => [...document.querySelectorAll('.tm-log-line')].at(-1)?.innerText !== old", arg=last
    )
    console.press("logs-side")
    for name in ("task0-0", "task0-1"):
        expect(console.at(f"pane-{name}").get_by_test_id("log")).to_contain_text("epoch=")


def test_a_phone_has_the_tools_of_a_log_in_three_lines(world: World, console: Console) -> None:
    """R206: lines wrap there unless somebody chose otherwise; what takes room is in a menu."""
    job = plain(world, "by-phone", ["bash", "-c", "echo begin; printf 'long %.0s' $(seq 60); echo"])
    world.until(job, lambda view: view["state"] == "succeeded")
    console.page.set_viewport_size({"width": 390, "height": 844})
    console.open_job(job, "logs")
    log = console.at("log")
    expect(log).to_contain_text("long long")
    assert not log.evaluate("e => e.scrollWidth > e.clientWidth")
    bar = console.page.locator(".tm-log-bar").bounding_box()
    assert bar is not None
    assert bar["height"] < 150, bar
    console.press("log-more")
    console.press("log-wrap")
    console.page.wait_for_function("(e) => e.scrollWidth > e.clientWidth", arg=log.element_handle())
    console.page.set_viewport_size({"width": 1440, "height": 900})
    expect(console.at("log-top")).to_be_visible()


def test_failures_are_marked_and_gone_to(world: World, console: Console) -> None:
    """R222: lines that tell of trouble stand out, and one click leads from one to the next."""
    text = "for i in $(seq 1 300); do echo step $i; done; echo ERROR: first; echo fine; echo WARNING: slow; echo end"
    job = plain(world, "marked", ["bash", "-c", text])
    world.until(job, lambda view: view["state"] == "succeeded")
    console.open_job(job, "logs")
    expect(console.at("log").locator('[data-severity="bad"]')).to_have_text(re.compile("ERROR: first"))
    expect(console.at("log").locator('[data-severity="warn"]')).to_have_text(re.compile("WARNING: slow"))
    console.press("log-top")
    console.press("failure-next")
    expect(console.at("log").locator(".tm-now")).to_contain_text("ERROR: first")
    console.press("failure-next")
    expect(console.page.get_by_text("No error after this line.")).to_be_visible()


def test_curves_are_kept_in_the_address_and_taken_away(done: str, console: Console, tmp_path: Path) -> None:
    """R209: the best value, a table and a picture, a zoom with its way back, and a link that shows the same."""
    console.open_job(done, "metrics")
    card = console.at("metric-loss")
    expect(card.get_by_test_id("best")).to_contain_text("lowest")
    expect(console.at("metric-accuracy").get_by_test_id("best")).to_contain_text("highest")
    for kind in ("csv", "png"):
        card.get_by_test_id("chart-export").click()
        with console.downloading(tmp_path / f"loss.{kind}"):
            console.page.locator(f"[data-testid=export-{kind}]:visible").click()
    lines = (tmp_path / "loss.csv").read_text().splitlines()
    assert lines[0] == "name,attempt,task,source,step,time,value"
    assert len(lines) == 1 + 5
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    box = card.locator(".u-over").bounding_box()
    assert box is not None
    console.page.mouse.move(box["x"] + 60, box["y"] + 40)
    console.page.mouse.down()
    console.page.mouse.move(box["x"] + 160, box["y"] + 40, steps=4)
    console.page.mouse.up()
    console.press("zoom-reset")
    expect(console.at("zoom-reset")).to_have_count(0)
    console.press("axis-relative")
    console.choose("choose-metrics", "loss")
    console.page.reload()
    expect(console.at("metric-loss")).to_be_visible()
    expect(console.at("metric-accuracy")).to_have_count(0)
    assert "axis=relative" in console.page.url


def test_a_chart_fills_the_window(done: str, console: Console) -> None:
    """R209: one click, larger by half at least and wholly in sight; Escape leads back to where one was."""
    console.open_job(done, "metrics")
    card = console.at("metric-loss")
    small = card.get_by_test_id("chart").bounding_box()
    card.get_by_test_id("chart-full").click()
    chart = console.page.get_by_role("dialog", name="loss").get_by_test_id("chart")
    expect(chart.locator("canvas")).to_be_visible()
    large = chart.bounding_box()
    assert small is not None
    assert large is not None
    assert large["width"] > 0.85 * 1440
    assert large["height"] > max(0.6 * 900, 1.5 * small["height"])
    assert large["x"] >= 0
    assert large["y"] + large["height"] <= 900
    console.page.keyboard.press("Escape")
    expect(chart).to_have_count(0)
    expect(card.get_by_test_id("chart-full")).to_be_focused()


def test_files_are_looked_at_and_a_folder_is_taken_whole(world: World, console: Console, tmp_path: Path) -> None:
    """R149: a table is shown as one; a folder comes as one archive; a picture is drawn under the strict policy."""
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    text = (
        "mkdir -p /workspace/outputs/run; cd /workspace/outputs/run; printf 'epoch,loss\\n1,0.5\\n' > log.csv; "
        f"echo {pixel} | base64 -d > dot.png"
    )
    job = plain(world, "leaves-files", ["bash", "-c", text])
    world.until(job, lambda view: view["state"] == "succeeded")
    console.open_job(job, "files")
    console.at("folder").filter(has_text="outputs").click()
    console.at("folder").filter(has_text="run").click()
    console.at("file").filter(has_text="log.csv").click()
    expect(console.at("preview").get_by_role("cell", name="0.5", exact=True)).to_be_visible()
    console.page.keyboard.press("Escape")
    expect(console.at("preview")).to_have_count(0)
    console.at("file").filter(has_text="dot.png").click()
    console.page.wait_for_function("() => document.querySelector('[data-testid=preview] img')?.naturalWidth === 1")
    console.page.keyboard.press("Escape")
    with console.downloading(tmp_path / "run.zip"):
        console.press("folder-download")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert {Path(name).name for name in archive.namelist()} >= {"log.csv", "dot.png"}


def test_an_expired_job_says_its_limit_and_offers_longer_ones(world: World, console: Console) -> None:
    """D6: the limit is named once, outputs are said to be kept, and a clone may have twice the time or no limit."""
    job = plain(world, "too-long", "sleep 60", duration="2s")
    world.until(job, lambda view: view["state"] == "expired")
    console.open_job(job)
    expect(console.at("verdict")).to_contain_text("Stopped at its time limit of 2s")
    expect(console.at("verdict")).to_contain_text("outputs so far are kept")
    expect(console.at("remedy-longer_limit")).to_be_visible()
    console.at("remedy-no_limit").get_by_test_id("remedy-clone").click()
    expect(console.at("remedy-change")).to_contain_text("no limit")
    console.press("remedy-edit")
    expect(console.at("copied")).to_contain_text("Time limit")


def test_charts_move(endless: str, console: Console) -> None:
    """R209, R211: metrics and usage get points and are drawn anew while the job runs; the figures change with them."""
    console.open_job(endless, "metrics")
    last = console.at("metric-loss").locator("header b")
    expect(last).to_be_visible()
    before = last.inner_text()
    console.expect_moving("metric-loss")
    expect(console.at("metric-accuracy").get_by_test_id("chart")).to_be_visible()
    console.page.wait_for_function(
        "old => document.querySelector('[data-testid=metric-loss] header b')?.innerText !== old", arg=before
    )
    console.press("tab-usage")
    console.expect_moving("usage-memory_mib")
    expect(console.at("usage-cpu").get_by_test_id("chart")).to_be_visible()


def test_the_duration_is_changed_while_it_runs(world: World, endless: str, console: Console) -> None:
    """R191, R192: a new end by one dialog; bad input is refused there; the processes go on."""
    started = world.show(endless)["attempt_list"][0]["started_at"]
    console.open_job(endless)
    console.press("more")
    console.press("change-duration")
    console.at("duration-input").fill("for ever")
    console.press("change-ok")
    expect(console.page.get_by_text("Enter a time limit such as")).to_be_visible()
    console.at("duration-input").fill("2h30m")
    console.press("change-ok")
    expect(console.at("duration-input")).to_have_count(0)
    expect(console.page.locator(".tm-dotted", has=console.at("job-id"))).to_contain_text("2h 30m")
    view = world.show(endless)
    assert view["duration_s"] == 9000
    assert view["attempts"] == 1
    assert view["attempt_list"][0]["started_at"] == started
    assert view["state"] == "running"


def test_the_cluster_shows_whose_cards_they_are(endless: str, console: Console) -> None:
    """R213: each of the gang's cards is on the page, with a way to its job; and what its engine is and can do."""
    console.open("/cluster")
    engine = console.at("engine-local")
    expect(engine).to_contain_text("this server")
    expect(engine.get_by_test_id("does-attaches")).to_be_visible()
    for node in ("node-1", "node-2"):
        console.press(f"expand-{node}")
    cards = console.page.locator(f'a.tm-card-part[href="/jobs/{endless}"]')
    expect(cards).to_have_count(2)
    expect(console.at("node-node-1")).to_be_visible()
    expect(console.at("node-node-2")).to_be_visible()
    cards.first.click()
    expect(console.at("job-page")).to_have_attribute("data-id", endless)


def test_the_saved_model_is_shown_and_downloaded(done: str, console: Console, tmp_path: Path) -> None:
    """R138, R149: the version, where it came from, and the very file."""
    console.open("/models")
    console.at("model-link").filter(has_text="little").click()
    expect(console.at("model-page")).to_be_visible()
    expect(console.at("version-1")).to_be_visible()
    console.at("files").get_by_role("button", name="model").click()
    console.at("file").filter(has_text="weights.json").click()
    expect(console.at("look-json")).to_contain_text("epochs: 5")
    with console.downloading(tmp_path / "weights.json"):
        console.press("preview-download")
    assert json.loads((tmp_path / "weights.json").read_text())["epochs"] == 5
    console.press("provenance")
    expect(console.at("job-page")).to_have_attribute("data-id", done)


def test_a_copy_is_filled_in_and_started(world: World, done: str, console: Console) -> None:
    """R203: the form of a copy says what the job said; changed and started, it is a job of its own."""
    console.open_job(done)
    console.press("clone")
    expect(console.field("name")).to_have_value("done")
    expect(console.field("roles.0.command")).to_have_value("python train.py")
    box = console.at("kv-roles.0.parameters")
    expect(box.get_by_test_id("kv-key-0")).to_have_value("epochs")
    expect(box.get_by_test_id("kv-value-0")).to_have_value("5")
    console.fill("name", "done-again")
    console.pair("roles.0.parameters", 0, "epochs", "3")
    job = console.start()
    assert job != done
    console.expect_state("succeeded")
    assert world.show(job)["spec"]["roles"][0]["parameters"]["epochs"] == 3


def test_a_second_browser_sees_it_stop(
    world: World, endless: str, console: Console, new_console: Open, signed_in: Path
) -> None:
    """R201: stopped after a question; both browsers show it without a reload; then, and only then, it can be
    deleted.
    """
    other = new_console(cookies=signed_in)
    other.open("/jobs")
    expect(other.row(endless).get_by_test_id("state")).to_have_attribute("data-state", "running")
    console.open_job(endless)
    expect(console.at("delete")).to_have_count(0)
    console.press("stop")
    expect(console.at("confirm")).to_contain_text("endless")
    console.page.keyboard.press("Escape")
    expect(console.at("confirm")).to_have_count(0)
    assert world.show(endless)["state"] == "running"
    console.press("stop")
    console.press("confirm-ok")
    console.expect_state("stopped")
    expect(other.row(endless).get_by_test_id("state")).to_have_attribute("data-state", "stopped")

    console.press("delete")
    console.press("confirm-ok")
    expect(console.at("jobs")).to_be_visible()
    expect(console.row(endless)).to_have_count(0)
    expect(other.row(endless)).to_have_count(0)
