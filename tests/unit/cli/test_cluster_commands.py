"""tm node, pool, workspace, flavor, queue against a real server on virtual nodes."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import TM, Shell, serving, write

NODES = '[[local.nodes]]\ncount = 2\ncpu = 4.0\nmemory_mib = 4096\ngpus = 2\ngpu_type = "A100"\ndriver = "535.1"\n'


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=NODES) as shell:
        yield shell


def test_nodes_in_and_out_of_service(tm: Shell) -> None:
    assert "0/2 A100" in tm("node", "list")
    assert tm.json("node", "cordon", "node-1", "--note", "new fan")["service"] == "cordoned"
    said = tm("node", "show", "node-1")
    assert "Cordoned new fan (admin)" in said
    assert "535.1" in said
    assert "In service" in tm("node", "uncordon", "node-1")
    assert tm.json("node", "drain", "node-2", "--evict", "all")["service"] == "drained"
    assert "In service" in tm("node", "uncordon", "node-2")
    said = tm("node", "show", "nope", code=1)
    assert "There is no node nope" in said
    assert "There are: node-1, node-2." in said
    assert "There are: node-1, node-2." in tm("node", "move", "nope", "default", code=1)


def test_pools_workspaces_and_flavors(tm: Shell) -> None:
    said = tm("workspace", "set", "vision", "--weight", "2", "--urgent-per-user", "3", "gpu=1:2")
    assert "quotas default: gpu 0/1 (at most 2)" in said
    assert tm.json("workspace", "set", "vision", "--urgent-total", "5")["urgent"]["per_user"] == 3
    assert "gpu 0/1 (at most 2)" in tm("workspace", "list")
    assert tm.json("workspace", "set", "vision", "--urgent-per-user", "-1")["urgent"]["per_user"] is None
    tm("pool", "set", "lab", "--for", "vision")
    assert "pool lab" in tm("node", "move", "node-2", "lab")
    assert "share of lab: gpu 0/1" in tm("pool", "share", "vc", "--pool", "lab", "gpu=1")
    said = tm("pool", "list")
    assert "for vision" in said
    assert "vc" in said
    said = tm("pool", "share", "vc2", "--pool", "lab", "gpu=2", code=2)
    assert "1 of them are guaranteed to others" in said
    assert "Guarantee at most 1." in said
    assert "still used by" in tm("pool", "delete", "lab", code=2)
    assert "is no limit" in tm("pool", "share", "vc3", "gpu", code=2)
    tm("flavor", "set", "one", "--memory", "256MiB", "--gpu", "1", "--type", "A100")
    assert "A100" in tm("flavor", "list", "--kind", "gpu")
    assert [node["state"] for node in tm.json("node", "list", "--fits", "one")] == ["idle", "idle"]
    tm("node", "move", "node-2", "default")
    tm("pool", "unshare", "vc")
    tm("pool", "delete", "lab")
    tm("workspace", "delete", "vision")


def test_who_is_in_one_workspace_alone_means_that_one(tm: Shell) -> None:
    """Without --workspace, as for a job whose document names none; others, and administrators, mean `default`."""
    tm("workspace", "set", "vision")
    tm("pool", "set", "lab", "--for", "vision")
    tm("flavor", "set", "seen", "--workspace", "vision")
    tm("user", "add", "lone", "--workspace", "vision")
    lone = Shell(tm.home)
    lone.env["TRAINMASTER_URL"] = json.loads((tm.home / "run" / "server.json").read_text())["url"]
    lone.env["TRAINMASTER_TOKEN"] = tm("token", "create", "t", "--user", "lone").strip()
    assert [one["name"] for one in lone.json("flavor", "list")] == ["seen"]
    assert {one["name"]: one["selectable"] for one in lone.json("pool", "list")}["lab"] is True
    assert len(lone.json("node", "list", "--fits", "seen")) == 2
    assert "There is no workspace" in lone("flavor", "list", "--workspace", "nope", code=1)
    lone.env["TRAINMASTER_TOKEN"] = tm("token", "create", "t", "--user", "lone", "--scope", "cluster:read").strip()
    assert len(lone.json("node", "list")) == 2  # a token that may not say whose it is
    assert "seen" not in [one["name"] for one in tm.json("flavor", "list")]
    assert "lone\tuser\tactive\tvision (member)\n" in tm("user", "list")
    assert re.search("^lone\t普通用户\t.*\tvision（成员）$", tm("--lang", "zh", "user", "list"), re.MULTILINE)
    assert "lone\t成员\t" in tm("--lang", "zh", "workspace", "members", "vision")
    tm("user", "delete", "lone")
    tm("flavor", "delete", "seen", "--workspace", "vision")
    tm("pool", "delete", "lab")
    tm("workspace", "delete", "vision")


def test_storage_quotas_are_set_shown_and_taken_back(tm: Shell) -> None:
    said = tm("workspace", "set", "stores", "--storage", "1.5TiB", "--files", "5000", "--per-person", "storage=2GiB")
    assert "storage  0 MiB / 1.5 TiB, 0 / 5,000 files" in said
    assert "storage  each person  2 GiB" in said
    both = tm("workspace", "set", "stores", "--per-person", "gpu=1", "--person", "ann:files=10,storage=none,cpu=2")
    assert "default  each person  gpu 1\n" in both
    assert "storage  ann  any size, 10 files" in both
    found = tm.json("workspace", "limits", "stores")
    assert (found["storage_per_person"], found["storage_people"]) == (
        {"mib": 2048},
        {"ann": {"mib": None, "files": 10}},
    )
    tm("workspace", "limits", "stores", "--per-person", "storage=none,files=7")
    shown = tm.json("workspace", "show", "stores")["workspace"]
    assert (shown["per_person"], shown["storage"]["per_person"]) == ({"default": {"gpu": 1}}, {"files": 7})
    assert shown["storage"]["use"]["limit_mib"] == 1536 * 1024
    cleared = ("--storage", "none", "--files", "none", "--per-person", "none", "--person", "ann:none")
    tm("workspace", "set", "stores", *cleared)
    storage = tm.json("workspace", "show", "stores")["workspace"]["storage"]
    assert (storage["use"]["limit_mib"], storage["per_person"], storage["people"]) == (None, {}, {})
    assert "storage  0 MiB, 0 files" in tm("workspace", "show", "stores")
    for wrong in (("--storage", "much"), ("--files", "-1"), ("--per-person", "storage=1 potato")):
        assert "is no amount" in tm("workspace", "set", "stores", *wrong, code=2)
    tm("workspace", "delete", "stores")


def test_a_quota_below_what_is_used_is_set_with_a_warning(tm: Shell, tmp_path: Path) -> None:
    assert "Usage is" not in tm("workspace", "set", "vision", "cpu=1:1")
    job = write(tmp_path / "j.json", "sleep 100", name="holds", workspace="vision", resources={"cpu": 1, "memory": 64})
    made = tm.json("submit", job)
    tm.until(lambda seen: seen["state"] == "running", made["id"])
    assert "sub-task main × 1: 1 core, 64 MiB" in tm("show", made["id"])
    assert "default cpu: Usage is above the guarantee" in tm("workspace", "set", "vision", "cpu=0.5")
    assert "default cpu: Usage is above the cap" in tm("workspace", "set", "vision", "cpu=0.5:0.5")
    zh = {**tm.env, "LC_ALL": "zh_CN.UTF-8"}
    said = quick.tm("workspace", "set", "vision", env=zh)
    assert said.returncode == 0
    assert "default cpu：用量已超过上限" in said.stdout
    assert "子任务 main × 1：1 核，64 MiB" in quick.tm("show", made["id"], env=zh).stdout
    tm("stop", made["id"])


def test_top_says_how_it_is_left(tm: Shell) -> None:
    """It fills the screen and is left like `top`, but not by the same key."""
    own, other = pty.openpty()
    env = {**tm.env, "TERM": "xterm-256color", "LC_ALL": "zh_CN.UTF-8"}
    shown = subprocess.Popen([*TM, "top"], env=env, stdin=other, stdout=other, stderr=other, start_new_session=True)
    os.close(other)
    seen = b""
    try:
        while b"node-2" not in seen:
            seen += os.read(own, 10_000)
    finally:
        shown.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # its end
            while more := os.read(own, 10_000):
                seen += more
        assert shown.wait(timeout=60) == 0
        os.close(own)
    assert seen.index(b"\x1b[?1049h") < seen.index(b"\x1b[?1049l"), "the screen is as before"
    assert seen.rindex(b"\x1b[?25l") < seen.rindex(b"\x1b[?25h"), "and its cursor"
    assert "按 Ctrl-C 退出".encode() in seen
    assert "加速卡".encode() in seen


def test_the_queue_and_its_policy(tm: Shell, tmp_path: Path) -> None:
    assert tm("queue") == "Nothing is queued.\n"
    tm("node", "cordon", "node-1")
    tm("node", "cordon", "node-2")
    made = tm.json("submit", write(tmp_path / "j.json", "sleep 100", name="waits"))
    said = tm("queue")
    assert "waits" in said
    assert made["id"][:12] in said
    assert tm.json("queue", "--mine")["total"] == 1
    tm("stop", made["id"])
    for node in ("node-1", "node-2"):
        tm("node", "uncordon", node)
    assert "max_starts" in tm("queue", "policy", "show")
    found = tm.json("queue", "policy", "set", "max_starts=7", "packing=fgd")
    assert {one["name"]: one["value"] for one in found["knobs"]}["max_starts"] == 7
    assert "must be" in tm("queue", "policy", "set", "max_starts=0", code=2)
    tm("queue", "policy", "set", "max_starts=", "packing=")


def test_settings_are_said_in_the_words_in_which_they_are_given(tm: Shell) -> None:
    found = tm.json("queue", "policy", "set", "age_cap_s=1d12h")
    assert {one["name"]: one["value"] for one in found["knobs"]}["age_cap_s"] == 1.5 * 86400
    said = tm("queue", "policy", "show")
    assert re.search(r"age_cap_s\t1d12h\t3d\t0s to 30d\t", said)
    said = tm("queue", "policy", "set", "age_cap_s=1x", "age_weight=9", code=2)
    assert "age_cap_s: must be a number of seconds from 0s to 30d" in said
    assert "age_weight: must be a number from 0 to 4" in said
    tm("queue", "policy", "set", "age_cap_s=")
    assert re.search(r"age_cap_s\t3d\t3d\t", tm("queue", "policy", "show"))


@pytest.mark.parametrize(
    "command",
    [
        ("queue", "--pool"),
        ("queue", "--workspace"),
        ("node", "list", "--workspace"),
        ("pool", "list", "--workspace"),
        ("flavor", "list", "--workspace"),
    ],
)
def test_a_filter_by_what_is_not_there_is_no_empty_answer(tm: Shell, command: tuple[str, ...]) -> None:
    said = tm(*command, "nobody", code=1)
    assert f"There is no {command[-1].removeprefix('--')} nobody" in said
    assert "There are: default" in said


def test_a_job_that_cannot_be_foreseen_says_why(tm: Shell, tmp_path: Path) -> None:
    """B1."""
    for node in ("node-1", "node-2"):
        tm("node", "cordon", node)
    made = tm.json("submit", write(tmp_path / "j.json", "sleep 100", name="waits"))
    try:
        said = tm("queue")
        assert re.search(r"unknown: \w+", said)
        assert "expected start: unknown. " in tm("explain", made["id"])
    finally:
        tm("stop", made["id"])
        for node in ("node-1", "node-2"):
            tm("node", "uncordon", node)


def test_what_was_done_is_listed(tm: Shell) -> None:
    tm("pool", "set", "audited")
    tm("pool", "delete", "audited")
    said = tm("audit", "pool:audited", "--since", "1h")
    assert [row.split("\t")[-1] for row in said.splitlines()[1:]] == [
        "Deleted pool audited",
        "Created pool audited: only the name",
    ]
    found = tm.json("audit", "pool:audited", "--by", "admin", "-n", "1")
    assert [(one["kind"], one["subject"]["name"], one["by"]) for one in found] == [("pool_removed", "audited", "admin")]
    lines = tm("audit", "pool:audited", "--actor", "person", "--lines").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["pool_removed", "pool_made"]
    assert tm("audit", "--workspace", "nowhere", "--lines") == ""
    assert len(tm.json("audit", "pool:audited", "--limit", "0")) == 2
    assert tm("audit", "--by", "nobody") == "Nobody did anything.\n"
    assert "must be a kind of subject" in tm("audit", "pools", code=2)
    assert "Invalid value" in tm("audit", "--since", "yesterday", code=2)


def test_what_would_be_removed_is_said(tm: Shell) -> None:
    rows = [row.split() for row in tm("retention").splitlines()[1:]]
    assert [(row[0], row[1]) for row in rows] == [
        ("keys", "30d"),
        ("audit", "ever"),
        ("uploads", "30d"),
        ("logs", "ever"),
        ("jobs", "ever"),
        ("bin", "7d"),
    ]
    found = {one["rule"]: one for one in tm.json("retention", "--jobs-days", "90", "--audit-days", "1")}
    assert found["jobs"]["after_s"] == 90 * 86400
    assert found["audit"]["text"]["en"].startswith("Audit records older than 1d")
    assert found["logs"]["after_s"] is None
    assert tm("retention", "--jobs-days", "-1", code=2)
