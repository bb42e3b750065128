"""The walk of the Octopus manual (训练管理), in Chinese: data set, image and algorithm prepared, a distributed job of
two sub-tasks, its template changed, copied and run, the saved model used again; then what ends and goes.
"""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.jobs import plain
from tests.e2e.walk import Walk
from tests.e2e.world import World

SCRIPT: Final = """
import argparse, os, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--output")
parser.add_argument("--epochs", type=int)
args = parser.parse_args()
import tinyone
role = os.environ["TASKROLE_NAME"]
hosts = os.environ[f"VC_{role.upper()}_HOSTS"].split(",")
index = int(os.environ["VC_TASK_INDEX"])
print("I am", role, index, "of", len(hosts), "with tinyone", tinyone.value, flush=True)
labels = pathlib.Path("/dataset/labels.txt").read_text().split()
if index == 0:
    pathlib.Path("/model", args.output).write_text(f"{len(labels)} labels, {args.epochs} epochs")
"""


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in Chinese."""
    return new_console("zh-CN", cookies=signed_in)


def template(console: Console, name: str) -> Locator:
    """The row of a template."""
    rows = console.page.locator("[data-testid=templates] tbody tr.ant-table-row")
    return rows.filter(has=console.page.get_by_role("link", name=name, exact=True))


def test_data_image_algorithm_distributed_job_template_and_model(
    console: Console, world: World, tmp_path: Path
) -> None:
    """R21, R22, R24, R26, R28-R33, R35-R42, R51, R108-R111, R136, R138, R149, R206, R207, R230-R233."""
    page = console.page
    (data := tmp_path / "labels").mkdir()
    (data / "labels.txt").write_text("daisy rose tulip\n")
    (code := tmp_path / "mnist").mkdir()
    (code / "mnist.py").write_text(SCRIPT)
    buttons = {
        "数据集": "数据集",
        "创建数据集": "上传",
        "上传数据集": "上传",
        "镜像": "镜像",
        "创建镜像": "新建镜像",
        "提交镜像": "构建",
        "查看镜像": "打开镜像",
        "算法": "算法",
        "上传算法": "新建算法",
        "提交算法": "新建",
        "训练管理": "任务",
        "创建任务": "创建任务",
        "我的算法": "我的算法",
        "选择数据集": "添加",
        "分布式任务": "分布式训练",
        "添加子任务": "添加子任务",
        "运行参数": "添加",
        "最小成功数、最小失败数": "何时算完成？…",
        "主任务": "该子任务完成时，整个任务结束",
        "保存模板": "保存为模板",
        "确定（模板）": "保存",
        "任务模板": "模板",
        "更多": "labels-plan 的更多操作",
        "编辑模板": "编辑",
        "保存（编辑后）": "保存模板",
        "复制模板": "复制",
        "创建训练任务（由模板）": "提交任务",
        "提交": "提交",
        "开始训练": "开始训练",
        "子任务日志": "日志",
        "下载": "下载",
        "下载子任务日志": "当前日志",
        "任务简况": "概览",
        "使用模型": "用于任务",
    }
    with Walk(console, buttons) as walk:
        # 数据准备
        console.open("/")
        walk.press("数据集", walk.navigation)
        walk.press("创建数据集", walk.main)
        page.get_by_test_id("dataset-folder").set_input_files(data)
        walk.press("上传数据集", walk.dialog.locator(".ant-modal-footer"))
        expect(page.get_by_text("已上传 labels 的版本 1。")).to_be_visible()
        walk.press("镜像", walk.navigation)
        walk.press("创建镜像", walk.main)
        console.at("image-name").fill("tiny")
        console.at("image-packages").fill("tinyone==2.0\n")
        walk.press("提交镜像", walk.dialog.locator(".ant-modal-footer"))
        expect(console.at("build")).to_have_attribute("data-state", "ready")
        walk.press("查看镜像", walk.dialog)
        expect(console.at("image-page")).to_contain_text("tinyone")
        walk.press("算法", walk.navigation)
        walk.press("上传算法", walk.main)
        page.get_by_test_id("algorithm-folder").set_input_files(code)
        console.at("algorithm-command").fill("python mnist.py")
        walk.press("提交算法", walk.dialog.locator(".ant-modal-footer"))
        expect(page.get_by_text("已创建 mnist 的版本 1。")).to_be_visible()

        # 创建训练任务
        walk.press("训练管理", walk.navigation)
        walk.press("创建任务", walk.navigation)
        console.fill("name", "含有空格 的名称")
        expect(console.problem_at("name")).to_be_visible()
        console.fill("name", "手写数字_分布式-1")
        expect(console.problem_at("name")).to_have_count(0)
        console.fill("description", "两个子任务")
        walk.press("我的算法", console.at("field-algorithm"))
        console.choose("algorithm-choose", "mnist")
        console.choose("algorithm-version", "版本 1")
        console.field("image").click()
        page.locator(".ant-select-dropdown:visible .ant-select-item-option", has_text="tiny@1").click()
        walk.press("选择数据集", page.locator('[data-path="inputs"]'))
        console.choose("mount-kind-0", "数据集")
        console.choose("mount-name-0", "labels")
        console.choose("mount-version-0", "版本 1")

        # R29-R38, but for R34: the form changes with the switch; a second sub-task, its parameters, what ends the job
        expect(console.at("role-add")).to_have_count(0)
        walk.press("分布式任务", walk.main)
        console.choose("field-framework", "无启动器")
        console.fill("roles.0.name", "trainer")
        console.fill("roles.0.replicas", "2")
        walk.press("运行参数", console.at("kv-roles.0.parameters"))
        console.pair("roles.0.parameters", 0, "output", "save.pth")
        console.pair("roles.0.parameters", 1, "epochs", "3")
        walk.press("添加子任务", walk.main)
        console.fill("roles.1.name", "watcher")
        console.fill("roles.1.command", "sleep 100000")
        for at, (replicas, cpu) in enumerate(((2, "0.25"), (1, "0.1"))):
            console.fill(f"roles.{at}.replicas", str(replicas))
            console.fill(f"roles.{at}.resources.cpu", cpu)
            console.fill(f"roles.{at}.resources.memory", "0.25")
        walk.press("最小成功数、最小失败数", console.at("role-0"))
        console.fill("roles.0.min_succeeded", "2")
        console.fill("roles.0.min_failed", "1")
        walk.press("主任务", console.at("role-0"))
        # R39-R41: each pair becomes --key=value, and is shown before the submit
        expect(console.command_of("trainer")).to_have_text("python mnist.py --output=save.pth --epochs=3")
        expect(console.command_of("watcher")).to_have_text("sleep 100000")
        console.fill("model.name", "手写数字")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")

        # R42, R230: kept as a template; R231: changed there; R233: copied; R232: submitted from the copy
        walk.press("保存模板", console.at("form-head"))
        console.at("template-name").fill("labels-plan")
        walk.press("确定（模板）", walk.dialog)
        expect(page.get_by_text("模板 labels-plan 已保存。")).to_be_visible()
        walk.press("任务模板", walk.navigation)
        console.press("leave-discard")
        walk.press("更多", template(console, "labels-plan"))
        walk.press("编辑模板", walk.menu)
        expect(console.field("roles.1.command")).to_have_value("sleep 100000")
        console.fill("description", "改过的模板")
        console.pair("roles.0.parameters", 1, "epochs", "5")
        expect(console.command_of("trainer")).to_contain_text("--epochs=5")
        walk.press("保存（编辑后）", console.at("form-head"))
        walk.press("确定（模板）", walk.dialog)
        expect(template(console, "labels-plan")).to_contain_text("版本 2")
        walk.press("更多", template(console, "labels-plan"))
        walk.press("复制模板", walk.menu)
        expect(page.get_by_text("已复制为 labels-plan-copy。")).to_be_visible()
        walk.press("创建训练任务（由模板）", template(console, "labels-plan-copy"))
        expect(console.field("description")).to_have_value("改过的模板")
        expect(console.at("fits")).to_have_attribute("data-when", "now")
        walk.press("提交", console.at("form-head"))
        expect(console.at("confirm-page")).to_contain_text("--epochs=5")
        walk.press("开始训练", walk.dialog)
        expect(console.at("job-page")).to_be_visible()
        job = str(console.at("job-page").get_attribute("data-id"))

        # R136: the main sub-task ends the job, though the other would go on; R206, R207: its replicas and their logs
        console.expect_state("succeeded")
        expect(console.at("tasks")).to_contain_text("watcher")
        replica = console.at("tasks").locator("tr", has=console.at("task-log-task0-1"))
        walk.press("子任务日志", replica)
        expect(console.at("log")).to_contain_text("I am task0 1 of 2 with tinyone 2")
        with console.downloading(tmp_path / "replica.log"):
            walk.press("下载", walk.main)
            walk.press("下载子任务日志", walk.menu)
        assert "I am task0 1 of 2" in (tmp_path / "replica.log").read_text()
        walk.press("任务简况", walk.main)

        # R149, R51: what was written to /model is a model, and the input of the next job
        saved = console.at("verdict").get_by_test_id("saved-model")
        expect(saved).to_have_text("手写数字@1")
        saved.click()
        console.at("folder").get_by_text("model").click()
        expect(console.at("file")).to_contain_text("save.pth")
        walk.press("使用模型", console.at("model-page"))
        expect(console.at("mount-name-0")).to_contain_text("手写数字")
        expect(console.at("mount-target-0")).to_have_attribute("placeholder", "/pretrain/手写数字")
        console.fill("name", "使用模型")
        console.fill("roles.0.command", "cat /pretrain/手写数字/save.pth")
        second = console.start()
        console.expect_state("succeeded")
    assert "3 labels, 5 epochs" in world.tm("logs", second)
    view = world.show(job)
    assert view["id"].startswith("t")
    assert len(view["id"]) == 33
    assert [task["name"] for task in view["task_list"]] == ["task0-0", "task0-1", "task1-0"]


def test_jobs_and_templates_are_searched_stopped_and_deleted(console: Console, world: World) -> None:
    """R194, R198, R201, R202, R234: only what has ended is deleted, one or many."""
    page = console.page
    jobs = [plain(world, f"delete-me-{n}", "sleep 100000") for n in range(3)]
    for job in jobs:
        world.until(job, lambda view: view["state"] == "running")
    with world.client() as client:
        for n in range(3):
            client.templates.create(f"drop-me-{n}", job=jobs[0])
    buttons = {
        "训练管理": "任务",
        "停止": "停止",
        "确认停止": "停止",
        "批量停止": "停止",
        "删除": "删除",
        "确认删除": "删除",
        "批量删除": "删除",
        "任务模板": "模板",
        "更多": "drop-me-0 的更多操作",
        "删除模板": "删除",
        "批量删除模板": "删除",
    }
    confirm = page.locator(".ant-modal-confirm-btns")
    with Walk(console, buttons) as walk:
        console.open("/")
        walk.press("训练管理", walk.navigation)
        console.at("search").fill("delete-me")
        expect(page.get_by_test_id("job-row")).to_have_count(3)
        console.row(jobs[0]).get_by_test_id("row-menu").click()
        expect(walk.menu.get_by_role("menuitem", name="删除")).to_have_attribute("aria-disabled", "true")
        walk.press("停止", walk.menu)
        walk.press("确认停止", confirm)
        expect(console.row(jobs[0])).to_contain_text("已停止")
        console.row(jobs[0]).get_by_test_id("row-menu").click()
        walk.press("删除", walk.menu)
        walk.press("确认删除", confirm)
        expect(console.row(jobs[0])).to_have_count(0)
        for job in jobs[1:]:
            console.row(job).get_by_role("checkbox").check()
        walk.press("批量停止", console.at("bulk"))
        walk.press("确认停止", confirm)
        for job in jobs[1:]:
            expect(console.row(job)).to_contain_text("已停止")
            console.row(job).get_by_role("checkbox").check()
        walk.press("批量删除", console.at("bulk"))
        walk.press("确认删除", confirm)
        expect(page.get_by_test_id("job-row")).to_have_count(0)

        walk.press("任务模板", walk.navigation)
        console.at("templates-search").fill("drop-me")
        walk.press("更多", template(console, "drop-me-0"))
        walk.press("删除模板", walk.menu)
        walk.press("确认删除", confirm)
        expect(template(console, "drop-me-0")).to_have_count(0)
        for name in ("drop-me-1", "drop-me-2"):
            template(console, name).get_by_role("checkbox").check()
        walk.press("批量删除模板", page.locator(".tm-bulk"))
        walk.press("确认删除", confirm)
        expect(page.get_by_text("已删除 2 个模板。")).to_be_visible()
    with world.client() as client:
        assert [one.name for one in client.templates.list() if one.name.startswith("drop-me")] == []
