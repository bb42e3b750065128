"""The walk of the UAI Train review, in Chinese: data sent to the platform with progress and looked at there, an image
of own code packed and tried without a GPU, a job with both, its results fetched.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.walk import Walk
from tests.e2e.world import World

SCRIPT: Final = """
import pathlib, sys
import tinyone
rounds = int(sys.argv[1])
data = pathlib.Path("/workspace/volume/train-data")
count = len((data / "digits/labels.csv").read_text().splitlines()) - 1 if data.exists() else 0
print("rounds", rounds, "labels", count, "tinyone", tinyone.value, flush=True)
if count:
    pathlib.Path("/workspace/outputs/result.txt").write_text(f"{count} labels, {rounds} rounds")
    (data / "by-the-job.txt").write_text("kept")
"""
SLOW: Final = 1 << 20
"""Bytes a second, while one looks on."""
LARGE: Final = 6 << 20


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in Chinese."""
    return new_console("zh-CN", cookies=signed_in)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """用户代码 with what it depends on."""
    (folder := tmp_path / "train").mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "requirements.txt").write_text("tinyone==1.0\n")
    return folder


@contextmanager
def slow_line(page: Page) -> Iterator[None]:
    """Meanwhile the browser sends so slowly that a person sees how far it is."""
    tools = page.context.new_cdp_session(page)
    line = {"offline": False, "latency": 0, "downloadThroughput": -1}
    tools.send("Network.emulateNetworkConditions", {**line, "uploadThroughput": SLOW})
    yield
    tools.send("Network.emulateNetworkConditions", {**line, "uploadThroughput": -1})
    tools.detach()


def test_data_image_job_and_results(console: Console, world: World, code: Path, tmp_path: Path) -> None:
    """R235-R237, R239, R245, R247, R249."""
    page = console.page
    (data := tmp_path / "digits").mkdir()
    (data / "labels.csv").write_text("name,label\na,1\nb,2\nc,3\n")
    (data / "train.bin").write_bytes(b"\0" * LARGE)
    (tmp_path / "more.txt").write_text("sent alone\n")
    buttons = {
        "存储空间": "存储卷",
        "创建存储空间": "新建存储卷",
        "确定（存储空间）": "新建",
        "上传文件夹": "上传文件夹",
        "上传文件": "上传文件",
        "镜像仓库": "镜像",
        "使用镜像": "用于任务",
        "数据来源": "添加",
        "分布式": "分布式训练",
        "提交": "提交",
        "确认提交": "开始训练",
        "训练日志": "日志",
        "训练结果": "文件",
        "下载文件": "下载：result.txt",
        "打包下载": "下载文件夹（zip）",
        "全部下载（存储空间）": "全部下载",
    }
    with Walk(console, buttons) as walk:
        # R239: 创建存储空间, 上传: how far it is can be seen; several files, and single ones
        console.open("/")
        walk.press("存储空间", walk.navigation)
        walk.press("创建存储空间", walk.main)
        console.at("volume-name").fill("train-data")
        walk.press("确定（存储空间）", walk.dialog)
        expect(console.at("volume-page")).to_be_visible()
        with slow_line(page):
            with page.expect_file_chooser() as choosing:
                walk.press("上传文件夹", walk.main)
            choosing.value.set_files(data)
            expect(console.at("volume-sending").locator(".ant-progress-text, .ant-progress-indicator")).to_have_text(
                re.compile(r"^[1-9]\d?%$")
            )
        expect(page.get_by_text("已上传 2 个文件。")).to_be_visible()
        with page.expect_file_chooser() as choosing:
            walk.press("上传文件", walk.main)
        choosing.value.set_files(tmp_path / "more.txt")
        expect(page.get_by_text("已上传 1 个文件。")).to_be_visible()

        # R245: looked at in the console
        expect(console.at("file")).to_contain_text("more.txt")
        console.at("folder").get_by_text("digits").click()
        console.at("file").get_by_text("labels.csv").click()
        expect(console.at("preview").get_by_role("columnheader")).to_contain_text(["name", "label"])
        expect(console.at("preview").get_by_role("cell", name="c", exact=True)).to_be_visible()
        page.keyboard.press("Escape")

        # R235-R237: 打包镜像: what the tool says, and a run on one machine without a GPU
        said = world.tm("image", "build", "digits", str(code), "--test", "python train.py 1")
        assert "tm submit" in said
        assert "tm image test digits@1 'python train.py 1'" in said
        assert "uv run --no-project" in said
        assert "rounds 1 labels 0 tinyone 1" in said
        assert "exit code 0" in said
        walk.press("镜像仓库", walk.navigation)
        page.get_by_role("link", name="digits", exact=True).click()
        expect(console.at("image-page")).to_contain_text("tinyone")

        # R249, R247: no key is typed; how many nodes there are stays in bounds
        walk.press("使用镜像", walk.main)
        expect(console.field("image")).to_have_value("digits@1")
        console.fill("name", "打包的训练")
        console.fill("roles.0.command", "python train.py 3")
        walk.press("数据来源", page.locator('[data-path="inputs"]'))
        console.choose("mount-kind-0", "存储卷")
        console.choose("mount-name-0", "train-data")
        page.get_by_role("checkbox", name="只读").uncheck()
        walk.press("分布式", walk.main)
        console.fill("roles.0.replicas", "0")
        expect(console.field("roles.0.replicas")).to_have_value("1")
        walk.press("分布式", walk.main)
        expect(console.field("roles.0.replicas")).to_have_count(0)
        console.fill("roles.0.command", "python train.py 3")
        walk.press("提交", console.at("form-head"))
        walk.press("确认提交", walk.dialog)
        expect(console.at("job-page")).to_be_visible()
        console.expect_state("succeeded")
        walk.press("训练日志", walk.tabs)
        expect(console.at("log")).to_contain_text("rounds 3 labels 3 tinyone 1")

        # 获取训练结果
        walk.press("训练结果", walk.tabs)
        console.at("folder").get_by_text("outputs").click()
        with console.downloading(tmp_path / "result.txt"):
            walk.press("下载文件", console.at("files"))
        assert (tmp_path / "result.txt").read_text() == "3 labels, 3 rounds"
        with console.downloading(tmp_path / "outputs.zip"):
            walk.press("打包下载", console.at("files"))
        walk.press("存储空间", walk.navigation)
        page.get_by_role("link", name="train-data", exact=True).click()
        expect(console.at("file").get_by_text("by-the-job.txt")).to_be_visible()
        with console.downloading(tmp_path / "volume.zip"):
            walk.press("全部下载（存储空间）", walk.main)
    with zipfile.ZipFile(tmp_path / "volume.zip") as packed:
        assert {Path(one).name for one in packed.namelist()} >= {"labels.csv", "train.bin", "by-the-job.txt"}


def test_the_same_at_a_terminal(world: World, code: Path, tmp_path: Path) -> None:
    """R242, R244: created, found, stopped, deleted; the id is one of its own."""
    (code / "job.json").write_text(json.dumps({"name": "cli", "command": "sleep 100000", "code": str(code)}))
    job = json.loads(world.tm("submit", str(code / "job.json"), "--json"))["id"]
    assert re.fullmatch("t[0-9a-f]{32}", job)
    world.until(job, lambda view: view["state"] == "running")
    world.tm("stop", job)
    world.until(job, lambda view: view["state"] == "stopped")
    assert job in world.tm("list", "--all", "--json")
    world.tm("delete", job)
    assert job not in world.tm("list", "--all", "--json")
