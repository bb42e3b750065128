"""Every page of the console with something on it, for what has to hold on all of them."""

import json
from urllib.parse import urlencode

from tests.e2e.jobs import plain, training
from tests.e2e.world import World

COMPARED = {
    "differences": "compare-differences",
    "curves": "overlay-loss",
    "parameters": "compare-parallel",
    "code": "compare-code",
}
"""The parts of the page that compares jobs, and what is there once each is."""
RUNS = json.dumps({"algorithm": "lang-net@1", "roles.0.command": None})
"""What the button that runs an algorithm changes in the form."""


def work(world: World) -> dict[str, str]:
    """A training that left a model and a template, one that failed, one that runs, one that waits; data, an
    image, a build that failed, and a sweep."""
    made = {
        "good": training(world, "lang-good", 4, pause=0.02, model={"name": "lang"}),
        "bad": plain(world, "lang-bad", "bash -c 'exit 3'"),
    }
    world.until(made["good"], lambda view: view["state"] == "succeeded")
    world.until(made["bad"], lambda view: view["state"] == "failed")
    rarely = {"busy": 0.01}  # for minutes, beside a browser that needs the machine
    made["long"] = training(world, "lang-long", 100_000, pause=0.5, replicas=2, gpu=2, duration="3h", parameters=rarely)
    world.until(made["long"], lambda view: view["state"] == "running" and bool(view["metrics"]))
    with world.client() as client:
        (data := world.home.parent / "lang-data").mkdir()
        (data / "one.txt").write_text("one\n")
        client.datasets.upload(data, "lang-data", description="lang", share="read")
        client.datasets.upload(data, "lang-gone")
        client.datasets.delete("lang-gone")
        client.volumes.create("lang-volume", description="lang", share="read")
        client.volumes.upload(data / "one.txt", "lang-volume")
        algorithm = {"command": "python one.txt", "code": {"path": str(data)}, "inputs": ["data_url"]}
        algorithm["parameters"] = [{"name": "lr", "type": "float", "default": 0.1, "min": 0, "description": "lang"}]
        client.algorithms.upload(algorithm, "lang-net", description="lang", share="read")
        client.templates.create("lang-plan", job=made["good"], description="lang", share="read")
        roles = [{"name": "main", "command": "true", "resources": {"cpu": 0.1, "memory": "64MiB"}}]
        swept = {"name": "lang-swept", "roles": roles, "sweep": {"grid": {"lr": [0.1, 0.2]}}}
        made["sweep"] = client.sweeps.submit(swept).id
        built = client.images.create("lang-env", requirements="tinyone\ntinytwo\n", description="lang", share="read")
        assert client.images.wait(built.id).state == "ready"
        client.images.wait(client.images.create("lang-none", requirements="tinyone==9\n").id)
    made["waits"] = plain(world, "lang-waits", "true", resources={"gpu": 1})
    return made


def pages(jobs: dict[str, str]) -> list[tuple[str, str]]:
    """Every address, with what is there once the page is."""
    long = f"/jobs/{jobs['long']}?tab="
    return [
        ("/", "home"),
        ("/jobs", "jobs"),
        ("/?q=nothing-like-this", "search"),
        ("/submit", "distributed"),
        (f"/submit?clone={jobs['good']}", "fits"),
        (f"{long}overview", "tasks"),
        (f"{long}logs", "log"),
        (f"{long}metrics", "metrics"),
        (f"{long}usage", "usage"),
        (f"{long}events", "events"),
        (f"{long}files", "files"),
        (f"{long}lineage", "lineage"),
        (f"{long}json", "document"),
        (f"/jobs/{jobs['good']}", "verdict"),
        (f"/jobs/{jobs['bad']}", "verdict"),
        (f"/jobs/{jobs['waits']}", "wait"),
        *((f"/compare?job={jobs['good']}&job={jobs['long']}&tab={tab}", mark) for tab, mark in COMPARED.items()),
        ("/queue", "queue"),
        ("/queue?view=timeline", "timeline-page"),
        ("/cluster?owner=admin", "resource-node-1"),
        ("/admin", "admin-overview-page"),
        ("/admin?tab=policy", "knob-backfill"),
        ("/admin?tab=pools", "pool-add"),
        ("/admin?tab=workspaces", "workspace-add"),
        ("/admin?tab=users", "user-add"),
        ("/admin?tab=flavors", "flavor-add"),
        ("/admin?tab=nodes", "admin-node-node-1"),
        ("/cluster", "cluster-past"),
        ("/usage", "usage-days"),
        ("/audit", "audit-entry"),
        ("/templates", "template-link"),
        ("/submit?template=lang-plan", "fits"),
        ("/submit?template=lang-plan&edit=true", "save-template"),
        ("/sweeps", "sweep-link"),
        (f"/sweeps/{jobs['sweep']}", "sweep-page"),
        (f"/sweeps/{jobs['sweep']}?tab=curves", "sweep-page"),
        (f"/sweeps/{jobs['sweep']}?tab=parameters", "sweep-page"),
        ("/datasets", "dataset-link"),
        ("/datasets/lang-data", "dataset-page"),
        ("/datasets/lang-data?path=one.txt", "preview"),
        ("/volumes", "volume-link"),
        ("/volumes/lang-volume", "volume-page"),
        ("/algorithms", "algorithm-link"),
        ("/algorithms/lang-net", "algorithm-page"),
        (f"/submit?{urlencode({'set': json.dumps(RUNS)})}", "channel-data_url"),
        ("/images", "builds"),
        ("/images/lang-env", "image-page"),
        ("/models", "models"),
        ("/models/lang", "model-page"),
        ("/bin", "restore-lang-gone"),
        ("/settings", "token-create"),
        ("/settings?tab=notifications", "webhook-url"),
        ("/notifications", "read-all"),
        ("/jobs/no-such-job", "not-shared"),
        ("/no/such/page", "missing"),
    ]
