"""The Chinese of what is said of clusters and their engines: a part of the table of `core.chinese`, which is full. Pure."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
CLUSTER: Final[dict[str, str]] = {
    "Slurm gives whole cards: ask for one, or run the job in a pool of this platform's own engine": "Slurm 只分配整卡：请申请一块整卡，或在本平台自带引擎的资源池中运行",
    "The cluster {name} decides itself what its nodes are for": "集群 {name} 自行决定其节点的用途",
    "Use the cluster's own tools.": "请使用该集群自己的工具",
    "The cluster does not answer: {words}": "集群没有响应：{words}",
    "Nothing is lost; it is asked again until it does.": "没有丢失任何内容；平台会一直重试",
    "The server cannot speak with the cluster: {words}": "服务器无法与集群通信：{words}",
    "Look at slurm.conf, munge and the sudo rule on the server's machine.": "请检查服务器上的 slurm.conf、munge 和 sudo 规则",
    "The cluster's tasks cannot be entered yet": "暂时不能进入集群中的副本",
    "The data folder {folder} has a character that Slurm or a shell would take for its own": "数据目录 {folder} 含有对 Slurm 或 shell 有特殊含义的字符",
    "Set server.data to a folder whose path has letters, digits and ./_-+@=,: only.": "请将 server.data 设为路径仅含字母、数字和 ./_-+@=,: 的目录。",
    "Slurm keeps the time limit that it has for this job: {error}": "Slurm 保留此任务原有的时限：{error}",
    "Slurm does not answer: {error}": "Slurm 没有响应：{error}",
    "Slurm cannot be used: {error}": "无法使用 Slurm：{error}",
    "{folder} cannot be written: {error}": "无法写入 {folder}：{error}",
    "Set server.data to a folder that the nodes share and this user may write.": "请将 server.data 设为各节点共享且本用户可写的目录。",
    "The shared folder cannot be written: {error} ({path})": "无法写入共享目录：{error}（{path}）",
    "Slurm says: {reason}": "Slurm 的说明：{reason}",
    "Slurm ended it before anything of it ran: {state}": "在运行之前就被 Slurm 结束：{state}",
    "Slurm says of the job: {state}": "Slurm 对该任务的说明：{state}",
    "Slurm did not answer within {seconds} seconds": "Slurm 在 {seconds} 秒内没有响应",
    "Look whether slurmctld runs and is not overloaded (scontrol ping, sdiag).": "请检查 slurmctld 是否在运行、是否过载（scontrol ping、sdiag）",
    "{program} cannot be run: {error}": "{program} 无法运行：{error}",
    "Install Slurm's client programs on the server's machine, or name their folder.": "请在服务器上安装 Slurm 客户端程序，或指定其所在目录",
    "this is no version of Slurm: {text}": "这不是 Slurm 的版本：{text}",
}
"""English -> Chinese, as in core.chinese.SENTENCES."""
