"""The walk of the SCM manual (OpenPAI), in Chinese: a job of the form, of pasted JSON and of an imported file; expert
mode with storage; then the job looked after.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.test_storage import said
from tests.e2e.walk import Walk
from tests.e2e.world import CONFIG, World
from tests.fixtures.stores import BUCKET, HERE, KEY_ID, SECRET, Store, served

PASTED: Final[dict[str, Any]] = {
    "jobName": "pasted.job~1",
    "image": "local",
    "jobEnvs": {"COLOUR": "blue"},
    "taskRoles": [
        {
            "name": "main",
            "taskNumber": 1,
            "cpuNumber": 1,
            "memoryMB": 256,
            "gpuNumber": 0,
            "command": "bash -c 'echo $PAI_JOB_NAME $COLOUR $PAI_TASK_ROLE_LIST'",
        },
        {
            "name": "work",
            "taskNumber": 2,
            "cpuNumber": 1,
            "memoryMB": 256,
            "gpuNumber": 1,
            "shmMB": 64,
            "command": "bash -c 'echo port $PAI_PORT_LIST_work_0_rpc'",
            "portList": [{"label": "rpc", "beginAt": 0, "portNumber": 1}],
        },
    ],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with served(tmp_path_factory.mktemp("store") / "s3") as one:
        one.put("flowers/a.txt", "of the distributed store\n")
        yield one


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, store: Store) -> Iterator[World]:
    """A server that may go to the machine's own loopback, where the distributed store is."""
    made = World(tmp_path_factory.mktemp("e2e") / "home", f'{CONFIG}\n[storage]\nallow = ["{HERE}"]\n')
    try:
        made.start()
        words = ["storage", "add", "hdfs", "--endpoint", store.endpoint, "--bucket", BUCKET]
        said(made, f"{KEY_ID}\n{SECRET}\n", *words)
        yield made
    finally:
        made.close()


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in Chinese."""
    return new_console("zh-CN", cookies=signed_in)


def test_a_job_of_the_form_is_submitted_and_looked_after(console: Console, world: World, tmp_path: Path) -> None:
    """6.1.2 and 6.2, without expert mode: R8, R64, R66, R84, R92, R193, R200, R201, R203, R207, R210, R211."""
    page = console.page
    buttons = {
        "模型训练": "任务",
        "提交作业（导航）": "创建任务",
        "添加端口": "添加",
        "提交作业": "提交",
        "提交": "开始训练",
        "JSON 文件": "任务文件",
        "作业监控": "资源使用",
        "标准输出": "日志",
        "下载": "下载",
        "下载日志": "全部日志（zip）",
        "动作": "更多",
        "设定工作时长": "修改运行时限",
        "保存工作时长": "保存",
        "停止作业": "停止",
        "确认停止": "停止",
        "克隆": "克隆",
        "删除作业": "删除",
        "确认删除": "删除",
    }
    confirm = page.locator(".ant-modal-confirm-btns")
    with Walk(console, buttons) as walk:
        console.open("/")
        walk.press("模型训练", walk.navigation)
        walk.press("提交作业（导航）", walk.navigation)
        # 基本设置: name, cluster, card; help under the mouse (R66)
        console.fill("name", "form-job")
        expect(console.at("field-pool")).to_contain_text("default")
        page.locator('[data-path="name"] label .anticon-question-circle').hover()
        expect(page.get_by_role("tooltip").filter(has_text="1 至 30 个字符")).to_be_visible()
        # 任务设置: the command that is there is `sleep infinity` (R84)
        expect(console.field("roles.0.command")).to_have_value("sleep infinity")
        console.fill("roles.0.name", "worker")
        console.fill("roles.0.resources.cpu", "0.5")
        console.fill("roles.0.resources.memory", "0.25")
        console.fill("roles.0.resources.shm", "96")
        console.fill("roles.0.resources.gpu", "1")
        console.choose("field-roles.0.resources.gpu_type", "sim-a100")
        walk.press("添加端口", page.locator('[data-path="roles.0.ports"]'))
        console.at("port-label-0").fill("http")
        expect(page.locator("[data-path='env']")).to_have_count(1)
        expect(page.locator("[data-path='retries']")).to_have_count(0)
        expect(console.at("preview")).to_have_attribute("data-ok", "true")
        # 确认配置窗口 (R64)
        walk.press("提交作业", console.at("form-head"))
        expect(console.at("confirm-page")).to_contain_text("form-job")
        expect(console.at("confirm-page")).to_contain_text("sleep infinity")
        walk.press("提交", walk.dialog)
        expect(console.at("job-page")).to_be_visible()
        job = str(console.at("job-page").get_attribute("data-id"))
        console.expect_state("running")

        # 管理作业, 监控作业
        walk.press("JSON 文件", walk.main)
        expect(page.locator(".cm-content")).to_contain_text("form-job")
        page.get_by_text("OpenPAI", exact=True).click()
        expect(page.locator(".cm-content")).to_contain_text("taskRoles")
        walk.press("作业监控", walk.main)
        expect(page.get_by_test_id("chart").first).to_be_visible()
        walk.press("标准输出", walk.tabs)
        expect(console.at("log-follow")).to_be_visible()
        with console.downloading(tmp_path / "logs.zip"):
            walk.press("下载", walk.main)
            walk.press("下载日志", walk.menu)
        assert (tmp_path / "logs.zip").read_bytes().startswith(b"PK")
        walk.press("动作", walk.main)
        walk.press("设定工作时长", walk.menu)
        console.at("duration-input").fill("2h")
        walk.press("保存工作时长", walk.dialog)
        expect(page.get_by_text("已修改。")).to_be_visible()
        assert world.show(job)["duration_s"] == 7200
        walk.press("停止作业", walk.main)
        walk.press("确认停止", confirm)
        console.expect_state("stopped")

        # 作业快速克隆 (R203), 作业信息 (R200)
        walk.press("克隆", walk.main)
        expect(console.field("roles.0.resources.shm")).to_have_value("96")
        expect(console.at("port-label-0")).to_have_value("http")
        walk.press("模型训练", walk.navigation)
        row = console.row(job)
        for column in ("form-job", "已停止", "admin", "default"):
            expect(row).to_contain_text(column)
        row.get_by_test_id("row-menu").click()
        walk.press("删除作业", walk.menu)
        walk.press("确认删除", confirm)
        expect(row).to_have_count(0)


def test_json_is_pasted_and_imported(console: Console, world: World) -> None:
    """6.1.3 and 6.1.4 (R61-R63): a whole document in place of what is in the form, and a file that fills it."""
    page = console.page
    buttons = {
        "编辑 JSON": "以文本编辑",
        "保存（JSON）": "应用到表单",
        "导入": "导入",
        "提交作业": "提交",
        "提交": "开始训练",
        "标准输出": "日志",
    }
    with Walk(console, buttons) as walk:
        console.open("/submit")
        console.fill("name", "replaced-by-json")
        walk.press("编辑 JSON", console.at("form-head"))
        assert console.document()["name"] == "replaced-by-json"
        console.write_editor(json.dumps(PASTED, indent=2))
        expect(walk.dialog).to_contain_text("这是 OpenPAI 任务文件")
        walk.press("保存（JSON）", walk.dialog)
        expect(console.field("roles.0.name")).to_have_value("main")
        expect(console.field("roles.1.replicas")).to_have_value("2")
        expect(console.at("role-1").get_by_test_id("port-label-0")).to_have_value("rpc")
        expect(console.at("kv-env").get_by_test_id("kv-key-0")).to_have_value("COLOUR")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")
        walk.press("提交作业", console.at("form-head"))
        walk.press("提交", walk.dialog)
        console.expect_state("succeeded")
        walk.press("标准输出", walk.tabs)
        expect(console.at("log")).to_contain_text("pasted.job~1 blue main,work")

        console.open("/submit")
        imported = {**PASTED, "jobName": "imported"}
        with page.expect_file_chooser() as choosing:
            walk.press("导入", console.at("form-head"))
        choosing.value.set_files(
            {"name": "job.json", "mimeType": "application/json", "buffer": json.dumps(imported).encode()}
        )
        expect(page.get_by_text("已导入 job.json")).to_be_visible()
        expect(console.field("name")).to_have_value("imported")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")


def test_expert_mode_adds_variables_and_storage(console: Console, world: World, store: Store) -> None:
    """6.1.2.1.2 (R65, R93): both stores are mapped into the container; what was written goes back."""
    page = console.page
    with world.client() as client:
        client.volumes.create("central")
    buttons = {
        "专业模式": "专家模式",
        "添加环境变量": "添加",
        "挂载存储": "添加",
        "输出位置": "添加",
        "提交作业": "提交",
        "提交": "开始训练",
        "标准输出": "日志",
    }
    with Walk(console, buttons) as walk:
        console.open("/submit")
        for path in ("retries", "grace", "outputs"):
            expect(page.locator(f'[data-path="{path}"]')).to_have_count(0)
        walk.press("专业模式", console.at("form-head"))
        for path in ("retries", "grace", "outputs"):
            expect(page.locator(f'[data-path="{path}"]')).to_have_count(1)
        console.fill("name", "expert-job")
        command = "cat /dataset/a.txt | tee /workspace/volume/central/kept.txt /workspace/outputs/out.txt; echo $COLOUR"
        console.fill("roles.0.command", f"bash -c '{command}'")
        console.fill("roles.0.resources.cpu", "0.5")
        console.fill("roles.0.resources.memory", "0.25")
        walk.press("添加环境变量", console.at("kv-env"))
        console.pair("env", 0, "COLOUR", "green")
        walk.press("挂载存储", page.locator('[data-path="inputs"]'))
        console.choose("mount-kind-0", "对象存储")
        console.choose("mount-name-0", "hdfs")
        console.at("mount-below-0").fill("flowers")
        walk.press("挂载存储", page.locator('[data-path="inputs"]'))
        console.choose("mount-kind-1", "存储卷")
        console.choose("mount-name-1", "central")
        page.get_by_role("checkbox", name="只读").nth(1).uncheck()
        walk.press("输出位置", page.locator('[data-path="outputs"]'))
        console.choose("output-name-0", "hdfs")
        console.at("output-below-0").fill("runs/{name}")
        expect(console.at("preview")).to_have_attribute("data-ok", "true")
        walk.press("提交作业", console.at("form-head"))
        walk.press("提交", walk.dialog)
        console.expect_state("succeeded")
        expect(console.at("upload-done")).to_contain_text(re.compile("hdfs/runs/expert-job"))
        walk.press("标准输出", walk.tabs)
        expect(console.at("log")).to_contain_text("of the distributed store")
        expect(console.at("log")).to_contain_text("green")
    assert (store.bucket / "runs/expert-job/out.txt").read_text() == "of the distributed store\n"
    with world.client() as client:
        kept = Path(str(client.volumes.get("central").path), "files", "kept.txt")
    assert kept.read_text() == "of the distributed store\n"
