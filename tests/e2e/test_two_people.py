"""A laboratory in browsers: an owner invites by a link, sets a flavor and a quota; a member submits and shares; another
one looks, clones, and cannot stop; the administrator closes sharing (R2, R9, R20, R57, R204, R223 to R228).

What the manual's page on sharing names stands here by its name: the three levels, the eight things that others may do
with a job, and the administrator's switch. Each is tried as somebody sees it, and asked of the API as well. That a job
is shared no further than what it uses (应用访问权限不得高于资源访问权限): test_choosing_jobs.py.
"""

import json
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_people import come_in
from tests.e2e.world import PASSWORD, World

LOOKS: Final = {
    "查看详情": "job-page",
    "克隆": "clone",
    "创建开发环境": "session",
    "创建 TensorBoard": "tab-metrics",
}
"""What the manual's page names and who may read does -> where the console has it. Curves of TensorBoard files are on
the job's own page.
"""
ACTS: Final = {
    "调整使用时长": "change-duration",
    "调整优先级": "change-priority",
    "停止": "stop",
    "删除": "delete",
}
"""What changes a job."""
LEVELS: Final = {
    "只读": ("read", "Others may look and clone", {*LOOKS}),
    "可读写": ("read-write", "Others may also change and stop it", {*LOOKS, *ACTS}),
    "不可读写": ("none", "Nobody else sees it", set[str]()),
}
"""Each level of the manual: as it is stored, as the console calls it, what others may do."""
SLEEPS: Final = "sleep infinity"


@pytest.mark.timeout(900)  # four browsers and all that a laboratory does in a day
def test_a_laboratory_shares_its_work(world: World, console: Console, new_console: Open) -> None:
    olga = owner_of_a_new_workspace(console, new_console)
    mia, ned = (join(new_console, link, name, language) for name, link, language in invitations(olga))
    assert {one["user"]: one["role"] for one in world.members("vision")} == {
        "olga": "owner", "mia": "member", "ned": "member",
    }  # fmt: skip
    offer_a_flavor(olga)
    set_quota(olga, "1")

    over = submit(mia, "over", "bash -c 'echo loss=0.5'")
    mia.expect_state("succeeded")
    lasts = submit(mia, "lasts", "bash -c 'echo ready; sleep infinity'")
    mia.expect_state("running")
    assert world.show(lasts)["workspace"] == "vision"

    look_and_clone(world, olga, ned, lasts)
    waits = submit(mia, "waits", SLEEPS)
    mia.expect_state("queued")
    for level, (share, label, may) in LEVELS.items():
        for job in (waits, over):
            mia.open_job(job)
            if world.show(job)["share"] != share:
                mia.choose("share", label)
                world.until(job, lambda view: view["share"] == share)  # noqa: B023
        assert offered(ned, waits) | offered(ned, over) == may, level
        for name, status in asked(ned, waits, over).items():
            assert status == (200 if name in may else 404 if not may else 403), (level, name)

    close_and_open_sharing(world, console, mia, ned, lasts)
    act_on(world, mia, ned, waits)


# -- the owner -------------------------------------------------------------------------------------------------------


def owner_of_a_new_workspace(console: Console, new_console: Open) -> Console:
    """Prices and quotas are decided by administrators of the platform: the owner of this laboratory is one."""
    console.open("/admin?tab=workspaces")
    console.press("workspace-add")
    console.at("admin-name").fill("vision")
    console.press("admin-save")
    expect(console.at("members-vision")).to_be_visible()
    console.press("admin-users")
    console.press("user-add")
    console.at("user-name").fill("olga")
    console.choose("user-workspace", "vision")
    console.choose("user-role", "owner")
    console.page.get_by_role("switch", name="Platform administrator").click()
    console.press("admin-save")
    one_time = console.at("one-time-password").inner_text()
    console.press("once-done")
    return come_in(new_console, "olga", one_time)


def invitations(owner: Console) -> list[tuple[str, str, str]]:
    """Make a link for each of two people; return name, link and language of each."""
    owner.open("/admin?tab=workspaces")
    owner.press("members-vision")
    owner.press("invite")
    owner.press("invite-make")
    first = owner.at("invite-link").inner_text().strip()
    owner.press("invite-make")
    expect(owner.at("invite-link")).not_to_contain_text(first)
    second = owner.at("invite-link").inner_text().strip()
    owner.page.keyboard.press("Escape")
    return [("mia", first, "en-GB"), ("ned", second, "zh-CN")]


def join(new_console: Open, link: str, name: str, language: str) -> Console:
    """Open the link in a browser of their own, choose name and password; be on the first page."""
    person = new_console(language=language)
    person.watch.expect("401", "403", "404")
    person.page.goto(link)
    person.at("join-name").fill(name)
    person.at("join-password").fill(PASSWORD)
    person.at("join-again").fill(PASSWORD)
    person.press("join")
    expect(person.at("first-job")).to_be_visible()
    return person


def offer_a_flavor(owner: Console) -> None:
    owner.open("/admin?tab=flavors")
    owner.choose(owner.page.locator(".tm-admin-filter .ant-select"), "vision")
    owner.press("flavor-add")
    owner.at("admin-name").fill("small")
    owner.page.locator("#cpu").fill("0.5")
    owner.page.locator("#memory_mib").fill("256")
    owner.at("flavor-gpu").fill("1")
    owner.at("flavor-price").fill("3.60")
    owner.press("admin-save")
    expect(owner.page.get_by_text("3.60", exact=True)).to_be_visible()


def set_quota(owner: Console, gpus: str) -> None:
    """So many GPUs for the workspace, and one for each person in it."""
    owner.open("/admin?tab=workspaces")
    owner.press("edit-vision")
    expect(owner.at("quota-add")).to_be_visible()
    rows = owner.page.locator(".tm-quota-edit")
    if rows.count() == 0:
        owner.press("quota-add")
        owner.press("personal-add")
        owner.at("personal-most").fill("1")
    for at in range(2):  # what it is entitled to, and how much at most
        rows.first.get_by_role("spinbutton").nth(at).fill(gpus)
    owner.press("admin-save")
    expect(owner.page.locator(".tm-quota-edit")).to_have_count(0)
    row = owner.page.get_by_role("row").filter(has=owner.at("members-vision"))
    expect(row).to_contain_text(f"/ {gpus}")
    expect(row.get_by_test_id("personal-limit")).to_contain_text("1")


# -- the member ------------------------------------------------------------------------------------------------------


def submit(member: Console, name: str, command: str) -> str:
    """Submit a job of the flavor, which others may look at; return its id."""
    member.open("/")
    member.press("new-job")
    member.fill("name", name)
    member.fill("roles.0.command", command)
    member.press("use-flavors")
    expect(member.page.locator('[data-path="roles.0.flavors"]')).to_contain_text("small")
    member.choose("field-share", LEVELS["只读"][1])
    return member.start()


def look_and_clone(world: World, owner: Console, other: Console, job: str) -> None:
    """Who may read finds the job in the list, looks at all of it, starts from it, and finds no way to stop it."""
    other.open("/jobs?who=all")
    expect(other.row(job)).to_be_visible()
    other.row(job).get_by_test_id("row-menu").click()
    for allowed in ("row-clone", "row-session"):
        entry = other.page.get_by_role("menuitem").filter(has=other.at(allowed))
        expect(entry).not_to_have_attribute("aria-disabled", "true")
    for refused in ("row-limit", "row-priority", "row-stop", "row-delete"):
        entry = other.page.get_by_role("menuitem").filter(has=other.at(refused))
        expect(entry).to_have_attribute("aria-disabled", "true")
    other.page.keyboard.press("Escape")
    for tab, there in (("logs", "log"), ("files", "files"), ("json", "document")):
        other.open_job(job, tab)
        expect(other.at(there).first).to_be_visible()
    other.open_job(job, "metrics")
    expect(other.page.get_by_text("TensorBoard").first).to_be_visible()  # where its curves would come from
    other.open_job(job)
    expect(other.page.get_by_text("其他人可查看和克隆")).to_be_visible()
    expect(other.at("stop")).to_have_count(0)
    other.press("session")
    expect(other.field("name")).to_have_value("lasts-session")
    expect(other.field("roles.0.command")).to_have_value(SLEEPS)

    other.open_job(job)
    other.press("clone")
    other.fill("name", "neds")
    copy = other.start()
    other.expect_state("queued")
    told = world.until(copy, lambda view: view["reason"] is not None)
    assert (told["owner"], told["reason"]["code"]) == ("ned", "quota")
    expect(other.page.get_by_text("工作空间 vision 已用 1 张加速卡，最多可用 1").first).to_be_visible()
    set_quota(owner, "2")
    other.open_job(copy)
    other.expect_state("running")


def offered(person: Console, job: str) -> set[str]:
    """Return what of the manual's page somebody is offered on the page of a job."""
    person.open(f"/jobs/{job}")
    expect(person.page.locator('[data-testid="job-page"], [data-testid="not-shared"]')).to_be_visible()
    if person.at("more").count():
        person.press("more")
        expect(person.page.get_by_role("menuitem").first).to_be_visible()
    found = {name for name, test_id in {**LOOKS, **ACTS}.items() if person.at(test_id).count()}
    person.page.keyboard.press("Escape")
    return found


def asked(person: Console, live: str, over: str) -> dict[str, int]:
    """Return how the API answers somebody who asks for the same without the console; nothing changes, for what is asked
    is what is so already, or is refused for its state once it is permitted.
    """
    found = {
        "查看详情": call(person, "GET", f"/jobs/{live}"),
        "克隆": call(person, "GET", f"/jobs/{live}/spec?dialect=native"),
        "创建开发环境": call(person, "GET", f"/jobs/{live}/spec?dialect=native"),  # a job that begins with its document
        "创建 TensorBoard": call(person, "GET", f"/jobs/{live}/metrics"),
        "调整使用时长": call(person, "PATCH", f"/jobs/{live}", {"duration_s": None}),
        "调整优先级": call(person, "PATCH", f"/jobs/{live}", {"priority": "normal"}),
    }
    stop, delete = call(person, "POST", f"/jobs/{over}/stop", {}), call(person, "DELETE", f"/jobs/{live}")
    refused_for_its_state = 409
    return {
        **found,
        "停止": 200 if stop in (200, 202, refused_for_its_state) else stop,
        "删除": 200 if delete == refused_for_its_state else delete,
    }


def call(person: Console, method: str, path: str, body: Any = None) -> int:
    """Ask the API from somebody's page, as the console does; return the status."""
    person.watch.expect("409")
    script = """async ([method, path, body]) => (await fetch(`/api/v1${path}`, {
        method,
        headers: {"content-type": "application/json", "x-session-key": localStorage.getItem("trainmaster.key") ?? ""},
        body: body === null ? undefined : JSON.stringify(body),
    })).status"""
    return int(person.page.evaluate(script, [method, path, body]))


# -- the administrator's switch --------------------------------------------------------------------------------------


def close_and_open_sharing(world: World, console: Console, owner: Console, other: Console, job: str) -> None:
    """若管理员关闭共享权限，则他人访问权限只能为“不可读写”. It is gone from list, address and search, not forgotten."""
    choose_sharing(console, "Off: nobody shares")
    other.open("/jobs?who=all")
    expect(other.page.get_by_text("neds", exact=True)).to_be_visible()
    expect(other.row(job)).to_have_count(0)
    other.open(f"/jobs/{job}")
    expect(other.at("not-shared")).to_be_visible()
    assert call(other, "GET", f"/jobs/{job}") == 404
    other.page.keyboard.press("Control+k")
    other.at("palette").fill("neds")
    expect(other.at("palette-entry").filter(has_text="neds").first).to_be_visible()
    with other.page.expect_response(lambda answer: "q=lasts" in answer.url) as looked:
        other.at("palette").fill("lasts")
    assert job not in looked.value.text()
    expect(other.at("palette-entry").filter(has_text="neds")).to_have_count(0)
    expect(other.at("palette-entry").filter(has_text="lasts")).to_have_count(0)
    other.page.keyboard.press("Escape")

    owner.open_job(job)
    owner.press("share")
    closed = owner.page.locator(".ant-select-dropdown:visible .ant-select-item-option-disabled")
    expect(closed).to_have_count(2)
    expect(closed.first).to_contain_text("an administrator has turned sharing off")
    owner.page.keyboard.press("Escape")
    owner.open("/submit")
    owner.press("field-share")
    expect(owner.page.locator(".ant-select-dropdown:visible .ant-select-item-option-disabled")).to_have_count(2)

    choose_sharing(console, "Members may share")
    assert world.show(job)["share"] == "read"
    other.open_job(job)


def choose_sharing(console: Console, label: str) -> None:
    console.open("/admin?tab=workspaces")
    console.press("edit-vision")
    console.choose("sharing", label)
    console.press("admin-save")
    expect(console.at("sharing")).to_have_count(0)


# -- read-write ------------------------------------------------------------------------------------------------------


def act_on(world: World, owner: Console, other: Console, job: str) -> None:
    """Each of the manual's four buttons that change a job, pressed by somebody whose job it is not."""
    owner.open_job(job)
    owner.choose("share", LEVELS["可读写"][1])
    world.until(job, lambda view: view["share"] == "read-write")
    other.open_job(job)
    expect(other.at("share")).to_have_count(0)  # how it is shared its owner decides
    other.press("more")
    other.press("change-duration")
    other.at("duration-input").fill("2h")
    other.press("change-ok")
    world.until(job, lambda view: view["duration_s"] == 7200)
    expect(other.at("duration-input")).to_have_count(0)
    other.press("more")
    other.press("change-priority")
    other.choose(other.page.locator(".ant-modal .ant-select"), "紧急")
    other.press("change-ok")
    world.until(job, lambda view: view["priority"] == "urgent")
    other.press("stop")
    other.press("confirm-ok")
    other.expect_state("stopped")
    other.press("delete")
    other.press("confirm-ok")
    expect(other.at("jobs")).to_be_visible()
    owner.open(f"/jobs/{job}")
    expect(owner.at("not-shared")).to_be_visible()
    told = {(one["by"], one["kind"]) for one in json.loads(world.tm("audit", f"job:{job}", "--json"))}
    assert told >= {
        ("mia", "shared"),
        ("ned", "stop_requested"),
        ("ned", "priority_changed"),
        ("ned", "job_deleted"),
    }, told
