"""The walk of the ModelArts manual (创建训练作业), in Chinese: an algorithm with typed hyperparameters and channels, a
job that runs it, further versions of both, the best of them by its accuracy.
"""

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.conftest import Open
from tests.e2e.console import Console
from tests.e2e.walk import Walk
from tests.e2e.world import World

SCRIPT: Final = """
import argparse, pathlib, sys
parser = argparse.ArgumentParser()
for name in ("data_url", "train_url"):
    parser.add_argument("--" + name, type=pathlib.Path)
for name, kind in (("lr", float), ("epochs", int), ("net", str), ("seed", int), ("momentum", float)):
    parser.add_argument("--" + name, type=kind)
args = parser.parse_args()
labels = (args.data_url / "labels.txt").read_text().split()
print("labels", len(labels), "momentum", args.momentum, "seed", args.seed, flush=True)
if args.lr > 5:
    sys.exit("ValueError: the loss is not a number any more")
for epoch in range(1, args.epochs + 1):
    accuracy = (0.9 - abs(args.lr - 0.1)) * epoch / args.epochs
    print(f"epoch={epoch} loss={1 - accuracy:.3f} accuracy={accuracy:.3f}", flush=True)
(args.train_url / "weights.txt").write_text(args.net or "cnn")
"""
PATTERN: Final = r"epoch=(?P<step>\d+) loss=(?P<loss>[\d.]+) accuracy=(?P<accuracy>[\d.]+)"


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in Chinese."""
    return new_console("zh-CN", cookies=signed_in)


@pytest.fixture(scope="module")
def prepared(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """前提条件: the data are there; specs of two types of resources; the folder with the script."""
    folder = tmp_path_factory.mktemp("modelarts")
    (data := folder / "data").mkdir()
    (data / "labels.txt").write_text("0 1 2\n")
    (code := folder / "digits").mkdir()
    (code / "train.py").write_text(SCRIPT)
    with world.client() as client:
        client.datasets.upload(data, "mnist")
        for name, body in (("cpu-small", {}), ("one-card", {"gpu": 1})):
            size = {"cpu": 0.25, "memory_mib": 128, **body}
            client.http.json("PUT", f"/workspaces/default/flavors/{name}", json=size)
    return code


def describe(dialog: Locator, at: int, name: str, kind: str, **fields: str) -> Locator:
    """Fill the row of a hyperparameter; return it."""
    row = dialog.get_by_test_id(f"algorithm-parameter-{at}")
    row.get_by_role("textbox").first.fill(name)
    row.get_by_role("combobox", name="类型").click()
    row.page.locator(".ant-select-dropdown:visible .ant-select-item-option", has_text=kind).click()
    for label, text in fields.items():
        row.get_by_label(label, exact=True).fill(text)
    return row


def test_an_algorithm_and_a_job_that_runs_it(console: Console, world: World, prepared: Path) -> None:
    """R23, R44, R60, R150-R156: what the algorithm says is what the form lets one choose."""
    page = console.page
    buttons = {
        "算法管理": "算法",
        "创建（算法）": "新建算法",
        "添加超参": "增加超参",
        "输入数据配置": "增加输入通道",
        "输出数据配置": "增加输出通道",
        "提交（算法）": "新建",
        "训练作业": "任务",
        "创建训练作业": "创建任务",
        "我的算法": "我的算法",
        "我的订阅": "公共算法",
        "查找算法": "查找算法",
        "离开表单": "离开",
        "创建（没有算法时）": "新建算法",
        "增加调优参数": "添加",
        "公共资源池的规格": "规格",
        "提交": "提交",
        "确认提交": "开始训练",
    }
    with Walk(console, buttons) as walk:
        console.open("/")
        walk.press("算法管理", walk.navigation)
        walk.press("创建（算法）", walk.main)
        page.get_by_test_id("algorithm-folder").set_input_files(prepared)
        expect(console.at("algorithm-chosen")).to_contain_text("1 个文件")
        console.at("algorithm-name").fill("手写数字")
        console.at("algorithm-command").fill("python train.py")
        console.at("algorithm-description").fill("第一个网络")
        console.at("algorithm-replicas").fill("1")
        console.choose("algorithm-runs-on", "CPU")
        page.keyboard.press("Escape")
        for _ in range(4):
            walk.press("添加超参", walk.dialog)
        describe(walk.dialog, 0, "lr", "数值", 默认值="0.5", 最小值="0", 最大值="10")
        describe(walk.dialog, 1, "epochs", "整数", 最小值="1").get_by_role("checkbox", name="必填").check()
        net = describe(walk.dialog, 2, "net", "文本", 默认值="cnn")
        for value in ("cnn", "mlp"):
            net.get_by_role("combobox", name="可选值").fill(value)
            page.keyboard.press("Enter")
        net.get_by_role("checkbox", name="可删除").uncheck()
        seed = describe(walk.dialog, 3, "seed", "整数", 默认值="7")
        seed.get_by_role("checkbox", name="可修改").uncheck()
        # what may not be changed, or has to be there, cannot be left out either
        expect(seed.get_by_role("checkbox", name="可删除")).to_be_disabled()
        walk.press("输入数据配置", walk.dialog)
        console.at("algorithm-inputs-0").fill("data_url")
        console.choose("algorithm-kinds-0", "数据集")
        page.keyboard.press("Escape")
        walk.press("输出数据配置", walk.dialog)
        console.at("algorithm-outputs-0").fill("train_url")
        walk.press("提交（算法）", walk.dialog.locator(".ant-modal-footer"))
        expect(page.get_by_text("已创建 手写数字 的版本 1。")).to_be_visible()
        facts = console.at("algorithm-page")
        expect(facts).to_contain_text("资源类型CPU")
        rules = console.at("algorithm-parameters").locator("tbody tr.ant-table-row")
        expect(rules).to_contain_text(["lr", "epochs", "net", "seed"])
        expect(rules.nth(0)).to_contain_text("0 – 10")
        expect(rules.nth(1)).to_contain_text("必填")
        expect(rules.nth(2)).to_contain_text("不可删除")
        expect(rules.nth(3)).to_contain_text("不可修改")
        expect(console.at("algorithm-channels")).to_contain_text("数据集")

        # R44, R150: from the form there is a way to the algorithms where none is mine, or none is to be found; what was
        # typed is there again
        walk.press("训练作业", walk.navigation)
        walk.press("创建训练作业", walk.navigation)
        console.fill("name", "第一次训练")
        console.fill("description", "训练作业基本信息")
        for source, leads in (("我的订阅", "查找算法"), ("我的算法", "创建（没有算法时）")):
            walk.press(source, console.at("field-algorithm"))
            walk.press(leads, console.at("field-algorithm"))
            walk.press("离开表单", walk.dialog)
            expect(console.at("algorithms")).to_contain_text("手写数字")
            walk.press("创建训练作业", walk.navigation)
            expect(console.field("name")).to_have_value("第一次训练")
        walk.press("我的算法", console.at("field-algorithm"))
        console.choose("algorithm-choose", "手写数字")
        expect(console.at("algorithm-said")).to_contain_text("第一个网络")

        # R153: what a channel does not take is there, and cannot be chosen; R44: the pages where it is made
        for page_of in ("datasets", "models", "volumes", "images"):
            expect(console.at(f"to-{page_of}")).to_have_attribute("href", f"/{page_of}")
        console.at("channel-kind-data_url").click()
        options = page.locator(".ant-select-dropdown:visible .ant-select-item-option")
        for kind in ("目录", "对象存储", "模型", "存储卷"):
            expect(options.filter(has_text=kind)).to_have_attribute("aria-disabled", "true")
        expect(options.filter(has_text="数据集")).not_to_have_attribute("aria-disabled", "true")
        page.keyboard.press("Escape")
        console.choose("channel-kind-data_url", "数据集")
        console.choose("mount-name-0", "mnist")
        console.choose("mount-version-0", "版本 1")

        # R155, R156: within its bounds; what has to stay has no button that removes it; further ones are added
        expect(console.at("parameter-seed")).to_be_disabled()
        expect(page.get_by_role("button", name="去掉 lr")).to_be_visible()
        expect(page.get_by_role("button", name="去掉 net")).to_have_count(0)
        console.at("parameter-lr").fill("11")
        console.at("parameter-lr").blur()
        expect(console.at("parameter-lr")).to_have_value("10")
        console.at("parameter-lr").fill("0.5")
        console.at("parameter-epochs").fill("3")
        console.choose("parameter-net", "mlp")
        walk.press("增加调优参数", console.at("kv-roles.0.parameters"))
        console.at("kv-roles.0.parameters").get_by_test_id("kv-key-0").fill("momentum")
        console.at("kv-roles.0.parameters").get_by_test_id("kv-value-0").fill("0.9")

        # R60: specs with cards are grey, as the algorithm runs on CPU
        walk.press("公共资源池的规格", console.at("role-0"))
        flavors = console.at("field-roles.0.flavors")
        expect(flavors).to_contain_text("cpu-small")
        flavors.get_by_role("combobox").press("ArrowDown")
        expect(options.filter(has_text="one-card")).to_have_attribute("aria-disabled", "true")
        page.keyboard.press("Escape")
        console.press("pattern-add")
        console.at("pattern-0").fill(PATTERN)
        expect(console.command_of("worker")).to_contain_text("--lr=0.5 --epochs=3 --net=mlp --seed=7 --momentum=0.9")
        walk.press("提交", console.at("form-head"))
        walk.press("确认提交", walk.dialog)
        expect(console.at("job-page")).to_be_visible()
        console.expect_state("succeeded")
        job = str(console.at("job-page").get_attribute("data-id"))
        expect(console.at("job-algorithm")).to_have_text("手写数字@1")
    assert "labels 3 momentum 0.9 seed 7" in world.tm("logs", job)


def test_versions_are_compared_by_accuracy(console: Console, world: World, prepared: Path) -> None:
    """R159, R160, R222: versions of the algorithm and of the job; the best stands out, a failure leads to its log."""
    page = console.page
    document: dict[str, Any] = {
        "command": "python train.py",
        "code": {"path": str(prepared)},
        "parameters": [
            {"name": "lr", "type": "float", "default": 1.0},
            {"name": "epochs", "type": "int", "default": 3},
        ],
        "inputs": ["data_url"],
        "outputs": ["train_url"],
    }
    with world.client() as client:
        client.algorithms.upload(document, "对比")
        first = client.submit(
            {
                "name": "对比学习率",
                "algorithm": "对比@1",
                "inputs": [{"dataset": "mnist", "channel": "data_url"}],
                "resources": {"cpu": 0.25, "memory": "128MiB"},
                "metrics": [{"pattern": PATTERN}],
            }
        ).id
    buttons = {
        "新版本（算法）": "新建版本",
        "提交（算法）": "新建",
        "修改（训练作业）": "克隆",
        "提交": "提交",
        "确认提交": "开始训练",
        "版本": "第 4 版，共 4 版…",
        "版本对比": "比较这些版本",
        "查看日志": "查看对应日志",
        "训练作业": "任务",
    }
    with Walk(console, buttons) as walk:
        # another version of the algorithm begins with the code of this one
        console.open("/algorithms")
        page.get_by_role("link", name="对比", exact=True).click()
        walk.press("新版本（算法）", walk.main)
        expect(console.at("algorithm-chosen")).to_contain_text("沿用版本 1 的代码")
        console.at("algorithm-parameter-0").get_by_label("默认值").fill("0.1")
        walk.press("提交（算法）", walk.dialog.locator(".ant-modal-footer"))
        expect(console.at("version-2")).to_have_attribute("aria-current", "true")

        made = [first]
        for lr, state in ((None, "succeeded"), (0.3, "succeeded"), (6, "failed")):
            console.open_job(first)
            walk.press("修改（训练作业）", walk.main)
            console.choose("algorithm-version", "版本 2")
            if lr is not None:
                console.at("parameter-lr").fill(str(lr))
                expect(console.at("command-preview")).to_contain_text(f"--lr={lr} ")
            else:
                page.get_by_role("button", name="去掉 lr").click()
                page.get_by_role("button", name="填写 lr").click()
                expect(console.at("command-preview")).to_contain_text("--lr=0.1 ")
            walk.press("提交", console.at("form-head"))
            walk.press("确认提交", walk.dialog)
            expect(console.at("job-page")).not_to_have_attribute("data-id", made[-1])
            made.append(str(console.at("job-page").get_attribute("data-id")))
            console.expect_state(state)

        # 运行失败: the page leads to the lines that say why
        walk.press("查看日志", walk.main)
        expect(console.at("log")).to_contain_text("ValueError: the loss is not a number any more")
        walk.press("版本", walk.main)
        walk.press("版本对比", walk.menu)
        results = console.at("compare-results").locator("tbody tr[data-row-key]")
        expect(results).to_have_count(4)
        best = results.filter(has=console.at("best-accuracy"))
        expect(best).to_have_attribute("data-row-key", made[1])
        expect(best).to_contain_text("0.9")
        expect(console.at("compare-differences")).to_contain_text("lr")
        walk.press("训练作业", walk.navigation)
        for job, state in zip(made, ("成功", "成功", "成功", "失败"), strict=True):
            expect(console.row(job)).to_contain_text(state)


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ({}, ("当前算法没有超参。", "当前算法没有输入通道。", "当前算法没有输出通道。")),
        ({"custom_parameters": False}, ("当前所选算法不支持自定义超参。",)),
    ],
)
def test_what_an_algorithm_has_not_is_said_in_words(
    console: Console, world: World, says: dict[str, Any], words: tuple[str, ...]
) -> None:
    """R157."""
    name = f"bare-{len(says)}"
    with world.client() as client:
        client.algorithms.upload({"command": "true", **says}, name)
    console.open("/submit")
    console.press("algorithm-source-mine")
    console.choose("algorithm-choose", name)
    for text in words:
        expect(console.page.get_by_text(text)).to_be_visible()
