/** 任务详情页。 */
export const job = {
  tab: { overview: "任务简况", logs: "日志", metrics: "训练指标", usage: "任务负载", events: "事件", files: "文件", json: "JSON" },
  act: {
    duration: "修改使用时长", priority: "修改优先级", release: "结束调试保留",
    durationHint: "从任务开始运行时计算，不影响正在运行的进程。例如：30m、2h、1h30m。留空表示不限。",
    durationBad: "请填写时长，例如 30m、2h 或 1h30m。", changed: "已修改。", released: "正在结束调试保留。",
    releaseHint: "失败的副本将被结束，资源随即归还。",
  },
  fact: {
    id: "任务 ID", owner: "提交人", submitted: "提交时间", started: "开始时间", ended: "结束时间", run: "运行时长", wait: "排队时长",
    duration: "使用时长", priority: "优先级", framework: "框架", pool: "资源池", resources: "资源",
    retries: "重试次数", nodes: "节点", model: "已保存模型", labels: "标签", dialect: "提交格式",
    description: "描述",
  },
  verdict: {
    failed: "失败原因", expired: "超过使用时长", atLimit: "已到使用时长 {{limit}}，任务已停止", atLimitHint: "已有的日志和输出会保留。可以克隆后加长时长或取消限制，再次运行。", stopped: "已停止", waits: "等待原因", evidence: "依据",
    openLog: "查看对应日志", where: "位置", exit: "退出码 {{code}}", signal: "信号 {{signal}}", suggestions: "可以这样做",
    succeeded: "已完成", savedAs: "输出已保存为 {{model}}", noModel: "/model 和 /workspace/outputs 中没有文件，因此没有生成模型版本。",
    retained: "调试保留", retainedHint: "有副本失败，资源被保留以便排查：可用 tm exec 进入。完成后请结束保留。",
    warnings: "平台提示",
  },
  wait: { place: "位置", decidedBy: "由谁决定" },
  timeline: {
    title: "尝试过程", attempt: "第 {{n}} 次", queued: "排队", initialising: "初始化", pending: "在集群中排队", running: "运行", saving: "保存或停止",
    now: "现在", none: "尚未开始：任务正在排队。",
  },
  cause: {
    first: "首次", retry: "失败后重试", fault: "平台故障后", bad_node: "节点异常后", preempted: "被抢占后",
  },
  tasks: {
    title: "子任务副本", role: "子任务", task: "副本", node: "节点", cards: "加速卡", ports: "端口", exit: "结束情况", run: "运行时长", log: "日志",
    main: "主任务", mainHint: "该子任务完成即整个任务完成", state: "状态", roles: "子任务",
    minSucceeded: "成功 {{count}} 个即完成", minFailed: "失败 {{count}} 个即失败",
    neverFails: "允许副本失败", allEnd: "全部结束即完成", each: "每副本",
  },
  log: {
    pick: "副本", attempt: "尝试", following: "跟随中", paused: "已暂停：已离开末尾", search: "在日志中搜索",
    regex: "正则表达式", hits: "{{n}} / {{total}}", hitsMore: "{{n}} / {{total}}+", none: "没有找到", searching: "搜索中", wrap: "自动换行", line: "跳到行",
    download: "当前日志", downloadAll: "全部日志（zip）", empty: "还没有输出。", emptyEnded: "该副本没有输出。",
    cut: "此处 {{size}} 因日志大小上限被丢弃", end: "日志结束", top: "到开头", bottom: "到末尾",
    notStarted: "任务尚未开始，没有日志。", next: "下一处", previous: "上一处",
    loading: "加载中",
  },
  metrics: {
    smoothing: "平滑", log: "对数坐标", steps: "步数", time: "时间", relative: "相对时间", axis: "横轴", none: "还没有指标",
    noneHint: "指标来自 TensorBoard 文件、日志匹配规则，或脚本中的 trainmaster.log({...}, step=)：",
    noneEnded: "任务没有上报指标", last: "最新", best: "最好", source: { sdk: "SDK", log: "日志匹配", tensorboard: "TensorBoard" },
    filter: "按名称筛选", attempt: "第 {{n}} 次尝试",
  },
  usage: {
    cpu: "CPU（核）", memory_mib: "内存", gpu: "加速卡利用率", gpu_memory_mib: "显存", disk: "磁盘", net: "网络", processes: "进程数",
    read: "读", write: "写", rx: "入", tx: "出", limit: "上限", none: "还没有采样", noneHint: "副本启动几秒后会出现采样数据。",
    all: "全部副本", unavailable: "此处未测量",
  },
  events: { none: "没有事件",
    actors: { system: "平台", scheduler: "调度器", agent: "代理", engine: "集群" } },
  files: {
    live: "输出", none: "没有文件", noneHint: "副本写入 /model 或 /workspace/outputs 的文件会显示在这里。",
    name: "名称", size: "大小", modified: "修改时间", root: "输出",
  },
  json: { native: "原生格式", pai: "OpenPAI", hint: "任务文档。保存为文件后可用 tm submit 再次提交。" },
};
