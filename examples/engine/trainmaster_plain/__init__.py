"""A kind of engine that runs tasks as plain processes of this machine. Here is what it is; `engine` is loaded when a
server has one.
"""

from dataclasses import dataclass

from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.adding import Adding, Option
from trainmaster.engines.base import Engine
from trainmaster.engines.kinds import EngineKind
from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said


@say("plain processes", "普通进程")
def plain_processes() -> Said: ...  # type: ignore[empty-body]  # the decorator makes the body


@say("{attempt} was ended: it does not start again", "{attempt} 已结束，不会再次启动")
def plain_ended(attempt: str) -> Said: ...  # type: ignore[empty-body]  # the decorator makes the body


@say("{folder} cannot be written: {why}", "无法写入 {folder}：{why}", "Free space there.", "请清理空间。")
def plain_unwritable(folder: str, why: str) -> Said: ...  # type: ignore[empty-body]  # the decorator makes the body


@dataclass(frozen=True, slots=True)
class PlainSettings:
    """`[[engines]]` of the kind plain. `cores`: how many jobs may use, 0: all of this machine."""

    cores: int = 0


def make(own: EngineConfig, layout: Layout, config: Config) -> Engine:
    """Return an engine that is not started."""
    from trainmaster_plain.engine import PlainEngine  # noqa: PLC0415 (who reads the configuration starts no engine)

    return PlainEngine(own, layout, config)


KIND = EngineKind(
    name="plain",
    label=plain_processes(),
    make=make,
    settings=PlainSettings,
    adding=Adding(
        options=(Option("cores", "Cores that jobs may use; 0: all of this machine.", "COUNT"),),
        example="tm engine add plain desk --pool desk --cores 4",
    ),
)
