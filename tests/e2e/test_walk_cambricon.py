"""The walk of the Cambricon manual (任务式训练), in Chinese: a batch job whose entries have commands of their own, seen
together; a job cloned, its priority and duration changed; favorites; jobs found and deleted.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.jobs import PATTERN, plain
from tests.e2e.walk import Walk
from tests.e2e.world import World

SCRIPT: Final = """
import pathlib, sys
rate, rounds = float(sys.argv[1].removeprefix("--lr=")), 4
for epoch in range(1, rounds + 1):
    accuracy = (1 - rate) * epoch / rounds
    print(f"epoch={epoch} of={rounds} loss={1 - accuracy:.3f} accuracy={accuracy:.3f}", flush=True)
pathlib.Path("/workspace/outputs/rate.txt").write_text(str(rate))
"""


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in Chinese."""
    return new_console("zh-CN", cookies=signed_in)


def test_a_batch_job_and_its_curves(console: Console, world: World, tmp_path: Path) -> None:
    """批量任务: R45, R50, R163, R164, R205."""
    page = console.page
    (code := tmp_path / "train").mkdir()
    (code / "train.py").write_text(SCRIPT)
    (code / "baseline.py").write_text(SCRIPT)
    buttons = {
        "训练管理": "任务",
        "创建任务式训练": "创建任务",
        "批量任务": "以文本编辑",
        "为单个任务指定指令": "应用到表单",
        "集群可用资源": "可用节点",
        "创建": "提交",
        "确认创建": "开始训练",
        "批量任务（列表）": "参数扫描",
        "创建 TensorBoard": "曲线",
        "子任务": "条目",
        "重试": "重试失败的条目",
        "比较": "比较最优条目",
    }
    with Walk(console, buttons) as walk:
        console.open("/")
        walk.press("训练管理", walk.navigation)
        walk.press("创建任务式训练", walk.navigation)
        console.fill("name", "批量")
        console.at("code-folder").set_input_files(code)
        expect(console.at("code-ready")).to_contain_text("2 个文件")
        console.fill("roles.0.command", "python train.py --lr=0.5")
        console.fill("roles.0.resources.cpu", "0.25")
        console.fill("roles.0.resources.memory", "0.25")
        console.press("pattern-add")
        console.at("pattern-0").fill(PATTERN)
        walk.press("集群可用资源", console.at("role-0"))
        expect(walk.dialog).to_contain_text("node-1")
        page.keyboard.press("Escape")

        # an entry each, with commands of their own
        walk.press("批量任务", console.at("form-head"))
        document: dict[str, Any] = console.document()
        document["sweep"] = {
            "metric": "accuracy",
            "list": [
                {"command": "python train.py --lr=0.5"},
                {"command": "python baseline.py --lr=0.1"},
                {"command": "python train.py wrong"},
            ],
        }
        console.write_editor(json.dumps(document, indent=2, ensure_ascii=False))
        walk.press("为单个任务指定指令", walk.dialog)
        console.press("fold-sweep")
        expect(console.at("sweep-count")).to_contain_text("3 个任务")
        # 排队预测, beside the button
        expect(console.at("would-start")).to_contain_text("可立即开始")
        walk.press("创建", console.at("form-head"))
        expect(console.at("confirm-sweep")).to_contain_text("3 个任务")
        walk.press("确认创建", walk.dialog)

        expect(console.at("entry")).to_have_count(3)
        entries = console.at("entries")
        expect(entries.locator("[data-state=succeeded]")).to_have_count(2)
        expect(entries.locator("[data-state=failed]")).to_have_count(1)
        expect(console.at("sweep-best")).to_contain_text("条目 2")
        walk.press("创建 TensorBoard", walk.main)
        expect(console.at("overlay-accuracy")).to_have_attribute("data-lines", "2")
        walk.press("子任务", walk.tabs)
        walk.press("重试", walk.main)
        expect(page.get_by_text("已重新提交失败的条目")).to_be_visible()
        walk.press("批量任务（列表）", walk.navigation)
        expect(console.at("sweep-link")).to_have_text("批量")
        console.press("sweep-link")

        # 保存模型地址: each entry under its own number, and the script knows of none
        page.locator("[data-testid=entry][data-index='2']").get_by_test_id("entry-link").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("批量-2")
        expect(console.at("verdict").get_by_test_id("saved-model")).to_have_text("批量-2@1")
        page.get_by_role("tab", name="文件", exact=True).click()
        console.at("folder").get_by_text("outputs").click()
        console.at("file").get_by_text("rate.txt").click()
        expect(console.at("look-text")).to_have_text("0.1")
        page.keyboard.press("Escape")
        walk.press("批量任务（列表）", walk.navigation)
        console.press("sweep-link")
        walk.press("比较", walk.main)
        expect(console.at("compare-results")).to_contain_text("批量-2")


def test_clone_priority_duration_favorites_and_delete(console: Console, world: World, tmp_path: Path) -> None:
    """R141, R163, R170, R192, R199, R201-R203."""
    page = console.page
    (data := tmp_path / "data").mkdir()
    (data / "a.txt").write_text("one\n")
    with world.client() as client:
        client.datasets.upload(data, "liked")
        client.datasets.upload(data, "another")
    long = plain(world, "占满", "sleep 100000", resources={"cpu": 4})
    more = plain(world, "占满-2", "sleep 100000", resources={"cpu": 4})
    for job in (long, more):
        world.until(job, lambda view: view["state"] == "running")
    buttons = {
        "数据管理": "数据集",
        "收藏数据集": "收藏：liked",
        "训练管理": "任务",
        "创建任务式训练": "创建任务",
        "数据": "添加",
        "创建": "提交",
        "确认创建": "开始训练",
        "状态->排队中": "排队中…",
        "状态->全部": "全部…",
        "操作": "操作：等待的训练",
        "调整优先级": "修改优先级",
        "确认调整": "保存",
        "操作（运行中）": "操作：占满",
        "调整使用时长": "修改运行时限",
        "克隆": "克隆",
        "收藏": "收藏",
        "只看收藏": "收藏",
        "停止": "停止",
        "确认停止": "停止",
        "批量删除": "删除",
        "确认删除": "删除",
    }
    confirm = page.locator(".ant-modal-confirm-btns")
    states = page.get_by_role("group", name="状态", exact=True)
    with Walk(console, buttons) as walk:
        # a favorite stands first where a data set is chosen
        console.open("/")
        walk.press("数据管理", walk.navigation)
        walk.press("收藏数据集", walk.main)
        expect(page.get_by_role("button", name="取消收藏：liked")).to_be_visible()
        walk.press("训练管理", walk.navigation)
        walk.press("创建任务式训练", walk.navigation)
        console.fill("name", "等待的训练")
        console.fill("roles.0.command", "sleep 100000")
        console.fill("roles.0.resources.cpu", "4")
        console.fill("roles.0.resources.memory", "0.25")
        walk.press("数据", page.locator('[data-path="inputs"]'))
        console.choose("mount-kind-0", "数据集")
        console.at("mount-name-0").click()
        first = page.locator(".ant-select-dropdown:visible .ant-select-item-option").first
        expect(first).to_contain_text("liked")
        expect(first.get_by_test_id("star")).to_be_visible()
        page.keyboard.press("Escape")
        console.choose("mount-name-0", "liked")
        expect(page.get_by_role("checkbox", name="只读")).to_be_checked()
        # 排队预测
        expect(console.at("would-start")).to_contain_text("排队")
        walk.press("创建", console.at("form-head"))
        walk.press("确认创建", walk.dialog)
        expect(console.at("job-page")).to_be_visible()
        waits = str(console.at("job-page").get_attribute("data-id"))

        # 调整优先级, of what is queued; 调整使用时长, of what runs, and nothing of it starts again
        walk.press("训练管理", walk.navigation)
        walk.press("状态->排队中", states)
        expect(page.get_by_test_id("job-row")).to_have_count(1)
        walk.press("操作", console.row(waits))
        walk.press("调整优先级", walk.menu)
        console.choose(walk.dialog.locator(".ant-select"), "紧急")
        walk.press("确认调整", walk.dialog)
        expect(page.get_by_text("已修改。")).to_be_visible()
        assert world.show(waits)["priority"] == "urgent"
        walk.press("状态->全部", states)
        attempts = world.show(long)["attempts"]
        walk.press("操作（运行中）", console.row(long))
        walk.press("调整使用时长", walk.menu)
        console.at("duration-input").fill("3h")
        walk.press("确认调整", walk.dialog)
        expect(console.row(long)).to_contain_text("3 小时")
        view = world.show(long)
        assert (view["duration_s"], view["attempts"], view["state"]) == (10800, attempts, "running")

        # 克隆
        walk.press("操作", console.row(waits))
        walk.press("克隆", walk.menu)
        expect(console.at("form-head")).to_contain_text("克隆自")
        expect(console.field("roles.0.command")).to_have_value("sleep 100000")
        expect(console.at("mount-name-0")).to_contain_text("liked")
        console.fill("name", "克隆的训练")
        console.fill("roles.0.command", "sleep 10")
        walk.press("创建", console.at("form-head"))
        walk.press("确认创建", walk.dialog)
        expect(console.at("job-page")).not_to_have_attribute("data-id", waits)
        clone = str(console.at("job-page").get_attribute("data-id"))
        assert world.show(clone)["spec"]["roles"][0]["command"] == "sleep 10"

        # 搜索: by name, by creator, by favorite
        walk.press("收藏", walk.main)
        expect(page.get_by_role("button", name="取消收藏")).to_be_visible()
        walk.press("训练管理", walk.navigation)
        console.at("search").fill("训练")
        expect(page.get_by_test_id("job-row")).to_have_count(2)
        walk.press("只看收藏", walk.main)
        expect(page.get_by_test_id("job-row")).to_have_count(1)
        expect(console.row(clone)).to_be_visible()
        console.press("clear-filters")
        console.at("search").fill("admin 占满")
        expect(page.get_by_test_id("job-row")).to_have_count(2)
        console.press("clear-filters")
        expect(console.row(clone)).to_be_visible()

        # 停止, 批量删除
        for job in (waits, clone, long, more):
            console.row(job).get_by_role("checkbox").check()
        walk.press("停止", console.at("bulk"))
        walk.press("确认停止", confirm)
        for job in (waits, clone, long, more):
            expect(console.row(job)).to_contain_text(re.compile("已停止"))
            console.row(job).get_by_role("checkbox").check()
        walk.press("批量删除", console.at("bulk"))
        walk.press("确认删除", confirm)
        for job in (waits, clone, long, more):
            expect(console.row(job)).to_have_count(0)
