"""What the audit is told when a setting changes: each field that became something else, in words of both languages,
never too many.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.fixtures.audited import audit_of
from trainmaster.core.cluster import Budget, Flavor, Limit, NodeSetting, Pool, VirtualCluster, Workspace
from trainmaster.core.events import Actor
from trainmaster.messages import render
from trainmaster.queue.policy import KNOBS
from trainmaster.service.cluster.decided import MOST_CHANGES, label
from trainmaster.service.cluster.pools import Pools
from trainmaster.store.audit import AuditQuery
from trainmaster.store.cluster_settings import ClusterSettings
from trainmaster.store.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(f"sqlite:///{tmp_path}/t.db", backup_dir=str(tmp_path / "b"))
    yield opened
    opened.close()


@pytest.fixture
def pools(database: Database) -> Pools:
    return Pools(ClusterSettings(database), lambda: 7.0)


def newest(database: Database, language: str = "en") -> str:
    said = audit_of(database)[0].said
    assert said is not None
    return render.text(said, language)


async def test_what_became_of_each_field(database: Database, pools: Pools) -> None:
    async with pools.changing():
        await pools.put("pool", "lab", Pool("lab", "dedicated", ("v", "w")), Actor("ann"))
        assert newest(database) == "Created pool lab: kind = dedicated, workspaces = v, w"
        await pools.put("pool", "lab", Pool("lab", description="all"), Actor("ann"))
        assert newest(database) == (
            "Changed pool lab: kind: dedicated → public, workspaces was removed (it was v, w), description = all"
        )
        assert newest(database, "zh").startswith("修改了资源池 lab：类型：专属→公共、去掉了工作空间")
        await pools.put("pool", "lab", Pool("lab", description="all"), Actor("bob"))
        assert newest(database) == "Changed pool lab: no change"
        await pools.drop("pool", "lab", Actor("cleo"))
        assert newest(database, "zh") == "删除了资源池 lab"
        changed = Workspace("default", 2.0, {"lab": {"gpu": Limit(8, 16)}}, 3)
        await pools.put("workspace", "default", changed, Actor("ann"))
        assert newest(database) == (
            "Changed workspace default: weight: 1 → 2, quota of GPUs in pool lab = 8, limit of GPUs in pool lab = 16, "
            "urgent jobs per person = 3"
        )
        assert audit_of(database)[0].changes == (
            ("weight", 1.0, 2.0),
            ("quotas.lab.gpu.nominal", None, 8),
            ("quotas.lab.gpu.cap", None, 16),
            ("urgent_per_user", None, 3),
        )
        await pools.put("flavor", "default/one", Flavor("one"), Actor("ann"))
        assert audit_of(database)[0].subject.workspace == "default"
        assert newest(database) == "Created flavor default/one: only the name"
        await pools.put("policy", "queue", {"age_cap_s": 60}, Actor("ann"))
        assert newest(database, "zh") == "修改了排队策略：计入的最长运行时限为 1 分钟"
        await pools.put("policy", "privacy", {"owners_told": False}, Actor("ann"))
        assert (
            newest(database) == "Changed what people are told of one another: owners of others' jobs are told: yes → no"
        )


async def test_what_is_new_is_told_as_what_it_is(database: Database, pools: Pools) -> None:
    """Nothing was there before, so nothing "became" something else."""
    async with pools.changing():
        flavor = Flavor("a100", cpu=16.0, gpu=1, gpu_type="A100", price=12_500_000)
        await pools.put("flavor", "default/a100", flavor, Actor("ann"))
        assert newest(database) == (
            "Created flavor default/a100: cores = 16, GPUs = 1, GPU model = A100, price per hour = 12.50"
        )
        await pools.put("budget", "default", Budget("default", 0, 5_000_000_000, (50, 90)), Actor("ann"))
        assert newest(database, "zh") == (
            "设置了工作空间 default 的信用额度与预算："
            "提醒（预算的百分比）：80, 100 → 50, 90、信用额度为 0.00、每月预算为 5000.00"
        )


def test_every_field_that_is_set_has_a_name_in_both_languages() -> None:
    records = (Pool, VirtualCluster, Workspace, Flavor, NodeSetting, Budget)
    fields = {one.name for record in records for one in dataclasses.fields(record)} - set(_BY_NAME) - {"monthly"}
    fields |= {"budget", *(one.name for one in KNOBS), *_BY_NAME.values()}
    for field in fields:
        assert label(field).code.startswith(("field_", "knob_")), field
    assert render.text(label("share.gpu:A100.cap")) == "limit of A100 GPUs"
    assert render.text(label("per_person.lab.jobs")) == "limit of jobs at a time per person in pool lab"
    assert render.text(label("people.ann.lab.gpu"), "zh") == "资源池 lab 中 ann 的加速卡上限"
    assert render.text(label("people.ann")) == "people.ann"  # of another version
    assert render.text(label("members.ann.lee"), "zh") == "ann.lee 的角色"
    assert render.text(label("webhooks.w3f9.host")) == "receiver"


_BY_NAME = {
    "share": "share.gpu.nominal",
    "quotas": "quotas.lab.cpu.nominal",
    "per_person": "per_person.lab.memory_mib",
    "storage": "storage.mib",
    "storage_per_person": "storage_per_person.files",
    "storage_people": "storage_people.ann.mib",
    "people": "people.ann.lab.gpu",
}


async def test_many_changes_are_counted_and_long_ones_cut(database: Database, pools: Pools) -> None:
    async with pools.changing():
        share = {f"gpu:{number}": Limit(number + 1) for number in range(20)}
        await pools.put("virtual_cluster", "vc", VirtualCluster("vc", share=share, description="x" * 500), Actor("ann"))
    said = audit_of(database)[0].said
    assert said is not None
    assert len(said.args["changes"]) == MOST_CHANGES + 1
    assert newest(database).endswith("9 more settings")
    assert len(msgspec.json.encode(said.to_json())) < 5000


async def test_who_changed_a_setting_last_is_who_its_last_audit_event_names(database: Database, pools: Pools) -> None:
    """Whatever kind it is: no way leads to a setting that leaves no audit event."""
    records = {
        ("pool", "p"): Pool("p"),
        ("virtual_cluster", "v"): VirtualCluster("v"),
        ("workspace", "w"): Workspace("w"),
        ("flavor", "w/f"): Flavor("f", "w"),
        ("node", "n"): NodeSetting("n", "p"),
        ("policy", "queue"): {},
        ("policy", "privacy"): {"owners_told": False},
    }
    async with pools.changing():
        for by in ("ann", "bob"):
            for (kind, name), record in records.items():
                await pools.put(kind, name, record, Actor(by))
                last = pools.changed_last(kind, name)
                found = audit_of(database, AuditQuery(kind, name))[0]
                assert last is not None
                assert (last.at, last.by) == (found.at, found.by.name) == (7.0, by)
