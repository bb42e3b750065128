"""What is said of what jobs leave behind: their folders of files, saving their outputs, and the models made of them."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import Count, Names, say
from trainmaster.messages.said import Said

# --- folders and files

@say("there is no file {path} here", "这里没有文件 {path}", "List the folder above it; links are not followed.", "请查看上一级文件夹；不会跟随链接。")
def no_such_file_here(path: str) -> Said: ...

@say("there is no folder {path} here", "这里没有文件夹 {path}", "List the folder above it; links are not followed.", "请查看上一级文件夹；不会跟随链接。")
def no_such_folder_here(path: str) -> Said: ...


# --- models

@say("There is no model {ref}", "没有模型 {ref}", "Choose one from the list of models.", "请从模型列表中选择。")
def no_such_model(ref: str) -> Said: ...

@say("Several models are meant by {ref}: {ids}", "{ref} 对应多个模型：{ids}", "Give the id of the one you mean.", "请使用其中一个的 ID。")
def several_models(ref: str, ids: str) -> Said: ...

@say("The model {model} has no version {version}", "模型 {model} 没有版本 {version}", "Choose one from the model's list of versions.", "请从模型的版本列表中选择。")
def no_such_version(model: str, version: int) -> Said: ...

@say("not a name of a model", "不是有效的模型名称", "Use 1 to 30 letters, digits, Chinese characters, - or _.", "请使用 1 到 30 个字母、数字、汉字、- 或 _。")
def not_a_model_name() -> Said: ...

@say("Jobs that have not ended need model {name}: {jobs}", "尚未结束的任务需要模型 {name}：{jobs}", "Wait until they end, or stop them.", "请等待它们结束，或停止它们。")
def model_in_use(name: str, jobs: Names) -> Said: ...

@say("Deleted version {version} of model {name}", "删除了模型 {name} 的版本 {version}")
def model_version_deleted(name: str, version: int) -> Said: ...

@say("Deleted model {name}", "删除了模型 {name}")
def model_deleted(name: str) -> Said: ...


# --- saving outputs as a model

@say("Not all output of the job was fetched from its nodes, so no model was saved", "任务的输出没有全部从节点取回，因此没有保存模型")
def outputs_not_fetched() -> Said: ...

@say("The platform gave up saving the outputs", "平台已放弃保存输出")
def saving_given_up() -> Said: ...

@say("the outputs could not be saved within {limit_s} s", "输出未能在 {limit_s} 秒内保存完毕", "Save less, or ask an administrator to raise limits.save_s.", "请减少保存的内容，或请管理员提高 limits.save_s。")
def saving_too_slow(limit_s: float) -> Said: ...

@say("the outputs could not be saved: {error}", "输出无法保存：{error}", "Check the server's disk.", "请检查服务器的磁盘。")
def outputs_not_saved(error: str) -> Said: ...

@say("the outputs hold more than {most:file|files}", "输出超过 {most} 个文件", "Pack them into fewer files.", "请打包成更少的文件。")
def outputs_too_many_files(most: Count) -> Said: ...

@say("the outputs are larger than the {most_mib} MiB allowed", "输出超过允许的 {most_mib} MiB", "Save less, or ask an administrator to raise the limit.", "请减少保存的内容，或请管理员提高上限。")
def outputs_too_large(most_mib: int) -> Said: ...

@say("the outputs take {mib} MiB, more than the disk holds", "输出占用 {mib} MiB，超过磁盘容量", "Save less.", "请减少保存的内容。")
def outputs_larger_than_disk(mib: int) -> Said: ...

@say("The disk has no room for a copy of the outputs", "磁盘没有空间存放输出的副本", "Free disk space; saving then continues by itself.", "请清理磁盘空间，保存会自动继续。")
def no_room_for_outputs() -> Said: ...


# --- what of the outputs is not saved

@say("{path} was not saved: {why}", "{path} 未保存：{why}")
def output_left_out(path: str, why: Said) -> Said: ...

@say("{count:entry|entries} of the outputs were not saved; the first is {path}: {why}", "输出中有 {count} 项未保存，第一项是 {path}：{why}")
def outputs_left_out(count: Count, path: str, why: Said) -> Said: ...

@say("what is in it: more than {most} folders deep", "其中的内容：目录层级超过 {most}")
def output_too_deep(most: int) -> Said: ...

@say("a device, pipe or socket", "设备、管道或套接字")
def output_is_no_file() -> Said: ...

@say("a name that is not UTF-8", "名称不是 UTF-8 编码")
def output_name_not_utf8() -> Said: ...

@say("not readable", "无法读取")
def output_not_readable() -> Said: ...

@say("disappeared while it was saved", "在保存时消失")
def output_disappeared() -> Said: ...

@say("a link out of the tree, to {target}", "指向目录之外的链接（{target}）")
def output_leads_out(target: str) -> Said: ...
