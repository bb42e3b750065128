"""The Chinese of what the outermost layer says of requests that are too much, or none: a part of the table of `core.chinese`. Pure."""

from typing import Final

# ruff: noqa: E501 (a table is read across: one sentence a line)
FRONT: Final[dict[str, str]] = {
    # --- bodies
    "The body holds more than {count} values": "请求体超过 {count} 个值",
    "Send less at once.": "分几次发送",
    "is given twice": "出现了两次",
    "Keep one of them.": "只保留一个",
    "is nested more than {count} levels deep": "嵌套超过 {count} 层",
    "Nest less.": "减少嵌套",
    "Send at most {most}.": "最多发送 {most}",
    "The job is not valid: {count} of its problems are listed, and there are more": "任务不合法：列出其中 {count} 个问题，还有更多",
    "The batch is not valid: {count} of its problems are listed, and there are more; nothing was accepted": "这批任务不合法：列出其中 {count} 个问题，还有更多；没有接受任何任务",
    "The request is not valid: {count} of its problems are listed, and there are more": "请求不合法：列出其中 {count} 个问题，还有更多",
    # --- turns
    "{count} of your requests are being worked at or wait already": "您已有 {count} 个请求正在处理或等待",
    "{count} of your requests for logs and curves are being answered or wait already": "您已有 {count} 个日志或曲线请求正在处理或等待",
    "Close pages that show logs or curves.": "请关闭显示日志或曲线的页面。",
    "Wait for their answers, then send further ones.": "等它们得到回答后再发送",
    # --- answers of clusters
    "the agent's answer is larger than {mib} MiB": "代理的回答超过 {mib} MiB",
    "Slurm's answer is larger than {mib} MiB": "Slurm 的回答超过 {mib} MiB",
    "Look what fills it: squeue, scontrol show node, sacct.": "查看是什么占满了它：squeue、scontrol show node、sacct",
    "slurmrestd's answer is larger than {mib} MiB": "slurmrestd 的回答超过 {mib} MiB",
    "Leave engines.rest out: Slurm's programs answer in fewer words.": "去掉 engines.rest：Slurm 的程序回答更简短",
    # --- addresses and connections
    "The request has more than one Host header": "请求有多个 Host 头",
    "Send one.": "只发送一个",
    "The address is longer than {kib} KiB": "地址超过 {kib} KiB",
    "Put what is long into the body.": "把较长的内容放进请求体",
    "The head of the request is larger than {kib} KiB or has more than {count} lines": "请求头超过 {kib} KiB 或 {count} 行",
    "Send fewer or shorter headers; delete the cookies of this address.": "减少或缩短请求头；删除此地址的 Cookie",
    "The {part} of the request did not come within {seconds} seconds": "请求（{part}）没有在 {seconds} 秒内到达",
    "Send it again at once.": "请重新发送，中间不要停顿",
    "This is no HTTP request": "这不是 HTTP 请求",
    "Speak HTTP/1.1; the address begins with http://.": "请使用 HTTP/1.1；地址以 http:// 开头",
    "More than {count} requests wait on one connection": "一个连接上有超过 {count} 个请求在等待",
    "Wait for answers.": "请等待回答",
    "The address is not UTF-8": "地址不是 UTF-8",
    "Encode it as UTF-8, with % before each byte.": "按 UTF-8 编码，每个字节前写 %",
}
