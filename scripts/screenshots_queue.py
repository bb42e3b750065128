"""The busy cluster of the queue's pictures: three workspaces on machines of two kinds, with more work than cards."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.world import World

MACHINES = """\
[[local.nodes]]
count = 3
cpu = 32
memory_mib = 131072
gpus = 4
gpu_type = "A100"
driver = "550.54.15"
os = "Ubuntu 22.04"
kernel = "5.15.0-105"

[[local.nodes]]
count = 2
cpu = 16
memory_mib = 65536
gpus = 4
gpu_type = "T4"
driver = "535.129.03"
os = "Ubuntu 20.04"
kernel = "5.4.0-182"
"""
FLAVORS: dict[str, dict[str, Any]] = {
    "a100-1": {"cpu": 6, "memory_mib": 24576, "gpu": 1, "gpu_type": "A100"},
    "a100-4": {"cpu": 24, "memory_mib": 98304, "gpu": 4, "gpu_type": "A100"},
    "t4-1": {"cpu": 3, "memory_mib": 12288, "gpu": 1, "gpu_type": "T4"},
    "t4-half": {"cpu": 1, "memory_mib": 4096, "gpu": 1, "gpu_type": "T4", "gpu_share": 0.5},
    "cpu-4": {"cpu": 4, "memory_mib": 8192},
}
RUNNING: list[tuple[str, str, int, int, str, str | None]] = [
    ("resnet-152", "vision", 2, 4, "A100", "2h"),
    ("wav2vec-large", "speech", 1, 2, "A100", "90m"),
    ("bert-finetune", "default", 1, 1, "A100", None),
    ("yolo-small", "vision", 2, 1, "T4", "1h"),
    ("asr-decode", "speech", 1, 2, "T4", "40m"),
    ("distill", "default", 1, 3, "T4", "50m"),
    ("notebook", "default", 1, 1, "T4", None),
]
WAITING: list[tuple[str, str, int, int, str | None, str | None]] = [
    ("detector-ablation", "vision", 1, 4, "A100", "1h"),
    ("tts-voices", "speech", 1, 2, "A100", "30m"),
    ("segmenter", "vision", 2, 4, "A100", "4h"),
    ("speech-lm", "speech", 1, 4, "A100", "3h"),
    ("tokens-ablation", "default", 1, 2, "T4", "45m"),
    ("open-ended", "default", 1, 4, None, None),
    ("sweep-2", "vision", 1, 2, "T4", "20m"),
    ("sweep-3", "speech", 1, 1, "T4", "2h"),
]


def busy(world: World) -> None:
    """Work for more cards than there are, and a past to simulate with. Returns once the queue stands."""

    def submit(name: str, workspace: str, command: str, replicas: int = 1, **more: Any) -> str:
        ask = {key: more.pop(key) for key in ("cpu", "memory", "gpu", "gpu_type") if more.get(key) is not None}
        role = {
            "name": "worker",
            "replicas": replicas,
            "command": command,
            "resources": {"cpu": 1, "memory": 1024, **ask},
        }
        given = {key: value for key, value in more.items() if value is not None and key != "gpu_type"}
        return world.submit({"name": name, "workspace": workspace, "roles": [role], **given})

    with world.client() as client:
        put = client.http.json
        put(
            "PUT",
            "/workspaces/vision",
            json={
                "weight": 2,
                "description": "Pictures and video",
                "urgent_per_user": 2,
                "urgent_total": 5,
                "quotas": {"default": {"gpu": {"nominal": 10, "cap": 16}}},
            },
        )
        put(
            "PUT",
            "/workspaces/speech",
            json={
                "description": "Recognition and synthesis",
                "urgent_per_user": 1,
                "urgent_total": 3,
                "quotas": {"default": {"gpu": {"nominal": 6, "cap": 10}}},
            },
        )
        for workspace in ("default", "vision", "speech"):
            for name, body in FLAVORS.items():
                put("PUT", f"/workspaces/{workspace}/flavors/{name}", json=body)
        past = client.submit_many([_past(number) for number in range(16)])
    for job in past:
        world.until(job.id, lambda view: view["state"] == "succeeded")
    for name, workspace, replicas, gpu, model, duration in RUNNING:
        job = submit(name, workspace, "sleep 1000", replicas, gpu=gpu, gpu_type=model, duration=duration)
        world.until(job, lambda view: view["state"] == "running")
    for name, workspace, replicas, gpu, kind, duration in WAITING:
        urgent = "urgent" if name == "tts-voices" else None
        job = submit(
            name, workspace, "sleep 1000", replicas, gpu=gpu, gpu_type=kind, duration=duration, priority=urgent
        )
        if name == "segmenter":
            world.until(job, lambda view: view["reason"] is not None)


def _past(number: int) -> dict[str, Any]:
    """One of the jobs to simulate with: the long ones came first. Submitted at once, they wait on the slowest machine,
    too.
    """
    seconds, workspace = 8 if number < 6 else 2, ("vision", "speech")[number % 2]
    role = {"name": "worker", "command": f"sleep {seconds}", "resources": {"cpu": 24, "memory": 1024}}
    return {"name": f"past-{number}", "workspace": workspace, "duration": f"{2 * seconds}s", "roles": [role]}


def forecasts(page: Page) -> None:
    expect(page.locator('[data-testid="forecast"][data-when="about"]').first).to_be_visible()


def detail(page: Page) -> None:
    forecasts(page)
    page.get_by_test_id("queue-expand").first.click()
    expect(page.get_by_test_id("wait-detail").locator("h3")).to_have_count(2)


def hour(page: Page) -> None:
    page.locator(".tm-tl-bar").nth(1).hover()
    expect(page.get_by_test_id("timeline-card")).to_be_visible()


def flavors(page: Page) -> None:
    choose_flavors(page, "a100-4", "t4-1")
    page.get_by_test_id("cluster-resources").scroll_into_view_if_needed()


def waits(page: Page) -> None:
    """A form of which every flavor would wait, and what would start it sooner."""
    choose_flavors(page, "a100-4", "t4-1", leave="a100-1")
    expect(page.get_by_test_id("would-sooner").first).to_be_visible()


def choose_flavors(page: Page, *names: str, leave: str | None = None) -> None:
    page.locator('[data-path="name"] input').fill("digits-ddp")
    page.locator('[data-path="roles.0.command"] textarea').fill("python train.py")
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_test_id("command-preview")).to_contain_text("train.py")
    page.get_by_test_id("use-flavors").click()
    page.locator('[data-path="roles.0.flavors"] .ant-select').click()
    options = page.locator(".ant-select-dropdown:visible .ant-select-item-option")
    for name in filter(None, (*names, leave)):
        options.filter(has=page.get_by_text(name, exact=True)).click()
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_test_id("would-start")).to_be_visible()


def effect(page: Page) -> None:
    page.get_by_test_id("knob-age_weight").locator("input").fill("0")
    page.get_by_test_id("policy-simulate").click()
    expect(page.get_by_test_id("effect")).to_be_visible()
    page.get_by_role("heading", level=1).click()  # neither the pointer nor the focus stays where it shows a hint
    expect(page.locator(".ant-tooltip:visible")).to_have_count(0)


def queue_shots() -> list[tuple[str, str, str, Callable[[Page], None] | None]]:
    """Every picture: its name, the address, what is there once the page is, and what is done before."""
    resources = "/cluster?view=resources&flavors=%5B%22a100-1%22%2C%22t4-1%22%5D"
    return [
        ("queue", "/queue", "queue", forecasts),
        ("queue-detail", "/queue", "queue", detail),
        ("timeline", "/queue?view=timeline", "timeline-page", hour),
        ("resources", resources, "resource-node-1", None),
        ("submit-flavors", "/submit", "distributed", flavors),
        ("submit-waits", "/submit", "distributed", waits),
        ("admin-policy", "/admin?tab=policy", "knob-backfill", effect),
        ("admin-pools", "/admin?tab=pools", "pool-add", None),
        ("admin-workspaces", "/admin?tab=workspaces", "edit-vision", None),
        ("admin-nodes", "/admin?tab=nodes", "admin-node-node-1", None),
    ]
